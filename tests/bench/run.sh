#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What does watching a program cost it? Quick request/response exchanges over loopback, both ends on
# one CPU, the tool's own program on another one, without and with a tool attached to the client.
#
# The machine may be shared and noisy, so no two runs are compared but those of a pair, one right
# after the other, and the result is the median of the pairs' ratios. What is compared is CPU time
# (user + system of both ends) per exchange, which wanders less than exchanges per second do.
#
# "nginx" in place of a number of connections: one worker of it, and four connections at a time, each for one request.
#
# Settings (environment): PAIRS=7 SECONDS_EACH=2 TOOLS="netstall strace bpftrace" CONNECTIONS="1 64 nginx"
# PEERS="trace-all offwake by-cause bystander machine record record-last tcpdump perf-trace perf-sched offcputime wakeuptime runqslower": netstall in
# other ways (bystander: it traces another process; machine: every process), and others that answer a part of the question; with one connection.
# CPU=0 (of both ends) TOOL_CPU=1 NETSTALL=build/netstall EXCHANGE=build/tests/workload/exchange
set -u

cd "$(dirname "$0")/../.." || exit 2
HERE=tests/bench
PAIRS=${PAIRS:-7}
SECONDS_EACH=${SECONDS_EACH:-2}
TOOLS=${TOOLS-netstall strace bpftrace}
PEERS=${PEERS-trace-all offwake by-cause bystander machine record record-last tcpdump perf-trace perf-sched offcputime wakeuptime runqslower}
CONNECTIONS=${CONNECTIONS:-1 64 nginx}
CPU=${CPU:-0}
TOOL_CPU=${TOOL_CPU:-$(($(nproc) > 1 ? 1 : 0))}
NETSTALL=${NETSTALL:-build/netstall}
EXCHANGE=${EXCHANGE:-build/tests/workload/exchange}
WARMUP_MS=300
ATTACH_LIMIT_S=30
TICKS=$(getconf CLK_TCK)

tool_pid=
exchange_pid=
failures=0
scratch=$(mktemp -d) || exit 2

die()
{
	echo "bench: $*" >&2
	exit 2
}

# Only what we started, by its process id.
cleanup()
{
	trap - EXIT INT TERM
	[ -z "$tool_pid" ] || kill "$tool_pid" 2>/dev/null
	[ -z "$exchange_pid" ] || kill "$exchange_pid" 2>/dev/null
	wait
	rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# ---- the tools: how each is started, and the line that says that it has attached everything ----

# netstall_on PID COMMAND...
netstall_on()
{
	taskset -c "$TOOL_CPU" "$NETSTALL" "${@:2}" -p "$1" -d $((SECONDS_EACH + 60)) \
		>/dev/null 2>"$scratch/said" &
}
start_netstall() { netstall_on "$1" trace; }
start_trace-all() { netstall_on "$1" trace --all; }
start_offwake() { netstall_on "$1" offwake; }
start_by-cause() { netstall_on "$1" offwake --by-cause; }
start_bystander() { netstall_on $$ trace; }
start_machine()
{
	taskset -c "$TOOL_CPU" "$NETSTALL" trace -a -d $((SECONDS_EACH + 60)) \
		>/dev/null 2>"$scratch/said" &
}

# The same into a file, and of the last seconds into memory.
start_record() { netstall_on "$1" record -o "$scratch/recording"; }
start_record-last() { netstall_on "$1" record -o "$scratch/recording" --last 30; }

start_strace()
{
	taskset -c "$TOOL_CPU" strace -f -tt -o /dev/null -p "$1" >/dev/null 2>"$scratch/said" &
}

# bpftrace finds tracepoints in tracefs. Where that is not mounted, it gets a mount of its own.
start_bpftrace()
{
	# shellcheck disable=SC2016 # the inner shell expands these
	taskset -c "$TOOL_CPU" unshare --mount sh -c '
		[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
		exec "$@"' sh bpftrace -B line $HERE/summary.bt "$1" >"$scratch/said" 2>&1 &
}

# Of all that passes on loopback, which is the exchanges' alone.
start_tcpdump()
{
	taskset -c "$TOOL_CPU" tcpdump -i lo -w /dev/null tcp >/dev/null 2>"$scratch/said" &
}

# What says nothing when it is attached has a second for that. perf and the others find tracepoints as bpftrace does.
start_quiet()
{
	# shellcheck disable=SC2016
	taskset -c "$TOOL_CPU" unshare --mount sh -c '
		[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
		exec "$@"' sh "$@" >/dev/null 2>"$scratch/said" &
	sleep 1
	echo 'has had its time' >>"$scratch/said"
}

start_perf-trace() { start_quiet perf trace -p "$1" -o /dev/null; }
start_perf-sched() { start_quiet perf sched record -o /dev/null -p "$1"; }
start_offcputime() { start_quiet offcputime -p "$1" $((SECONDS_EACH + 60)); }
start_wakeuptime() { start_quiet wakeuptime -p "$1" $((SECONDS_EACH + 60)); }
start_runqslower() { start_quiet runqslower -p "$1" 10000; }

declare -A attached_line=([strace]='attached' [bpftrace]='^tracing' [tcpdump]='listening on')

# Why a tool cannot be measured; nothing if it can.
obstacle()
{
	case $1 in
	netstall | trace-all | offwake | by-cause | bystander | machine | record*)
		[ -x "$NETSTALL" ] || echo "$NETSTALL is not built"
		;;
	strace | bpftrace | tcpdump | offcputime | wakeuptime | runqslower)
		[ -n "$(command -v "$1")" ] || echo "$1 is not installed" ;;
	perf-*) [ -n "$(command -v perf)" ] || echo "perf is not installed" ;;
	*) echo "there is no such tool here" ;;
	esac
}

