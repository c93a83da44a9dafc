#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Flame graphs in a headless Chromium: loads each as the file that it is, and lets tests/profile/browser.js use it.
#
#   browser.sh     $BUILD: where the tests were built; the profiles are those of tests/unit/render/profile_fixture.h, by
#                  NETSTALL_DAY those of that day (tests/day.awk)
#
# Lines `ok NAME`, `not ok NAME: why`, `skip NAME: why`. Exit status 1 if any failed.
set -u
cd "$(dirname "$0")/../.."

program=$(realpath "${BUILD:-build}/tests/unit/render/test_profile")
browser=$(command -v chromium || command -v chromium-browser) || {
    echo "skip profile/browser: chromium is not installed, see scripts/deps.sh"
    exit 0
}
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
failed=0

# The page's last line closes it: the tests come before that.
with_tests() { # with_tests NAME
    sed '$d' "$home/made.svg"
    printf '<script><![CDATA[\nconst NAME = "%s", PROFILE = JSON.parse(atob("%s"));\n' "$1" "$("$program" --dump json "$1" | base64 -w 0)"
    cat tests/profile/browser.js
    printf ']]></script>\n</svg>\n'
}

for name in $("$program" --list | sed 's/^/svg /' | awk -v day="${NETSTALL_DAY:-all}" -f tests/day.awk); do
    "$program" --dump svg "$name" >"$home/made.svg"
    # What it would load from elsewhere, it does not have. Namespaces are names, not addresses.
    if grep -o '\(https\?:\|file:\|//\)[^"<> ]*' "$home/made.svg" | grep -v '^http://www.w3.org/\(2000/svg\|1999/xhtml\)$' |
        grep -q '^\(http\|file\)' || grep -q '\bhref=\|@import\|url(' "$home/made.svg"; then
        echo "not ok profile/$name-svg-stands-alone: it names other files"
        failed=1
    fi
    with_tests "$name" >"$home/$name.svg"
    HOME=$home timeout -k 5 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-extensions \
        --no-first-run --user-data-dir="$home/profile" --window-size=1280,800 --dump-dom "file://$home/$name.svg" \
        >"$home/dom" 2>"$home/errors"
    sed -n '/<desc id="results">/,/<\/desc>/p' "$home/dom" | grep '^\(not \)\?ok ' |
        sed "s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; s|ok |ok profile/$name-svg-|" >"$home/results"
    if [ -s "$home/results" ]; then
        cat "$home/results"
        ! grep -q '^not ok' "$home/results" || failed=1
    else
        echo "not ok profile/$name-svg: the browser gave no results: $(tail -n 3 "$home/errors" | tr '\n' ' ' | head -c 300)"
        failed=1
    fi
done
exit $failed
