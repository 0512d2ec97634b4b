package search

import "strings"

const (
	maxComparedLines = 20000 // lines
	maxComparedBytes = 400   // bytes of a line
)

// Nearest returns the line of text most similar to the first non-blank line of search. number is
// the number of that line; it is 0 if no line is more than half similar.
func Nearest(text, search string) (line string, number int) {
	want := countPairs(firstLine(search))
	if len(want) == 0 {
		return "", 0
	}
	best := 0.5
	n := 0
	for l := range strings.Lines(text) {
		if n++; n > maxComparedLines {
			break
		}
		l = strings.TrimRight(l, "\n")
		if score := similarity(want, l); score > best {
			best, line, number = score, l, n
		}
	}
	return line, number
}

func firstLine(text string) string {
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			return l
		}
	}
	return ""
}

// countPairs counts the pairs of adjacent bytes, ignoring blanks.
func countPairs(line string) map[[2]byte]int {
	counts := make(map[[2]byte]int)
	eachPair(line, func(pair [2]byte) { counts[pair]++ })
	return counts
}

func eachPair(line string, visit func([2]byte)) {
	var last byte
	for i := range min(len(line), maxComparedBytes) {
		c := line[i]
		if c == ' ' || c == '\t' {
			continue
		}
		if last != 0 {
			visit([2]byte{last, c})
		}
		last = c
	}
}

// similarity returns the share of pairs that two lines have in common (Dice's coefficient).
func similarity(want map[[2]byte]int, line string) float64 {
	seen := make(map[[2]byte]int, len(want))
	common, total := 0, 0
	eachPair(line, func(pair [2]byte) {
		total++
		if seen[pair]++; seen[pair] <= want[pair] {
			common++
		}
	})
	for _, n := range want {
		total += n
	}
	return 2 * float64(common) / float64(total)
}
