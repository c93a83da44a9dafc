#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs one command as root under another kernel, in a VM that has this machine's root file system.
#
#   vm-run.sh [-o OUTDIR] [-m MB] [-s SMP] [-t SECS] [-a "KERNEL ARGS"] [-n DIR:SIDE] [-i] [-v] KERNEL -- CMD [ARG...]
#
#   -o  copy the files that CMD leaves in $OUT into this folder      -t  time-out (300 s), the boot included
#   -m  memory (1024 MB)      -s  CPUs (2)      -a  more kernel arguments      -v  also print the kernel's console
#   -i  the guest's clock counts its instructions, a nanosecond each: whatever else this machine does takes no time there, and to be idle
#       takes none here. QEMU 7.2 boots kernels before 6.12 so only now and then.
#   -n  a network card and a serial line to another VM, which has the same DIR; SIDE is a or b (vm-pair.sh)
#
# KERNEL is a series of vm-kernels.sh, as 6.1, and is fetched if it is not in the cache. One of another machine, as arm64-6.1, has the
# programs of that machine's root (arm64-root.sh), and of this machine's files the working directory. CMD runs in the caller's working
# directory; its stdout, stderr and exit status are ours. Every program of this machine is there, and the VM may write
# anywhere: it writes to memory, nothing reaches this machine. QEMU emulates the processor, so KVM is not needed.
# Exit status: CMD's; 123 the guest panicked or froze; 124 time-out; 125 the VM did not run CMD. In these three cases the
# end of its console stands on stderr.
set -euo pipefail

self=${0##*/}
scripts=$(realpath "$(dirname "$0")")
die() { echo "$self: $*" >&2; exit 125; }
usage() { die "usage: [-o OUTDIR] [-m MB] [-s SMP] [-t SECS] [-a ARGS] [-n DIR:SIDE] [-i] [-v] KERNEL -- CMD [ARG...]"; }

virtiofsd=/usr/lib/qemu/virtiofsd

# What the guest needs before it sees any file of the host. Some of it is built into the newer kernels.
boot_modules=(virtio_pci virtio_console virtiofs overlay)

# The guest's process 1 sends a sign of life every few seconds. When none comes for so many, it is taken for frozen: that is
# more than a boot takes on a busy machine, and less than anybody wants to wait for a time-out.
heart_limit=${NETSTALL_VM_HEART_LIMIT:-90}

# ---- what must be there --------------------------------------------------------------------------------------------

check_machine() {
    local tool dir
    [ "$(id -u)" = 0 ] || die "a VM that shares the root file system needs root"
    for tool in "$qemu" "${busybox:-busybox}" cpio modprobe unshare timeout; do
        command -v "$tool" >/dev/null || die "$tool is missing (scripts/deps.sh $group)"
    done
    [ -x "$virtiofsd" ] || die "virtiofsd is missing (scripts/deps.sh vm)"
    for dir in "$PWD" "$cache"; do
        [ "$(stat -c %d "$dir")" = "$(stat -c %d /)" ] || die "$dir is on another file system than /, so the VM cannot see it"
    done
}

# ---- the initramfs -------------------------------------------------------------------------------------------------

# Prints the files of the boot modules, every one after those that it needs. This machine's modprobe.d has no say.
boot_module_files() {
    local module
    for module in "${boot_modules[@]}"; do
        modprobe -C /dev/null -d "$kernel" -S "$release" --show-depends "$module" ||
            die "kernel $series has no module $module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# Makes $initramfs, unless that of an earlier run still serves. Its name tells what it was made of: several work trees may
# share the cache.
make_initramfs() {
    local tree=$work/tree files file number=100
    initramfs=$kernel/initramfs-$(cat "$scripts"/vm-{init,run}.sh "$busybox" | sha256sum | head -c 16)
    [ ! -e "$initramfs" ] || return 0
    find "$kernel" -maxdepth 1 -name 'initramfs*' -mtime +0 -delete # none that a run may be reading
    files=$(boot_module_files)
    mkdir -p "$tree"/{bin,dev,proc,sys,vm/modules}
    cp "$busybox" "$tree/bin/busybox"
    cp "$scripts/vm-init.sh" "$tree/init"
    chmod +x "$tree/init"
    while read -r file; do
        number=$((number + 1)) # the shell's * sorts by name
        case $file in
        *.xz) xz -dc "$file" ;;
        *.zst) zstd -qdc "$file" ;;
        *) cat "$file" ;;
        esac >"$tree/vm/modules/$number-$(basename "${file%%.ko*}").ko"
    done <<<"$files"
    (cd "$tree" && find . | cpio --quiet -o -H newc) | gzip -1 >"$work/base"
    truncate -s %512 "$work/base" # a second archive can only start at a multiple of four
    mv "$work/base" "$initramfs.$$"
    mv "$initramfs.$$" "$initramfs" # whole or not at all: another VM may be starting
}

