package project

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name of an entry, in characters.
const maxName = 56

// goodName reports whether the engine takes a name, with room for a number
// behind it.
func goodName(s string) bool {
	return strings.TrimSpace(s) == s && s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxName &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0 && !likeID(s)
}

// badName says why a name is no good one.
func badName(s string) string {
	switch {
	case s == "":
		return "its name is empty"
	case likeID(s):
		return "its name looks like an id"
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Sprintf("its name has more than %d characters", maxName)
	case strings.TrimSpace(s) != s:
		return "its name begins or ends with a blank"
	}
	return "its name has characters that cannot be shown"
}

// likeID reports whether a name could be taken for an id.
func likeID(s string) bool { return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == "" }

// closest is the word most like name; "" if none is much like it.
func closest(name string, words []string) string {
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

// distance is how many letters to add, remove or change to come from a to b.
func distance(a, b string) int {
	if len(a) > maxName || len(b) > maxName {
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
