#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# In place of docker and podman, for the recipes' command lines: the image as umoci unpacked it ($BUNDLE) in a container of crun's,
# with what the options ask for and no more; seccomp=FILE is a profile as docker and podman have them. No AppArmor, no SELinux, and
# without seccomp=FILE no seccomp. CONTAINER_PID is process 1 of the container app; an option that it does not know is an error.
set -euo pipefail

[ "$1" = run ] && shift
caps=() readonly_root=false nnp=false dropped='' pid=own profile='' mounts=()
while [[ $1 == -* ]]; do
    case $1 in
    --rm | -i) ;;
    --read-only) readonly_root=true ;;
    --security-opt)
        case $2 in
        no-new-privileges) nnp=true ;;
        seccomp=*) profile=${2#seccomp=} ;;
        apparmor=unconfined | label=disable) ;;
        *) echo "engine.sh: no option $1 $2" >&2 && exit 125 ;;
        esac
        shift
        ;;
    --cap-drop) [ "$2" = ALL ] && dropped=1 && shift ;;
    --cap-add) caps+=("CAP_$2") && shift ;;
    --network) [ "$2" = none ] && shift ;;
    --pid) case $2 in host) pid=host ;; container:app) pid=/proc/$CONTAINER_PID/ns/pid ;; *) exit 125 ;; esac && shift ;;
    -v) mounts+=("$2") && shift ;;
    *) echo "engine.sh: no option $1" >&2 && exit 125 ;;
    esac
    shift
done
[[ $1 == *netstall* ]] && [ -n "$dropped" ] || exit 125
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
capabilities=$(jq -nc '$ARGS.positional' --args -- "${caps[@]}")
# A profile has rules for some capabilities and machines; the runtime has those that are for this container.
jq --argjson caps "$capabilities" '{
    defaultAction, defaultErrnoRet, architectures: ["SCMP_ARCH_X86_64"],
    syscalls: [.syscalls[] | select(
        ((.includes.caps // []) - $caps == []) and ((.excludes.caps // []) - $caps == (.excludes.caps // [])) and
        ((.includes.arches // ["amd64"]) | index("amd64")) and ((.excludes.arches // []) | index("amd64") | not)
    ) | {names, action} + if .errnoRet then {errnoRet} else {} end + if .args and .args != [] then {args} else {} end]
} | del(.[] | nulls)' <<<"$([ -z "$profile" ] || cat "$profile")" >"$work/seccomp"
jq --argjson caps "$capabilities" --arg root "$BUNDLE/rootfs" --argjson readonly $readonly_root --argjson nnp $nnp --arg pid "$pid" \
    --slurpfile seccomp "$work/seccomp" --argjson mounts "$(jq -nc '$ARGS.positional' --args -- "${mounts[@]}")" '
    .root = {path: $root, readonly: $readonly} | .process.terminal = false | .process.noNewPrivileges = $nnp | .process.args += $ARGS.positional |
    .process.capabilities = {bounding: $caps, effective: $caps, permitted: $caps} | del(.process.rlimits, .linux.resources) |
    .linux.namespaces |= [.[] | select(.type != "pid")] + (if $pid == "host" then [] elif $pid == "own" then [{type: "pid"}] else [{type: "pid", path: $pid}] end) |
    .mounts |= [.[] | select(.type != "cgroup")] + [$mounts[] | split(":") | {destination: .[1], source: .[0], type: "bind", options: ["rbind", "rw"]}] |
    if $seccomp != [] then .linux.seccomp = $seccomp[0] else . end' "$BUNDLE/config.json" --args -- "$@" >"$work/config.json"
# crun takes no host with both versions of cgroups: it sees the second alone, and makes none.
# shellcheck disable=SC2016 # the inner shell's
unshare --mount --propagation private sh -c '
    mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec crun --root "$0" --cgroup-manager=disabled run -b "$0" "netstall-$$"' "$work"
