package terminal

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/panes/kit/text"
)

// A Target is something to open: a URL, or a path with the line and column printed after it; 0 if
// there were none.
type Target struct {
	URL          string
	Path         string
	Line, Column int
}

// tokenChars are the characters that a double click selects as part of a word, besides letters and
// digits. They occur in paths and URLs.
const tokenChars = "_-./~:@%+#?&=,$*!"

func isTokenRune(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(tokenChars, r) ||
		r > 0x7f && !unicode.IsSpace(r) && !unicode.IsPunct(r) && !(r >= 0x2500 && r < 0x25a0)
}

// edgeChars are characters that rarely belong to a path or URL if they are at its end.
const edgeChars = ".,:;!?&*=#@%+$"

// tokenAround returns the word that a double click at p selects: its first and its last place, and
// its text.
func (s *Screen) tokenAround(p api.Place) (from, to api.Place, text string) {
	w := s.newWalker(p)
	if w.i >= len(w.row) || p.Cell >= w.row[w.i].x+w.row[w.i].w {
		return p, p, ""
	}
	same := func(w *walker) bool { return w.class() == blankClass }
	switch {
	case isTokenRune(w.row[w.i].text):
		same = func(w *walker) bool { return w.i < len(w.row) && isTokenRune(w.row[w.i].text) }
	case w.class() != blankClass:
		return w.place(), w.place(), w.row[w.i].text
	}
	back := *w
	for {
		before := back
		if broken, ok := back.previous(); !ok || broken || !same(&back) {
			back = before
			break
		}
	}
	from = back.place()
	var b strings.Builder
	for {
		if back.i < len(back.row) {
			b.WriteString(back.row[back.i].text)
		}
		to = back.place()
		// The limit is for lines wrapped over many rows.
		if broken, ok := back.next(); !ok || broken || !same(&back) || b.Len() > 8192 {
			break
		}
	}
	return from, to, b.String()
}

// targetAt returns the path or URL at a place; ok is false if there is none.
func (s *Screen) targetAt(p api.Place) (target Target, ok bool) {
	if link := s.linkAt(p); link != "" {
		return Target{URL: link}, true
	}
	_, _, text := s.tokenAround(p)
	return parseTarget(text)
}

// linkAt returns the hyperlink (OSC 8) of a cell.
func (s *Screen) linkAt(p api.Place) string {
	row, _ := s.textRow(p.Line)
	if i := clusterIndex(row, p.Cell); i < len(row) {
		return text.CleanLink(row[i].style.Link)
	}
	return ""
}

// schemes returns the prefixes of URLs.
func schemes() []string {
	return []string{"https://", "http://", "ftp://", "file://", "ssh://", "git://", "mailto:"}
}

// parseTarget parses a URL, or a path as printed by compilers: "a/b.go:12:3".
func parseTarget(s string) (target Target, ok bool) {
	s = strings.TrimLeft(strings.TrimSpace(text.Clean(s)), edgeChars[1:])
	for _, scheme := range schemes() {
		if i := strings.Index(s, scheme); i >= 0 && len(s) > i+len(scheme) {
			return Target{URL: strings.TrimRight(s[i:], edgeChars)}, true
		}
	}
	s = strings.TrimRight(s, edgeChars)
	rest, last := cutNumber(s)
	target.Path, target.Line = cutNumber(rest)
	if target.Line == 0 {
		target.Line = last
	} else {
		target.Column = last
	}
	return target, target.Path != ""
}

// cutNumber cuts a number such as ":12" off the end of a text; n is 0 if there is none.
func cutNumber(text string) (rest string, n int) {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 || len(text)-i > 8 {
		return text, 0
	}
	n, err := strconv.Atoi(text[i+1:])
	if err != nil || n < 0 {
		return text, 0
	}
	return text[:i], n
}
