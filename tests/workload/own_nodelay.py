#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A client that writes each request in two pieces, and says when its TCP_NODELAY has become another: `TIME VALUE`, a line each.

With `own` it sets it itself once somebody else has. With `serves` it is the server that writes in two pieces, to a client of its own
that connects anew behind each 30 requests; it says what its listening socket has, and at the end of each connection what that had,
`TIME connection VALUE`. With `many` the client has a hundred connections, of which it writes in two pieces on the first three, one request
behind the other, and on each other one a request in 0.1 s; it says which of them has become another, `TIME NUMBER VALUE`.
"""
import os
import selectors
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


def nodelay(of):
    return of.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def ask(address):
    while True:
        with socket.create_connection(address) as client:
            for _ in range(30):
                client.send(b"a" * 100)
                answer = b""
                while len(answer) < 200:
                    piece = client.recv(4096)
                    if not piece:  # the server was killed
                        os._exit(0)
                    answer += piece


def serve_in_pieces(listener):
    last = None
    while True:
        connection = listener.accept()[0]
        while connection.recv(4096):
            connection.send(b"a" * 100)
            connection.send(b"b" * 100)
            if nodelay(listener) != last:
                last = nodelay(listener)
                print(f"{time.monotonic():.3f} {last}", flush=True)
            value = nodelay(connection)
        print(f"{time.monotonic():.3f} connection {value}", flush=True)
        connection.close()


def serve_many(listener, count):
    selector, got = selectors.DefaultSelector(), {}
    for _ in range(count):
        selector.register(listener.accept()[0], selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            piece = key.fileobj.recv(4096)
            if not piece:
                os._exit(0)
            got[key.fd] = got.get(key.fd, 0) + len(piece)
            if got[key.fd] >= 200:
                got[key.fd] = 0
                key.fileobj.send(b"ok")


def ask_on_many(address, count):
    selector, last, due = selectors.DefaultSelector(), [0] * count, {}
    clients = [socket.create_connection(address) for _ in range(count)]
    print(f"{time.monotonic():.3f} 0", flush=True)
    for number, client in enumerate(clients):
        selector.register(client, selectors.EVENT_READ, number)
        due[number] = 0
    looked = 0
    while True:
        for number in [n for n, at in due.items() if at <= time.monotonic()]:
            del due[number]
            for piece in [100, 100] if number < 3 else [200]:
                clients[number].send(b"a" * piece)
        for key, _ in selector.select(0.005):
            key.fileobj.recv(10)
            due[key.data] = time.monotonic() + (0 if key.data < 3 else 0.1)
        if time.monotonic() < looked + 0.05:
            continue
        looked = time.monotonic()
        for number, client in enumerate(clients):
            if nodelay(client) != last[number]:
                last[number] = nodelay(client)
                print(f"{looked:.3f} {number} {last[number]}", flush=True)


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
if sys.argv[1:] == ["many"]:
    if not os.fork():
        serve_many(listener, 100)
    ask_on_many(listener.getsockname(), 100)
if sys.argv[1:] == ["serves"]:
    if not os.fork():
        ask(listener.getsockname())
    serve_in_pieces(listener)
threading.Thread(target=serve, args=(listener,), daemon=True).start()
client = socket.create_connection(listener.getsockname())
last, sets_it = None, sys.argv[1:] == ["own"]
while True:
    client.send(b"a" * 100)
    client.send(b"b" * 100)
    client.recv(10)
    now = nodelay(client)
    if sets_it and last == 1 and now == 0:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sets_it = False
    elif now != last:
        print(f"{time.monotonic():.3f} {now}", flush=True)
        last = now
