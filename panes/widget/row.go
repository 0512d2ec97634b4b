package widget

import "strings"

func PadLeft(s string, w int) string { return Spaces(w-Width(s)) + s }

// A Row is a row that is being drawn, in inks or, if plain, in one colour.
type Row struct {
	Text  strings.Builder
	Cells int
	Plain bool
}

func (r *Row) Add(text string, ink Ink) {
	if r.Plain {
		ink = ""
	}
	r.Text.WriteString(ink.Text(text))
	r.Cells += Width(text)
}

// AddKept adds text that keeps its ink in a plain row too, which goes on under
// another.
func (r *Row) AddKept(text string, ink, under Ink) {
	r.Text.WriteString(ink.Text(text))
	if r.Plain && ink != "" {
		r.Text.WriteString(string(under))
	}
	r.Cells += Width(text)
}

// mark adds text that a search has matched; it is told in a plain row too.
func (r *Row) mark(text string, ink Ink) {
	if r.Plain {
		const underline, noUnderline = "\x1b[4m", "\x1b[24m"
		r.Text.WriteString(underline + text + noUnderline)
	} else {
		r.Text.WriteString(ink.Text(text))
	}
	r.Cells += Width(text)
}
