package look

import (
	"slices"

	"tandem/keys/keymap"
	"tandem/panes/kit/text"
)

// A Page is the content of an empty pane: a few centred lines.
type Page struct {
	Title string
	Lines []string
	Hints []keymap.Hint
}

// Draw returns h rows of w cells.
func (p *Page) Draw(w, h int, look *Look) []string {
	body := []string{look.Strong.Text(text.Center(p.Title, w)), text.Spaces(w)}
	for _, l := range p.Lines {
		body = append(body, look.Dim.Text(text.Center(l, w)))
	}
	if len(p.Hints) > 0 {
		body = append(body, text.Spaces(w), centerHints(p.Hints, w, look))
	}
	if len(body) > h {
		body = body[:max(h, 0)]
	}
	// Slightly above the middle looks centred.
	rows := text.PadRows(nil, w, (h-len(body))*2/5)
	return text.PadRows(append(rows, body...), w, h)
}

func centerHints(hints []keymap.Hint, w int, look *Look) string {
	line, used := Hints(hints, w, 0, look.Key, look.Dim)
	return text.Spaces((w-used)/2) + line + text.Spaces(w-used-(w-used)/2)
}

// Hints joins as many hints as fit into w cells, in order, and returns their width. Hints without a
// key are left out. If not all fit, the last ones have priority, as many as keep says.
func Hints(hints []keymap.Hint, w, keep int, key, does Ink) (line string, used int) {
	for _, h := range FittingHints(hints, w, keep) {
		gap := min(used, hintGap)
		line += does.Text(text.Spaces(gap)) + key.Text(h.Key) + does.Text(" "+h.Does)
		used += gap + hintCells(h)
	}
	return line, used
}

// FittingHints returns the hints shown by Hints.
func FittingHints(hints []keymap.Hint, w, keep int) (fit []keymap.Hint) {
	hints = slices.DeleteFunc(slices.Clone(hints), func(h keymap.Hint) bool { return h.Key == "" })
	first := max(len(hints)-keep, 0)
	// Reserve the cells of the hints with priority before placing the others.
	reserved, used := 0, 0
	for _, h := range hints[first:] {
		reserved += hintCells(h) + hintGap
	}
	for i, h := range hints {
		if i >= first {
			reserved -= hintCells(h) + hintGap
		}
		gap := min(used, hintGap)
		// A later, shorter hint may still fit.
		if used+gap+hintCells(h)+max(reserved, 0) > w {
			continue
		}
		fit = append(fit, h)
		used += gap + hintCells(h)
	}
	return fit
}

const hintGap = 3

func hintCells(h keymap.Hint) int { return text.Width(h.Key) + 1 + text.Width(h.Does) }
