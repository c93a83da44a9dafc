#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# A clean program of two processes: an epoll server and a Python client, which makes N requests on one connection.
#
#   http_session.sh N
set -euo pipefail

HTTPD=${HTTPD:-build/tests/workload/httpd}
coproc server { exec "$HTTPD"; }
# bash forgets both as soon as the server has ended.
pid=$server_PID words=${server[0]}
read -r -t 30 -u "$words" ready
port=${ready##*port=}
status=0
/usr/bin/python3 - "${port%% *}" "$1" <<'PYTHON' || status=$?
import http.client, sys

connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
for n in range(int(sys.argv[2])):
    if n % 2:
        connection.request("POST", "/", body=b"x" * 300)
    else:
        connection.request("GET", "/")
    assert connection.getresponse().read() == b"hello\n"
PYTHON
kill -TERM "$pid"
wait "$pid"
exit "$status"
