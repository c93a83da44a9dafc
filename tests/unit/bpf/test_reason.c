// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel side's rules of why TCP holds bytes back and what sent a segment again, as they are
 * compiled for the kernel, over the states of a socket: which of them is met, to the byte.
 */
#include "tests/unit/bpf/history_kernel.h"
#include "user/model/events.h"

/* ---- a socket, as far as the rules look at it ---- */

struct net {
	struct {
		int sysctl_tcp_autocorking, sysctl_tcp_tso_win_divisor;
	} ipv4;
};

struct sk_buff {
	uint32_t truesize, len;
};

struct hrtimer {
	bool waits;
};

/* One struct for the kernel's three, each of which begins with the one before. */
#define tcp_sock             sock
#define inet_connection_sock sock
struct sock {
	struct {
		struct {
			struct net *net;
		} skc_net;
		uint32_t skc_state;
		uint16_t skc_dport;
	} __sk_common;
	struct {
		struct sk_buff *prev;
	} sk_write_queue;
	struct {
		struct {
			int counter;
		} refs;
	} sk_wmem_alloc;
	struct {
		struct {
			uint32_t v;
		} s[1];
	} rtt_min;
	struct {
		uint32_t pending;
	} icsk_ack;
	uint64_t sk_tsq_flags, sk_pacing_rate, tcp_wstamp_ns, first_tx_mstamp, delivered_mstamp;
	uint32_t sk_pacing_status, sk_wmem_queued, sk_sndbuf, icsk_pending, icsk_retransmits,
		icsk_rto;
	uint32_t icsk_ca_state, high_seq, snd_una, snd_nxt, write_seq, snd_sml, rcv_nxt, mss_cache;
	uint32_t nonagle, packets_out, snd_cwnd, snd_wnd, srtt_us;
	struct hrtimer pacing_timer;
};

#define BPF_CORE_READ(object, field)                 ((object)->field)
#define BPF_CORE_READ_BITFIELD_PROBED(object, field) ((object)->field)
#define NS_TCP_SYN_SENT                              2
#define NS_TCP_SYN_RECV                              3
#define NS_TCP_FLAG_SYN                              2
#define NS_TCP_FLAG_ACK                              16
#define NS_ICSK_ACK_TIMER                            2
#define bpf_ntohs(port)                              (port)

struct adoption {
	uint32_t tgid;
};

static int connectors;
static uint64_t answers_until;

static bool hrtimer_waits(const struct hrtimer *timer)
{
	return timer->waits;
}

static uint32_t packets_in_flight(const struct sock *sk)
{
	return sk->packets_out;
}

static uint32_t jiffies_to_us(uint64_t jiffies)
{
	return (uint32_t)jiffies * 4000;
}

static uint64_t bpf_jiffies64(void)
{
	return 0;
}

static uint64_t delack_due(const struct sock *sk)
{
	(void)sk;
	return 0;
}

static bool in_window(void)
{
	return true;
}

static bool target_wanted(struct sock *sk, uint32_t tgid)
{
	(void)sk, (void)tgid;
	return false;
}

static struct adoption by_connect(uint32_t tgid)
{
	return (struct adoption){tgid};
}

static struct ns_conn_state *adopt(struct sock *sk, const struct adoption *as)
{
	(void)sk, (void)as;
	return NULL;
}

static void tell_conn(struct sock *sk, struct ns_conn_state *conn)
{
	(void)sk, (void)conn;
}

static void look_at_door(struct sock *sk, struct ns_conn_state *conn)
{
	(void)sk, (void)conn;
}

static void watch_both_ends(struct ns_conn_state *conn)
{
	(void)conn;
}

static void bpf_get_current_comm(char *comm, size_t size)
{
	memset(comm, 0, size);
}

#include "bpf/tcp/recovery.bpf.h"

#include "bpf/tcp/reason.bpf.h"

/* ---- why bytes are held ---- */

