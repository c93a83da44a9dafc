# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# One line for each pair: CPU us per exchange, exchanges per second and the tool's own CPU in percent,
# first without, then with the tool. Prints the words of the table's row.

function sort(values, n,    i, j, value)
{
	for (i = 2; i <= n; i++) {
		value = values[i]
		for (j = i - 1; j > 0 && values[j] > value; j--)
			values[j + 1] = values[j]
		values[j + 1] = value
	}
}

function median(values, n)
{
	sort(values, n)
	return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

{
	without_us[NR] = $1
	without_rate[NR] = $2
	with_us[NR] = $4
	with_rate[NR] = $5
	own[NR] = $6
	ratio[NR] = $4 / $1
}

END {
	middle = median(ratio, NR) # which also sorts them
	printf "%.2f %.2f %.3f (%.3f..%.3f) %.0f %.0f %.0f%%\n", median(without_us, NR),
		median(with_us, NR), middle, ratio[1], ratio[NR], median(without_rate, NR),
		median(with_rate, NR), median(own, NR)
}
