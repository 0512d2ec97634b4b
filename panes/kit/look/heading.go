package look

import (
	"strings"

	"tandem/panes/kit/text"
)

// Heading returns the title row of a pane: a name, a detail, and a rule to the end. The row is also
// the border to the pane above.
func (l *Look) Heading(name, detail string, w int, focused bool) string {
	nameInk := l.Dim
	if focused {
		nameInk = l.Title
	}
	name = text.Clip(name, max(w-4, 0))
	room := w - text.Width(name) - 6
	line := l.Edge("─", focused) + " " + nameInk.Text(name) + " "
	used := text.Width(name) + 3
	if detail != "" && room > 3 {
		detail = text.Clip(detail, room)
		line += l.Dim.Text(detail) + " "
		used += text.Width(detail) + 1
	}
	// Too narrow even for the name.
	if used > w {
		return l.Edge(strings.Repeat("─", max(w, 0)), focused)
	}
	return line + l.Edge(strings.Repeat("─", w-used), focused)
}

// FolderHeading is a Heading with a path as its detail; a long path keeps its end.
func (l *Look) FolderHeading(name, path string, w int, focused bool) string {
	room := w - text.Width(text.Clip(name, max(w-4, 0))) - 6
	return l.Heading(name, text.ClipPath(path, max(room, 0)), w, focused)
}
