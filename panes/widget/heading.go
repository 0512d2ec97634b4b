package widget

import "strings"

// Heading returns the title row of a pane: a name, a detail, and a rule to the end. It doubles as
// the border to the pane above.
func Heading(name, detail string, w int, focused bool, look *Look) string {
	nameInk := look.Dim
	if focused {
		nameInk = look.Title
	}
	name = Clip(name, max(w-4, 0))
	room := w - Width(name) - 6
	line := look.Edge("─", focused) + " " + nameInk.Text(name) + " "
	used := Width(name) + 3
	if detail != "" && room > 3 {
		detail = Clip(detail, room)
		line += look.Dim.Text(detail) + " "
		used += Width(detail) + 1
	}
	// Too narrow even for the name.
	if used > w {
		return look.Edge(strings.Repeat("─", max(w, 0)), focused)
	}
	return line + look.Edge(strings.Repeat("─", w-used), focused)
}

// FolderHeading is a Heading with a path as its detail; a long path keeps its end.
func FolderHeading(name, path string, w int, focused bool, look *Look) string {
	room := w - Width(Clip(name, max(w-4, 0))) - 6
	return Heading(name, ClipPath(path, max(room, 0)), w, focused, look)
}
