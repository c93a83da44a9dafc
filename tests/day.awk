# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What of a part runs today: day.awk -v day=0|1|2|3|all. Of lines `CLASS ...` each fourth of a class, from another one on each day, and
# of a class of fewer one of them: in each run each class is there, and in four runs on four days every case. `all`, or nothing: every
# line. What is printed has no CLASS.

{
    if (!($1 in number)) number[$1] = classes++ # they begin on different days, so that the days are alike
    of[NR] = $1
    sub(/^[^ ]+ /, "")
    line[NR] = $0
}
END {
    for (i = 1; i <= NR; i++) size[of[i]]++
    for (i = 1; i <= NR; i++) {
        period = size[of[i]] < 4 ? size[of[i]] : 4
        if (day == "" || day == "all" || (seen[of[i]]++ + number[of[i]]) % period == day % period) print line[i]
    }
}
