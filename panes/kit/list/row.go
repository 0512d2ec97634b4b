package list

import (
	"strings"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Row is a row being drawn, in inks or, if Plain, in one colour.
type Row struct {
	Text  strings.Builder
	Cells int
	Plain bool
}

func (r *Row) Add(s string, ink look.Ink) {
	if r.Plain {
		ink = ""
	}
	r.Text.WriteString(ink.Text(s))
	r.Cells += text.Width(s)
}

// AddKept adds text that keeps its ink even in a plain row. rowInk is the ink of the plain row,
// which continues after the text.
func (r *Row) AddKept(s string, ink, rowInk look.Ink) {
	r.Text.WriteString(ink.Text(s))
	// Ink.Text has reset the row's colours.
	if r.Plain && ink != "" {
		r.Text.WriteString(string(rowInk))
	}
	r.Cells += text.Width(s)
}

// Finish returns the row, padded or clipped to w cells.
func (r *Row) Finish(w int, look *look.Look) string {
	r.Add(text.Spaces(w-r.Cells), "")
	line := r.Text.String()
	if r.Cells > w {
		line = text.Cut(line, w, "")
	}
	if r.Plain {
		return look.Selected.Text(line)
	}
	return line
}

// addMatch adds text matched by a search; it is underlined in a plain row.
func (r *Row) addMatch(s string, ink look.Ink) {
	if r.Plain {
		const underline, noUnderline = "\x1b[4m", "\x1b[24m"
		r.Text.WriteString(underline + s + noUnderline)
	} else {
		r.Text.WriteString(ink.Text(s))
	}
	r.Cells += text.Width(s)
}