# Makes $work/initramfs: the kernel's, followed by an archive with what is particular to this run.
add_command() {
    mkdir -p "$work/run/vm"
    echo "$kernel/lib/modules" >"$work/run/vm/kernel-modules"
    [ -z "$network" ] || echo "${network##*:}" >"$work/run/vm/network-side"
    {
        printf 'cd %q || exit 125\nexec' "$PWD"
        printf ' %q' "$@"
        echo
    } >"$work/run/vm/command"
    (cat "$initramfs" && cd "$work/run" && find vm | cpio --quiet -o -H newc) >"$work/initramfs"
}

# ---- the VM --------------------------------------------------------------------------------------------------------

# Serves a read-only view of the root on the socket $work/virtiofs. The view, and what virtiofsd leaves in /run, exist in a mount
# namespace of its own. In another machine's root the working directory and the kernel are where they are here.
start_virtiofsd() {
    local tries
    mkdir "$work/root"
    [ "$root" = / ] || mkdir -p "$root$PWD" "$root$kernel"
    # shellcheck disable=SC2016 # the inner shell's arguments
    unshare --mount --propagation private bash -euc '
        view() { mount --bind "$1" "$2" && mount -o remount,bind,ro "$2"; }
        mkdir -p /run/virtiofsd
        mount -t tmpfs tmpfs /run/virtiofsd
        view "$3" "$1/root"
        [ "$3" = / ] || { view "$4" "$1/root$4" && view "$5" "$1/root$5"; }
        exec "$2" --socket-path="$1/virtiofs" --thread-pool-size=1 \
            -o source="$1/root" -o cache=always -o sandbox=chroot -o no_posix_lock -o log_level=err' \
        _ "$work" "$virtiofsd" "$root" "$PWD" "$kernel" >"$work/virtiofsd.log" 2>&1 &
    virtiofsd_pid=$!
    for ((tries = 0; tries < 200; tries++)); do
        [ ! -S "$work/virtiofs" ] || return 0
        kill -0 "$virtiofsd_pid" 2>/dev/null || break
        sleep 0.05
    done
    cat "$work/virtiofsd.log" >&2
    die "virtiofsd did not start"
}

# Copies stdin to stdout. When nobody reads stdout any more the rest is dropped: a full pipe would stop the VM for ever.
pass_on() { cat 2>/dev/null || cat >/dev/null; }

