# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What of a part runs today: third.awk -v third=0|1|2|all. Of lines `CLASS ...` each third of a class, from another one on each day, and
# of a class of one or two one of them: in each run each class is there, and in three runs on three days every case. `all`, or nothing:
# every line. What is printed has no CLASS.

{
    of[NR] = $1
    sub(/^[^ ]+ /, "")
    line[NR] = $0
}
END {
    for (i = 1; i <= NR; i++) size[of[i]]++
    for (i = 1; i <= NR; i++) {
        period = size[of[i]] < 3 ? size[of[i]] : 3
        if (third == "" || third == "all" || seen[of[i]]++ % period == third % period) print line[i]
    }
}
