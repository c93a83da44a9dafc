// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/incident.h"

#include <stdlib.h>

uint64_t model__threshold(const struct model *model)
{
	const struct ns_session *session = model__session(model);

	return session->head.type ? session->threshold_ns : DEFAULT_THRESHOLD_NS;
}

void incident__free(struct incident *incident)
{
	events__clear(&incident->own);
	events__clear(&incident->peers);
	events__clear(&incident->waits);
	events__clear(&incident->rings);
	free(incident);
}
