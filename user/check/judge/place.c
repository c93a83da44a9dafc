// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/place.h"

#include <string.h>

#include "user/analyze/tally.h"

bool place__of(const struct report *report, const struct stall *stall, struct site_place *place)
{
	const struct report_cause *leading = report__leading(report);
	const struct tally *main;

	if (site__place(stall->sites.second_write, stall->sites.first_write, place) ||
	    site__place(stall->sites.first_write, stall->sites.second_write, place))
		return true;
	main = leading && leading->cause == stall->cause ? leading->main : NULL;
	if (main && (site__place(main->sites.second_write, main->sites.first_write, place) ||
		     site__place(main->sites.first_write, main->sites.second_write, place)))
		return true;
	return site__place(stall->sites.read, NULL, place) ||
	       (main && site__place(main->sites.read, NULL, place)) ||
	       site__place(stall->sites.wait, NULL, place) ||
	       site__place(stall->sites.lock, NULL, place) ||
	       (main && (site__place(main->sites.wait, NULL, place) ||
			 site__place(main->sites.lock, NULL, place)));
}

/* Take the last name off dst, which is used bytes long. */
static size_t go_up(const char *dst, size_t used)
{
	while (used > 0 && dst[used - 1] != '/')
		used--;
	return used > 0 ? used - 1 : 0;
}

/*
 * "a/./b//../c" becomes "a/c", "/../a" "/a"; "../a" stays. Returns the length, or size when it
 * does not fit.
 */
static size_t clean(char *dst, size_t size, const char *path)
{
	bool absolute = *path == '/';
	size_t used = 0, up = 0; /* up: of leading ".." */

	while (*path) {
		bool is_up;
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		is_up = len == 2 && !strncmp(path, "..", 2);
		if (is_up && (used > up || absolute)) {
			used = go_up(dst, used);
		} else if (len && !(len == 1 && *path == '.')) {
			if (used + len + 2 > size)
				return size;
			if (used || absolute)
				dst[used++] = '/';
			memcpy(dst + used, path, len);
			used += len;
			up = is_up ? used : up;
		}
		path += len;
	}
	dst[used] = '\0';
	return used;
}

char *place__relative(char *dst, size_t size, const char *path, const char *root)
{
	char prefix[4096];
	size_t len;

	if (clean(dst, size, path) >= size || !dst[0])
		return NULL;
	if (dst[0] != '/')
		return dst;
	if (!root || *root != '/')
		return NULL;
	len = clean(prefix, sizeof(prefix), root);
	if (len >= sizeof(prefix) || strncmp(dst, prefix, len) || dst[len] != '/')
		return NULL;
	memmove(dst, dst + len + 1, strlen(dst + len + 1) + 1);
	return dst[0] ? dst : NULL;
}
