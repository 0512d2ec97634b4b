// Package diag tells a person what is wrong in a text of theirs: where a mistake
// is, and which word was probably meant.
package diag

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A Span is a place in a text: a line and a column, both from 1, and a number
// of bytes. The zero value is nowhere.
type Span struct{ Line, Column, Width int }

// SpanOf is the part of a range on its first line.
func SpanOf(p *unstable.Parser, r unstable.Range) Span {
	raw, _, _ := bytes.Cut(p.Raw(r), []byte("\n"))
	start := p.Shape(r).Start
	return Span{start.Line, start.Column, len(bytes.TrimRight(raw, " \t\r"))}
}

// Mistake is what is wrong at a place: "line 3: …", then that line with the place
// in it underlined. Tabs count as one column, as they are shown as spaces.
func (at Span) Mistake(text []byte, what string) string {
	lines := strings.Split(string(text), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return what
	}
	line := strings.TrimRight(lines[at.Line-1], "\r")
	before := min(max(at.Column-1, 0), len(line))
	width := max(utf8.RuneCountInString(line[before:min(before+at.Width, len(line))]), 1)
	number := fmt.Sprintf("%4d", at.Line)
	shown := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	return fmt.Sprintf("line %d: %s\n%s | %s\n%*s | %*s%s", at.Line, what, number, shown,
		len(number), "", utf8.RuneCountInString(line[:before]), "", strings.Repeat("^", width))
}

// Syntax is what the decoder says of a text that is not TOML, in words for
// whoever has left quotes away.
func Syntax(broken *toml.DecodeError) string {
	says := strings.TrimPrefix(broken.Error(), "toml: ")
	if strings.HasPrefix(says, "expected keyword") || strings.HasSuffix(says, "at start of value") {
		return "not a value; text needs quotes"
	}
	return says
}
