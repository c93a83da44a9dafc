// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/budget.h"

#include <string.h>

#include "user/base/text.h"

/* A longer word is quoted by its beginning. */
#define WORD_SHOWN 40

#define MOST_COUNT 1000000000000000ull    /* what a double still tells apart, and no run counts */
#define MOST_NS    1000000000000000000ull /* 31 years */
#define MOST_SHARE 10000.0                /* stalls overlap, so that a share may be above 1 */

#define FRACTION_UNIT 1000000000ull

/* One text that is being parsed; why holds the refusal. */
struct parser {
	struct budgets *budgets;
	bool named[BUDGETS]; /* by place: the cause, behind these what else there is */
	char *why;
	size_t size;
};

/* A decimal number and what stands behind it. */
struct quantity {
	uint64_t whole;
	uint64_t fraction; /* of FRACTION_UNIT */
	bool has_point;
	const char *unit;
};

/* What is no cause. */
static const char *const names[BUDGET_OF_KINDS] = {
	[BUDGET_OF_TOTAL] = "total",
	[BUDGET_OF_MEDIAN] = "requests.p50",
	[BUDGET_OF_P99] = "requests.p99",
};

static size_t place_of(const struct budget *budget)
{
	return budget->of ? CAUSE_COUNT + (size_t)budget->of - 1 : (size_t)budget->cause;
}

static struct budget of_place(size_t place)
{
	if (place < CAUSE_COUNT)
		return (struct budget){.cause = (enum cause)place};
	return (struct budget){.of = (enum budget_of)(place - CAUSE_COUNT + 1),
			       .cause = CAUSE_UNKNOWN};
}

const char *budget__name(const struct budget *budget)
{
	return budget->of ? names[budget->of] : cause__info(budget->cause)->id;
}

bool budget__is_of_requests(const struct budget *budget)
{
	return budget->of == BUDGET_OF_MEDIAN || budget->of == BUDGET_OF_P99;
}

char *budget__limit(const struct budget *budget, char *out, size_t size)
{
	switch (budget->kind) {
	case BUDGET_COUNT:
		text__count(out, size, budget->count);
		break;
	case BUDGET_TIME:
		if (budget->ns)
			text__nominal(out, size, budget->ns);
		else
			snprintf(out, size, "0 ms");
		break;
	case BUDGET_SHARE:
		snprintf(out, size, "%g%%", budget->share * 100);
		break;
	}
	return out;
}

bool budgets__gate(const struct budgets *budgets, enum cause cause)
{
	for (size_t i = 0; i < budgets->count; i++) {
		if (!budgets->v[i].of && budgets->v[i].cause == cause)
			return true;
	}
	return false;
}

static void take_away(struct budgets *budgets, size_t place)
{
	for (size_t i = 0; i < budgets->count; i++) {
		if (place_of(&budgets->v[i]) != place)
			continue;
		budgets->count--;
		memmove(&budgets->v[i], &budgets->v[i + 1],
			(budgets->count - i) * sizeof(budgets->v[0]));
		return;
	}
}

static void enter(struct budgets *budgets, const struct budget *budget)
{
	size_t place = 0;

	take_away(budgets, place_of(budget));
	while (place < budgets->count && place_of(&budgets->v[place]) < place_of(budget))
		place++;
	memmove(&budgets->v[place + 1], &budgets->v[place],
		(budgets->count - place) * sizeof(budgets->v[0]));
	budgets->v[place] = *budget;
	budgets->count++;
}

void budgets__default(struct budgets *budgets)
{
	memset(budgets, 0, sizeof(*budgets));
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		struct budget budget = {.cause = (enum cause)cause, .kind = BUDGET_COUNT};

		if (cause__info(budget.cause)->is_gated)
			enter(budgets, &budget);
	}
}

static bool refuse_unknown(struct parser *parser, const char *name)
{
	char known[512];
	const char *near = cause__nearest(name);
	size_t used = 0;

	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		const struct cause_info *info = cause__info((enum cause)cause);

		if (!info->never_of_stall)
			used += snprintf(known + used, sizeof(known) - used, "%s, ", info->id);
	}
	return refuse(parser,
		      "there is no cause '%s'%s%s%s are %stotal, requests.p50 and requests.p99",
		      name, near ? ": did you mean " : "", near ? near : "",
		      near ? "? There" : "; there", known);
}

/* The cause, or what else, that a name stands for. */
static bool find_place(struct parser *parser, const char *name, size_t length, size_t *place)
{
	char shown[TEXT_SAFE(WORD_SHOWN)];

	text__safe(shown, sizeof(shown), name, length < WORD_SHOWN ? length : WORD_SHOWN);
	*place = cause__find(name, length);
	for (size_t of = BUDGET_OF_TOTAL; of < BUDGET_OF_KINDS; of++) {
		if (length == strlen(names[of]) && !memcmp(name, names[of], length)) {
			*place = CAUSE_COUNT + of - 1;
			return true;
		}
	}
	if (*place == CAUSE_COUNT)
		return refuse_unknown(parser, shown);
	if (cause__info((enum cause) * place)->never_of_stall)
		return refuse(parser,
			      "%s is never the cause of a stall, so there is nothing to allow",
			      shown);
	return true;
}

