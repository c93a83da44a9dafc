#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write vmlinux.h: the types of types.txt as one kernel's BTF has them, and no others.

usage: generate.py BTF_OR_VMLINUX "KERNEL NAME" < types.txt > vmlinux.h
"""
import json
import subprocess
import sys

BASIC = {
    "char": "char", "signed char": "signed char", "unsigned char": "unsigned char",
    "short int": "short", "short unsigned int": "unsigned short", "int": "int",
    "unsigned int": "unsigned int", "long int": "long", "long unsigned int": "unsigned long",
    "long long int": "long long", "long long unsigned int": "unsigned long long",
    "_Bool": "_Bool", "bool": "_Bool",
}
# Typedefs that the generated header defines itself.
KNOWN_TYPEDEFS = {f"{s}{n}" for s in ("u", "s", "__u", "__s") for n in (8, 16, 32, 64)} | {
    "__be16", "__be32", "__wsum", "bool", "size_t", "gfp_t"}


class Btf:
    def __init__(self, path):
        dump = subprocess.run(["bpftool", "btf", "dump", "-j", "file", path, "format", "raw"],
                              check=True, capture_output=True).stdout
        self.types = {t["id"]: t for t in json.loads(dump)["types"]}
        self.named = {}
        for entry in self.types.values():
            self.named.setdefault((entry["kind"], entry["name"]), entry)

    def struct(self, name):
        for kind in ("STRUCT", "UNION"):
            if (kind, name) in self.named:
                return self.named[(kind, name)]
        raise SystemExit(f"generate.py: no struct {name} in this BTF")

    def member(self, struct, name):
        """The member of that name, searched in anonymous members too."""
        for member in struct["members"]:
            if member["name"] == name:
                return member
            inner = self.types.get(member["type_id"])
            if member["name"] == "(anon)" and inner and inner["kind"] in ("STRUCT", "UNION"):
                found = self.member(inner, name)
                if found:
                    return found
        return None


class Writer:
    def __init__(self, btf, wanted):
        self.btf, self.wanted = btf, wanted
        self.done, self.forward, self.out = set(), set(), []

    def declare(self, type_id, name, depth):
        """C for one member of that type; what it embeds by value is written before."""
        if type_id == 0:
            return f"void {name}"
        entry = self.btf.types[type_id]
        kind, type_name = entry["kind"], entry["name"]
        if kind in ("CONST", "VOLATILE", "RESTRICT", "TYPE_TAG"):
            return self.declare(entry["type_id"], name, depth)
        if kind == "TYPEDEF":
            if type_name in KNOWN_TYPEDEFS:
                return f"{type_name} {name}"
            return self.declare(entry["type_id"], name, depth)
        if kind == "INT":
            return f"{BASIC[type_name]} {name}"
        if kind in ("ENUM", "ENUM64"):
            return f"int {name}"
        if kind == "ARRAY":
            return self.declare(entry["type_id"], f"{name}[{entry['nr_elems']}]", depth)
        if kind == "PTR":
            return self.pointer(entry, name)
        if kind in ("STRUCT", "UNION"):
            return self.embedded(entry, name, depth)
        raise SystemExit(f"generate.py: {name}: {kind} is not handled")

    def pointer(self, entry, name):
        target = self.btf.types.get(entry["type_id"])
        while target and target["kind"] in ("CONST", "VOLATILE", "RESTRICT", "TYPE_TAG", "TYPEDEF"):
            if target["kind"] == "TYPEDEF" and target["name"] in KNOWN_TYPEDEFS:
                return f"{target['name']} *{name}"
            target = self.btf.types.get(target["type_id"])
        if not target or target["kind"] in ("FUNC_PROTO", "PTR", "ARRAY") or target["name"] == "(anon)":
            return f"void *{name}"
        if target["kind"] == "INT":
            return f"{BASIC[target['name']]} *{name}"
        self.forward.add(target["name"])
        return f"struct {target['name']} *{name}"

    def embedded(self, entry, name, depth):
        if entry["name"] in self.wanted:
            self.struct(entry["name"])
            return f"struct {entry['name']} {name}"
        # A type of no list is written out where it stands, whole.
        keyword = entry["kind"].lower()
        pad = "\t" * (depth + 1)
        lines = []
        for member in entry["members"]:
            inner = "" if member["name"] == "(anon)" else member["name"]
            text = self.declare(member["type_id"], inner, depth + 1).rstrip()
            lines.append(f"{pad}{text}{self.bits(member)};\n")
        return f"{keyword} {{\n{''.join(lines)}{chr(9) * depth}}} {name}"

    @staticmethod
    def bits(member):
        size = member.get("bitfield_size", 0)
        return f" : {size}" if size else ""

    def resolve(self, type_id):
        """The struct or union behind typedefs and qualifiers."""
        entry = self.btf.types[type_id]
        while entry["kind"] in ("CONST", "VOLATILE", "TYPEDEF"):
            entry = self.btf.types[entry["type_id"]]
        return entry

    def fields(self, struct, wanted, where, depth):
        """C for the wanted fields; "a.b" takes of the embedded struct a only its field b."""
        lines, nested, pad = [], {}, "\t" * depth
        for field in wanted:
            first, _, rest = field.partition(".")
            member = self.btf.member(struct, first)
            if not member:
                raise SystemExit(f"generate.py: no field {first} in {where}")
            if rest:
                nested.setdefault(first, []).append(rest)
                continue
            text = self.declare(member["type_id"], first, depth)
            lines.append(f"{pad}{text}{self.bits(member)};\n")
        for first, inner in nested.items():
            entry = self.resolve(self.btf.member(struct, first)["type_id"])
            body = self.fields(entry, inner, f"{where}.{first}", depth + 1)
            lines.append(f"{pad}struct {{\n{body}{pad}}} {first};\n")
        return "".join(lines)

    def struct(self, name):
        if name in self.done:
            return
        self.done.add(name)
        body = self.fields(self.btf.struct(name), self.wanted[name], f"struct {name}", 1)
        self.out.append(f"struct {name} {{\n{body}}};\n")


HEAD = """/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Generated by vmlinux/generate.py from types.txt and the BTF of {kernel}: do not edit.
 * Only the types and fields that the BPF programs name. Offsets here mean nothing:
 * preserve_access_index makes libbpf look every field up in the running kernel.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
typedef unsigned long size_t;
typedef unsigned int gfp_t;

enum {{ false = 0, true = 1 }};
#define NULL ((void *)0)

/* The map types and flags of include/uapi/linux/bpf.h that are used. */
enum bpf_map_type {{
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
}};
enum {{ BPF_ANY = 0, BPF_NOEXIST = 1 }};
enum {{ BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 }};
enum {{ BPF_F_USER_STACK = 256 }};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

"""

REGS = """
/* Of the architecture, not of the kernel's BTF: uapi/asm/ptrace.h and asm/ptrace.h. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
	u64 orig_x0;
	s32 syscallno;
};
#endif
"""

TAIL = """
#pragma clang attribute pop

#endif
"""


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    wanted = {}
    for line in sys.stdin:
        line = line.split("#")[0].strip()
        if line.startswith("struct "):
            name, fields = line[len("struct "):].split(":")
            wanted[name] = fields.split()
    writer = Writer(Btf(sys.argv[1]), wanted)
    for name in wanted:
        writer.struct(name)
    forward = "".join(f"struct {n};\n" for n in sorted(writer.forward | {
        "sock", "msghdr", "page", "seq_file", "bpf_map"}))
    sys.stdout.write(HEAD.format(kernel=sys.argv[2]) + forward + "\n" + "\n".join(writer.out) +
                     REGS + TAIL)


main()
