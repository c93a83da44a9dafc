#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Pages of reports in a headless Chromium: of golden traces, and of one with as many stalls as are listed. tests/page/browser.js uses each.
#
#   browser.sh     $BUILD: where the tests were built; NETSTALL_DAY: of the golden traces those of that day (tests/day.awk)
#
# Lines `ok NAME`, `not ok NAME: why`, `skip NAME: why`. Exit status 1 if any failed.
set -u
cd "$(dirname "$0")/../.." || exit 2

program=$(realpath "${BUILD:-build}/tests/golden/render_trace")
browser=$(command -v chromium || command -v chromium-browser) || {
    echo "skip page/browser: chromium is not installed, see scripts/deps.sh"
    exit 0
}
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
failed=0

# use NAME TRACE MOST_BYTES
use() {
    local page=$home/$1.html stalls
    "$program" --html "$2" >"$page" || { echo "not ok page/$1: it was not rendered" && failed=1 && return; }
    stalls=$("$program" "$2" | sed -n '/^== json$/,$p' | tail -n +2 | gojq '.stalls | length')
    if [ "$(stat -c %s "$page")" -gt "$3" ]; then echo "not ok page/$1-size: $(stat -c %s "$page") B" && failed=1; else echo "ok page/$1-size"; fi
    # Before its own script what counts errors, behind it the tests.
    sed -e 's|^<script>$|<script>const errors = []; window.onerror = (what) => errors.push(what);|' -e '/^<\/body>$/,$d' "$page" >"$home/tested.html"
    "$program" --svg "$2" >"$home/still.svg"
    { echo '<script>' && printf 'const TRACE = "%s", STALLS = %s, STILL = %s;\n' "$1" "$stalls" "$(gojq -Rs . "$home/still.svg" | sed 's/</\\u003c/g')" && cat tests/page/browser.js && printf '</script>\n</body>\n</html>\n'; } >>"$home/tested.html"
    HOME=$home timeout -k 5 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-extensions --no-first-run \
        --user-data-dir="$home/profile" --window-size=1280,900 --dump-dom "file://$home/tested.html" >"$home/dom" 2>"$home/errors"
    sed -n '/<pre id="results">/,/<\/pre>/p' "$home/dom" | grep '^\(not \)\?ok ' | sed "s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; s|ok |ok page/$1-|" >"$home/results"
    if [ -s "$home/results" ]; then
        cat "$home/results"
        ! grep -q '^not ok' "$home/results" || failed=1
    else
        echo "not ok page/$1: the browser gave no results: $(tail -n 3 "$home/errors" | tr '\n' ' ' | head -c 300)"
        failed=1
    fi
}

# The same stall again and again, each on a connection of its own: more than have a picture.
many() {
    local i
    sed -n '/ session /p' tests/golden/nagle-delack.trace
    for ((i = 0; i < 130; i++)); do
        grep -vE '^#| session | end$' tests/golden/nagle-delack.trace |
            awk -v i=$i 'NF { $1 = sprintf("%.6f", $1 + i * 500); gsub(/conn=1 /, "conn=" 2 * i + 1 " "); gsub(/conn=2 /, "conn=" 2 * i + 2 " "); gsub(/peer=2/, "peer=" 2 * i + 2); gsub(/peer=1/, "peer=" 2 * i + 1); print }'
    done
}

traces=(nagle-delack lock rto uring-split peer-app hostile-comm throttled no-connection lost-events marks whole-machine)
for trace in $(printf 'page %s\n' "${traces[@]}" | awk -v day="${NETSTALL_DAY:-all}" -f tests/day.awk); do
    use $trace tests/golden/$trace.trace 400000
done
many >"$home/many.trace"
use many "$home/many.trace" 2000000
exit $failed
