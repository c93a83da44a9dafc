#!/bin/sh
# Shell: run a test under netstall, and keep its own exit status apart from that of the check.
#
#   check.sh PROGRAM [ARG...]
#
# Exit status: the test's own if it failed; else 0 within budget, 1 stalls over budget, 2 netstall could not do its work,
# 3 inconclusive.
netstall=${NETSTALL:-netstall}
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

$sudo "$netstall" check --json stalls.json -- "$@"
status=$?
# A test that ran out of time may have ended with 0.
[ $status != 4 ] || status=$(jq '.program.status | if . == 0 then 4 else . end' stalls.json)
exit "$status"
