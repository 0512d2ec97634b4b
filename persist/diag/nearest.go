package diag

// Nearest is the word most like name; "" if none is much like it.
func Nearest(name string, words []string) string {
	best, least := "", min(1+len(name)/3, 3)
	if len(name) < 9 {
		least = min(least, 2)
	}
	for _, w := range words {
		if d := distance(name, w); d <= least {
			best, least = w, d-1
		}
	}
	return best
}

// longest is the most bytes of a word that is compared.
const longest = 56

// distance is how many letters to add, remove or change to come from a to b.
func distance(a, b string) int {
	if len(a) > longest || len(b) > longest {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := before
			if a[i-1] != b[j-1] {
				cost++
			}
			before = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