#define MSS 1000

static struct net net;
static struct sock sock;

/* One segment of 100 bytes is out and small, 200 bytes wait. */
static int small_writes(void **state)
{
	net = (struct net){.ipv4 = {.sysctl_tcp_tso_win_divisor = 3}};
	sock = (struct sock){
		.__sk_common.skc_net.net = &net,
		.sk_wmem_alloc.refs.counter = 1,
		.snd_una = 5000,
		.snd_nxt = 5100,
		.snd_sml = 5100,
		.write_seq = 5300,
		.mss_cache = MSS,
		.packets_out = 1,
		.snd_cwnd = 10,
		.snd_wnd = 65535,
	};
	return setup(state);
}

static uint32_t reason(void)
{
	struct ns_hold hold = {0};

	weigh_hold(&sock, &watched, &hold, now_ns);
	return hold.reason;
}

/* Minshall's rule: snd_una < snd_sml <= snd_nxt. */
static void test_nagle(void **state)
{
	(void)state;
	assert_int_equal(reason(), NS_HOLD_NAGLE);
	sock.snd_sml = 5001;
	assert_int_equal(reason(), NS_HOLD_NAGLE);
	sock.snd_sml = 5000; /* acknowledged */
	assert_int_equal(reason(), NS_HOLD_UNKNOWN);
	sock.snd_sml = 5101; /* of long ago, the numbers went round since */
	assert_int_equal(reason(), NS_HOLD_UNKNOWN);
	sock.snd_sml = 5100;
	sock.nonagle = 1; /* TCP_NODELAY */
	assert_int_equal(reason(), NS_HOLD_UNKNOWN);
	sock.nonagle = NS_NAGLE_CORK;
	assert_int_equal(reason(), NS_HOLD_CORK);
	sock.nonagle = 0;
	sock.write_seq = sock.snd_nxt + MSS; /* a whole segment */
	assert_int_equal(reason(), NS_HOLD_UNKNOWN);
	sock.write_seq--;
	assert_int_equal(reason(), NS_HOLD_NAGLE);
	sock.write_seq = sock.snd_nxt;
	assert_int_equal(reason(), NS_HOLD_SNDBUF);
}

/* tcp_snd_wnd_test(): what fits to the last byte may go. */
static void test_window_to_the_byte(void **state)
{
	(void)state;
	sock.nonagle = 1;
	sock.snd_wnd = 300; /* 100 in flight, and the 200 */
	assert_int_equal(reason(), NS_HOLD_UNKNOWN);
	sock.snd_wnd = 299;
	assert_int_equal(reason(), NS_HOLD_RWND);
	sock.snd_wnd = 0;
	assert_int_equal(reason(), NS_HOLD_ZERO_WINDOW);
	/* Of many a segment has to fit. */
	sock.write_seq = sock.snd_nxt + 5 * MSS;
	sock.snd_wnd = 100 + MSS - 1;
	assert_int_equal(reason(), NS_HOLD_RWND);
}

static void test_congestion_window(void **state)
{
	(void)state;
	sock.nonagle = 1;
	sock.snd_cwnd = 1;
	assert_int_equal(reason(), NS_HOLD_CWND);
	sock.snd_cwnd = 2;
	assert_int_equal(reason(), NS_HOLD_UNKNOWN);
}

/* The timer waits, whatever the stamp of the next segment says: it may be due this very moment. */
static void test_pacing(void **state)
{
	(void)state;
	sock.nonagle = 1;
	sock.sk_pacing_status = NS_PACING_NEEDED;
	sock.pacing_timer.waits = true;
	sock.tcp_wstamp_ns = now_ns + 5000000;
	assert_int_equal(reason(), NS_HOLD_PACING);
	sock.tcp_wstamp_ns = now_ns;
	assert_int_equal(reason(), NS_HOLD_PACING);
	sock.pacing_timer.waits = false;
	assert_int_equal(reason(), NS_HOLD_UNKNOWN);
	/* Another one's timer: fq paces below TCP. */
	sock.pacing_timer.waits = true;
	sock.sk_pacing_status = 2;
	assert_int_equal(reason(), NS_HOLD_UNKNOWN);
}