/* Digits, and a point with more of them; false: too many. */
static bool read_quantity(const char *text, struct quantity *quantity)
{
	uint64_t unit = FRACTION_UNIT;

	memset(quantity, 0, sizeof(*quantity));
	for (; *text >= '0' && *text <= '9'; text++) {
		if (quantity->whole > MOST_NS)
			return false;
		quantity->whole = quantity->whole * 10 + (uint64_t)(*text - '0');
	}
	if (*text == '.' && text[1] >= '0' && text[1] <= '9') {
		quantity->has_point = true;
		for (text++; *text >= '0' && *text <= '9'; text++) {
			unit /= 10;
			quantity->fraction += unit * (uint64_t)(*text - '0');
		}
	}
	quantity->unit = text;
	return true;
}

static bool set_time(struct budget *budget, const struct quantity *quantity, uint64_t unit_ns)
{
	if (quantity->whole > MOST_NS / unit_ns)
		return false;
	budget->kind = BUDGET_TIME;
	budget->ns = quantity->whole * unit_ns + quantity->fraction * unit_ns / FRACTION_UNIT;
	return true;
}

static bool set_share(struct budget *budget, const struct quantity *quantity)
{
	budget->kind = BUDGET_SHARE;
	budget->share =
		((double)quantity->whole + (double)quantity->fraction / FRACTION_UNIT) / 100;
	return budget->share <= MOST_SHARE;
}

static bool set_count(struct budget *budget, const struct quantity *quantity)
{
	budget->kind = BUDGET_COUNT;
	budget->count = quantity->whole;
	return budget->count <= MOST_COUNT;
}

/* How many ns a unit of time has, 0: it is none. */
static uint64_t unit_of_time(const char *unit)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} times[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (!strcmp(unit, times[i].unit))
			return times[i].ns;
	}
	return 0;
}

static bool set_limit(struct parser *parser, struct budget *budget, const char *text)
{
	char shown[TEXT_SAFE(WORD_SHOWN)];
	struct quantity quantity;
	bool fits;

	text__safe(shown, sizeof(shown), text, WORD_SHOWN);
	if (*text == '-')
		return refuse(parser, "a budget cannot be negative, as '%s' is", shown);
	if (*text < '0' || *text > '9')
		return refuse(parser,
			      "a limit is a number of stalls (2), a time (100ms), a share of the "
			      "time (5%%) or none, not '%s'",
			      shown);
	if (!read_quantity(text, &quantity))
		return refuse(parser, "'%s' is too large for a budget", shown);
	if (!*quantity.unit && quantity.has_point)
		return refuse(parser, "stalls are counted in whole numbers, not '%s'", shown);
	if (!*quantity.unit)
		fits = set_count(budget, &quantity);
	else if (!strcmp(quantity.unit, "%"))
		fits = set_share(budget, &quantity);
	else if (unit_of_time(quantity.unit))
		fits = set_time(budget, &quantity, unit_of_time(quantity.unit));
	else
		return refuse(parser, "the unit of '%s' is none of us, ms, s and %%", shown);
	return fits || refuse(parser, "'%s' is too large for a budget", shown);
}

/* "rto=2" */
static bool parse_item(struct parser *parser, const char *item)
{
	size_t length = strcspn(item, "="), place;
	char shown[TEXT_SAFE(WORD_SHOWN)];
	struct budget budget;

	text__safe(shown, sizeof(shown), item, length < WORD_SHOWN ? length : WORD_SHOWN);
	if (!length)
		return refuse(parser, "a cause is missing before %s",
			      *item ? "'='" : "a comma or at the end");
	if (!find_place(parser, item, length, &place))
		return false;
	if (item[length] != '=')
		return refuse(parser, "%s has no limit; %s=0 allows none", shown, shown);
	if (parser->named[place])
		return refuse(parser, "%s is given twice", shown);
	parser->named[place] = true;
	if (!strcmp(item + length + 1, "none")) {
		take_away(parser->budgets, place);
		return true;
	}
	budget = of_place(place);
	if (!set_limit(parser, &budget, item + length + 1))
		return false;
	if (budget__is_of_requests(&budget) && budget.kind != BUDGET_TIME)
		return refuse(parser, "%s is a time, as %s=20ms", shown, shown);
	enter(parser->budgets, &budget);
	return true;
}

bool budgets__parse(struct budgets *budgets, const char *text, char *why, size_t size)
{
	struct budgets changed = *budgets;
	struct parser parser = {.budgets = &changed, .why = why, .size = size};
	char item[256];

	if (!strcmp(text, "default"))
		return true;
	if (!strcmp(text, "none")) {
		budgets->count = 0;
		return true;
	}
	for (;;) {
		size_t length = strcspn(text, ",");

		if (length >= sizeof(item))
			return refuse(&parser, "no budget is as long as this");
		memcpy(item, text, length);
		item[length] = '\0';
		if (!parse_item(&parser, item))
			return false;
		if (!text[length])
			break;
		text += length + 1;
	}
	*budgets = changed;
	return true;
}

double budget__share(uint64_t ns, double seconds)
{
	if (!ns)
		return 0;
	return seconds > 0 ? (double)ns / 1e9 / seconds : 1e9;
}

bool budget__is_exceeded(const struct budget *budget, uint64_t count, uint64_t ns, double seconds)
{
	switch (budget->kind) {
	case BUDGET_COUNT:
		return count > budget->count;
	case BUDGET_TIME:
		return ns > budget->ns;
	case BUDGET_SHARE:
		return budget__share(ns, seconds) > budget->share;
	}
	return true;
}
