# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A request in two writes, by Python's sockets; with an argument as http.server's answer. The lines that write are marked."""
import http.server
import os
import socket
import sys
import threading


def serve(listener):
    conn, _ = listener.accept()
    had = 0
    while True:
        got = conn.recv(4096)
        if not got:
            return
        had += len(got)
        while had >= 176:
            conn.sendall(b"done")
            had -= 176


def request(conn):
    conn.sendall(b"h" * 40)  # // first
    conn.sendall(b"b" * 136)  # // second
    conn.recv(4)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "300")
        self.end_headers()  # // http first
        self.wfile.write(b"x" * 300)  # // http second

    def log_message(self, *args):
        pass


def ask(port):
    conn = socket.create_connection(("127.0.0.1", port))
    for _ in range(80):
        conn.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        had = b""
        while had.count(b"x") < 300:
            had += conn.recv(4096)
    os._exit(0)


if len(sys.argv) > 1:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("ready", os.getpid(), flush=True)
    sys.stdin.readline()
    threading.Thread(target=ask, args=server.server_address[1:]).start()
    server.serve_forever()
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
conn = socket.create_connection(listener.getsockname())
print("ready", os.getpid(), flush=True)
sys.stdin.readline()
for _ in range(30):
    request(conn)
