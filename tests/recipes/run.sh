#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The recipes of docs/recipes, as they are written: the shell steps of the CI files, the Make and shell recipes are run, and the
# command lines and pods of containers, with the image of `make image` and what they ask for (engine.sh); the unit is verified here
# and run by tests/vm/systemd.sh.
#
#   run.sh [--only PATTERN]     what a failed case had written is kept in $KEEP/recipes/NAME, if KEEP is set
#
# Two cases at a time.
set -uo pipefail
cd "$(dirname "$0")/../.."

HERE=$PWD
NETSTALL=$(realpath "${NETSTALL:-build/netstall}")
export NETSTALL
RECIPES=$HERE/docs/recipes
ONLY='*'
[ "${1:-}" != --only ] || ONLY=$2
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

fail() { echo "$*" >"$SCRATCH/why" && exit 1; }
skip() { echo "$*" >"$SCRATCH/why" && exit 77; }
expect_is() { [ "$2" = "$3" ] || fail "$1 is '$2', wanted '$3': $(tail -qn 4 "$SCRATCH"/{out,err} 2>/dev/null | tr '\n' ' ')"; }
expect_file() { [ -s "$1" ] || fail "$1 is missing or empty"; }

# A project with netstall as a submodule and an integration test, in $SCRATCH/project: set_project WORDS...
set_project() {
    mkdir -p "$SCRATCH/project" && cd "$SCRATCH/project" || exit 2
    ln -sfn "$HERE" netstall
    printf '#!/bin/sh\nexec /usr/bin/python3 %s/tests/recipes/integration_test.py %s\n' "$HERE" "$*" >integration-test
    chmod +x integration-test
}

# run_steps COUNT FILE SHELL...: its steps in order, as the CI does; sets status to that of the one that failed.
run_steps() {
    local wanted=$1 file=$2 count step
    shift 2
    rm -rf "$SCRATCH/steps" && mkdir "$SCRATCH/steps"
    count=$(/usr/bin/python3 "$HERE/tests/recipes/steps.py" "$RECIPES/$file" stalls "$SCRATCH/steps") || fail "$file cannot be read"
    [ "$count" = "$wanted" ] || fail "$file has $count steps"
    for ((step = 1; step <= count; step++)); do
        timeout 120 "$@" "$SCRATCH/steps/step-$step" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
        status=$?
        [ $status = 0 ] || return
    done
}

case_github() {
    export GITHUB_ACTIONS=true GITHUB_WORKSPACE=$SCRATCH/project GITHUB_STEP_SUMMARY=$SCRATCH/summary
    set_project 20 nodelay
    run_steps 3 github-actions.yml sh -e
    expect_is "the status of a clean test" $status 0
    expect_file "$SCRATCH/summary"
    : >"$SCRATCH/summary"
    set_project 6
    run_steps 3 github-actions.yml sh -e
    expect_is "the status of a test that stalls" $status 1
    grep -q '^::error.*nagle-delack' "$SCRATCH/out" || fail "no annotation: $(head -c 300 "$SCRATCH/out")"
    grep -q 'nagle-delack' "$SCRATCH/summary" || fail "no summary"
    # What the upload step names.
    expect_file stalls.xml && expect_file stalls.json
    [ -n "$(ls stalls)" ] || fail "nothing was kept"
}

case_gitlab() {
    set_project 20 nodelay
    run_steps 2 gitlab-ci.yml bash -eo pipefail
    expect_is "the status of a clean test" $status 0
    set_project 6
    run_steps 2 gitlab-ci.yml bash -eo pipefail
    expect_is "the status of a test that stalls" $status 1
    xmllint --noout stalls.xml 2>"$SCRATCH/err" || fail "the report: $(head -n 1 "$SCRATCH/err")"
}

case_make() {
    set_project 20 nodelay
    timeout 120 make -s -f "$RECIPES/check.mk" check-stalls >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    expect_is "the status of a clean test" $? 0
    set_project 6
    timeout 120 make -s -f "$RECIPES/check.mk" check-stalls >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    expect_is "make's status" $? 2
    grep -q 'Error 1$' "$SCRATCH/err" || fail "netstall's status was another: $(tail -n 1 "$SCRATCH/err")"
}

case_shell() {
    set_project 20 nodelay
    timeout 120 "$RECIPES/check.sh" ./integration-test >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    expect_is "the status of a clean test" $? 0
    set_project 6
    timeout 120 "$RECIPES/check.sh" ./integration-test >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    expect_is "the status of a test that stalls" $? 1
    set_project 20 nodelay 42
    timeout 120 "$RECIPES/check.sh" ./integration-test >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    expect_is "the status of a test that fails" $? 42
}

