#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# In place of docker, for the recipe's command line: the same conditions made by hand. No image, no seccomp profile, no
# AppArmor. CONTAINER_PID is process 1 of the container that --pid names; an option that it does not know is an error.
set -euo pipefail

[ "$1" = run ] && shift
caps=() readonly_root='' nnp=() dropped='' pid=''
while [[ $1 == --* ]]; do
    case $1 in
    --rm) ;;
    --read-only) readonly_root=1 ;;
    --security-opt) [ "$2" = no-new-privileges ] && nnp=(--no-new-privs) && shift ;;
    --cap-drop) [ "$2" = ALL ] && dropped=1 && shift ;;
    --cap-add) caps+=("+${2,,}") && shift ;;
    --pid) [ "$2" = container:app ] && pid=$CONTAINER_PID && shift ;;
    *) echo "engine.sh: no option $1" >&2 && exit 125 ;;
    esac
    shift
done
[ -n "$dropped$readonly_root" ] && [ -n "$pid" ] && [ "$1" = netstall ] || exit 125
shift
set=$(IFS=, && echo "-all,${caps[*]}")
# shellcheck disable=SC2016 # the inner shell's
exec nsenter --target "$pid" --pid unshare --mount sh -c '
    mount -t proc proc /proc && mount -o remount,bind,ro / && exec "$@"' sh \
    setpriv "${nnp[@]}" --inh-caps="$set" --bounding-set="$set" "$NETSTALL" "$@"
