#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes the root of an arm64 Debian 12: what `make ARCH=arm64` compiles against and what a VM of an arm64 kernel runs in (vm-run.sh).
# Its packages are unpacked and not configured, so that nothing of it runs here.
#
#   arm64-root.sh        prints nothing where it is there already; to have newer packages, remove its folder
#
# It is $NETSTALL_VM_CACHE/arm64-root (the default cache is build/vm in the work tree). The packages come from this machine's mirror.
set -euo pipefail

self=${0##*/}
top=$(realpath "$(dirname "$0")/..")
die() { echo "$self: $*" >&2; exit 1; }

# The libraries of deps.sh's group build with their archives, and liburing for the workloads; what the tests call.
packages=(libc6-dev libbpf-dev libelf-dev libdw-dev zlib1g-dev libcap-dev libjansson-dev libiberty-dev liblzma-dev libbz2-dev liburing-dev
    bash dash coreutils tar gzip findutils diffutils grep sed mawk procps util-linux kmod iproute2 libcap2-bin gojq python3 perl-base busybox-static)

cache=${NETSTALL_VM_CACHE:-$top/build/vm}
root=$cache/arm64-root
[ ! -f "$root/netstall-packages" ] || [ "$(<"$root/netstall-packages")" != "${packages[*]}" ] || exit 0
[ "$(id -u)" = 0 ] || die "run this as root: the files of a root file system are root's"
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing (scripts/deps.sh arm64)"
mkdir -p "$cache"
exec {lock}>"$cache/lock"
flock "$lock"
[ ! -f "$root/netstall-packages" ] || [ "$(<"$root/netstall-packages")" != "${packages[*]}" ] || exit 0

work=$(mktemp -d "$cache/arm64-root.XXXXXX")
trap 'rm -rf "$work"' EXIT
mmdebstrap --architectures=arm64 --variant=extract --mode=root --quiet --include="$(IFS=, && echo "${packages[*]}")" bookworm "$work/root" \
    2>"$work/log" || die "no root could be made: $(grep -m 1 '^E: ' "$work/log" || tail -n 1 "$work/log")"
# What the packages' scripts would have made.
ln -sf mawk "$work/root/usr/bin/awk"
[ -e "$work/root/bin/sh" ] || ln -s dash "$work/root/bin/sh"
printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' >"$work/root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$work/root/etc/group"
echo "${packages[*]}" >"$work/root/netstall-packages"
rm -rf "$root"
mv "$work/root" "$root"
echo "arm64 root: Debian $(<"$root/etc/debian_version"), ${#packages[@]} packages and what they need"
