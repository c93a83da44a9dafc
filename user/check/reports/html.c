// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/html/html.h"
#include "user/base/xalloc.h"
#include "user/check/reports/clauses.h"
#include "user/check/reports/reports.h"

#include <stdlib.h>

void check_html__write(FILE *out, const struct outcome *outcome)
{
	char clause[CLAUSE_SIZE];
	struct verdict verdict;
	char *above;

	if (!outcome->report) {
		fputs("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>netstall check</title>\n"
		      "<p>Nothing was traced: the text of the check says why.</p>\n",
		      out);
		return;
	}
	above = xasprintf("netstall check: %s (exit status %d): %s",
			  verdict_kind__name(outcome->verdict), outcome->exit_status,
			  clause__verdict(clause, sizeof(clause), outcome));
	verdict__write(&verdict, outcome->report);
	render__html(out, outcome->report, &verdict, above);
	verdict__clear(&verdict);
	free(above);
}
