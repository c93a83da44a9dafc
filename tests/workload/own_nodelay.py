#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A client that writes each request in two pieces, and says when its TCP_NODELAY has become another: `TIME VALUE`, a line each.

With `own` it sets it itself once somebody else has.
"""
import socket
import sys
import threading
import time


def serve(listener):
    connection = listener.accept()[0]
    while True:
        request = b""
        while len(request) < 200:
            piece = connection.recv(4096)
            if not piece:
                return
            request += piece
        connection.sendall(b"ok")


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
client = socket.create_connection(listener.getsockname())
last, sets_it = None, sys.argv[1:] == ["own"]
while True:
    client.send(b"a" * 100)
    client.send(b"b" * 100)
    client.recv(10)
    now = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    if sets_it and last == 1 and now == 0:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sets_it = False
    elif now != last:
        print(f"{time.monotonic():.3f} {now}", flush=True)
        last = now
