// Package logtext draws lines of logs as a terminal would show them: it parses their colours, wraps
// them, and marks matches.
package logtext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/rendered"
	"tandem/engine/screen/styled"
	"tandem/panes/kit/text"
)

// A Line is a log line ready to draw: the text without control characters, and its styles as runs.
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

// ReadLine parses a log line as a terminal would show it. It keeps colours and attributes (SGR),
// drops other escape sequences and overwritten text, and expands tabs to every eighth cell. Other
// control characters are shown with a caret, like in less, or dropped if the output is a
// terminal's.
func ReadLine(line string, terminal bool) Line {
	r := logReader{terminal: terminal}
	if !rendered.IsPlain([]byte(line)) {
		line = string(rendered.RenderStyled([]byte(line)))
	}
	if !utf8.ValidString(line) { // otherwise invalid bytes could merge with the character before
		line = string([]rune(line))
	}
	line = strings.TrimRight(line, "\r")
	for line != "" {
		line = line[r.readStep(line):]
	}
	r.endRun()
	return Line{r.runs, r.cells}
}

type logReader struct {
	terminal bool
	runs     []Run
	cells    int
	style    api.Style
	text     strings.Builder
	last     string // last character of more than one byte
}

func (r *logReader) endRun() {
	if r.text.Len() > 0 {
		r.runs = append(r.runs, Run{Text: r.text.String(), style: r.style})
		r.text.Reset()
	}
}

func (r *logReader) addSign(s string) {
	r.endRun()
	r.runs = append(r.runs, Run{Text: s, style: r.style, sign: true})
	r.cells += text.Width(s)
}

// readStep parses one step of s: a plain text, a character or an escape sequence. It returns its
// size in bytes.
func (r *logReader) readStep(s string) int {
	if n := plainPrefix(s); n > 0 {
		r.text.WriteString(s[:n])
		r.cells += n
		return n
	}
	switch c := s[0]; {
	case c == '\t':
		n := 8 - r.cells%8
		r.text.WriteString(text.Spaces(n))
		r.cells += n
		return 1
	case c == 0x1b:
		return r.applyEscape(s)
	case c < 0x20:
		if !r.terminal {
			r.addSign("^" + string(rune(c+0x40)))
		}
		return 1
	case c == 0x7f:
		r.addSign("^?")
		return 1
	}
	return r.readCluster(s)
}

// plainPrefix returns the length of the printable ASCII at the beginning, without its last
// character, because a combining one may follow.
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

// readCluster parses one character that has several bytes or combining characters.
func (r *logReader) readCluster(s string) int {
	c := cellwidth.Cluster(s)
	width := cellwidth.Of(c)
	first, n := utf8.DecodeRuneInString(c)
	switch {
	case c == "":
		return len(s)
	case first == utf8.RuneError, unicode.IsControl(first), unicode.Is(unicode.Cf, first), unicode.Is(unicode.Co, first), unicode.Is(unicode.M, first), width == 0, text.JoinsSpace(c), r.joinsPrevious(c):
		r.addSign(string(utf8.RuneError))
		return max(n, 1)
	}
	r.last = strings.Map(text.CleanRune, c)
	r.text.WriteString(r.last)
	r.cells += width
	return len(c)
}

// joinsPrevious reports whether c would merge with the last character kept, because text between
// them was dropped.
func (r *logReader) joinsPrevious(c string) bool {
	if r.last == "" || !strings.HasSuffix(r.text.String(), r.last) {
		return false
	}
	first := cellwidth.Cluster(r.last + c)
	return len(first) > len(r.last)
}

// logAttrs are the attributes a log may set; it must neither blink nor hide text.
const logAttrs = styled.Bold | styled.Faint | styled.Italic | styled.Reverse | styled.Strike

// applyEscape applies an SGR sequence and returns its size. The caller has removed all other
// sequences.
func (r *logReader) applyEscape(s string) int {
	n, _ := styled.Sequence(s)
	if n > 2 && s[1] == '[' && s[n-1] == 'm' {
		r.endRun()
		r.style.ParseSGR(s[2 : n-1])
		r.style.Attrs &= logAttrs
	}
	return n
}

// Plain returns the line's text without styles.
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
