#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes a container image of the static file, and of nothing else: an OCI image layout in one tar.
#
#   oci-image.sh FILE VERSION OUTPUT     COMMIT: the revision, if known; SOURCE_DATE_EPOCH: its date, if not the commit's
#
# Also in it is manifest.json, without which `docker load` takes no image into its own store. The same file, version and commit
# make the same bytes.
set -euo pipefail
export LC_ALL=C

self=${0##*/}
die() { echo "$self: $*" >&2; exit 1; }
[ $# = 3 ] || { echo "usage: $self FILE VERSION OUTPUT" >&2 && exit 64; }
file=$1 version=$2 output=$3
for tool in jq gzip sha256sum; do
    command -v $tool >/dev/null || die "$tool is missing (scripts/deps.sh image)"
done
[ -f "$file" ] || die "no file $file (make static)"
case $(readelf -h "$file" | sed -n 's/^ *Machine: *//p') in
*X86-64) architecture=amd64 ;;
AArch64) architecture=arm64 ;;
*) die "$file is for no machine that is known here" ;;
esac
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct "${COMMIT:-HEAD}" 2>/dev/null || echo 0)}
created=$(date -u -d "@$date" +%Y-%m-%dT%H:%M:%SZ)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/root" "$work/image/blobs/sha256"
pack() { tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" --mode=u=rwX,go=rX -C "$1" -c "${@:2}"; }

# add_blob MEDIA-TYPE: keeps stdin as a blob, and prints its descriptor.
add_blob() {
    local digest
    cat >"$work/blob"
    digest=$(sha256sum <"$work/blob")
    digest=${digest%% *}
    jq -nc --arg type "$1" --arg digest "sha256:$digest" --argjson size "$(stat -c %s "$work/blob")" \
        '{mediaType: $type, digest: $digest, size: $size}'
    mv "$work/blob" "$work/image/blobs/sha256/$digest"
}

cp "$file" "$work/root/netstall" && chmod 755 "$work/root/netstall"
pack "$work/root" netstall >"$work/layer.tar"
diff_id=$(sha256sum <"$work/layer.tar")
layer=$(gzip -9n <"$work/layer.tar" | add_blob application/vnd.oci.image.layer.v1.tar+gzip)

labels=$(jq -nc --arg version "$version" --arg revision "${COMMIT:-}" --arg created "$created" '{
    "org.opencontainers.image.title": "netstall",
    "org.opencontainers.image.description": "Tells why a running Linux program waits on the network",
    "org.opencontainers.image.licenses": "BSD-2-Clause OR GPL-2.0-only",
    "org.opencontainers.image.version": $version,
    "org.opencontainers.image.created": $created
} + if $revision == "" then {} else {"org.opencontainers.image.revision": $revision} end')
config=$(jq -nc --arg created "$created" --arg arch $architecture --arg diff "sha256:${diff_id%% *}" --argjson labels "$labels" '{
    created: $created, architecture: $arch, os: "linux",
    config: {Entrypoint: ["/netstall"], WorkingDir: "/", Labels: $labels},
    rootfs: {type: "layers", diff_ids: [$diff]},
    history: [{created: $created, created_by: "make image"}]
}' | add_blob application/vnd.oci.image.config.v1+json)
manifest=$(jq -nc --argjson config "$config" --argjson layer "$layer" --argjson labels "$labels" '{
    schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config: $config, layers: [$layer], annotations: $labels
}' | add_blob application/vnd.oci.image.manifest.v1+json)

blob() { jq -r '"blobs/" + (.digest | sub(":"; "/"))' <<<"$1"; }
printf '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
jq -nc --argjson manifest "$manifest" --arg version "$version" '{
    schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [$manifest + {annotations: {"org.opencontainers.image.ref.name": $version,
        "io.containerd.image.name": "docker.io/library/netstall:\($version)"}}]
}' >"$work/image/index.json"
jq -nc --arg config "$(blob "$config")" --arg layer "$(blob "$layer")" --arg version "$version" \
    '[{Config: $config, RepoTags: ["netstall:\($version)"], Layers: [$layer]}]' >"$work/image/manifest.json"
pack "$work/image" blobs index.json manifest.json oci-layout >"$work/image.tar"
mv "$work/image.tar" "$output"
