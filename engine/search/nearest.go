package search

import "strings"

const (
	mostCompared = 20000 // lines
	mostCompare  = 400   // bytes of a line
)

// Nearest is the line of text that has most in common with the first line of
// search that is not blank, and its number; 0 if none has half.
func Nearest(text, search string) (line string, number int) {
	want := pairs(firstLine(search))
	if len(want) == 0 {
		return "", 0
	}
	best := 0.5
	n := 0
	for l := range strings.Lines(text) {
		if n++; n > mostCompared {
			break
		}
		l = strings.TrimRight(l, "\n")
		if score := likeness(want, l); score > best {
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

// pairs counts the pairs of neighbouring bytes, blanks left out.
func pairs(line string) map[[2]byte]int {
	counts := make(map[[2]byte]int)
	each(line, func(pair [2]byte) { counts[pair]++ })
	return counts
}

func each(line string, visit func([2]byte)) {
	var last byte
	for i := range min(len(line), mostCompare) {
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

// likeness is the share of pairs that two lines have in common (Dice).
func likeness(want map[[2]byte]int, line string) float64 {
	seen := make(map[[2]byte]int, len(want))
	common, total := 0, 0
	each(line, func(pair [2]byte) {
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
