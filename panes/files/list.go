package files

import (
	"cmp"
	"path/filepath"

	"tandem/engine/api"
)

// A List is the entries of one folder with a cursor. It keeps its place by
// name, not by position, when entries come and go.
type List struct {
	Path    string // of the folder
	Focused bool
	Plain   bool              // names alone: for a column beside the list
	Git     map[string]string // what git says of entries, by name: the letters of git status
	GitAll  string            // what it says of every other one
	Icons   bool              // each name has an icon before it, of a font that has them
	More    bool              // the rest of the entries is on its way
	Omitted int               // entries that are not in the rows because there are too many
	Marked  map[string]bool   // paths that are marked, of any folder; shared and never changed here
	Note    string            // what is shown in place of rows, if there are none
	Bad     bool              // the note is an error

	rows   *Rows
	name   string // that the cursor is on
	want   string // that it goes to as soon as there is one, unless it is moved
	cursor int
	top    int
	h      int // rows of the last drawing
	out    []string
}

// SetRows replaces the entries.
func (l *List) SetRows(rows *Rows) {
	l.rows = rows
	if want := l.want; want == "" || !l.Select(want) {
		if !l.Select(l.name) {
			l.Go(l.cursor)
		}
		l.want = want
	}
}

// Rows are the entries that are shown; nil before there are any.
func (l *List) Rows() *Rows { return l.rows }

// Reset forgets the entries, for another folder; the cursor will be on name.
func (l *List) Reset(path, name string) {
	l.Path, l.name, l.want, l.rows, l.Git, l.GitAll, l.Note, l.Bad = path, name, name, nil, nil, "", "", false
	l.More, l.Omitted = false, 0
	l.cursor, l.top = 0, 0
}

// Wanted is the name that the cursor is on, or goes to when it is there.
func (l *List) Wanted() string { return cmp.Or(l.want, l.name) }

// Selected is the entry under the cursor; nil without one.
func (l *List) Selected() *api.FileInfo {
	if l.cursor >= l.rows.Len() {
		return nil
	}
	return l.rows.At(l.cursor)
}

// SelectedPath is the path of the entry under the cursor, or that it will be on
// once the folder is listed; "" without one.
func (l *List) SelectedPath() string {
	switch f := l.Selected(); {
	case f != nil:
		return filepath.Join(l.Path, f.Name)
	case l.rows == nil && l.name != "":
		return filepath.Join(l.Path, l.name)
	}
	return ""
}

// Select puts the cursor on a name, or will when it is there.
func (l *List) Select(name string) bool {
	row := l.rows.Find(name)
	if row < 0 {
		l.want = name
		return false
	}
	l.cursor, l.name, l.want = row, name, ""
	return true
}

// Move moves the cursor, as far as there are rows.
func (l *List) Move(by int) {
	if l.rows != nil {
		l.Go(l.cursor + by)
	}
}

// Go puts the cursor on a row, or as near as there is one.
func (l *List) Go(row int) {
	l.want = ""
	l.cursor = max(min(row, l.rows.Len()-1), 0)
	if f := l.Selected(); f != nil {
		l.name = f.Name
	}
}

// Cursor is the row of the cursor, from 0.
func (l *List) Cursor() int { return l.cursor }

// RowAt is the row drawn at y; -1 for none.
func (l *List) RowAt(y int) int {
	if row := l.top + y; y >= 0 && row < l.rows.Len() {
		return row
	}
	return -1
}

// Page is how many rows a page has.
func (l *List) Page() int { return max(l.h-1, 1) }

// Targets are the paths that an action is about: those that are marked, else
// the one under the cursor.
func (l *List) Targets() []string {
	if len(l.Marked) > 0 {
		return sortedKeys(l.Marked)
	}
	if path := l.SelectedPath(); path != "" {
		return []string{path}
	}
	return nil
}
