# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A client that asks a front, which asks a backend, which sleeps for so many ms before each answer; until it is killed.

Prints `ready CLIENT FRONT BACKEND`, their pids. With a second argument, the backend serves in a child, and keeps the connection open
as well; then `child PID` comes too, in any order.
"""
import ctypes
import os
import signal
import socket
import sys
import time

PR_SET_PDEATHSIG = 1


def requests(conn):
    """Those that come in, one by one."""
    while request := conn.recv(100):
        yield request


def backend(listener):
    conn = listener.accept()[0]
    if sys.argv[2:]:
        print("child", start(serve, conn), flush=True)
        os.wait()
    serve(conn)


def serve(conn):
    for request in requests(conn):
        time.sleep(float(sys.argv[1]) / 1e3)
        conn.sendall(request)


def front(listener, behind):
    conn, next_one = listener.accept()[0], socket.create_connection(behind)
    for request in requests(conn):
        next_one.sendall(request)
        conn.sendall(next_one.recv(100))


def client(to):
    conn = socket.create_connection(to)
    while True:
        conn.sendall(b"request")
        conn.recv(100)


def start(role, *arguments):
    pid = os.fork()
    if not pid:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        role(*arguments)
        os._exit(0)
    return pid


LAST = socket.create_server(("127.0.0.1", 0))
FIRST = socket.create_server(("127.0.0.1", 0))
PIDS = [start(backend, LAST), start(front, FIRST, LAST.getsockname()), start(client, FIRST.getsockname())]
print("ready", *reversed(PIDS), flush=True)
os.wait()