# attach TOOL PID: returns when everything is attached.
attach()
{
	local i

	: >"$scratch/said"
	"start_$1" "$2"
	tool_pid=$!
	for ((i = 0; i < ATTACH_LIMIT_S * 20; i++)); do
		kill -0 "$tool_pid" 2>/dev/null || break
		grep -q "${attached_line[$1]:-Ctrl-C to stop\|has had its time}" "$scratch/said" && return 0
		sleep 0.05
	done
	echo "bench: $1 did not attach: $(grep -v 'has had its time' "$scratch/said" | tail -n 1)" >&2
	return 1
}

# CPU time of a process so far, in clock ticks.
ticks()
{
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'
}

detach()
{
	kill -INT "$tool_pid" 2>/dev/null
	wait "$tool_pid" 2>/dev/null
	tool_pid=
}

# ---- one run ----

# field NAME LINE: the value in 'NAME=value'.
field()
{
	local rest=${2#*" $1="}

	echo "${rest%% *}"
}

# measure TOOL|none CONNECTIONS: prints 'CPU_US_PER_EXCHANGE EXCHANGES_PER_S TOOL_CPU_PERCENT'.
measure()
{
	local tool=$1 ready done_line before=0 after=0 ok=0

	[ "$2" != nginx ] || { measure_nginx "$1"; return; }
	mkfifo "$scratch/gate" "$scratch/word"
	"$EXCHANGE" --mode single --connections "$2" --cpu "$CPU" --gate stdin \
		--warmup-ms "$WARMUP_MS" --seconds "$SECONDS_EACH" \
		<"$scratch/gate" >"$scratch/word" &
	exchange_pid=$!
	exec 8>"$scratch/gate" 9<"$scratch/word"
	rm "$scratch/gate" "$scratch/word"
	read -r -t 10 -u 9 ready || ready=

	if [ -z "$ready" ]; then
		echo "bench: the workload did not start" >&2
		ok=1
	elif [ "$tool" != none ]; then
		attach "$tool" "$(field client_pid "$ready")"
		ok=$?
		before=$(ticks "$tool_pid")
	fi
	if [ $ok = 0 ]; then
		echo >&8
		# Just before the end: a tool that ends with its target must still be there now.
		sleep "$SECONDS_EACH"
		[ "$tool" = none ] || after=$(ticks "$tool_pid")
		[ -n "$after" ] || { echo "bench: $tool ended before the workload" >&2; ok=1; }
		read -r -t 60 -u 9 done_line || ok=1
	fi
	[ -z "$tool_pid" ] || detach
	exec 8>&- 9<&-
	kill "$exchange_pid" 2>/dev/null	# has ended by itself unless something failed
	wait "$exchange_pid"
	exchange_pid=
	[ $ok = 0 ] || return 1
	awk -v cpu="$(field cpu_us_per_exchange "$done_line")" \
		-v n="$(field exchanges "$done_line")" -v s="$(field seconds "$done_line")" \
		-v ticks=$((after - before)) -v hz="$TICKS" -v elapsed="$SECONDS_EACH" \
		'BEGIN { print cpu, n / s, 100 * ticks / hz / elapsed }'
}

# CPU time of a thread so far, in ns.
run_ns() { cut -d' ' -f1 "/proc/$1/schedstat"; }

# Likewise, of nginx, which is the target, and who asks it.
measure_nginx()
{
	local port=$((20000 + RANDOM % 10000)) before=0 after=0 ok=0 served

	cat >"$scratch/nginx.conf" <<-END
		daemon off; master_process off; pid $scratch/nginx.pid; error_log stderr;
		events { worker_connections 512; }
		http { access_log off; server { listen 127.0.0.1:$port; return 200 "hello\\n"; } }
	END
	taskset -c "$CPU" nginx -p "$scratch" -c "$scratch/nginx.conf" 2>"$scratch/nginx.err" &
	exchange_pid=$!
	sleep 0.3
	[ "$1" = none ] || attach "$1" "$exchange_pid" || ok=1
	[ "$1" = none ] || before=$(ticks "$tool_pid")
	served=$(run_ns "$exchange_pid")
	TIMEFORMAT='%U %S'
	{ time taskset -c "$CPU" wrk -t1 -c4 -d"$SECONDS_EACH" -H 'Connection: close' \
		"http://127.0.0.1:$port/" >"$scratch/wrk" 2>&1; } 2>"$scratch/time" || ok=1
	served=$(($(run_ns "$exchange_pid") - served))
	[ "$1" = none ] || after=$(ticks "$tool_pid")
	[ -n "$after" ] || { echo "bench: $1 ended before the workload" >&2; ok=1; }
	[ -z "$tool_pid" ] || detach
	kill "$exchange_pid"
	wait "$exchange_pid"
	exchange_pid=
	[ $ok = 0 ] || { tail -n 1 "$scratch/nginx.err" "$scratch/wrk" >&2; return 1; }
	awk -v served=$served -v ticks=$((after - before)) -v hz="$TICKS" -v elapsed="$SECONDS_EACH" \
		'NR == FNR { asked = 1e6 * ($1 + $2); next } / requests in / { n = $1 }
		END { print (asked + served / 1000) / n, n / elapsed, 100 * ticks / hz / elapsed }' \
		"$scratch/time" "$scratch/wrk"
}

# ---- the table ----

row='%-10s %11s  %10s %10s  %6s %-14s  %9s %9s  %8s\n'

# One line of the table from nine words.
print_row()
{
	# shellcheck disable=SC2059 # the format is ours
	printf "$row" "$@"
}

# bench TOOL|control CONNECTIONS: PAIRS times without and with, and the row.
bench()
{
	local with=$1 pair

	[ "$1" != control ] || with=none
	: >"$scratch/pairs"
	for ((pair = 0; pair < PAIRS; pair++)); do
		if ! measure none "$2" >"$scratch/a" || ! measure "$with" "$2" >"$scratch/b"; then
			print_row "$1" "$2" - - failed - - - -
			failures=$((failures + 1))
			return
		fi
		paste -d ' ' "$scratch/a" "$scratch/b" >>"$scratch/pairs"
	done
	# shellcheck disable=SC2046 # seven words
	print_row "$1" "$2" $(awk -f $HERE/medians.awk "$scratch/pairs")
}

[ "$(id -u)" = 0 ] || die "needs root, to trace and to mount"
[ -x "$EXCHANGE" ] || die "$EXCHANGE is not built: make bench builds it"

echo "CPU time (user + system of both ends, both on CPU $CPU) per exchange, without and with a tool"
echo "on the client. $PAIRS pairs of $SECONDS_EACH s each, alternating; medians. $(uname -srm)"
echo "Own CPU: what the tool's own program used of another CPU."
echo
print_row tool connections 'us without' 'us with' ratio '(min..max)' '/s without' '/s with' 'own CPU'
for connections in $CONNECTIONS; do
	bench control "$connections"
done
# rows TOOL CONNECTIONS...
rows()
{
	local tool=$1 why

	shift
	why=$(obstacle "$tool")
	[ -z "$why" ] || { echo "$tool: skipped, $why" && return; }
	for connections; do
		bench "$tool" "$connections"
	done
}
for tool in $TOOLS; do
	# shellcheck disable=SC2086 # several
	rows "$tool" $CONNECTIONS
done
for tool in $PEERS; do
	rows "$tool" "${CONNECTIONS%% *}"
done
[ $failures = 0 ] || exit 1
