# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What gunicorn's workers run: /sleep sleeps for 30 ms, /compute computes for 20 ms."""
import time


def application(environ, start_response):
    if environ["PATH_INFO"] == "/sleep":
        time.sleep(0.030)
    else:
        until = time.monotonic() + 0.020
        while time.monotonic() < until:
            pass
    start_response("200 OK", [("Content-Length", "5")])
    return [b"done\n"]
