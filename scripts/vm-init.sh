#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=dash
#
# Process 1 of a test VM (vm-run.sh), first in the initramfs, then, from second_stage on, in the host's root file system.
# It must stay process 1 across that change: kernel threads share its root, and so find modprobe when a module is asked for.
#
# vm-run.sh puts into /vm of the initramfs: modules/* in the order of loading, kernel-modules (the path of the kernel's
# lib/modules on the host), command, a bash script, and network-side, a or b, where another VM is connected.
set -u
busybox=/bin/busybox

# Without an exit status from us vm-run.sh shows the console, where this is then the last line.
fail() {
    echo "netstall-vm: $*"
    $busybox poweroff -f
}

first_stage() {
    local module
    $busybox --install -s /bin
    export PATH=/bin
    mount -t proc proc /proc
    mount -t sysfs sysfs /sys
    mount -t devtmpfs devtmpfs /dev

    for module in /vm/modules/*; do
        [ ! -f "$module" ] || insmod "$module" || fail "cannot load $module"
    done

    # What the guest writes goes to the upper layer, which is memory.
    mkdir -p /lower /upper /root
    mount -t virtiofs -o ro root /lower || fail "cannot mount the host's root file system"
    mount -t tmpfs tmpfs /upper
    mkdir /upper/data /upper/work
    mount -t overlay -o lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work overlay /root ||
        fail "cannot mount the overlay"

    mount -t tmpfs tmpfs /root/run
    mkdir /root/run/vm
    rm -r /vm/modules
    cp -r /bin/busybox /init /vm/* /root/run/vm/
    mount --move /dev /root/dev
    mount --move /sys /root/sys
    mount --move /proc /root/proc
    exec switch_root /root /run/vm/busybox sh /run/vm/init second_stage
}

# Links the virtio-serial ports to /run/vm/port.NAME. The driver makes them known one by one, a moment after it is loaded.
find_ports() {
    local port name tries=0
    while [ $tries -lt 100 ]; do
        for port in /sys/class/virtio-ports/*; do
            if [ -f "$port/name" ] && read -r name <"$port/name"; then
                ln -sf "/dev/${port##*/}" "/run/vm/port.$name"
            fi
        done
        [ ! -e /run/vm/port.out ] || [ ! -e /run/vm/port.err ] || [ ! -e /run/vm/port.files ] ||
            [ ! -e /run/vm/port.status ] || [ ! -e /run/vm/port.heart ] || return 0
        $busybox sleep 0.1
        tries=$((tries + 1))
    done
    fail "the ports to the host are missing"
}

# Tells the host every few seconds that processes still run here. The time-out of read is the clock: it needs no fork.
beat() {
    exec 3<>/run/vm/never >/run/vm/port.heart
    while echo; do
        # shellcheck disable=SC3045 # busybox has it
        read -r -t 4 _ <&3
    done
}

# Sides a and b are 192.0.2.1 and 192.0.2.2. Nobody asks which card is the one: it is the only one.
start_network() {
    local host=1
    [ "$1" = a ] || host=2
    modprobe virtio_net || fail "cannot load the network card's driver"
    $busybox ip addr add "192.0.2.$host/24" dev eth0 || fail "there is no network card"
    $busybox ip link set eth0 up
}

second_stage() {
    local status
    busybox=/run/vm/busybox
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    export HOME=/root TERM=dumb LC_ALL=C OUT=/out
    mkdir -p /dev/shm /dev/pts /lib/modules "$OUT"
    mount -t tmpfs tmpfs /dev/shm
    mount -t devpts devpts /dev/pts
    ln -sfn /proc/self/fd /dev/fd # of what udev makes, what bash needs for <()
    mount -t tmpfs tmpfs "$OUT"
    mount -t tracefs tracefs /sys/kernel/tracing
    mount -t debugfs debugfs /sys/kernel/debug
    mount -t bpf bpf /sys/fs/bpf
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
    mount --bind "$(cat /run/vm/kernel-modules)" /lib/modules || fail "cannot see the kernel's modules"
    $busybox ip link set lo up
    $busybox hostname netstall-vm
    ulimit -l unlimited # kernels before 5.11 charge BPF maps to it
    find_ports
    mkfifo /run/vm/never
    beat &
    [ ! -e /run/vm/network-side ] || start_network "$(cat /run/vm/network-side)"

    echo "netstall-vm: up after $(cut -d ' ' -f 1 /proc/uptime) s"
    bash /run/vm/command </dev/null >/run/vm/port.out 2>/run/vm/port.err
    status=$?
    echo "netstall-vm: done after $(cut -d ' ' -f 1 /proc/uptime) s, status $status"
    $busybox tar -C "$OUT" -cf /run/vm/port.files .
    echo $status >/run/vm/port.status
    $busybox poweroff -f
}

"${1:-first_stage}"