# What runs as process 1 of a container, that is of a pid and mount namespace.
start_container() {
    unshare --pid --mount --fork --mount-proc --kill-child \
        /usr/bin/python3 "$HERE/tests/recipes/integration_test.py" "$@" </dev/null >/dev/null 2>&1 &
    local tries
    CONTAINER_PID=
    for ((tries = 0; tries < 100 && ! ${#CONTAINER_PID}; tries++)); do
        CONTAINER_PID=$(ps -o pid= --ppid $! | tr -d ' ') && sleep 0.1
    done
    [ -n "$CONTAINER_PID" ] || fail "the container did not start"
    export CONTAINER_PID
}

# Process 1 of a pid namespace hears of no signal that it has no handler for, but of this one.
end_container() { [ -z "${CONTAINER_PID:-}" ] || kill -KILL "$CONTAINER_PID" 2>/dev/null; }

# The image of `make image`, unpacked for engine.sh: once, for all cases that ask for it.
unpack_image() {
    local status=0
    (
        flock 9
        [ -e "$WORK/unpacked" ] || make_bundle || status=$?
        exit $status
    ) 9>"$WORK/lock" || exit $?
    export BUNDLE=$WORK/bundle ENGINE=$HERE/tests/recipes/engine.sh
}

make_bundle() {
    local version
    command -v umoci crun >/dev/null || skip "umoci or crun is not installed, see scripts/deps.sh"
    make -s -C "$HERE" image >"$SCRATCH/err" 2>&1 || fail "make image: $(tail -n 1 "$SCRATCH/err")"
    rm -rf "$WORK/layout" "$WORK/bundle"
    mkdir "$WORK/layout" && tar -xf "$HERE"/build/netstall-*-oci.tar -C "$WORK/layout"
    version=$(jq -r '.manifests[0].annotations["org.opencontainers.image.ref.name"]' "$WORK/layout/index.json")
    umoci unpack --image "$WORK/layout:$version" "$WORK/bundle" >"$SCRATCH/err" 2>&1 || fail "umoci: $(tail -n 1 "$SCRATCH/err")"
    BUNDLE=$WORK/bundle "$HERE/tests/recipes/engine.sh" run --cap-drop ALL netstall --version >"$SCRATCH/err" 2>&1 ||
        skip "no container can be had: $(tail -n 1 "$SCRATCH/err")"
    touch "$WORK/unpacked"
}

case_container() {
    trap end_container EXIT
    unpack_image
    start_container 1000000
    timeout 60 "$RECIPES/container.sh" app 2 >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status of one that stalls" $? 1
    grep -q 'FAIL.*nagle-delack' "$SCRATCH/out" || fail "it says: $(head -n 2 "$SCRATCH/out")"
    end_container
    start_container 1000000000 nodelay
    timeout 60 "$RECIPES/container.sh" app 2 >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status of one that does not" $? 0
    end_container
}

# A program that stalls, with a name: start_target NAME
start_target() {
    "$HERE/build/tests/workload/exchange" --seconds 300 --name "$1" >/dev/null 2>&1 &
    TARGET=$!
    sleep 0.5
}

# The recipe of the host's processes by an engine: what it sees, and what it writes.
on_host() {
    start_target recipe-target
    "$RECIPES/$1" trace --comm recipe-target -d 2 >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status" $? 0
    grep -q '^nagle-delack: .*recipe-target' "$SCRATCH/out" || fail "it says: $(head -n 2 "$SCRATCH/out")"
    grep -q 'first write:  *begin_exchange (client.c' "$SCRATCH/out" || fail "no call site"
    mkdir "$SCRATCH/written"
    OUT=$SCRATCH/written "$RECIPES/$1" record --comm recipe-target -d 1 -o /out/run.nsr >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status of record" $? 0
    "$NETSTALL" report "$SCRATCH/written/run.nsr" >"$SCRATCH/out" 2>"$SCRATCH/err"
    grep -q '^nagle-delack: ' "$SCRATCH/out" || fail "the recording says: $(head -n 2 "$SCRATCH/out")"
}

case_docker() {
    unpack_image
    export DOCKER=$ENGINE
    on_host docker.sh
}

# With the profile that it makes: as it comes, podman's refuses.
case_podman() {
    [ -r /usr/share/containers/seccomp.json ] || skip "no profile of podman's"
    unpack_image
    export PODMAN=$ENGINE
    on_host podman.sh
}

case_kubectl_debug() {
    unpack_image
    export KUBECTL=$HERE/tests/recipes/kubectl.py
    start_target recipe-target
    "$RECIPES/kubectl-debug.sh" node/worker-1 trace --comm recipe-target -d 2 >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status on a node" $? 0
    grep -q '^nagle-delack: .*recipe-target' "$SCRATCH/out" || fail "on a node it says: $(head -n 2 "$SCRATCH/out")"
    kill "$TARGET"
    trap end_container EXIT
    start_container 1000000
    "$RECIPES/kubectl-debug.sh" pod-1 app trace -p 1 --children -d 2 >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status in a pod" $? 0
    grep -q '^nagle-delack: ' "$SCRATCH/out" || fail "in a pod it says: $(head -n 2 "$SCRATCH/out")"
}

case_daemonset() {
    unpack_image
    export STALLS=$SCRATCH/stalls
    mkdir "$STALLS"
    start_target postgres
    # Its stalls are of 40 ms, and the recipe keeps those of 100 ms.
    timeout --signal TERM 4 /usr/bin/python3 "$HERE/tests/recipes/pod.py" "$RECIPES/daemonset.yaml" any,100=any,30 >"$SCRATCH/out" 2>"$SCRATCH/err"
    "$NETSTALL" report "$STALLS"/001-*.nsr >"$SCRATCH/out" 2>>"$SCRATCH/err" || fail "it kept $(ls "$STALLS"): $(head -n 2 "$SCRATCH/err")"
    grep -q '^nagle-delack: .*postgres' "$SCRATCH/out" || fail "the recording says: $(head -n 2 "$SCRATCH/out")"
}

# These rights, and no others.
case_rights() {
    local file asked
    for file in container.sh docker.sh podman.sh kubectl-debug.yaml daemonset.yaml; do
        asked=$(grep -E -- '--cap-add| add: ' "$RECIPES/$file" | grep -oE '[A-Z_]{3,}' | sort | paste -sd' ')
        expect_is "what $file adds" "${asked/ALL /}" "BPF DAC_READ_SEARCH PERFMON SYSLOG SYS_PTRACE"
        ! grep -qE '(--privileged|privileged: true|hostNetwork|hostIPC)' <(grep -v '^#' "$RECIPES/$file") || fail "$file asks for more"
    done
}

# They name the image of this version.
case_image_version() {
    local said
    said=$(grep -onE 'netstall:[0-9][^ "}]*' "$RECIPES"/* | grep -v ":netstall:$(sed -n 's/^VERSION := //p' "$HERE/Makefile")$")
    expect_is "what names another version" "$said" ''
}

# What the image installs is what the program is linked with.
case_containerfile() {
    local library package
    for library in $(ldd "$NETSTALL" | awk '$3 ~ "/" { print $3 }'); do
        package=$(dpkg -S "*$library" 2>/dev/null)
        package=${package%%:*}
        # Those of the base image, and what libdw brings along.
        case $package in libc6 | liblzma5 | libbz2-1.0 | libgcc-s1 | libstdc++6 | '') continue ;; esac
        grep -qw "$package" "$RECIPES/Containerfile" || fail "the image has no $package, for $library"
    done
}

# The program's place does not exist here: that one complaint is the machine's.
case_unit() {
    command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed"
    local said
    cp "$RECIPES/netstall-check@.service" "$SCRATCH/netstall-check@demo.service"
    said=$(systemd-analyze verify "$SCRATCH/netstall-check@demo.service" 2>&1 |
        grep 'netstall-check' | grep -v 'Command /usr/local/bin/netstall is not executable') # of other programs' units no word
    expect_is "what systemd-analyze finds" "$said" ''
}

run_case() {
    SCRATCH=$(mktemp -d)
    (
        trap 'pids=$(jobs -p); [ -z "$pids" ] || kill $pids 2>/dev/null' EXIT
        "case_$1"
        exit 0
    )
    case $? in
    0) echo "ok recipes/$1" ;;
    77) echo "skip recipes/$1: $(head -c 300 "$SCRATCH/why")" ;;
    *)
        echo "not ok recipes/$1: $(head -c 600 "$SCRATCH/why" | tr '\n' ' ')"
        [ -z "${KEEP:-}" ] || { mkdir -p "$KEEP/recipes/$1" && cp "$SCRATCH"/{out,err,why} "$KEEP/recipes/$1/" 2>/dev/null; }
        ;;
    esac
    rm -rf "$SCRATCH"
}

if ! /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
    echo "not ok recipes: python3-yaml is not installed, see scripts/deps.sh"
    exit 1
fi
[ "$(id -u)" = 0 ] && "$NETSTALL" doctor >/dev/null || { echo "skip recipes: nothing can be traced here" && exit 0; }
for name in $(declare -F | sed -n 's/^declare -f case_//p'); do
    # shellcheck disable=SC2053
    [[ $name == $ONLY ]] || continue
    [ "$(jobs -pr | wc -l)" -lt 2 ] || wait -n
    run_case "$name" >"$WORK/$name.said" &
done
wait
cat "$WORK"/*.said
echo "end recipes"
! grep -qs '^not ok' "$WORK"/*.said
