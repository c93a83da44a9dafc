// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the model knows, for all who read it. */
#include "user/model/model_parts.h"
#include "user/record/losses.h"

const struct model_conn *model__conn(const struct model *model, uint32_t number)
{
	return table__get(model->conns, number);
}

const struct model_conn *model__next_conn(const struct model *model, size_t *cursor)
{
	return table__next(model->conns, cursor);
}

const struct model_thread *model__thread(const struct model *model, uint32_t tid)
{
	return table__get(model->threads, tid);
}

const struct model_thread *model__next_thread(const struct model *model, size_t *cursor)
{
	return table__next(model->threads, cursor);
}

const struct model_process *model__process(const struct model *model, uint32_t pid)
{
	return table__get(model->processes, pid);
}

const struct model_ring *model__ring(const struct model *model, uint32_t number)
{
	return table__get(model->rings, number);
}

const struct model_ring *model__next_ring(const struct model *model, size_t *cursor)
{
	return table__next(model->rings, cursor);
}

const char *model__stack(const struct model *model, uint32_t id)
{
	return stacks__text(model->stacks, id, &model->lost_here[NS_LOST_STACKS]);
}

const char *model__kept_stack(const struct model *model, uint32_t id)
{
	return stacks__keep(model->stacks, id, &model->lost_here[NS_LOST_STACKS]);
}

const char *model__kept_site(const struct model *model, uint32_t id)
{
	return stacks__keep(model->stacks, id, &model->lost_here[NS_LOST_SITES]);
}

const struct ns_session *model__session(const struct model *model)
{
	return &model->session;
}

bool model__sees(const struct model *model, enum ns_fact fact)
{
	return !(model->session.missing >> fact & 1);
}

uint64_t model__lost(const struct model *model, uint32_t kind)
{
	return model->lost[kind] + model->lost_here[kind];
}

bool model__is_whole(const struct model *model)
{
	return !losses__hiding(model->lost) && !losses__hiding(model->lost_here);
}

bool model__is_target(const struct model *model, uint32_t pid)
{
	const struct model_process *process = model__process(model, pid);

	return process && process->role & NS_ROLE_TARGET;
}
