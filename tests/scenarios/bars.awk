# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Compares a run's figures with its record: bars.awk RECORD FIGURES, both as matrix.awk and score.sh --record write them.
#
#   -v quick=1  an emulated machine
#   -v alpha=   how unlikely a run must be that fails (0.01)
#
# Prints a line for each cause, `fine CAUSE: ...` or `fault CAUSE: ...`, and `weak CAUSE: ...` beside it where half of its stalls
# may be wrong. Exit status 1 if there was a fault.
#
# A figure fails where a run with the recorded rate would have so few right, or fewer, in one of a hundred runs (alpha). A rate is
# never taken as better than 0.98: rarely a whole softirq run is visible to no program (docs/limits.md), and takes the evidence of a
# stall with it. On a real machine it fails too where more than two stalls are wrong beyond the recorded share, however many there are.

# at_most(right, n, rate): the chance of so many right, or fewer, of n.
function at_most(right, n, rate,    k, term, sum) {
    if (right >= n) return 1
    term = n * log(1 - rate)
    for (k = 0; k <= right; k++) {
        sum += exp(term)
        if (k < n) term += log(n - k) - log(k + 1) + log(rate) - log(1 - rate)
    }
    return sum
}

function rate_of(recorded) { return recorded > 0.98 ? 0.98 : recorded < 0.02 ? 0.02 : recorded }

# least(n, recorded): so many must be right.
function least(n, recorded,    right, floor) {
    right = 0
    while (right < n && at_most(right, n, rate_of(recorded)) < alpha) right++
    floor = recorded * n - 2 - 1e-6
    while (!quick && right < floor) right++
    return right
}

# most(n, share): so many may be unknown.
function most(n, share,    count) {
    count = n
    while (count > 0 && at_most(n - count, n, 1 - share) < alpha) count--
    return count
}

function report(word, cause, text) { print word " " cause ": " text; faults += word == "fault" }

# compare(cause, what, rate, n, recorded): `what` is precision or recall.
function compare(cause, what, rate, n, recorded,    right, needed, text) {
    right = int(rate * n + 0.5)
    needed = least(n, recorded)
    text = sprintf("%s %d of %d, recorded %.4f, at least %d", what, right, n, recorded, needed)
    report(right < needed ? "fault" : "fine", cause, text)
    if (2 * needed < n) report("weak", cause, text)
}

BEGIN { if (alpha == "") alpha = 0.01 }
/^#/ { next }
FNR == NR { order[++count] = $1; precision[$1] = $2; recall[$1] = $3; next }
$1 == "unknown" { unknown_share = $2; unknown_count = $3; stalls = $4; next }
{
    seen[$1] = 1
    if (!($1 in precision)) new[$1] = 1
    named[$1] = $5; expected[$1] = $4
    run_precision[$1] = $2; run_recall[$1] = $3
}
END {
    for (cause in new) {
        # What runs between two waits of an emulated machine is slow: of three runs 0, 1 and 4 of 440 stalls were `self`, which is wrong
        # in the figures of the others. On a real machine none is.
        allowed = quick && expected[cause] == 0 ? most(stalls, 0.005) : 0
        report(named[cause] > allowed || expected[cause] ? "fault" : "fine", cause,
            sprintf("it is not in the record; %d expected, %d named, at most %d", expected[cause], named[cause], allowed))
    }
    for (i = 1; i <= count; i++) {
        cause = order[i]
        if (cause == "unknown") {
            allowed = most(stalls, precision[cause])
            report(quick ? (unknown_count > allowed ? "fault" : "fine") : (unknown_share > precision[cause] + 1e-6 ? "fault" : "fine"), cause,
                sprintf("%.4f of the stall time, %d of %d stalls, recorded %.4f%s", unknown_share, unknown_count, stalls, precision[cause],
                    quick ? ", at most " allowed " stalls" : ""))
        } else if (expected[cause] == 0) {
            report("fault", cause, "absent: no stall of it was made")
        } else {
            compare(cause, "recall", run_recall[cause], expected[cause], recall[cause])
            if (named[cause]) compare(cause, "precision", run_precision[cause], named[cause], precision[cause])
        }
    }
    exit faults > 0
}
