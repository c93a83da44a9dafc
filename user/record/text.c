// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "user/base/text.h"

#define WORD_MAX (4 * NS_STACK_TEXT_MAX) /* were all of it written as \xNN */
#define ERRNOS   4096                    /* MAX_ERRNO, include/linux/err.h */

/* ---- reading ---- */

struct reader {
	const char *at;
	char word[WORD_MAX]; /* the last one read, unescaped */
	size_t word_len;
	size_t equals; /* place of its first bare '=', word_len when it has none */
	char error[256];
};

static int fail(struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(struct reader *reader, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reader->error, sizeof(reader->error), format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_space(char c)
{
	return c && strchr(" \t\r\n", c);
}

/* The byte behind a backslash at reader->at; -1 when it is none of \xNN, \\ and \". */
static int unescape(struct reader *reader)
{
	const char *s = reader->at;

	if (s[1] == '\\' || s[1] == '"') {
		reader->at += 2;
		return s[1];
	}
	if (s[1] != 'x' || !isxdigit((unsigned char)s[2]) || !isxdigit((unsigned char)s[3]))
		return -1;
	reader->at += 4;
	return (int)strtol((char[]){s[2], s[3], '\0'}, NULL, 16);
}

/* Returns 1 with the next word, 0 at the end of the line or a comment. */
static int next_word(struct reader *reader)
{
	bool quoted = false;

	while (is_space(*reader->at))
		reader->at++;
	reader->word_len = 0;
	reader->equals = SIZE_MAX;
	if (!*reader->at || *reader->at == '#')
		return 0;
	while (*reader->at && (quoted || !is_space(*reader->at))) {
		int c = (unsigned char)*reader->at;

		if (c == '"') {
			quoted = !quoted;
			reader->at++;
			continue;
		}
		if (c == '=' && reader->equals == SIZE_MAX)
			reader->equals = reader->word_len;
		if (c == '\\')
			c = unescape(reader);
		else
			reader->at++;
		if (c <= 0)
			return fail(reader, "behind '%.*s': a backslash wants xNN, \\ or \"",
				    (int)reader->word_len, reader->word);
		if (reader->word_len + 1 >= sizeof(reader->word))
			return fail(reader, "'%.20s...' is too long", reader->word);
		reader->word[reader->word_len++] = (char)c;
		reader->word[reader->word_len] = '\0';
	}
	if (quoted)
		return fail(reader, "'%s' lacks its closing quote", reader->word);
	if (reader->equals == SIZE_MAX)
		reader->equals = reader->word_len;
	return 1;
}

/* "-12.345" ms as ns. Bounded far below what could overflow, and generous: 30 years. */
static bool parse_ms(const char *word, int64_t *ns)
{
	bool negative = *word == '-';
	int64_t value = 0, unit = 1000000;
	const char *s = word + negative;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++) {
		value = value * 10 + (*s - '0');
		if (value > 1000000000000)
			return false;
	}
	value *= unit;
	if (*s == '.') {
		for (s++; *s >= '0' && *s <= '9'; s++) {
			unit /= 10;
			if (!unit)
				return false;
			value += unit * (*s - '0');
		}
	}
	*ns = negative ? -value : value;
	return !*s;
}

static bool parse_time(const char *word, uint64_t *ts)
{
	int64_t ns;

	if (!parse_ms(word, &ns) || ns + (int64_t)TEXT_TRACE_ORIGIN_NS <= 0)
		return false;
	*ts = (uint64_t)(ns + (int64_t)TEXT_TRACE_ORIGIN_NS);
	return true;
}

static bool parse_number(const char *word, uint64_t max, uint64_t *number)
{
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	errno = 0;
	*number = strtoull(word, &end, 0);
	return !errno && !*end && *number <= max;
}

static bool parse_name(const struct field *field, const char *word, uint64_t *number)
{
	for (uint64_t i = 0; field->values[i]; i++) {
		if (!strcmp(field->values[i], word)) {
			*number = i;
			return true;
		}
	}
	return parse_number(word, UINT32_MAX, number);
}

/* -1 is as good as 4294967295. */
static bool parse_signed(const char *word, uint64_t *number)
{
	if (*word != '-')
		return parse_number(word, UINT32_MAX, number);
	if (!parse_number(word + 1, 1ull << 31, number))
		return false;
	*number = (uint32_t)(0 - *number);
	return true;
}

static bool parse_errno(const char *word, uint64_t *number)
{
	char name[TEXT_ERROR];

	for (uint32_t i = 1; i < ERRNOS; i++) {
		if (!strcmp(text__error(name, sizeof(name), i), word)) {
			*number = i;
			return true;
		}
	}
	return parse_number(word, UINT32_MAX, number);
}

static bool parse_opcode(const char *word, uint64_t *number)
{
	char name[URING_OP_TEXT];

	for (uint32_t i = 0; i <= NS_OPCODE_UNKNOWN; i++) {
		if (!strcmp(uring_op__text(name, sizeof(name), i), word)) {
			*number = i;
			return true;
		}
	}
	if (!strncmp(word, "OP_", 3))
		word += 3;
	return parse_number(word, UINT32_MAX, number);
}

/* "127.0.0.1:7000" or "[::1]:7000" */
static bool parse_address(union record *out, const struct field *field, char *word)
{
	uint32_t family = AF_INET, addr[4] = {0}, port;
	char *host = word, *colon = strrchr(word, ':');
	uint64_t number;

	if (!colon || !parse_number(colon + 1, 65535, &number))
		return false;
	*colon = '\0';
	if (*host == '[') {
		if (colon[-1] != ']')
			return false;
		colon[-1] = '\0';
		host++;
		family = AF_INET6;
	}
	if (inet_pton((int)family, host, addr) != 1)
		return false;
	if (*field__family(out) && *field__family(out) != family)
		return false; /* the two ends must agree */
	port = (uint32_t)number;
	*field__family(out) = family;
	memcpy((char *)out + field->offset, addr, sizeof(addr));
	memcpy((char *)out + field->size, &port, sizeof(port));
	return true;
}

static bool parse_field_number(const struct field *field, const char *word, uint64_t *number)
{
	int64_t ns;

	switch (field->kind) {
	case FIELD_MS:
		if (!parse_ms(word, &ns) || ns < 0)
			return false;
		*number = (uint64_t)ns;
		return true;
	case FIELD_TIME:
		return parse_time(word, number);
	case FIELD_U64:
	case FIELD_HEX64:
		return parse_number(word, UINT64_MAX, number);
	case FIELD_NAME:
		return parse_name(field, word, number);
	case FIELD_FD:
		*number = NS_FD_UNKNOWN;
		return !strcmp(word, "-") || parse_number(word, UINT32_MAX, number);
	case FIELD_S32:
		return parse_signed(word, number);
	case FIELD_ERRNO:
		return parse_errno(word, number);
	case FIELD_OPCODE:
		return parse_opcode(word, number);
	default:
		return parse_number(word, UINT32_MAX, number);
	}
}

static bool parse_value(union record *out, const struct field *field, char *word)
{
	uint64_t number;

	if (field->kind == FIELD_ADDRESS)
		return parse_address(out, field, word);
	if (field->kind == FIELD_STRING) {
		if (strlen(word) >= field->size)
			return false;
		memcpy((char *)out + field->offset, word, strlen(word) + 1);
		return true;
	}
	if (!parse_field_number(field, word, &number))
		return false;
	field__set_number(out, field, number);
	return true;
}

static const struct field *find_field(const struct field *fields, const char *name, size_t len)
{
	for (; fields->name; fields++) {
		if (strlen(fields->name) == len && !memcmp(fields->name, name, len))
			return fields;
	}
	return NULL;
}

static int parse_field(struct reader *reader, const struct record_type *type, union record *out)
{
	char *word = reader->word, *value = word + reader->equals + 1;
	const struct field *field;

	if (reader->equals == reader->word_len)
		return fail(reader, "'%s' is no field=value", word);
	field = find_field(record_head_fields, word, reader->equals);
	if (!field)
		field = find_field(type->fields, word, reader->equals);
	if (!field)
		return fail(reader, "a %s has no field '%.*s'", type->name, (int)reader->equals,
			    word);
	if (!parse_value(out, field, value))
		return fail(reader, "'%s' is no good value for %s", value, field->name);
	return 0;
}

static void set_absent(union record *out, const struct record_type *type)
{
	memset(out, 0, sizeof(*out));
	out->head.type = type->type;
	out->head.len = (uint32_t)type->size;
	for (const struct field *field = type->fields; field->name; field++) {
		if (field->kind == FIELD_FD)
			field__set_number(out, field, NS_FD_UNKNOWN);
	}
}

static int parse_record(struct reader *reader, union record *out)
{
	const struct record_type *type;
	uint64_t ts;
	int ret = next_word(reader);

	if (ret <= 0)
		return ret;
	if (!parse_time(reader->word, &ts))
		return fail(reader, "'%s' is no time in ms", reader->word);
	ret = next_word(reader);
	if (ret < 0)
		return ret;
	type = ret ? record_type__by_name(reader->word) : NULL;
	if (!type)
		return fail(reader, "'%s' is no record", ret ? reader->word : "");
	set_absent(out, type);
	out->head.ts = ts;
	while ((ret = next_word(reader)) > 0) {
		ret = parse_field(reader, type, out);
		if (ret)
			return ret;
	}
	if (ret < 0)
		return ret;
	if (record__damage(out))
		return fail(reader, "'%s': %s", type->name, record__damage(out));
	return 1;
}

int text__parse(const char *line, union record *out, char *error, size_t error_size)
{
	struct reader reader = {.at = line};
	int ret = parse_record(&reader, out);

	/* What is wrong may quote the line, and a line may hold anything. */
	if (ret < 0 && error_size)
		text__safe(error, error_size, reader.error, sizeof(reader.error));
	return ret;
}

/* ---- writing ---- */

/* Between quotes when it must be; escapes as text__parse() undoes them. */
static void print_string(FILE *out, const char *value, size_t max)
{
	size_t len = strnlen(value, max);
	bool quotes = !len || strcspn(value, " \"#=") < len;

	if (quotes)
		fputc('"', out);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)value[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	if (quotes)
		fputc('"', out);
}

static void print_address(FILE *out, const union record *record, const struct field *field)
{
	char word[TEXT_ADDRESS];
	const uint32_t *addr;
	uint32_t family, port;

	field__address(record, field, &family, &addr, &port);
	fputs(text__address(word, sizeof(word), family, addr, port), out);
}

/* Three decimals for the eye, six when the last three say something. */
static void print_ms(FILE *out, uint64_t ns, uint64_t origin_ns)
{
	int64_t distance = (int64_t)(ns - origin_ns);
	char word[40];

	fputs(text__ms(word, sizeof(word), distance, distance % 1000 ? 6 : 3), out);
}

static void print_field(FILE *out, const union record *record, const struct field *field,
			uint64_t origin_ns)
{
	char word[URING_OP_TEXT > TEXT_ERROR ? URING_OP_TEXT : TEXT_ERROR];
	uint64_t number = 0;
	const char *name;

	if (!field__is_set(record, field) || !field__means_something(record, field))
		return;
	fprintf(out, " %s=", field->name);
	if (field->kind != FIELD_STRING && field->kind != FIELD_ADDRESS)
		number = field__number(record, field);
	switch (field->kind) {
	case FIELD_STRING:
		print_string(out, field__string(record, field), field->size);
		break;
	case FIELD_ADDRESS:
		print_address(out, record, field);
		break;
	case FIELD_MS:
		print_ms(out, number, 0);
		break;
	case FIELD_TIME:
		print_ms(out, number, origin_ns);
		break;
	case FIELD_S32:
		fprintf(out, "%d", (int)(uint32_t)number);
		break;
	case FIELD_ERRNO:
		text__error(word, sizeof(word), (uint32_t)number);
		if (strchr(word, ' ')) /* it has no name */
			fprintf(out, "%llu", (unsigned long long)number);
		else
			fputs(word, out);
		break;
	case FIELD_OPCODE:
		fputs(uring_op__text(word, sizeof(word), (uint32_t)number), out);
		break;
	case FIELD_HEX32:
	case FIELD_HEX64:
		fprintf(out, "0x%llx", (unsigned long long)number);
		break;
	default:
		name = field->values ? field__value_name(field, number) : NULL;
		if (name)
			fputs(name, out);
		else
			fprintf(out, "%llu", (unsigned long long)number);
		break;
	}
}

void text__print(FILE *out, const union record *record, uint64_t origin_ns)
{
	const struct record_type *type = record_type__by_number(record->head.type);

	if (!type)
		return;
	print_ms(out, record->head.ts, origin_ns);
	fprintf(out, " %s", type->name);
	for (const struct field *field = record_head_fields; field->name; field++)
		print_field(out, record, field, origin_ns);
	for (const struct field *field = type->fields; field->name; field++)
		print_field(out, record, field, origin_ns);
	fputc('\n', out);
}
