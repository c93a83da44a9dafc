#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A program of two processes of which one answers each of 60 requests after so many milliseconds: timed.py MS"""
import os
import socket
import sys
import time

listener = socket.create_server(("127.0.0.1", 0))
if not os.fork():
    connection = listener.accept()[0]
    while connection.recv(100):
        time.sleep(float(sys.argv[1]) / 1000)
        connection.send(b"ok")
    os._exit(0)
client = socket.create_connection(listener.getsockname())
for _ in range(60):
    client.send(b"x" * 40)
    client.recv(10)
client.close()
os.wait()
