#!/bin/sh
# Docker: any command of netstall for processes of the host, without --privileged.
#
#   docker.sh COMMAND [ARG...]      docker.sh doctor; docker.sh trace -p PID -d 10; docker.sh record -p PID -o /out/run.nsr
#
# The image: make image, docker load -i build/netstall-VERSION-oci.tar. It needs no host mounts, no network and no user; what
# netstall writes to /out is in OUT (default: the current folder, which must be root's). AppArmor's profile for containers
# hides the programs of others. Before Docker 23: SECCOMP=unconfined; Debian 12's 20.10 does not know the names BPF and PERFMON,
# and needs SYS_ADMIN in their place.
exec "${DOCKER:-docker}" run --rm --read-only --network none --pid host --cap-drop ALL \
	--cap-add BPF --cap-add PERFMON --cap-add SYSLOG --cap-add SYS_PTRACE --cap-add DAC_READ_SEARCH \
	--security-opt no-new-privileges --security-opt apparmor=unconfined ${SECCOMP:+--security-opt "seccomp=$SECCOMP"} \
	-v "${OUT:-$PWD}:/out" "${IMAGE:-netstall:0.1.0}" "$@"
