// Package cellwidth divides text into terminal cells and measures its width. The emulator, the
// panes and the painter all use it, so that they agree. It does not parse escape sequences.
//
// The width of a cluster (an extended grapheme cluster, see Unicode's UAX #29) is the sum of the
// wcwidth of its code points, because line editors and most terminals count that way: a spacing
// vowel sign takes a cell, and so does each consonant of a conjunct. An emoji counts as one
// character regardless of its code points: those joined by ZWJ and skin tones take no cells of
// their own, and VS16 makes it wide.
package cellwidth

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

const (
	zwj  = 0x200D
	vs16 = 0xFE0F
)

// Rune returns the number of cells of a single code point: 0, 1 or 2. Control characters take 0.
func Rune(r rune) int {
	switch {
	case r < 0x7F:
		if r < ' ' {
			return 0
		}
		return 1
	case r < 0x300:
		if r < 0xA0 {
			return 0
		}
		return 1
	case r <= 0x110CD && isSign(r):
		return 1
	}
	if isIndicator(r) {
		return 1
	}
	return min(displaywidth.Rune(r), 2)
}

// isSign reports whether r is a visible format character, such as a number sign, which surrounds
// or precedes the following characters.
func isSign(r rune) bool {
	switch r {
	case 0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD:
		return true
	}
	return false
}

// First returns the text in the first one or two cells of s, and its width. That is a cluster, or
// the part of one that fits into two cells; the rest continues in the next cells. The text is ""
// only if s is empty. The width is 0 for text without a cell: a control character, or a mark
// without a base.
func First(s string) (cluster string, width int) {
	if s == "" {
		return "", 0
	}
	// Fast path: an ASCII character before another one is a cluster by itself.
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1], Rune(rune(s[0]))
	}
	whole := Cluster(s)
	r, end := utf8.DecodeRuneInString(whole)
	if r == utf8.RuneError && end <= 1 {
		return s[:1], 1
	}
	width = Rune(r)
	for first, last := r, r; end < len(whole); {
		r, n := utf8.DecodeRuneInString(whole[end:])
		added, _ := Joined(first, last, r)
		if width+added > 2 {
			break
		}
		last, width, end = r, width+added, end+n
	}
	return whole[:end], width
}

// Cluster returns the first extended grapheme cluster of s, of any width.
func Cluster(s string) string { return graphemes.FromString(s).First() }

// PerCodePoint returns the number of cells of s on a terminal without clusters: the sum of the
// wcwidth of all code points, including those of emoji.
func PerCodePoint(s string) int {
	n := 0
	for _, r := range s {
		if !isTrailingJamo(r) {
			n += Rune(r)
		}
	}
	return n
}

// Fit is First for the text of a run that takes room cells. If the text is a single cluster of
// several code points, it takes all of one or two cells, even if First measures it differently.
func Fit(s string, room int) (cluster string, width int) {
	cluster, width = First(s)
	if (room == 1 || room == 2) && (len(cluster) < len(s) || width != room) && Whole(s) {
		if _, n := utf8.DecodeRuneInString(s); n < len(s) {
			return s, room
		}
	}
	return cluster, width
}

// Of returns the number of cells of s.
func Of(s string) int {
	n := 0
	for s != "" {
		c, w := First(s)
		s = s[len(c):]
		n += w
	}
	return n
}

// Whole reports whether s is a single cluster.
func Whole(s string) bool { return s != "" && len(Cluster(s)) == len(s) }

// Joined returns the number of cells that r adds when it joins a cluster with the code points first
// and last. separable is true if r could also stand in cells of its own.
func Joined(first, last, r rune) (added int, separable bool) {
	switch {
	case r == vs16:
		if first == last && mayBeEmoji(first) && Rune(first) == 1 {
			return 1, false
		}
		return 0, false
	case r == zwj, isTrailingJamo(r):
		return 0, false
	case isIndicator(r) && isIndicator(first):
		return 1, false
	case isSkin(r) && Rune(first) == 2:
		return 0, false
	case isSkin(r) && unicode.Is(unicode.So, first):
		return 1, false
	case last == zwj && (r >= 0x1F000 && r < 0x20000 || !unicode.IsLetter(r)):
		return 0, false
	}
	added = Rune(r)
	return added, added > 0
}

// mayBeEmoji reports whether r can be an emoji. It excludes letters, marks, and all of ASCII
// except the characters of keycaps.
func mayBeEmoji(r rune) bool {
	if r < 0x80 {
		return r == '#' || r == '*' || r >= '0' && r <= '9'
	}
	return r == 'ℹ' || !unicode.IsLetter(r) && !unicode.IsMark(r) && r != 0xA0
}

// Absorbed reports whether r can join the preceding character, although it takes cells of its own
// when alone: half a flag, a skin tone, a Hangul vowel.
func Absorbed(r rune) bool {
	return r >= 0x1160 && (isTrailingJamo(r) || isIndicator(r) || isSkin(r))
}

// IsFlag reports whether a cluster with these first code points is a flag. A preceding character
// does not absorb a flag.
func IsFlag(first, second rune) bool { return isIndicator(first) && isIndicator(second) }

// isSkin reports whether r is a skin tone modifier.
func isSkin(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func isIndicator(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// isTrailingJamo reports whether r is a vowel or final consonant of decomposed Hangul, which
// shares the cells of the initial consonant.
func isTrailingJamo(r rune) bool { return r >= 0x1160 && r <= 0x11FF || r >= 0xD7B0 && r <= 0xD7FF }
