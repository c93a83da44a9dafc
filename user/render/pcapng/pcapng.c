// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/pcapng/pcapng.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "user/base/array.h"
#include "user/base/table.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/render/words/words.h"

#ifndef NETSTALL_VERSION
#define NETSTALL_VERSION "unknown"
#endif

/* draft-ietf-opsawg-pcapng, 4.1 to 4.3 and 3.5; LINKTYPE_RAW of tcpdump.org/linktypes.html */
#define BLOCK_SECTION               0x0a0d0d0au
#define BLOCK_INTERFACE             1u
#define BLOCK_PACKET                6u
#define BYTE_ORDER_MAGIC_OF_SECTION 0x1a2b3c4du
#define LINKTYPE_RAW                101u
#define OPTION_COMMENT              1u
#define OPTION_NAME                 2u /* if_name */
#define OPTION_PROGRAM              4u /* shb_userappl */
#define OPTION_TSRESOL              9u /* if_tsresol; 9: ns */

#define COMMENT_MOST 2000 /* bytes */
#define LOOK_BACK    64   /* packets, for the one that a release is about */
#define NEAR         1000 /* packets, for the one that a stall ends with */
#define TCP_HEADER   20
#define PAIRS        65536

struct packet {
	uint64_t ts;
	uint32_t conn, seq, ack;
	uint32_t bytes; /* of payload */
	uint32_t order; /* as they came */
	uint8_t flags;
	bool received;
	char *comment; /* NULL none */
};

/* What waits for the next packet of a connection, of either end. */
struct pending {
	char *text;
};

struct pcapng {
	struct packet *packets;
	size_t count, room;
	uint64_t left_out;
	struct table *pending; /* by the number of the first of both ends */
};

struct pcapng *pcapng__new(void)
{
	struct pcapng *pcapng = xcalloc(1, sizeof(*pcapng));

	pcapng->pending = table__new(PAIRS);
	return pcapng;
}

static void drop_pending(void *value)
{
	struct pending *pending = value;

	free(pending->text);
	free(pending);
}

void pcapng__free(struct pcapng *pcapng)
{
	if (!pcapng)
		return;
	for (size_t i = 0; i < pcapng->count; i++)
		free(pcapng->packets[i].comment);
	free(pcapng->packets);
	table__free(pcapng->pending, drop_pending);
	free(pcapng);
}

/* ---- what is seen ---- */

static char *joined(char *before, const char *line)
{
	char *text = before ? xasprintf("%s\n%s", before, line) : xstrdup(line);

	free(before);
	if (strlen(text) > COMMENT_MOST)
		text[COMMENT_MOST] = '\0';
	return text;
}

static uint32_t pair_of(const struct report *report, uint32_t number)
{
	const struct report_conn *conn = report__conn(report, number);

	return conn && conn->peer && conn->peer < number ? conn->peer : number;
}

static void add_packet(struct pcapng *pcapng, const struct report *report,
		       const struct ns_segment *segment)
{
	struct pending *pending = table__get(pcapng->pending, pair_of(report, segment->head.conn));
	struct packet *packet;

	if (pcapng->count == PCAPNG_PACKETS) {
		pcapng->left_out++;
		return;
	}
	pcapng->packets =
		xgrow(pcapng->packets, pcapng->count, &pcapng->room, sizeof(*pcapng->packets));
	packet = &pcapng->packets[pcapng->count++];
	*packet = (struct packet){.ts = segment->head.ts,
				  .conn = segment->head.conn,
				  .seq = segment->seq,
				  .ack = segment->ack,
				  .bytes = segment->end - segment->seq,
				  .order = (uint32_t)pcapng->count,
				  .flags = (uint8_t)segment->flags,
				  .received = segment->head.type == NS_RX};
	if (pending) {
		packet->comment = pending->text;
		pending->text = NULL;
	}
}

static void add_comment(struct pcapng *pcapng, const struct report *report, uint32_t conn,
			const char *line)
{
	uint32_t key = pair_of(report, conn);
	struct pending *pending = table__get(pcapng->pending, key);

	if (!pending) {
		pending = xcalloc(1, sizeof(*pending));
		if (!table__put(pcapng->pending, key, pending)) {
			free(pending);
			return;
		}
	}
	pending->text = joined(pending->text, line);
}

/* The packet that it was sent in, which has just been seen. */
static struct packet *packet_of(struct pcapng *pcapng, const struct ns_head *head)
{
	for (size_t i = 0; i < pcapng->count && i < LOOK_BACK; i++) {
		struct packet *packet = &pcapng->packets[pcapng->count - 1 - i];

		if (packet->conn == head->conn && packet->ts == head->ts && !packet->received)
			return packet;
	}
	return NULL;
}

