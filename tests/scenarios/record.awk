# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes a record anew: record.awk old=1 RECORD old=0 FIGURES, where the lines of FIGURES are `CAUSE PRECISION RECALL [MOST]`: what is
# better than MOST is recorded as that. Says on stderr what of the figures it does not take.
#
#   -v label=   of this run
#   -v reason=  why lower values than the recorded ones are taken; empty: they are not

function value(cause, what, old, new) {
    if (old == "" || old + 0 == new + 0) return new
    if (cause == "unknown" ? new < old : new > old) {
        print "# " label ": " cause ": " what " is " new ", better than the recorded " old ", which stays" >"/dev/stderr"
        return old
    }
    if (reason == "") {
        print "# " label ": " cause ": " what " is " new ", and " old " stays: --lower REASON takes the lower value" >"/dev/stderr"
        return old
    }
    lowered[++lowerings] = "# " cause ": " what " from " old " to " new ": " reason
    return new
}
function cut(rate, bar) { return sprintf("%.4f", bar != "" && rate > bar ? bar : rate) }
!NF { next }
/^#/ { lowered[++lowerings] = $0; next }
old { old_order[++old_count] = $1; old_precision[$1] = $2; old_recall[$1] = $3; next }
$1 == "unknown" { line[$1] = "unknown " value($1, "share", old_precision[$1], sprintf("%.4f", $2 < 0.02 ? 0.02 : $2)); next }
{
    order[++count] = $1
    line[$1] = $1 " " value($1, "precision", old_precision[$1], cut($2, $4)) " " value($1, "recall", old_recall[$1], cut($3, $4))
}
END {
    for (i = 1; i <= old_count; i++)
        if (!(old_order[i] in line)) {
            cause = old_order[i]
            order[++count] = cause
            line[cause] = cause " " old_precision[cause] " " old_recall[cause]
            print "# " label ": " cause ": no scenario of it ran, and its record stays" >"/dev/stderr"
        }
    for (i = 1; i <= lowerings; i++) print lowered[i]
    for (i = 1; i <= count; i++) print line[order[i]] | "sort"
    close("sort")
    print line["unknown"]
}
