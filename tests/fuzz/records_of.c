// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A text trace on stdin, as fuzz_records takes it on stdout: each record behind two bytes that say
 * its length; with an argument, as fuzz_recording does: without them. */
#include <stdio.h>

#include "user/record/text.h"

int main(int argc, char **argv)
{
	char line[4096], error[256];
	union record record;

	(void)argv;
	while (fgets(line, sizeof(line), stdin)) {
		if (text__parse(line, &record, error, sizeof(error)) != 1)
			continue;
		if (argc < 2) {
			putchar(record.head.len & 0xff);
			putchar(record.head.len >> 8);
		}
		fwrite(&record, record.head.len, 1, stdout);
	}
	return 0;
}
