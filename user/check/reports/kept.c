// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/reports/kept.h"

#include "user/render/json/json_values.h"
#include "user/render/render.h"

#define KEPT_SCHEMA "netstall.kept/1"
#define TEXT_WIDTH  140

void kept__text(FILE *out, const struct report *report, const struct stall *stall,
		const struct budget *budget, const struct seconds *seconds)
{
	const struct render_style style = {.width = TEXT_WIDTH};
	char limit[48];

	fprintf(out, "Beyond the budget of %s for %s.\n",
		budget__limit(budget, limit, sizeof(limit)), budget__name(budget));
	if (!stall->step_count)
		fputc('\n', out);
	render__stall(out, report, stall, &style);
	if (!stall->step_count)
		fputs("  (No time line: netstall draws the first ones of a cause on a "
		      "connection.)\n",
		      out);
	fputs("\nWhat was seen from 2 s before it to 1 s after, by the trace's clock:\n", out);
	if (seconds->begins_late)
		fputs("  (Earlier events were dropped to keep later ones.)\n", out);
	if (seconds->left_out)
		fprintf(out, "  (%zu more events are left out, of other connections first.)\n",
			seconds->left_out);
	for (size_t i = 0; i < seconds->count; i++) {
		union record record;

		event__to_record(&record, seconds->v[i]);
		render__record(out, report, &record, &style);
	}
}

/* The connections that its stall and events name, as the report has them. */
static json_t *connections_of(const struct report *report, const struct stall *stall,
			      const struct seconds *seconds)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i];
		uint32_t number = conn->id.head.conn;
		bool named = number == stall->conn || number == stall->peer;

		for (size_t k = 0; k < seconds->count && !named; k++)
			named = seconds->v[k]->head.conn == number;
		if (named)
			json_array_append_new(array, json_value__conn(report, conn));
	}
	return array;
}

static json_t *events_of(const struct report *report, const struct seconds *seconds)
{
	json_t *array = json_array();

	for (size_t i = 0; i < seconds->count; i++) {
		union record record;

		event__to_record(&record, seconds->v[i]);
		json_array_append_new(array, json_value__event(report, &record));
	}
	return array;
}

void kept__json(FILE *out, const struct report *report, const struct stall *stall,
		const struct budget *budget, const struct seconds *seconds)
{
	char limit[48];
	json_t *document;

	json_value__begin();
	document = json_object();
	put(document, "schema", json_string(KEPT_SCHEMA));
	put(document, "tool", json_value__tool(report));
	put(document, "gate", json_string(budget__name(budget)));
	put(document, "budget", json_string(budget__limit(budget, limit, sizeof(limit))));
	put(document, "window", json_value__window_of(report));
	put(document, "stall", json_value__stall(report, stall));
	put(document, "connections", connections_of(report, stall, seconds));
	put(document, "events", events_of(report, seconds));
	put(document, "events_left_out", json_value__count(seconds->left_out));
	put(document, "begins_late", json_boolean(seconds->begins_late));
	json_value__dump(out, document, 1);
}
