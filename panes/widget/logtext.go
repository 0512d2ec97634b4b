package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/cellwidth"
	"tandem/engine/rendered"
	"tandem/engine/styled"
)

// A Line is a line of a log made fit to be drawn: its colours apart from its
// text, and the text without any control character.
type Line struct {
	Runs []Run
	// cells is the width of the whole line.
	Cells int
}

// A Run is text of one style.
type Run struct {
	Text  string
	style api.Style
	sign  bool // stands for a control character
}

// ReadLine makes a line of a log ready to be drawn, as a terminal shows it: colours and
// attributes (SGR) are kept, other escape sequences are dropped, and what was overwritten within
// the line is gone. Tabs become spaces up to the next eighth cell. Other control characters are
// shown with a caret, as less does; in the output of a terminal they are dropped.
func ReadLine(line string, terminal bool) Line {
	r := logReader{terminal: terminal}
	if !rendered.IsPlain([]byte(line)) {
		line = string(rendered.RenderStyled([]byte(line)))
	}
	if !utf8.ValidString(line) { // else what is no character may count as part of the one before it
		line = string([]rune(line))
	}
	line = strings.TrimRight(line, "\r")
	for line != "" {
		line = line[r.step(line):]
	}
	r.flush()
	return Line{r.runs, r.cells}
}

type logReader struct {
	terminal bool
	runs     []Run
	cells    int
	style    api.Style
	text     strings.Builder
	last     string // character of more than a byte that came last
}

func (r *logReader) flush() {
	if r.text.Len() > 0 {
		r.runs = append(r.runs, Run{Text: r.text.String(), style: r.style})
		r.text.Reset()
	}
}

func (r *logReader) sign(text string) {
	r.flush()
	r.runs = append(r.runs, Run{Text: text, style: r.style, sign: true})
	r.cells += Width(text)
}

// step takes in the beginning of s and tells how many bytes that was.
func (r *logReader) step(s string) int {
	if n := plainPrefix(s); n > 0 {
		r.text.WriteString(s[:n])
		r.cells += n
		return n
	}
	switch c := s[0]; {
	case c == '\t':
		n := 8 - r.cells%8
		r.text.WriteString(Spaces(n))
		r.cells += n
		return 1
	case c == 0x1b:
		return r.escape(s)
	case c < 0x20:
		if !r.terminal {
			r.sign("^" + string(rune(c+0x40)))
		}
		return 1
	case c == 0x7f:
		r.sign("^?")
		return 1
	}
	return r.cluster(s)
}

// plainPrefix is how many bytes at the beginning are printable ASCII that no
// combining character can follow: all of the last but one.
func plainPrefix(s string) int {
	n := 0
	for n < len(s) && s[n] >= 0x20 && s[n] < 0x7f {
		n++
	}
	if n < len(s) && s[n] >= 0x80 && n > 0 {
		n--
	}
	return n
}

// cluster takes in one character that is more than a byte, or is followed by
// what combines with it.
func (r *logReader) cluster(s string) int {
	c := cellwidth.Cluster(s)
	width := cellwidth.Of(c)
	first, n := utf8.DecodeRuneInString(c)
	switch {
	case c == "":
		return len(s)
	case first == utf8.RuneError, unicode.IsControl(first), unicode.Is(unicode.Cf, first), unicode.Is(unicode.Co, first), unicode.Is(unicode.M, first), width == 0, joins(c), r.joins(c):
		r.sign(string(utf8.RuneError))
		return max(n, 1)
	}
	r.last = strings.Map(CleanRune, c)
	r.text.WriteString(r.last)
	r.cells += width
	return len(c)
}

// joins reports whether c, which stood behind something that is left out, would
// become one with the character before that.
func (r *logReader) joins(c string) bool {
	if r.last == "" || !strings.HasSuffix(r.text.String(), r.last) {
		return false
	}
	first := cellwidth.Cluster(r.last + c)
	return len(first) > len(r.last)
}

// logAttrs are the attributes that a log may set: it neither blinks nor hides text.
const logAttrs = styled.Bold | styled.Faint | styled.Italic | styled.Reverse | styled.Strike

// escape applies an SGR sequence. No other one is left in the line.
func (r *logReader) escape(s string) int {
	n, _ := rendered.Sequence(s)
	if n > 2 && s[1] == '[' && s[n-1] == 'm' {
		r.flush()
		r.style.ParseSGR(s[2 : n-1])
		r.style.Attrs &= logAttrs
	}
	return n
}

// Plain is the line's text alone.
func (t *Line) Plain() string {
	if len(t.Runs) == 1 {
		return t.Runs[0].Text
	}
	var b strings.Builder
	for i := range t.Runs {
		b.WriteString(t.Runs[i].Text)
	}
	return b.String()
}
