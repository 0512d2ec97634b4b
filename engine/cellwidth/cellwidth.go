// Package cellwidth says how text divides into the cells of a terminal: what one
// cell or two hold, and how wide it is. Emulator, panes and painter count by it,
// so that they agree; escape sequences are theirs.
//
// The width of a cluster (an extended grapheme cluster of Unicode's UAX #29) is
// the sum of what wcwidth says of its code points, since line editors, and by
// now most terminals, count so: a vowel sign that stands beside its consonant
// takes a cell, and so does each consonant of a conjunct. Emoji are one
// character whatever they are made of: what is joined by ZWJ and a skin colour take
// no cells of their own, and VS16 makes wide.
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

// Rune is the number of cells that a code point takes by itself, 0, 1 or 2; 0
// for control characters.
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

// isSign says that r is one of the format characters that are seen: number
// signs and the like, which stand around or before what follows them.
func isSign(r rune) bool {
	switch r {
	case 0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD:
		return true
	}
	return false
}

// First gives the text that a cell or two at the beginning of s hold, and its
// width. It is a cluster, or as much of one as two cells have room for: the rest
// goes on in the next ones. It is "" for an empty s only. Width 0 is that of
// what takes no cell: a control character, or a mark without a letter.
func First(s string) (cluster string, width int) {
	if s == "" {
		return "", 0
	}
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

// Cluster gives the extended grapheme cluster that s begins with, however wide.
func Cluster(s string) string { return graphemes.FromString(s).First() }

// PerCodePoint is the number of cells that s takes on a terminal to which
// clusters are nothing: the sum of what wcwidth says, of emoji as well.
func PerCodePoint(s string) int {
	n := 0
	for _, r := range s {
		if !isTrailingJamo(r) {
			n += Rune(r)
		}
	}
	return n
}

// Fit is First for the text of a run that takes room cells in all: a single
// cluster of several code points takes all of one cell or two, whatever it
// measures.
func Fit(s string, room int) (cluster string, width int) {
	cluster, width = First(s)
	if (room == 1 || room == 2) && (len(cluster) < len(s) || width != room) && Whole(s) {
		if _, n := utf8.DecodeRuneInString(s); n < len(s) {
			return s, room
		}
	}
	return cluster, width
}

// Of is the number of cells that s takes.
func Of(s string) int {
	n := 0
	for s != "" {
		c, w := First(s)
		s = s[len(c):]
		n += w
	}
	return n
}

// Whole says that s is one cluster.
func Whole(s string) bool { return s != "" && len(Cluster(s)) == len(s) }

// Joined is the number of cells that r adds to a cluster which it joins and
// which has these code points first and last. own says that r takes them for
// itself, so that it can stand in a cell of its own as well.
func Joined(first, last, r rune) (added int, own bool) {
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

// mayBeEmoji rules out what is surely none: of ASCII all but what keycaps are
// made of, letters and marks.
func mayBeEmoji(r rune) bool {
	if r < 0x80 {
		return r == '#' || r == '*' || r >= '0' && r <= '9'
	}
	return r == 'ℹ' || !unicode.IsLetter(r) && !unicode.IsMark(r) && r != 0xA0
}

// Absorbed says that r, which has cells of its own where it stands alone, is one
// with what stands before it in some clusters: half a flag, a skin colour, a vowel of
// Hangul.
func Absorbed(r rune) bool {
	return r >= 0x1160 && (isTrailingJamo(r) || isIndicator(r) || isSkin(r))
}

// IsFlag says that a cluster with these code points first is a flag, which what
// stands before it does not absorb.
func IsFlag(first, second rune) bool { return isIndicator(first) && isIndicator(second) }

// isSkin says that r gives the emoji before it a skin colour.
func isSkin(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func isIndicator(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// isTrailingJamo says that r is a vowel or a final consonant of decomposed
// Hangul, which stands in the cells of the first one.
func isTrailingJamo(r rune) bool { return r >= 0x1160 && r <= 0x11FF || r >= 0xD7B0 && r <= 0xD7FF }
