// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/source/stack_ids.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"
#include "user/model/model.h"

#define SLOTS (2 * STACK_IDS) /* a power of two */

_Static_assert(2 * STACK_IDS <= MODEL_STACKS, "a number in use is one that the model holds");

struct stack_ids {
	struct stack_id v[SLOTS];
	uint32_t count;
	uint32_t last; /* number given out */
};

struct stack_ids *stack_ids__new(void)
{
	return xcalloc(1, sizeof(struct stack_ids));
}

void stack_ids__free(struct stack_ids *ids)
{
	free(ids);
}

static struct stack_id *find(struct stack_ids *ids, uint64_t hash)
{
	size_t slot = hash & (SLOTS - 1);

	while (ids->v[slot].hash && ids->v[slot].hash != hash)
		slot = (slot + 1) & (SLOTS - 1);
	return &ids->v[slot];
}

struct stack_id *stack_ids__find(struct stack_ids *ids, uint64_t hash)
{
	struct stack_id *found = find(ids, hash);

	if (found->hash) {
		found->is_new = false;
		return found;
	}
	if (ids->count == STACK_IDS) {
		memset(ids->v, 0, sizeof(ids->v));
		ids->count = 0;
		found = find(ids, hash);
	}
	ids->count++;
	if (!++ids->last) /* after four thousand million: 0 is none */
		ids->last = 1;
	*found = (struct stack_id){.hash = hash, .id = ids->last, .is_new = true};
	return found;
}
