#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""In place of kubectl, for `kubectl debug`: the container that it would ask for, run by engine.sh with the rights of --custom.

A node's is in the host's pid namespace, a pod's in that of its container. An option that kubectl does not know is an error.
"""
import argparse
import os
import sys

import yaml

import pod

parser = argparse.ArgumentParser(prog="kubectl", allow_abbrev=False)
parser.add_argument("command", choices=["debug"])
parser.add_argument("target")
parser.add_argument("--target", dest="beside")
parser.add_argument("--image", required=True)
parser.add_argument("--profile", choices=["general"], required=True)
parser.add_argument("--custom", required=True)
parser.add_argument("--attach", action="store_true", required=True)
parser.add_argument("--arguments-only", action="store_true", required=True)
words = sys.argv[1:]
end = words.index("--")
given = parser.parse_args(words[:end])
on_node = given.target.startswith("node/")
if on_node == bool(given.beside):
    sys.exit("a node has no --target, and a pod one")
with open(given.custom, encoding="utf-8") as file:
    context = pod.only(yaml.safe_load(file), "securityContext")["securityContext"]
place = "host" if on_node else f"container:{given.beside}"
os.execv(pod.ENGINE, [pod.ENGINE, "run", *pod.rights(context), "--pid", place, given.image, *words[end + 1:]])
