#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The image of `make image`: its bytes, what skopeo and umoci read in it, and what netstall does in a container of crun's
# (tests/recipes/engine.sh), with the rights of the recipes, with fewer, and under a seccomp profile that refuses bpf().
#
# Root, but for the first ones. A line for each, `ok image/NAME`, `not ok image/NAME: why` or `skip image/NAME: why`; exit status 1
# if any failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

MOST=$((3 << 20)) # bytes
LABEL=image
. tests/judge.sh

work=$(mktemp -d) || exit 2
target=
trap '[ -z "$target" ] || kill $target 2>/dev/null; rm -rf "$work"' EXIT
said=$(make -s -j2 image 2>&1 >/dev/null)
judge build "${said%%$'\n'*}" [ -z "$said" ]
image=$(find build -maxdepth 1 -name 'netstall-*-oci.tar')
[ -f "$image" ] || exit 1
version=${image#*netstall-} version=${version%-oci.tar}
commit=$(git rev-parse --short=12 HEAD 2>/dev/null)
judge size "it has $(stat -c %s "$image") bytes" [ "$(stat -c %s "$image")" -le $MOST ]

file=$(find build -maxdepth 1 -name "netstall-*-linux-$(uname -m)")
cp "$file" "$work/again" && chmod 700 "$work/again"
(umask 077 && COMMIT=$commit TZ=Asia/Tokyo LC_ALL=C.UTF-8 scripts/oci-image.sh "$work/again" "$version" "$work/again.tar")
judge same_bytes "$(cmp "$image" "$work/again.tar" 2>&1)" cmp -s "$image" "$work/again.tar"

for tool in skopeo umoci crun; do
    command -v $tool >/dev/null || { echo "skip image/read: $tool is not installed, see scripts/deps.sh" && exit $failed; }
done
skopeo inspect --config "oci-archive:$image" >"$work/config" 2>"$work/said"
label() { jq -r --arg name "org.opencontainers.image.$1" '.config.Labels[$name]' "$work/config"; }
judge config "$(head -n 1 "$work/said") $(jq -c . "$work/config")" [ "$(jq -c '[.architecture, .os, .config.Entrypoint]' "$work/config")" = \
    "$(jq -nc --arg arch "$(dpkg --print-architecture)" '[$arch, "linux", ["/netstall"]]')" ]
judge labels "$(jq -c .config.Labels "$work/config")" [ "$(label version) $(label revision) $(label licenses)" = \
    "$version $commit BSD-2-Clause OR GPL-2.0-only" ]
skopeo inspect --config "docker-archive:$image" >"$work/docker" 2>"$work/said"
judge docker_archive "another config for docker: $(head -n 1 "$work/said")" cmp -s "$work/config" "$work/docker"

mkdir "$work/layout" && tar -xf "$image" -C "$work/layout"
if [ "$(id -u)" != 0 ] || ! umoci unpack --image "$work/layout:$version" "$work/bundle" >"$work/said" 2>&1; then
    echo "skip image/unpacked: $(tail -n 1 "$work/said")"
    exit $failed
fi
judge one_file "it has $(cd "$work/bundle/rootfs" && find . | paste -sd' ')" \
    [ "$(find "$work/bundle/rootfs" -mindepth 1 -printf '%P %m %U:%G\n')" = "netstall 755 0:0" ]
judge same_file "it is not $file" cmp -s "$file" "$work/bundle/rootfs/netstall"

export BUNDLE=$work/bundle
# in_image CAPABILITIES OPTION... netstall COMMAND...
in_image() {
    local caps=$1
    shift
    # shellcheck disable=SC2086,SC2046 # words
    timeout 60 tests/recipes/engine.sh run --rm --read-only --network none --cap-drop ALL --security-opt no-new-privileges \
        $(printf -- '--cap-add %s ' $caps) "$@" >"$work/said" 2>&1
}
all="BPF PERFMON SYSLOG SYS_PTRACE DAC_READ_SEARCH"
if ! in_image "$all" netstall --version; then
    echo "skip image/run: no container can be had: $(head -n 1 "$work/said")"
    exit $failed
fi
in_image "$all" netstall doctor
judge doctor "$(tail -n 1 "$work/said")" grep -q '^Tracing is possible' "$work/said"
in_image "$all" netstall demo
judge demo "$(grep -m 1 ^netstall "$work/said")" grep -q '^nagle-delack: ' "$work/said"

# A program outside, with the capabilities that tracing takes, then with one less.
build/tests/workload/exchange --seconds 300 --name image-target >"$work/target" 2>&1 &
target=$!
sleep 0.5
in_image "BPF PERFMON" --pid host netstall trace --comm image-target -d 2
judge two_capabilities "$(head -n 3 "$work/said" | paste -sd' ')" grep -q '^nagle-delack: .*image-target' "$work/said"
in_image "$all" --pid host netstall trace --comm image-target -d 2
judge call_sites "$(grep -m 1 'write:' "$work/said")" grep -q 'first write:  *begin_exchange (client.c' "$work/said"
for less in BPF PERFMON; do
    in_image "${all/$less/}" --pid host netstall doctor
    judge without_$less "$(tail -n 1 "$work/said")" grep -q "privileges  *missing  *CAP_$less\$" "$work/said"
done
refusing=/usr/share/containers/seccomp.json
if ! jq -e '[.syscalls[] | select(.names | index("bpf")) | select(.action == "SCMP_ACT_ALLOW").includes.caps[]] == ["CAP_SYS_ADMIN"]' $refusing >/dev/null 2>&1; then
    echo "skip image/seccomp: no profile here that refuses bpf()"
else
    in_image "$all" --pid host --security-opt seccomp=$refusing netstall doctor
    judge seccomp "$(tail -n 1 "$work/said")" grep -q '^Tracing is not possible: .*seccomp' "$work/said"
fi
exit $failed
