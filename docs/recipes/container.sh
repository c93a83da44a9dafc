#!/bin/sh
# Containers: check what runs as process 1 of a container, from another container that is not privileged.
#
#   container.sh CONTAINER [SECONDS]
#
# The image: Containerfile. It needs no host mounts: /sys/kernel/btf and /proc are there. Docker's own seccomp
# profile allows bpf() with CAP_BPF, and perf_event_open() with CAP_PERFMON.
exec "${ENGINE:-docker}" run --rm --read-only --security-opt no-new-privileges \
	--cap-drop ALL --cap-add BPF --cap-add PERFMON --cap-add SYSLOG --cap-add SYS_PTRACE --cap-add DAC_READ_SEARCH \
	--pid "container:$1" netstall check -p 1 -d "${2:-30}"
