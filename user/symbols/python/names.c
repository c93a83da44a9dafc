// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"
#include "user/symbols/demangle.h"
#include "user/symbols/peek.h"
#include "user/symbols/python/memory.h"
#include "user/symbols/python/python.h"

#define NAME_MOST  512   /* characters of a name, or of a path */
#define TABLE_MOST 65536 /* bytes of a table of lines */

/* PyASCIIObject, PyCompactUnicodeObject: their length, and in a word of bits of how many bytes
 * their characters are, and that they lie behind the head. */
#define STRING_LENGTH 16
#define STRING_STATE  32

/* As UTF-8. False: it is no string of a name's size. */
static bool read_string(const struct python *python, uint64_t at, char *out, size_t size)
{
	unsigned char raw[4 * NAME_MOST];
	uint64_t length = at ? peek__pointer(python->memory, at + STRING_LENGTH) : 0;
	uint32_t state = at ? peek__number(python->memory, at + STRING_STATE) : 0,
		 width = state >> 2 & 7;
	bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
	size_t used = 0;

	if (!length || length > NAME_MOST || !is_compact ||
	    (width != 1 && width != 2 && width != 4) ||
	    !peek__read(python->memory,
			at + (is_ascii ? python->layout.ascii : python->layout.compact), raw,
			length * width))
		return false;
	for (size_t i = 0; i < length && used + 5 < size; i++) {
		uint32_t c = 0;

		memcpy(&c, raw + i * width, width);
		if (!c || c > 0x10ffff)
			return false;
		if (c < 0x80) {
			out[used++] = (char)c;
		} else {
			unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

			out[used++] = (char)((0xff00 >> (more + 1) & 0xff) | c >> 6 * more);
			while (more--)
				out[used++] = (char)(0x80 | (c >> 6 * more & 63));
		}
	}
	out[used] = '\0';
	return true;
}

#define BYTES_LENGTH 16
#define BYTES_DATA   32

static unsigned line_of(const struct python *python, const struct ns_python_frame *frame)
{
	const struct python_layout *layout = &python->layout;
	uint64_t bytes = peek__pointer(python->memory, frame->code + layout->linetable), at;
	uint64_t size = bytes ? peek__pointer(python->memory, bytes + BYTES_LENGTH) : 0;
	uint32_t first = peek__number(python->memory, frame->code + layout->line);
	unsigned char *table;
	unsigned line = 0;

	if (!size || size > TABLE_MOST)
		return 0;
	if (layout->frames.lasti)
		at = frame->instr * (layout->minor == 10 ? 2 : 1);
	else
		at = frame->instr - frame->code - layout->code;
	table = xcalloc(1, size);
	if (peek__read(python->memory, bytes + BYTES_DATA, table, size))
		line = python_layout__line(layout->minor, table, size, first, at);
	free(table);
	return line;
}

/* False: it does not check. */
static bool name_frame(const struct python *python, const struct ns_python_frame *frame, char *out,
		       size_t size)
{
	char function[4 * NAME_MOST], file[4 * NAME_MOST];
	unsigned line;

	if (!frame->code ||
	    !read_string(python, peek__pointer(python->memory, frame->code + python->layout.name),
			 function, sizeof(function)) ||
	    !read_string(python,
			 peek__pointer(python->memory, frame->code + python->layout.filename), file,
			 sizeof(file)))
		return false;
	/* From 3.12 on the list has what no program wrote. */
	if (!strncmp(function, "<interpreter", strlen("<interpreter")))
		return false;
	line = line_of(python, frame);
	demangle__clean(function);
	demangle__clean(file);
	function[DEMANGLE_NAME - 1] = '\0';
	if (line)
		snprintf(out, size, "%s (%s:%u)", function, file, line);
	else
		snprintf(out, size, "%s", function);
	return true;
}

/* Where the interpreter's first frame begins, in text. */
static char *interpreters(char *stack)
{
	for (char *frame = stack; frame; frame = strchr(frame, ';')) {
		char *end, *module;

		frame += *frame == ';';
		end = strchrnul(frame, ';');
		module = memmem(frame, (size_t)(end - frame), " [", 2);
		if (module &&
		    (!strncmp(module + 2, "python", 6) || !strncmp(module + 2, "libpython", 9)))
			return frame;
	}
	return stack + strlen(stack);
}

void python_text__join(char *stack, size_t size, const char *functions)
{
	static const char unknown[] = "[unknown]";
	size_t used = (size_t)(interpreters(stack) - stack), room, most;

	used -= used && stack[used - 1] == ';';
	if (used >= strlen(unknown) &&
	    !strncmp(stack + used - strlen(unknown), unknown, strlen(unknown)))
		used -= strlen(unknown) + (used > strlen(unknown));
	if (used + 2 > size)
		return;
	room = size - used - 1 - (used > 0);
	for (most = strlen(functions); most > room;) {
		const char *cut = memrchr(functions, ';', most);

		most = cut ? (size_t)(cut - functions) : 0;
	}
	if (most || !used)
		sprintf(stack + used, "%s%.*s", used ? ";" : "", (int)most, functions);
}

void python__join(const struct python *python, const struct ns_python_frame *frames, size_t count,
		  char *stack, size_t size)
{
	char frame[8 * NAME_MOST + 32], *functions = xcalloc(1, size);
	size_t used = 0, named = 0;

	for (size_t i = 0; i < count; i++) {
		bool known = name_frame(python, &frames[i], frame, sizeof(frame));

		/* From 3.12 on the list has the interpreter's own entries too, which are no
		 * functions. And as long as none has a name, the stack stays as it is. */
		if (!known && (python->layout.minor >= 12 || !named))
			continue;
		if (!known)
			strcpy(frame, "[python]");
		if (used + strlen(frame) + 2 > size)
			break;
		used += sprintf(functions + used, "%s%s", used ? ";" : "", frame);
		named += known;
	}
	if (named)
		python_text__join(stack, size, functions);
	free(functions);
}
