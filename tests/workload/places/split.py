# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""
A request in two writes, by Python's sockets; with `http` as http.server's answer; with `late` in one, and the server takes its time; with
`lock` it waits for a lock that another thread keeps; with `burn` it computes; with `each` it has a connection and a thread for each, which sleeps
once; with `pieces` the server sleeps between the two pieces of its answer. The lines that matter are marked.
"""
import http.server
import os
import socket
import sys
import threading
import time


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


def serve_late(listener):
    conn, _ = listener.accept()
    while conn.recv(176):
        time.sleep(0.03)  # // late wait
        conn.sendall(b"done")  # // late answer


def serve_pieces(listener):
    conn, _ = listener.accept()
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while conn.recv(176):
        conn.sendall(b"do")
        time.sleep(0.03)  # // pieces wait
        conn.sendall(b"ne")


def ask_pieces(conn):
    conn.sendall(b"h" * 176)
    conn.recv(2)
    return conn.recv(2)  # // pieces read


lock = threading.Lock()


def keep_lock():
    while True:
        lock.acquire()
        time.sleep(0.03)  # // lock sleep
        lock.release()  # // lock release
        time.sleep(0.01)


def serve_locked(listener):
    conn, _ = listener.accept()
    threading.Thread(target=keep_lock, daemon=True).start()
    while conn.recv(176):
        while not lock.locked():
            time.sleep(0.001)
        lock.acquire()  # // lock wait
        lock.release()
        conn.sendall(b"done")


def compute(until):
    count = 0
    while time.monotonic() < until:
        count += 1
    return count


def serve_computed(listener):
    conn, _ = listener.accept()
    while conn.recv(176):
        compute(time.monotonic() + 0.03)  # // burn caller
        conn.sendall(b"done")


def serve_one(conn):
    conn.recv(176)
    time.sleep(0.03)  # // each wait
    conn.sendall(b"done")
    conn.close()


def serve_each(listener):
    while True:
        threading.Thread(target=serve_one, args=(listener.accept()[0],), daemon=True).start()


def ask_late(conn):
    conn.sendall(b"h" * 176)
    return conn.recv(4)  # // late read


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


if "http" in sys.argv:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("ready", os.getpid(), flush=True)
    sys.stdin.readline()
    threading.Thread(target=ask, args=server.server_address[1:]).start()
    server.serve_forever()
listener = socket.create_server(("127.0.0.1", 0))
servers = {"late": serve_late, "lock": serve_locked, "burn": serve_computed, "each": serve_each, "pieces": serve_pieces}
late = sys.argv[-1] in servers
server = servers.get(sys.argv[-1], serve)
threading.Thread(target=server, args=(listener,), daemon=True).start()
conn = None if sys.argv[-1] == "each" else socket.create_connection(listener.getsockname())
print("ready", os.getpid(), flush=True)
sys.stdin.readline()
for _ in range(30):
    if sys.argv[-1] == "each":
        conn = socket.create_connection(listener.getsockname())
    (ask_pieces if server is serve_pieces else ask_late if late else request)(conn)
