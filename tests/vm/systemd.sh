#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs docs/recipes/netstall-check@.service under a systemd: of a service that stalls, and of one that does not.
#
#   systemd.sh [--label LABEL]
#
# In a test VM only, where everything is written to memory. A unit's default dependencies bring in what a boot does, and that
# empties /tmp (tmpfiles.d/tmp.conf): this must never run where somebody has a file. So it refuses elsewhere, has no /tmp of
# anybody's in sight, and masks those units.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
NETSTALL=${NETSTALL:-build/netstall}
EXCHANGE=${EXCHANGE:-build/tests/workload/exchange}
MANAGER=/lib/systemd/systemd
WATCHED=3 # seconds, in place of the recipe's 60
LABEL=systemd
[ "${1:-}" != --label ] || LABEL=$2

# vm-init.sh makes the one, and is the other; `inside` has processes of its own.
if [ ! -e /run/vm/port.status ] || { [ "${1:-}" != inside ] && ! grep -q /run/vm/init /proc/1/cmdline; }; then
    echo "skip $LABEL: it runs in a test VM only (scripts/vm-run.sh): a systemd would empty this machine's /tmp"
    exit 0
fi
[ -x $MANAGER ] || { echo "skip $LABEL: there is no systemd" && exit 0; }

# Everything that systemd and its units may write to is of this run alone: $1, a folder below /run/vm, gets the results.
inside() {
    local mode unit
    mount -t tmpfs tmpfs /mnt && cp "$NETSTALL" "$EXCHANGE" docs/recipes/netstall-check@.service /mnt/ || exit 2
    mount -t tmpfs tmpfs /usr/local/bin && mv /mnt/netstall /mnt/exchange /usr/local/bin/ || exit 2
    mkdir /mnt/results && mount --bind "$1" /mnt/results || exit 2
    mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /tmp && mount -t tmpfs tmpfs /var/tmp || exit 2
    mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && cd /run/systemd/system || exit 2
    for unit in systemd-tmpfiles-setup{,-dev} systemd-tmpfiles-clean systemd-journald systemd-udevd; do
        ln -s /dev/null $unit.service
    done
    # Its own lines, but for how long it watches and where its words go.
    sed "s/ -d 60 / -d $WATCHED /" /mnt/netstall-check@.service >netstall-check@.service
    mkdir netstall-check@.service.d
    printf '[Unit]\nDefaultDependencies=no\n[Service]\nStandardOutput=file:/mnt/results/%%i.out\nStandardError=file:/mnt/results/%%i.err\n' \
        >netstall-check@.service.d/here.conf
    for mode in split nodelay; do
        printf '[Unit]\nDefaultDependencies=no\n[Service]\nDynamicUser=yes\nExecStart=/usr/local/bin/exchange --mode %s -n 0\n' $mode >$mode.service
    done
    cat >recipe.service <<'END'
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
ExecStart=-/bin/sh -c 'for mode in split nodelay; do systemctl start $mode && systemctl start netstall-check@$mode; \
    systemctl show -P Result netstall-check@$mode >/mnt/results/$mode.result; \
    cp /var/lib/netstall-check/$mode.json /mnt/results/; systemctl stop $mode; done'
ExecStopPost=/bin/systemctl --force --force exit
END
    printf '[Unit]\nDefaultDependencies=no\nWants=recipe.service\n' >recipe.target
    exec env -i container=lxc PATH="$PATH" $MANAGER --system --unit=recipe.target --log-target=console --show-status=no
}
if [ "${1:-}" = inside ]; then
    inside "$2"
fi

mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
results=$(mktemp -d -p /run/vm)
timeout -k 5 "${SYSTEMD_LIMIT:-200}" unshare --mount --uts --ipc --pid --fork --mount-proc --propagation private \
    "$0" inside "$results" </dev/null >"$results/log" 2>&1

# expect UNIT RESULT JQ-TEST
expect() {
    local got
    got=$(cat "$results/$1.result" 2>&1)
    if [ "$got" = "$2" ] && gojq -e "$3" "$results/$1.json" >/dev/null; then
        echo "ok $LABEL/unit_$1"
    elif [ "$2" = success ] && gojq -e '.verdict == "inconclusive" and .report.completeness.lost > 0' "$results/$1.json" >/dev/null 2>&1; then
        # It is not wrong, and says nothing of the unit.
        echo "skip $LABEL/unit_$1: events were lost: $(gojq -c '[.. | .lost_by_kind? // empty]' "$results/$1.json")"
    else
        echo "not ok $LABEL/unit_$1: its result is '$got', wanted $2; $(tail -qn 3 "$results/$1".{err,out} "$results/log" 2>&1 | tr '\n' ' ' | head -c 600)"
        status=1
    fi
}
status=0
sees_all='(.report.completeness.missing | map(select(test("kernel"))) | length == 0)'
# Judged, with the call site's name from the service's own program, and with the kernel's symbols.
expect split exit-code "$sees_all and ([.gates[] | select(.state == \"over\") | .name] == [\"nagle-delack\"])
    and (tostring | test(\"endpoint__send\"))"
expect nodelay success "$sees_all and .verdict == \"within\""
echo "end $LABEL"
exit $status
