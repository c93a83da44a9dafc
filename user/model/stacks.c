// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/model/stacks.h"

#include <stdlib.h>

#include "user/base/texts.h"
#include "user/base/xalloc.h"
#include "user/model/model.h"

struct stack {
	uint32_t id;     /* 0: free */
	uint32_t missed; /* the number that was asked for in vain last */
	char *text;
	struct stack_notes notes;
};

/* Numbers grow one by one, so the place of a number is that of the one MODEL_STACKS before it. */
struct stacks {
	struct stack v[MODEL_STACKS];
	struct texts *kept;
};

struct stacks *stacks__new(void)
{
	struct stacks *stacks = xcalloc(1, sizeof(*stacks));

	stacks->kept = texts__new();
	return stacks;
}

void stacks__free(struct stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < MODEL_STACKS; i++)
		free(stacks->v[i].text);
	texts__free(stacks->kept);
	free(stacks);
}

void stacks__learn(struct stacks *stacks, uint32_t id, const char *text)
{
	struct stack *stack = &stacks->v[id % MODEL_STACKS];

	if (!id || stack->id == id)
		return;
	free(stack->text);
	*stack = (struct stack){.id = id, .text = xstrdup(text)};
}

const char *stacks__text(struct stacks *stacks, uint32_t id, uint64_t *lost)
{
	struct stack *stack = &stacks->v[id % MODEL_STACKS];

	if (!id || !stack->id)
		return NULL;
	if (stack->id == id)
		return stack->text;
	if (stack->missed != id)
		++*lost;
	stack->missed = id;
	return NULL;
}

struct stack_notes *stacks__notes(struct stacks *stacks, uint32_t id)
{
	struct stack *stack = &stacks->v[id % MODEL_STACKS];

	return id && stack->id == id ? &stack->notes : NULL;
}

const char *stacks__keep(struct stacks *stacks, uint32_t id, uint64_t *lost)
{
	const char *text = stacks__text(stacks, id, lost), *kept;

	kept = texts__keep_within(stacks->kept, text, MODEL_STACK_BYTES);
	if (text && !kept)
		++*lost;
	return kept;
}
