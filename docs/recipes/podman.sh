#!/bin/sh
# Podman, as root: any command of netstall for processes of the host, without --privileged.
#
#   podman.sh COMMAND [ARG...]      podman.sh doctor; podman.sh trace -p PID -d 10; podman.sh record -p PID -o /out/run.nsr
#
# The image: make image, podman load -i build/netstall-VERSION-oci.tar. It needs no host mounts, no network and no user; what
# netstall writes to /out is in OUT (default: the current folder, which must be root's). Podman's seccomp profile refuses bpf() (4.3) or
# perf_event_open() (5.4) to those who have CAP_BPF and CAP_PERFMON alone, so this makes one that leaves both to the kernel.
# SELinux does not let a container look at the host's processes: label=disable.
profile=$(mktemp) || exit 2
trap 'rm -f "$profile"' EXIT
jq '.syscalls |= (map(.names -= ["bpf", "perf_event_open"] | select(.names != [])) +
    [{names: ["bpf", "perf_event_open"], action: "SCMP_ACT_ALLOW"}])' /usr/share/containers/seccomp.json >"$profile" || exit 2
"${PODMAN:-podman}" run --rm --read-only --network none --pid host --cap-drop ALL \
	--cap-add BPF --cap-add PERFMON --cap-add SYSLOG --cap-add SYS_PTRACE --cap-add DAC_READ_SEARCH \
	--security-opt no-new-privileges --security-opt label=disable --security-opt seccomp="$profile" \
	-v "${OUT:-$PWD}:/out" "${IMAGE:-netstall:0.1.0}" "$@"
