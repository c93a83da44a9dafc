#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the recipes check: a client and a server in one process. integration_test.py EXCHANGES [nodelay] [status]

Each request is written in two pieces, so that without TCP_NODELAY it stalls; then it exits with the status.
"""
import socket
import sys
import threading


def receive(connection, count):
    while count:
        got = len(connection.recv(count))
        if not got:
            sys.exit(9)
        count -= got


def serve(listener, exchanges):
    connection, _ = listener.accept()
    for _ in range(exchanges):
        receive(connection, 176)
        connection.sendall(b"r" * 96)


exchanges, words = int(sys.argv[1]), sys.argv[2:]
listener = socket.create_server(("127.0.0.1", 0))
server = threading.Thread(target=serve, args=(listener, exchanges), daemon=True)
server.start()
client = socket.create_connection(listener.getsockname())
if "nodelay" in words:
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(exchanges):
    client.sendall(b"h" * 40)
    client.sendall(b"b" * 136)
    receive(client, 96)
sys.exit(int(words[-1]) if words and words[-1].isdigit() else 0)
