// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/incident.h"

#include <stdlib.h>

void incident__free(struct incident *incident)
{
	events__clear(&incident->own);
	events__clear(&incident->peers);
	events__clear(&incident->waits);
	events__clear(&incident->rings);
	free(incident);
}
