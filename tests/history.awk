# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Adds a run to the history of unsteady cases: history.awk HISTORY RUN. Lines of HISTORY, and of what is printed:
#
#   ran RUNS PART            so often this part ran
#   unsteady TIMES CASE      so often a case of it failed first, and was right when run again
#
# and of RUN `ran PART`, or `fourth PART` where only a fourth of its cases ran, and `unsteady CASE`. After 40 runs of a part its counts are halved: what is long ago counts less. On stderr
# each case of RUN that is unsteady again and again: with a chance of 2% it would be so often in less than one of 100 histories.

BEGIN { most = 40; rate = 0.02; alpha = 0.01 }
function rounded(runs) { return sprintf("%.2f", runs) + 0 }
function part_of(name) { sub(/\/[^\/]*$/, "", name); return name }

# at_least(times, runs): the chance of so many first failures, or more.
function at_least(times, runs,    k, term, sum) {
    if (runs < 1) runs = 1
    term = runs * log(1 - rate)
    for (k = 0; k < times; k++) {
        sum += exp(term)
        if (k < runs) term += log(runs - k) - log(k + 1) + log(rate) - log(1 - rate)
    }
    return 1 - sum
}

/^#/ { print; next }
FILENAME == ARGV[1] && $1 == "ran" { runs[$3] = $2; next }
FILENAME == ARGV[1] && $1 == "unsteady" { times[$3] = $2; next }
$1 == "ran" { runs[$2]++; next }
$1 == "fourth" { runs[$2] += 1 / 4; next }
$1 == "unsteady" { times[$2]++; now[$2] = 1 }
END {
    for (name in now) {
        part = part_of(name)
        if (at_least(times[name], runs[part]) < alpha)
            print name ": it failed first in " times[name] " of " rounded(runs[part]) " runs of its part" >"/dev/stderr"
    }
    for (name in times) if (runs[part_of(name)] > most) times[name] = int(times[name] / 2)
    for (part in runs) {
        if (runs[part] > most) runs[part] = int(runs[part] / 2)
        print "ran", rounded(runs[part]), part | "sort -k3"
    }
    close("sort -k3")
    for (name in times) if (times[name]) print "unsteady", times[name], name | "sort -k3"
}
