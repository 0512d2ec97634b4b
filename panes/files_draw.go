package panes

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
)

// Widths from which a list tells more than names.
const (
	fileSizeWidth = 30
	fileTimeWidth = 54
	fileModeWidth = 72
)

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// Draw gives h rows of w cells. The slice is valid until the next call.
func (l *FileList) Draw(w, h int, now time.Time, look *Look) []string {
	l.out, l.h = l.out[:0], h
	l.follow(h)
	for y := range max(h, 0) {
		row := l.top + y
		switch {
		case row < l.rows.Len():
			l.out = append(l.out, l.drawRow(row, w, now, look))
		case row == l.rows.Len() && row > 0 && l.Omitted > 0:
			text := "    and " + itoa(l.Omitted) + " more, which are too many to show"
			l.out = append(l.out, look.Dim.Text(Fit(text, w)))
		case y == 0 && l.Note != "":
			ink := look.Dim
			if l.Bad {
				ink = look.Bad
			}
			for _, line := range wrapWords(l.Note, max(w-4, 1)) {
				l.out = append(l.out, "  "+ink.Text(Fit(line, max(w-2, 0))))
			}
		case len(l.out) <= y:
			l.out = append(l.out, Spaces(w))
		}
	}
	return l.out[:max(min(len(l.out), h), 0)]
}

// wrapWords breaks text at spaces into lines of at most w cells.
func wrapWords(text string, w int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && Width(line)+1+Width(word) > w {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// follow keeps the cursor among the h visible rows.
func (l *FileList) follow(h int) {
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if h > 0 && l.cursor >= l.top+h {
		l.top = l.cursor - h + 1
	}
	rows := l.rows.Len()
	if l.Omitted > 0 {
		rows++ // that says so
	}
	l.top = max(min(l.top, rows-h), 0)
	if l.Omitted > 0 && l.cursor == l.rows.Len()-1 && h > 1 {
		l.top = max(rows-h, 0)
	}
}

func (l *FileList) drawRow(i, w int, now time.Time, look *Look) string {
	f := l.rows.At(i)
	cursor := i == l.cursor
	r := row{plain: cursor && l.Focused}
	here, mark := " ", " "
	if cursor {
		here = look.Glyphs.Selected
	}
	if len(l.Marked) > 0 && l.Marked[filepath.Join(l.Path, f.Name)] {
		mark = look.Glyphs.Check
	}
	r.add(here, look.Accent)
	r.add(mark, look.Warn)
	status, known := l.Git[f.Name]
	if !known {
		status = l.GitAll
	}
	letters, gitInk := gitMark(status, look)
	if !l.Plain {
		r.add(letters+" ", gitInk)
	}
	name, ink := FileName(f.Name)+fileSuffix(f), fileInk(f, look)
	switch {
	case status == "!!":
		ink = look.Faint
	case cursor && !l.Focused && !l.Plain:
		ink = look.Current
	}
	facts := ""
	if !l.Plain {
		facts = fileFacts(f, w, l.rows.Order.By, now)
	}
	if l.Icons {
		r.add(fileIcon(f)+" ", ink)
	}
	room := max(w-r.cells-Width(facts)-1, 0)
	r.add(clipName(name, room), ink)
	r.add(Spaces(w-r.cells-Width(facts)-1), "")
	r.add(facts, look.Dim)
	r.add(Spaces(w-r.cells), "")
	if r.plain {
		return look.Selected.Text(r.text.String())
	}
	return r.text.String()
}

// clipName shortens a name in its middle, so that the extension stays.
func clipName(name string, w int) string {
	if Width(name) <= w {
		return name
	}
	const tail = 8
	if w < 3*tail {
		return Clip(name, w)
	}
	return Clip(name, w-tail) + strings.TrimPrefix(ClipLeft(name, tail+1), "…")
}

// fileSuffix tells what kind of file it is, as "ls -F" does.
func fileSuffix(f *api.FileInfo) string {
	switch {
	case f.Type == "dir":
		return "/"
	case f.Type == "link":
		return "@"
	case f.Type == "fifo":
		return "|"
	case f.Type == "socket":
		return "="
	case IsExecutable(f):
		return "*"
	}
	return ""
}

// IsExecutable reports whether a file may be run by somebody.
func IsExecutable(f *api.FileInfo) bool {
	return f.Type == "file" && len(f.Mode) >= 3 && strings.ContainsAny(f.Mode[len(f.Mode)-3:], "1357")
}

func fileInk(f *api.FileInfo, look *Look) Ink {
	switch {
	case f.Broken:
		return look.Bad
	case IsFolder(f):
		return look.Accent
	case f.Type == "link":
		return look.Info
	case f.Type != "file":
		return look.Warn
	case IsExecutable(f):
		return look.Good
	}
	return look.Text
}

// fileFacts is what stands behind a name, as far as there is room.
func fileFacts(f *api.FileInfo, w int, by FileColumn, now time.Time) string {
	size := "–"
	switch {
	case f.Type == "file":
		size = Bytes(f.Size)
	case f.Type == "link":
		size = "→"
	}
	size = padLeft(size, 6)
	age := padLeft(FileTime(f.Modified, now), 12)
	switch {
	case w < fileSizeWidth:
		return ""
	case w < fileTimeWidth && by == FilesByTime:
		return " " + age
	case w < fileTimeWidth:
		return " " + size
	case w < fileModeWidth:
		return " " + size + "  " + age
	}
	return " " + FileMode(f) + " " + size + "  " + age
}

// FileTime is a time in at most twelve cells: the hour of this year's days, the
// year of others.
func FileTime(t, now time.Time) string {
	t = t.Local()
	switch now := now.Local(); {
	case t.IsZero():
		return ""
	case t.Year() != now.Year():
		return t.Format("2 Jan  2006")
	case t.YearDay() == now.YearDay():
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04")
}

// FileMode is the type and the permissions as "ls -l" writes them.
func FileMode(f *api.FileInfo) string {
	kind := map[string]string{"dir": "d", "link": "l", "fifo": "p", "socket": "s", "device": "c"}[f.Type]
	if kind == "" {
		kind = "-"
	}
	var bits int
	fmt.Sscanf(f.Mode, "%o", &bits)
	text := []byte("rwxrwxrwx")
	for i := range text {
		if bits&(1<<(8-i)) == 0 {
			text[i] = '-'
		}
	}
	for i, letters := range [3]string{"sS", "sS", "tT"} {
		if bits&(0o4000>>i) != 0 {
			at := 2 + 3*i
			if text[at] == 'x' {
				text[at] = letters[0]
			} else {
				text[at] = letters[1]
			}
		}
	}
	return kind + string(text)
}

// gitMark is one cell for the letters of git status.
func gitMark(letters string, look *Look) (string, Ink) {
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