# Prints QEMU's arguments for the card and the line to the other VM. Datagrams, so that neither has to be there first, and
# what is sent to one that is not there is lost, as on a cable.
network_arguments() {
    local dir=${network%:*} side=${network##*:} other=a line=server=off,reconnect=1
    if [ "$side" = a ]; then
        other=b line=server=on,wait=off
    fi
    rm -f "$dir/net-$side"
    printf '%s\n' \
        -netdev "dgram,id=net,local.type=unix,local.path=$dir/net-$side,remote.type=unix,remote.path=$dir/net-$other" \
        -device "virtio-net-pci,netdev=net,romfile=,mac=52:54:00:00:00:0$side" \
        -chardev "socket,id=peer,path=$dir/line,$line" -device virtserialport,chardev=peer,name=peer
}

# Starts QEMU. The guest's ports out and err are our own stdout and stderr, by way of two pass_on: QEMU takes only
# descriptors that are open for writing alone.
start_qemu() {
    # One thread for all processors of the guest: with a thread each, QEMU 7.2 now and then keeps a stale translation of
    # an int3 that the guest's kernel has put into its own code for a moment (text_poke_bp(), as static keys of tracepoints
    # are switched by), and both processors run into it for ever.
    # Without ERMS: with it the kernel copies memory by `rep movsb`, which QEMU translates to a loop over bytes; netstall's start
    # takes 12 s then, not 8.5.
    # Without CX16: QEMU 7.2's cmpxchg16b leaves anything in the flags, an interrupt behind it saves that, and its return may allow
    # interrupts where they were not (slab allocation, of newer kernels): guests panicked by that.
    # shellcheck disable=SC2054 # the commas are QEMU's
    # Pointer authentication by QEMU's own hash: by the architecture's a call takes four times as long.
    local args=(
        -accel tcg,thread=single -smp "$smp" -m "$memory"
        -object "memory-backend-memfd,id=memory,size=${memory}M,share=on"
        -nodefaults -display none -no-reboot
        -chardev "file,id=console,path=$work/console" -serial chardev:console
        -chardev "socket,id=virtiofs,path=$work/virtiofs" -device vhost-user-fs-pci,chardev=virtiofs,tag=root
        -device virtio-serial-pci
        -add-fd "fd=$out,set=1" -chardev file,id=out,path=/dev/fdset/1,append=on -device virtserialport,chardev=out,name=out
        -add-fd "fd=$err,set=2" -chardev file,id=err,path=/dev/fdset/2,append=on -device virtserialport,chardev=err,name=err
        -chardev "file,id=files,path=$work/files" -device virtserialport,chardev=files,name=files
        -chardev "file,id=status,path=$work/status" -device virtserialport,chardev=status,name=status
        -chardev "file,id=heart,path=$work/heart" -device virtserialport,chardev=heart,name=heart
        -kernel "$kernel/vmlinuz" -initrd "$work/initramfs"
        # A VM that panics ends at once; its clock and random numbers are QEMU's, of which the kernel need not be wary.
        -append "console=$console quiet panic=-1 oops=panic mitigations=off random.trust_cpu=on tsc=reliable $more_args"
    )
    # shellcheck disable=SC2054
    case $qemu in
    *x86_64) args+=(-cpu max,erms=off,cx16=off -machine q35,memory-backend=memory,usb=off) ;;
    *aarch64) args+=(-cpu max,pauth-impdef=on -machine virt,memory-backend=memory,usb=off) ;;
    esac
    [ -z "$counts" ] || args+=(-icount "shift=0,sleep=off")
    if [ -n "$network" ]; then
        mapfile -t -O ${#args[@]} args < <(network_arguments)
    fi
    timeout -k 5 "$seconds" "$qemu" "${args[@]}" </dev/null >"$work/qemu.log" 2>&1 &
    qemu_pid=$!
}

# Ends the VM when its signs of life stop. Seconds are counted, not compared, so that a pause of this machine is none of its.
watch_heart() {
    local beats last='' quiet=0
    while [ "$quiet" -lt "$heart_limit" ]; do
        sleep 1
        beats=$(stat -c %s "$work/heart" 2>/dev/null) || beats=
        quiet=$((quiet + 1))
        [ "$beats" = "$last" ] || quiet=0
        last=$beats
    done
    : >"$work/frozen"
    kill "$qemu_pid"
}