static char *line_of(const struct report *report, const union record *record)
{
	const struct scene scene = {.report = report};
	struct words words;

	memset(&words, 0, sizeof(words));
	words__record(&scene, record, &words);
	return xasprintf("%s: %s%s%s%s%s", words.actor, words.what, words.amount[0] ? " " : "",
			 words.amount, words.note[0] ? ", " : "", words.note);
}

void pcapng__record(struct pcapng *pcapng, const struct report *so_far, const union record *record)
{
	const struct report_conn *conn = report__conn(so_far, record->head.conn);
	struct packet *packet;
	char *line;

	switch (record->head.type) {
	case NS_RX:
		/* What the other end sent is seen there already. */
		if (conn && conn->peer)
			return;
		/* fall through */
	case NS_TX:
	case NS_ACK:
		add_packet(pcapng, so_far, &record->segment);
		return;
	case NS_HOLD:
	case NS_RELEASE:
	case NS_DELACK_FIRE:
	case NS_RETRANS:
		break;
	default:
		return;
	}
	line = line_of(so_far, record);
	packet = record->head.type == NS_RELEASE || record->head.type == NS_RETRANS
			 ? packet_of(pcapng, &record->head)
			 : NULL;
	if (packet)
		packet->comment = joined(packet->comment, line);
	else
		add_comment(pcapng, so_far, record->head.conn, line);
	free(line);
}

/* ---- the file ---- */

struct bytes {
	unsigned char *v;
	size_t count, room;
};

static void put(struct bytes *bytes, const void *from, size_t size)
{
	if (bytes->count + size > bytes->room) {
		bytes->room = 2 * (bytes->count + size);
		bytes->v = xreallocarray(bytes->v, bytes->room, 1);
	}
	memcpy(bytes->v + bytes->count, from, size);
	bytes->count += size;
}

static void put_u32(struct bytes *bytes, uint32_t value)
{
	put(bytes, &value, sizeof(value));
}

static void put_u16(struct bytes *bytes, uint16_t value)
{
	put(bytes, &value, sizeof(value));
}

static void pad(struct bytes *bytes)
{
	while (bytes->count % sizeof(uint32_t))
		put(bytes, "", 1);
}

static void put_option(struct bytes *bytes, uint16_t code, const void *value, size_t size)
{
	put_u16(bytes, code);
	put_u16(bytes, (uint16_t)size);
	put(bytes, value, size);
	pad(bytes);
}

static void put_text(struct bytes *bytes, uint16_t code, const char *text)
{
	if (text)
		put_option(bytes, code, text, strlen(text));
}

static void write_block(FILE *out, uint32_t type, struct bytes *body, bool has_options)
{
	uint32_t length;

	if (has_options)
		put_u32(body, 0); /* opt_endofopt */
	pad(body);
	length = (uint32_t)body->count + 3 * sizeof(uint32_t);
	fwrite(&type, sizeof(type), 1, out);
	fwrite(&length, sizeof(length), 1, out);
	fwrite(body->v, 1, body->count, out);
	fwrite(&length, sizeof(length), 1, out);
	body->count = 0;
}

static void write_heads(const struct pcapng *pcapng, FILE *out, struct bytes *body)
{
	const uint64_t unknown = UINT64_MAX;
	char *comment = xasprintf(
		"Made by netstall from what it saw of segments: headers alone, without options "
		"and windows. %llu packets were left out.",
		(unsigned long long)pcapng->left_out);

	put_u32(body, BYTE_ORDER_MAGIC_OF_SECTION);
	put_u16(body, 1);
	put_u16(body, 0);
	put(body, &unknown, sizeof(unknown));
	put_text(body, OPTION_COMMENT, comment);
	put_text(body, OPTION_PROGRAM, "netstall " NETSTALL_VERSION);
	write_block(out, BLOCK_SECTION, body, true);
	put_u16(body, LINKTYPE_RAW);
	put_u16(body, 0);
	put_u32(body, 0); /* no limit */
	put_text(body, OPTION_NAME, "netstall");
	put_option(body, OPTION_TSRESOL, "\x09", 1);
	write_block(out, BLOCK_INTERFACE, body, true);
	free(comment);
}

