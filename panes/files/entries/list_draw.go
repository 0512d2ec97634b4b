package entries

import (
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Minimum widths for more than names.
const (
	fileSizeWidth = 30
	fileTimeWidth = 54
	fileModeWidth = 72
)

// Draw returns h rows of w cells. The slice is valid until the next call.
func (l *List) Draw(w, h int, now time.Time, look *look.Look) []string {
	l.out, l.h = l.out[:0], h
	l.scrollToCursor(h)
	for y := range max(h, 0) {
		row := l.top + y
		switch {
		case row < l.rows.Len():
			l.out = append(l.out, l.drawRow(row, w, now, look))
		case row == l.rows.Len() && row > 0 && l.Omitted > 0:
			s := "    and " + text.Itoa(l.Omitted) + " more (too many to show)"
			l.out = append(l.out, look.Dim.Text(text.Fit(s, w)))
		case y == 0 && l.Note != "":
			ink := look.Dim
			if l.Bad {
				ink = look.Bad
			}
			for _, line := range text.WrapWords(l.Note, max(w-4, 1)) {
				l.out = append(l.out, "  "+ink.Text(text.Fit(line, max(w-2, 0))))
			}
		case len(l.out) <= y:
			l.out = append(l.out, text.Spaces(w))
		}
	}
	rows := l.out[:max(min(len(l.out), h), 0)]
	if !l.Plain {
		list.Scrollbar(rows, w, l.top, l.rows.Len(), look)
	}
	return rows
}

// scrollToCursor keeps the cursor among the h visible rows.
func (l *List) scrollToCursor(h int) {
	rows := l.rows.Len()
	cursor := l.cursor
	if l.Omitted > 0 {
		if rows++; cursor == rows-2 && h > 1 {
			cursor++ // show the row about omitted entries along with the last one
		}
	}
	l.top = list.Follow(l.top, cursor, rows, h)
}

func (l *List) drawRow(i, w int, now time.Time, look *look.Look) string {
	f := l.rows.At(i)
	cursor := i == l.cursor
	// The selected row is drawn in a single style, so leave out its colours.
	r := list.Row{Plain: cursor && l.Focused}
	cursorMark, mark := " ", " "
	if cursor {
		cursorMark = look.Glyphs.Selected
	}
	if len(l.Marks) > 0 && l.Marks[filepath.Join(l.Path, f.Name)] {
		mark = look.Glyphs.Check
	}
	r.Add(cursorMark, look.Accent)
	r.Add(mark, look.Warn)
	status, known := l.Git[f.Name]
	if !known {
		status = l.GitAll
	}
	letters, gitInk := gitMark(status, look)
	if !l.Plain {
		r.Add(letters+" ", gitInk)
	}
	name, ink := text.FileName(f.Name)+text.FileSuffix(f), fileColor(f, look)
	switch {
	case status == "!!":
		ink = look.Faint
	case cursor && !l.Focused && !l.Plain:
		ink = look.Current
	}
	facts := ""
	if !l.Plain {
		facts = fileDetails(f, w, l.rows.Order.By, now)
	}
	if l.Icons {
		r.Add(fileIcon(f)+" ", ink)
	}
	room := max(w-r.Cells-text.Width(facts)-1, 0)
	r.Add(text.ClipName(name, room), ink)
	r.Add(text.Spaces(w-r.Cells-text.Width(facts)-1), "")
	r.Add(facts, look.Dim)
	return r.Finish(w, look)
}

// fileDetails returns the columns shown after a name, as many as fit into w cells.
func fileDetails(f *api.FileInfo, w int, by Column, now time.Time) string {
	size := "–"
	switch {
	case f.Type == "file":
		size = units.Bytes(f.Size)
	case f.Type == "link":
		size = "→"
	}
	size = text.PadLeft(size, 6)
	age := text.PadLeft(text.FileTime(f.Modified, now), 12)
	switch {
	case w < fileSizeWidth:
		return ""
	case w < fileTimeWidth && by == ByTime:
		return " " + age
	case w < fileTimeWidth:
		return " " + size
	case w < fileModeWidth:
		return " " + size + "  " + age
	}
	return " " + text.FileMode(f) + " " + size + "  " + age
}

// gitMark returns a one-cell mark for the letters of git status.
func gitMark(letters string, look *look.Look) (string, look.Ink) {
	switch {
	case len(letters) < 2:
		return " ", ""
	case letters == "??":
		return "?", look.Info
	case letters == "!!":
		return " ", ""
	case strings.Contains(letters, "U"):
		return "U", look.Bad
	case letters[0] != '.' && letters[0] != ' ':
		return letters[:1], look.Good // in the index
	}
	return letters[1:2], look.Warn
}