# Gives back what the VM left, and exits as its command did. $1 is the exit status of timeout(1).
finish() {
    if [ -n "$verbose" ]; then
        cat "$work/console" >&2
    fi
    if [ -s "$work/status" ]; then
        if [ -n "$outdir" ]; then
            tar -C "$outdir" --no-same-owner -xf "$work/files"
        fi
        exit "$(<"$work/status")"
    fi
    if [ -z "$verbose" ]; then
        tail -n 40 "$work/console" >&2 || true
    fi
    if [ -e "$work/frozen" ]; then
        echo "$self: kernel $series: the guest froze: no sign of life for $heart_limit s" >&2
        exit 123
    elif grep -q 'Kernel panic' "$work/console"; then
        echo "$self: kernel $series: the guest panicked" >&2
        exit 123
    fi
    case $1 in
    124 | 137)
        echo "$self: kernel $series: timed out after $seconds s" >&2
        exit 124
        ;;
    esac
    cat "$work/qemu.log" "$work/virtiofsd.log" >&2
    die "kernel $series: the VM ended without running the command"
}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    local pid
    for pid in $watcher_pid $qemu_pid $virtiofsd_pid; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    # The view of / is mounted in virtiofsd's namespace alone; were it here, rmdir would refuse and nothing be removed.
    if [ ! -e "$work/root" ] || rmdir "$work/root"; then
        rm -rf "$work"
    fi
}

# ---- the run -------------------------------------------------------------------------------------------------------

outdir='' memory=1024 smp=2 seconds=300 more_args='' network='' counts='' verbose=''
while getopts o:m:s:t:a:n:iv option; do
    case $option in
    o) outdir=$OPTARG ;;
    m) memory=$OPTARG ;;
    s) smp=$OPTARG ;;
    t) seconds=$OPTARG ;;
    a) more_args=$OPTARG ;;
    n) network=$OPTARG ;;
    i) counts=1 ;;
    v) verbose=1 ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -lt 3 ] || [ "$2" != -- ]; then
    usage
fi
[[ $network =~ ^(.*:[ab])?$ ]] || usage
series=$1
shift 2

if [ -n "$outdir" ]; then
    mkdir -p "$outdir"
    outdir=$(realpath "$outdir")
fi
cache=${NETSTALL_VM_CACHE:-$scripts/../build/vm}
mkdir -p "$cache"
cache=$(realpath "$cache")
root=/ busybox=$(command -v busybox || true) qemu=qemu-system-x86_64 console=ttyS0 group=vm
if [[ $series == arm64-* ]]; then
    root=$cache/arm64-root busybox=$root/bin/busybox qemu=qemu-system-aarch64 console=ttyAMA0 group=arm64
fi
[ "$root" = / ] || NETSTALL_VM_CACHE=$cache "$scripts/arm64-root.sh" >&2 || exit 125
check_machine
NETSTALL_VM_CACHE=$cache "$scripts/vm-kernels.sh" "$series" >&2 || exit 125
kernel=$cache/$series
release=$(basename "$kernel"/lib/modules/*)

qemu_pid='' virtiofsd_pid='' watcher_pid=''
work=$(mktemp -d "${TMPDIR:-/tmp}/netstall-vm.XXXXXX")
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

make_initramfs
add_command "$@"
start_virtiofsd

exec {out}> >(pass_on)
out_pid=$!
exec {err}> >(pass_on >&2)
err_pid=$!
start_qemu
exec {out}>&- {err}>&-
watch_heart </dev/null >/dev/null 2>&1 &
watcher_pid=$!
status=0
wait "$qemu_pid" || status=$?
qemu_pid=
kill "$watcher_pid" 2>/dev/null || true # it has ended by itself if the guest froze
wait "$watcher_pid" 2>/dev/null || true
watcher_pid=
wait "$out_pid" "$err_pid" || true # until everything that the guest wrote is passed on
finish "$status"