/* ---- what sent a segment again ---- */

static uint32_t sent_again(uint32_t ca_state, uint32_t pending)
{
	sock.icsk_ca_state = ca_state;
	sock.icsk_pending = pending;
	return retrans_kind(&sock, &watched, ca_state);
}

static void test_kinds(void **state)
{
	(void)state;
	sock.high_seq = 5100;
	assert_int_equal(sent_again(0, NS_ICSK_TIME_LOSS_PROBE), NS_RETRANS_TLP);
	assert_int_equal(sent_again(0, 1), NS_RETRANS_UNKNOWN);
	assert_int_equal(sent_again(NS_CA_RECOVERY, NS_ICSK_TIME_LOSS_PROBE), NS_RETRANS_FAST);
	/* In TCP_CA_Loss by another way than its timer, which nobody saw. */
	assert_int_equal(sent_again(NS_CA_LOSS, 1), NS_RETRANS_UNKNOWN);
	assert_int_equal(sent_again(NS_CA_LOSS, 0), NS_RETRANS_RTO);
	assert_int_equal(sent_again(NS_CA_LOSS, 1), NS_RETRANS_RTO);
	sock.high_seq++;
	assert_int_equal(sent_again(NS_CA_LOSS, 1), NS_RETRANS_UNKNOWN);
	sock.__sk_common.skc_state = NS_TCP_SYN_SENT;
	assert_int_equal(sent_again(NS_CA_LOSS, 0), NS_RETRANS_SYN);
}

/* A recovery is over when its last byte is acknowledged: not one before, and not with the next. */
static void test_recovery_ends(void **state)
{
	(void)state;
	sock.icsk_ca_state = NS_CA_LOSS;
	note_retransmit(&sock, &watched, 5000, 5100);
	assert_int_not_equal(watched.recovery.ts, 0);
	recovery_acked(&watched, 5099, now_ns);
	assert_int_not_equal(watched.recovery.ts, 0);
	recovery_acked(&watched, 5100, now_ns);
	assert_int_equal(watched.recovery.ts, 0);
	/* One more segment of the same flight makes it longer. */
	note_retransmit(&sock, &watched, 5000, 5100);
	note_retransmit(&sock, &watched, 5100, 5200);
	recovery_acked(&watched, 5100, now_ns);
	assert_int_not_equal(watched.recovery.ts, 0);
	recovery_acked(&watched, 5200, now_ns);
	assert_int_equal(watched.recovery.ts, 0);
}

static void test_times_the_timer_ran_out(void **state)
{
	(void)state;
	assert_int_equal(timer_retries(&sock, &watched, 5000, NS_RETRANS_RTO), 1);
	assert_int_equal(timer_retries(&sock, &watched, 5000, NS_RETRANS_RTO), 2);
	sock.icsk_retransmits = 7; /* most of them before the attach */
	assert_int_equal(timer_retries(&sock, &watched, 5000, NS_RETRANS_RTO), 7);
	sock.icsk_retransmits = 0;
	assert_int_equal(timer_retries(&sock, &watched, 5100, NS_RETRANS_RTO), 1);
	assert_int_equal(timer_retries(&sock, &watched, 5100, NS_RETRANS_TLP), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nagle, small_writes),
		cmocka_unit_test_setup(test_window_to_the_byte, small_writes),
		cmocka_unit_test_setup(test_congestion_window, small_writes),
		cmocka_unit_test_setup(test_pacing, small_writes),
		cmocka_unit_test_setup(test_kinds, small_writes),
		cmocka_unit_test_setup(test_recovery_ends, small_writes),
		cmocka_unit_test_setup(test_times_the_timer_ran_out, small_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
