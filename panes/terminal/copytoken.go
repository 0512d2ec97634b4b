package terminal

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// A Target is what can be opened: an address, or a path with the line and the
// column that were behind it, 0 for none.
type Target struct {
	URL          string
	Path         string
	Line, Column int
}

// inToken are the characters beside letters and digits that a double click
// takes for part of a word: those of paths and addresses.
const inToken = "_-./~:@%+#?&=,$*!"

func tokenRune(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(inToken, r) ||
		r > 0x7f && !unicode.IsSpace(r) && !unicode.IsPunct(r) && !(r >= 0x2500 && r < 0x25a0)
}

// edges are what stands around a path or address and is hardly part of it.
const edges = ".,:;!?&*=#@%+$"

// tokenAround is the first and the last place of the word at p, as a double
// click takes it, and its text.
func (s *Screen) tokenAround(p api.Place) (from, to api.Place, text string) {
	w := s.walk(p)
	if w.i >= len(w.row) || p.Cell >= w.row[w.i].x+w.row[w.i].w {
		return p, p, ""
	}
	same := func(w *walker) bool { return w.class() == blankClass }
	switch {
	case tokenRune(w.row[w.i].text):
		same = func(w *walker) bool { return w.i < len(w.row) && tokenRune(w.row[w.i].text) }
	case w.class() != blankClass:
		return w.place(), w.place(), w.row[w.i].text
	}
	back := *w
	for {
		was := back
		if broken, ok := back.previous(); !ok || broken || !same(&back) {
			back = was
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
		if broken, ok := back.next(); !ok || broken || !same(&back) || b.Len() > 8192 {
			break
		}
	}
	return from, to, b.String()
}

// Target is what could be opened where the cursor is; ok is false when
// there is nothing of the kind.
func (s *ScrollMode) Target() (target Target, ok bool) {
	p := s.cursor
	if link := s.screen.linkAt(p); link != "" {
		return Target{URL: link}, true
	}
	_, _, text := s.screen.tokenAround(p)
	return parseTarget(text)
}

// linkAt is the hyperlink (OSC 8) of a cell.
func (s *Screen) linkAt(p api.Place) string {
	row, _ := s.row(p.Line)
	if i := at(row, p.Cell); i < len(row) {
		return widget.CleanLink(row[i].style.Link)
	}
	return ""
}

// schemes begin the addresses that are told from paths.
func schemes() []string {
	return []string{"https://", "http://", "ftp://", "file://", "ssh://", "git://", "mailto:"}
}

// parseTarget reads an address, or a path as programs print it: "a/b.go:12:3".
func parseTarget(text string) (target Target, ok bool) {
	text = strings.TrimLeft(strings.TrimSpace(widget.Clean(text)), edges[1:])
	for _, scheme := range schemes() {
		if i := strings.Index(text, scheme); i >= 0 && len(text) > i+len(scheme) {
			return Target{URL: strings.TrimRight(text[i:], edges)}, true
		}
	}
	text = strings.TrimRight(text, edges)
	rest, last := cutNumber(text)
	target.Path, target.Line = cutNumber(rest)
	if target.Line == 0 {
		target.Line = last
	} else {
		target.Column = last
	}
	return target, target.Path != ""
}

// cutNumber takes ":12" off the end of a text; without one the number is 0.
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
