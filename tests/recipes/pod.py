#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The container of a DaemonSet's pod, run by engine.sh with what the pod asks for: pod.py FILE [OLD=NEW in an argument]...

Its one volume is the folder $STALLS. A field that is not known here is an error: no right is asked for that is not looked at.
"""
import os
import sys

import yaml

ENGINE = os.path.join(os.path.dirname(__file__), "engine.sh")


def only(fields, *known):
    """These fields, if there are no others."""
    unknown = set(fields) - set(known)
    if unknown:
        sys.exit(f"not known: {', '.join(sorted(unknown))}")
    return fields


def rights(context):
    """The engine's options for a container's securityContext."""
    only(context, "runAsUser", "privileged", "allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities", "seccompProfile",
         "appArmorProfile")
    if context["runAsUser"] != 0 or context["privileged"] or context["seccompProfile"] != {"type": "RuntimeDefault"}:
        sys.exit("another user, a privileged container or another seccomp profile")
    options = [] if context["allowPrivilegeEscalation"] else ["--security-opt", "no-new-privileges"]
    options += ["--read-only"] if context["readOnlyRootFilesystem"] else []
    capabilities = only(context["capabilities"], "drop", "add")
    options += [word for name in capabilities["drop"] for word in ("--cap-drop", name)]
    return options + [word for name in capabilities["add"] for word in ("--cap-add", name)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    daemonset = next(document for document in documents if document["kind"] == "DaemonSet")
    template = daemonset["spec"]["template"]
    if daemonset["spec"]["selector"]["matchLabels"] != template["metadata"]["labels"]:
        sys.exit("the selector does not find the pods")
    if daemonset["metadata"]["namespace"] not in [document["metadata"]["name"] for document in documents if document["kind"] == "Namespace"]:
        sys.exit("its namespace is not there")
    pod = only(template["spec"], "hostPID", "automountServiceAccountToken", "enableServiceLinks", "containers", "volumes")
    (container,) = pod["containers"]
    only(container, "name", "image", "args", "env", "securityContext", "resources", "volumeMounts")
    options = rights(container["securityContext"]) + (["--pid", "host"] if pod["hostPID"] else [])
    (mount,), (volume,) = container["volumeMounts"], pod["volumes"]
    if mount["name"] != volume["name"]:
        sys.exit("the volume has another name")
    options += ["-v", f"{os.environ['STALLS']}:{mount['mountPath']}"]
    arguments = container["args"]
    for change in sys.argv[2:]:
        old, new = change.split("=")
        arguments = [argument.replace(old, new) for argument in arguments]
    os.execv(ENGINE, [ENGINE, "run", *options, container["image"], *arguments])


if __name__ == "__main__":
    main()
