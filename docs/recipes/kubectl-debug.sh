#!/bin/sh
# Kubernetes: run netstall once, on a node or beside a container of a pod. IMAGE is netstall's image in a registry of yours:
# skopeo copy oci-archive:build/netstall-VERSION-oci.tar docker://registry.example/netstall:VERSION
#
#   kubectl-debug.sh node/NAME COMMAND [ARG...]         processes of the node: doctor, or trace --comm postgres -d 30
#   kubectl-debug.sh POD CONTAINER COMMAND [ARG...]     those of that container: trace -p 1 --children -d 30
#
# The rights are in kubectl-debug.yaml beside this file (kubectl 1.31 or later), and no more. `kubectl debug node` itself adds the
# host's network, its IPC and its files at /host, which netstall does not use. The pod stays: kubectl delete pod node-debugger-...
# The namespace must allow such a pod (Pod Security: privileged).
target=$1 beside=
shift
case $target in node/*) ;; *) beside=$1 && shift ;; esac
exec "${KUBECTL:-kubectl}" debug "$target" ${beside:+--target "$beside"} --image "${IMAGE:-registry.example/netstall:0.1.0}" \
	--profile general --custom "$(dirname "$0")/kubectl-debug.yaml" --attach --arguments-only -- "$@"
