#!/bin/sh
# Containers: check what runs in a container, from another container that is not privileged. docker, or ENGINE=podman as root.
#
#   container.sh CONTAINER [SECONDS]
#
# The image: make image, docker load -i build/netstall-VERSION-oci.tar; or Containerfile. It needs no host mounts:
# /sys/kernel/btf and /proc are there. Docker's own seccomp profile allows bpf() with CAP_BPF, and perf_event_open() with
# CAP_PERFMON, from version 23 on; podman's does not, see podman.sh.
exec "${ENGINE:-docker}" run --rm --read-only --network none --security-opt no-new-privileges \
	--cap-drop ALL --cap-add BPF --cap-add PERFMON --cap-add SYSLOG --cap-add SYS_PTRACE --cap-add DAC_READ_SEARCH \
	--pid "container:$1" "${IMAGE:-netstall:0.1.0}" check -p 1 --children -d "${2:-30}"
