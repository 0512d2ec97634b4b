package widget

import "strings"

func PadLeft(s string, w int) string { return Spaces(w-Width(s)) + s }

// A Row is a row being drawn, in inks or, if Plain, in one colour.
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

// AddKept adds text keeping its ink even in a plain row. The row then continues in under.
func (r *Row) AddKept(text string, ink, under Ink) {
	r.Text.WriteString(ink.Text(text))
	// Ink.Text has reset the row's colours.
	if r.Plain && ink != "" {
		r.Text.WriteString(string(under))
	}
	r.Cells += Width(text)
}

// addMatch adds text matched by a search; it is underlined in a plain row.
func (r *Row) addMatch(text string, ink Ink) {
	if r.Plain {
		const underline, noUnderline = "\x1b[4m", "\x1b[24m"
		r.Text.WriteString(underline + text + noUnderline)
	} else {
		r.Text.WriteString(ink.Text(text))
	}
	r.Cells += Width(text)
}
