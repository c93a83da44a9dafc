#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Installs the Debian 12 packages that netstall is built and tested with: the one list of them.
#
#   deps.sh [--list] [GROUP...]     groups: build test vm bench fuzz deb image roots arm64; without any, all of them
#
# Only what is missing is installed, without questions. When nothing is missing, nothing is done and no network is used.
# With --list the packages are printed, one a line, and nothing is installed.
set -euo pipefail

declare -A packages=(
    # libc6-dev is only recommended by gcc, and recommended packages are not installed here
    [build]="clang llvm libbpf-dev bpftool libelf-dev libdw-dev zlib1g-dev libcap-dev libjansson-dev
             libiberty-dev libc6-dev pkg-config make gcc"
    # gojq is jq that starts in a sixth of the time, 0.07 s for 0.4 in an emulated machine; docs/recipes has jq
    [test]="libcmocka-dev liburing-dev binutils xz-utils iperf3 iproute2 jq gojq util-linux procps kmod python3
            python3-jsonschema python3-yaml python3-fusepy systemd wrk libxml2-utils perl bpftrace chromium golang-go nodejs g++
            redis-server postgresql nginx-light haproxy gunicorn socat dovecot-imapd curl openjdk-17-jdk-headless
            dnsmasq-base unbound strace mandoc zsh fish tshark protobuf-compiler apache2-bin libapache2-mod-wsgi-py3
            skopeo umoci crun"
    # virtiofsd is a part of qemu-system-common
    [vm]="qemu-system-x86 qemu-system-common busybox-static cpio kmod xz-utils zstd util-linux"
    [bench]="bpftrace strace tcpdump linux-perf libbpf-tools nginx-light wrk valgrind"
    [deb]="debhelper dpkg-dev lintian"
    [image]="jq binutils"
    [roots]="mmdebstrap"
    # make ARCH=arm64, and its VMs
    [arm64]="gcc-aarch64-linux-gnu mmdebstrap qemu-system-arm qemu-system-common cpio kmod xz-utils zstd util-linux"
    # libFuzzer and its sanitizers, which clang only suggests
    [fuzz]="libclang-rt-14-dev"
)
groups=(build test vm bench fuzz deb image roots arm64)
# Said before they are installed.
declare -A purposes=(
    [build]="to compile netstall and its eBPF programs" [test]="for the tests" [vm]="for the tests on other kernels"
    [bench]="for the benchmarks" [fuzz]="for the fuzzers" [deb]="for the package" [image]="for the container image"
    [roots]="for roots of other releases" [arm64]="for arm64"
)

self=${0##*/}
die() { echo "$self: $*" >&2; exit 1; }
usage() { echo "usage: $self [--list] [${groups[*]}]..." >&2; exit 64; }

# Prints the packages of the named groups, each once.
list() {
    local group
    for group; do
        tr -s '[:space:]' '\n' <<<"${packages[$group]}"
    done | sort -u
}

# Reads package names, prints those that are not installed.
missing() {
    local package status
    while read -r package; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || true
        [ "$status" = installed ] || echo "$package"
    done
}

only_list=
if [ "${1:-}" = --list ]; then
    only_list=1
    shift
fi
[ $# -gt 0 ] || set -- "${groups[@]}"
for group; do
    [ -n "${packages[$group]+known}" ] || usage
done

if [ -n "$only_list" ]; then
    list "$@"
    exit
fi

command -v dpkg-query apt-get >/dev/null || die "this is no Debian system; what netstall needs: $self --list"
mapfile -t wanted < <(list "$@" | missing)
[ ${#wanted[@]} -gt 0 ] || exit 0
[ "$(id -u)" = 0 ] || die "run this as root to install: ${wanted[*]}"

for group; do
    mapfile -t of_group < <(list "$group" | missing)
    [ ${#of_group[@]} = 0 ] || echo "$self: installs ${purposes[$group]}: ${of_group[*]}"
done
export DEBIAN_FRONTEND=noninteractive
# As a service unbound would become this host's name server, now and at the next boot; only its program is needed.
[[ " ${wanted[*]} " = *" unbound "* ]] && is_unbound_new=1 || is_unbound_new=
policy=/usr/sbin/policy-rc.d
if [ -n "$is_unbound_new" ] && [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    # shellcheck disable=SC2016
    printf '#!/bin/sh\ncase $1 in unbound*) exit 101 ;; esac\n' >$policy
    chmod 755 $policy
fi
# A source that has nothing to do with these packages may well be out of reach, so only the installation's result counts.
apt-get -qq update || true
apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install --no-install-recommends "${wanted[@]}" >/dev/null ||
    die "apt-get could not install ${wanted[*]}; what stands above says why"
[ -z "$is_unbound_new" ] || systemctl --quiet disable unbound.service unbound-resolvconf.service
