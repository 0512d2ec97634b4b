// Package entries sorts, filters and lists the entries of a folder. It reads no folder.
package entries

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/api"
)

// A List shows the entries of a folder with a cursor. The cursor follows an entry by its name, not
// its position, as entries come and go.
type List struct {
	Path    string // of the folder
	Focused bool
	Plain   bool              // only names, for the parent folder's column
	Git     map[string]string // letters of git status, by name
	GitAll  string            // letters for all other entries
	Icons   bool              // show icons; needs a font with them
	More    bool              // more entries are being read
	Omitted int               // number of entries left out because there are too many
	Marks   Marks
	Note    string // shown if there are no rows
	Bad     bool   // Note is an error

	rows   *Rows
	name   string // name under the cursor
	want   string // name the cursor jumps to once it exists; "" after a move
	cursor int
	top    int
	h      int // height of the last drawing
	out    []string
}

// SetRows replaces the entries.
func (l *List) SetRows(rows *Rows) {
	l.rows = rows
	if want := l.want; want == "" || !l.Select(want) {
		if !l.Select(l.name) {
			l.Go(l.cursor)
		}
		// Select and Go have reset l.want, but the wanted name may still appear.
		l.want = want
	}
}

// Rows returns the visible entries; nil before the first SetRows.
func (l *List) Rows() *Rows { return l.rows }

// Reset clears the list for another folder. The cursor will be on name.
func (l *List) Reset(path, name string) {
	l.Path, l.name, l.want, l.rows, l.Git, l.GitAll, l.Note, l.Bad = path, name, name, nil, nil, "", "", false
	l.More, l.Omitted = false, 0
	l.cursor, l.top = 0, 0
}

// TargetName returns the name to which the cursor will jump once it is listed or, if it waits for
// none, the name under the cursor.
func (l *List) TargetName() string { return cmp.Or(l.want, l.name) }

// CursorEntry returns the entry under the cursor; nil if there is none.
func (l *List) CursorEntry() *api.FileInfo {
	if l.cursor >= l.rows.Len() {
		return nil
	}
	return l.rows.At(l.cursor)
}

// CursorPath returns the path of the entry under the cursor. Before the folder is listed, that is
// the entry on which the cursor will be. It returns "" if there is none.
func (l *List) CursorPath() string {
	switch f := l.CursorEntry(); {
	case f != nil:
		return filepath.Join(l.Path, f.Name)
	case l.rows == nil && l.name != "":
		return filepath.Join(l.Path, l.name)
	}
	return ""
}

// Select moves the cursor to name. It reports false if there is no such entry yet; the cursor then
// waits for it.
func (l *List) Select(name string) bool {
	row := l.rows.Find(name)
	if row < 0 {
		l.want = name
		return false
	}
	l.cursor, l.name, l.want = row, name, ""
	return true
}

// Move moves the cursor by a number of rows, within the list.
func (l *List) Move(by int) {
	if l.rows != nil {
		l.Go(l.cursor + by)
	}
}

// Go moves the cursor to a row, or the nearest one.
func (l *List) Go(row int) {
	l.want = ""
	l.cursor = max(min(row, l.rows.Len()-1), 0)
	if f := l.CursorEntry(); f != nil {
		l.name = f.Name
	}
}

// Cursor returns the row of the cursor, from 0.
func (l *List) Cursor() int { return l.cursor }

// RowAt returns the row drawn at y; -1 for none.
func (l *List) RowAt(y int) int {
	if row := l.top + y; y >= 0 && row < l.rows.Len() {
		return row
	}
	return -1
}

// Page returns the number of rows of a page.
func (l *List) Page() int { return max(l.h-1, 1) }

// Targets returns the paths to which an action applies: the marked ones or, if none is marked, the
// one under the cursor.
func (l *List) Targets() []string {
	if len(l.Marks) > 0 {
		return l.Marks.Sorted()
	}
	if path := l.CursorPath(); path != "" {
		return []string{path}
	}
	return nil
}

// Marks are the marked paths, in any folder.
type Marks map[string]bool

// Toggle marks a path or unmarks it.
func (m Marks) Toggle(path string) {
	if m[path] {
		delete(m, path)
	} else {
		m[path] = true
	}
}

// Sorted returns the paths in natural order.
func (m Marks) Sorted() []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(compareNatural(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
	})
}
