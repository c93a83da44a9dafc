# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes the confusion matrix of lines `SCENARIO EXPECTED NAMED EXPECTED_MS NAMED_MS AT_MS`, with precision and recall of
# each cause and the share of `unknown`.
#
#   -v form=matrix    for people
#   -v form=figures   lines `CAUSE PRECISION RECALL EXPECTED NAMED`, and `unknown SHARE COUNT STALLS`
#
# What the truth calls unclear (the machine was slow, and not for want of a CPU) is told, not scored.

function add(expected, named) {
    count[expected, named]++
    if (!(expected in row)) { row[expected] = 1; rows[++row_count] = expected }
    if (!(named in column)) { column[named] = 1; columns[++column_count] = named }
}

function is_cause(name) { return name !~ /^\(/ }

function sorted(list, length_of,    i, j, swap) {
    for (i = 2; i <= length_of; i++)
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) { swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap }
}

function precision(cause) { return named_total[cause] ? right[cause] / named_total[cause] : 1 }
function recall(cause) { return expected_total[cause] ? right[cause] / expected_total[cause] : 1 }

$2 == "unclear" { unclear++; next }
{
    add($2, $3)
    if (is_cause($2)) expected_total[$2]++
    if (is_cause($3)) named_total[$3]++
    if ($2 == $3) right[$2]++
    if (is_cause($2) || is_cause($3)) causes[is_cause($2) ? $2 : $3] = 1
    if (is_cause($3)) causes[$3] = 1
    stall_ms += $5
    if (is_cause($3)) stalls++
    if ($3 == "unknown") { unknown_ms += $5; unknown_count++ }
}

END {
    for (cause in causes) order[++cause_count] = cause
    sorted(order, cause_count)
    if (form == "figures") {
        for (i = 1; i <= cause_count; i++)
            if (order[i] != "unknown")
                printf "%s %.4f %.4f %d %d\n", order[i], precision(order[i]), recall(order[i]), expected_total[order[i]], named_total[order[i]]
        printf "unknown %.4f %d %d\n", stall_ms ? unknown_ms / stall_ms : 0, unknown_count, stalls
        exit
    }
    sorted(columns, column_count)
    sorted(rows, row_count)
    printf "%-16s", "expected\\named"
    for (j = 1; j <= column_count; j++) printf " %8s", substr(columns[j], 1, 8)
    printf " %9s %6s\n", "precision", "recall"
    for (i = 1; i <= row_count; i++) {
        printf "%-16s", rows[i]
        for (j = 1; j <= column_count; j++) {
            n = count[rows[i], columns[j]]
            printf " %8s", n ? n : "."
        }
        if (is_cause(rows[i])) printf " %9.2f %6.2f", precision(rows[i]), recall(rows[i])
        print ""
    }
    printf "unknown: %.1f%% of the stall time; %d unclear\n", stall_ms ? 100 * unknown_ms / stall_ms : 0, unclear
}
