// Package diag explains mistakes in text written by the user: it finds their positions, and words
// probably meant.
package diag

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A Span is a position in a text. Line and column count from 1; the width is in bytes. The zero
// value is no position.
type Span struct{ Line, Column, Width int }

// SpanOf returns the position of r. If r has several lines, the span ends with the first.
func SpanOf(p *unstable.Parser, r unstable.Range) Span {
	raw, _, _ := bytes.Cut(p.Raw(r), []byte("\n"))
	start := p.Shape(r).Start
	return Span{start.Line, start.Column, len(bytes.TrimRight(raw, " \t\r"))}
}

// Mistake returns "line 3: " and message, then the line itself, with a caret under each character
// of the span. If the position is not in text, it returns only message.
func (at Span) Mistake(text []byte, message string) string {
	lines := strings.Split(string(text), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return message
	}
	line := strings.TrimRight(lines[at.Line-1], "\r")
	before := min(max(at.Column-1, 0), len(line))
	width := max(utf8.RuneCountInString(line[before:min(before+at.Width, len(line))]), 1)
	number := fmt.Sprintf("%4d", at.Line)
	// Each tab is shown as one space, so the caret is below the right column.
	shown := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	return fmt.Sprintf("line %d: %s\n%s | %s\n%*s | %*s%s", at.Line, message, number, shown,
		len(number), "", utf8.RuneCountInString(line[:before]), "", strings.Repeat("^", width))
}

// Syntax returns a message for invalid TOML, usually the decoder's. It recognises missing quotes,
// the most frequent mistake.
func Syntax(broken *toml.DecodeError) string {
	message := strings.TrimPrefix(broken.Error(), "toml: ")
	if strings.HasPrefix(message, "expected keyword") || strings.HasSuffix(message, "at start of value") {
		return "not a value; text needs quotes"
	}
	return message
}
