// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Text traces, the writing half. */
#include <string.h>

#include "user/base/text.h"
#include "user/record/text.h"

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
	case FIELD_NAME:
		name = field__value_name(field, number);
		if (name) {
			fputs(name, out);
			break;
		}
		fprintf(out, "%llu", (unsigned long long)number);
		break;
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_FD:
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