static uint16_t checksum(const unsigned char *header, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i += 2)
		sum += (uint32_t)(header[i] << 8 | header[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* RFC 791, RFC 8200. Returns how many bytes. */
static size_t write_ip(unsigned char *at, const struct ns_conn *id, const struct packet *packet)
{
	const uint32_t *from = packet->received ? id->raddr : id->laddr;
	const uint32_t *to = packet->received ? id->laddr : id->raddr;
	size_t payload = TCP_HEADER + packet->bytes;
	uint16_t length, sum;

	if (id->family == AF_INET6) {
		length = htons(payload > 65535 ? 0 : (uint16_t)payload);
		memset(at, 0, 40);
		at[0] = 0x60;
		memcpy(at + 4, &length, sizeof(length));
		at[6] = IPPROTO_TCP;
		at[7] = 64;
		memcpy(at + 8, from, 16);
		memcpy(at + 24, to, 16);
		return 40;
	}
	/* 0 of a segment that a device is to cut, as Wireshark knows it. */
	length = htons(payload + 20 > 65535 ? 0 : (uint16_t)(payload + 20));
	memset(at, 0, 20);
	at[0] = 0x45;
	memcpy(at + 2, &length, sizeof(length));
	at[6] = 0x40;
	at[8] = 64;
	at[9] = IPPROTO_TCP;
	memcpy(at + 12, from, 4);
	memcpy(at + 16, to, 4);
	sum = checksum(at, 20);
	memcpy(at + 10, &sum, sizeof(sum));
	return 20;
}

/* RFC 9293, 3.1. The window is not known: it is as large as it can be. */
static size_t write_tcp(unsigned char *at, const struct ns_conn *id, const struct packet *packet)
{
	uint16_t from = htons((uint16_t)(packet->received ? id->rport : id->lport));
	uint16_t to = htons((uint16_t)(packet->received ? id->lport : id->rport));
	uint32_t seq = htonl(packet->seq), ack = htonl(packet->ack);

	memset(at, 0, TCP_HEADER);
	memcpy(at, &from, sizeof(from));
	memcpy(at + 2, &to, sizeof(to));
	memcpy(at + 4, &seq, sizeof(seq));
	memcpy(at + 8, &ack, sizeof(ack));
	at[12] = TCP_HEADER / 4 << 4;
	at[13] = packet->flags;
	at[14] = at[15] = 0xff;
	return TCP_HEADER;
}

static void write_packet(FILE *out, struct bytes *body, const struct report *report,
			 const struct packet *packet, const struct report_conn *conn)
{
	uint64_t time = packet->ts + report->session.wall_offset_ns;
	unsigned char headers[40 + TCP_HEADER];
	size_t size = write_ip(headers, &conn->id, packet);

	size += write_tcp(headers + size, &conn->id, packet);
	put_u32(body, 0);
	put_u32(body, (uint32_t)(time >> 32));
	put_u32(body, (uint32_t)time);
	put_u32(body, (uint32_t)size);
	put_u32(body, (uint32_t)size + packet->bytes);
	put(body, headers, size);
	pad(body);
	put_text(body, OPTION_COMMENT, packet->comment);
	write_block(out, BLOCK_PACKET, body, packet->comment);
}

static int by_time(const void *a, const void *b)
{
	const struct packet *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static bool is_of(const struct packet *packet, const struct stall *stall)
{
	return packet->conn == stall->conn || (stall->peer && packet->conn == stall->peer);
}

/* The first packet of its connection from its end on, or the last one before; NULL: none is near.
 */
static struct packet *packet_at_end(struct pcapng *pcapng, const struct stall *stall)
{
	size_t low = 0, high = pcapng->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pcapng->packets[middle].ts < stall->end_ts)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < pcapng->count && i < low + NEAR; i++)
		if (is_of(&pcapng->packets[i], stall))
			return &pcapng->packets[i];
	for (size_t i = low; i > 0 && i + NEAR > low; i--)
		if (is_of(&pcapng->packets[i - 1], stall))
			return &pcapng->packets[i - 1];
	return NULL;
}

static void note_stall(struct pcapng *pcapng, const struct report *report,
		       const struct stall *stall)
{
	struct packet *packet = stall->conn ? packet_at_end(pcapng, stall) : NULL;
	char *line;

	if (!packet)
		return;
	line = xasprintf("stall %u ends: %s, %s of %s", stall->number,
			 cause__info(stall->cause)->id,
			 duration_text(stall->end_ts - stall->start_ts),
			 thread_text(report, stall->pid, stall->tid));
	packet->comment = joined(packet->comment, line);
	free(line);
}

void pcapng__write(struct pcapng *pcapng, FILE *out, const struct report *report)
{
	struct bytes body = {0};

	sort_array(pcapng->packets, pcapng->count, sizeof(*pcapng->packets), by_time);
	for (size_t i = 0; i < report->stall_count; i++)
		note_stall(pcapng, report, &report->stalls[i]);
	write_heads(pcapng, out, &body);
	for (size_t i = 0; i < pcapng->count; i++) {
		const struct report_conn *conn = report__conn(report, pcapng->packets[i].conn);

		if (conn)
			write_packet(out, &body, report, &pcapng->packets[i], conn);
	}
	free(body.v);
}
