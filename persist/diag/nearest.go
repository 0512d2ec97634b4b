package diag

// Nearest returns the word most similar to name, or "" if none is similar enough.
func Nearest(name string, words []string) string {
	best, least := "", min(1+len(name)/3, 3)
	if len(name) < 9 {
		least = min(least, 2)
	}
	for _, w := range words {
		if d := editDistance(name, w); d <= least {
			best, least = w, d-1
		}
	}
	return best
}

// maxWord is the maximum length in bytes of the words to compare.
const maxWord = 56

// editDistance returns the Levenshtein distance of a and b in bytes: insertions, deletions and substitutions.
func editDistance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
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
