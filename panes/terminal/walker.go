package terminal

import "tandem/engine/api"

// A walker moves over the clusters of the lines held. Wrapped rows count as one line.
type walker struct {
	screen *Screen
	line   int64
	row    []cluster
	i      int // index in row; 0 in an empty one
	last   int64
}

// newWalker returns a walker at a place.
func (s *Screen) newWalker(p api.Place) *walker {
	w := &walker{screen: s, line: p.Line, last: s.lastLine()}
	w.row, _ = s.textRow(p.Line)
	w.i = max(min(clusterIndex(w.row, p.Cell), len(w.row)-1), 0)
	return w
}

// textRow returns the clusters of a line without trailing blanks. ok is false if the line is not
// held.
func (s *Screen) textRow(n int64) (row []cluster, ok bool) {
	l, ok := s.lineAt(n)
	row = appendClusters(nil, l)
	for len(row) > 0 && row[len(row)-1].class() == blankClass && !l.Wrapped {
		row = row[:len(row)-1]
	}
	return row, ok
}

// lastLine returns the last line with text or the program's cursor.
func (s *Screen) lastLine() int64 {
	st := s.State()
	last := st.First + int64(min(st.Cursor.Y, st.Rows-1))
	for n := st.First + int64(st.Rows) - 1; n > last; n-- {
		if l, _ := s.lineAt(n); len(l.Runs) > 0 {
			return n
		}
	}
	return last
}

func (w *walker) place() api.Place {
	p := api.Place{Line: w.line}
	if w.i < len(w.row) {
		p.Cell = w.row[w.i].x
	}
	return p
}

func (w *walker) class() charClass {
	if w.i >= len(w.row) {
		return blankClass
	}
	return w.row[w.i].class()
}

// isWrapped reports whether a line continues in the next row.
func (w *walker) isWrapped(n int64) bool {
	l, ok := w.screen.lineAt(n)
	return ok && l.Wrapped
}

// enterRow moves to another row, if it is held.
func (w *walker) enterRow(n int64, atEnd bool) bool {
	row, ok := w.screen.textRow(n)
	if !ok || n > w.last {
		return false
	}
	w.line, w.row, w.i = n, row, 0
	if atEnd {
		w.i = max(len(row)-1, 0)
	}
	return true
}

// next moves to the next cluster. broken reports whether a line ended before it.
func (w *walker) next() (broken, ok bool) {
	if w.i+1 < len(w.row) {
		w.i++
		return false, true
	}
	broken = !w.isWrapped(w.line)
	return broken, w.enterRow(w.line+1, false)
}

func (w *walker) previous() (broken, ok bool) {
	if w.i > 0 {
		w.i--
		return false, true
	}
	broken = !w.isWrapped(w.line - 1)
	return broken, w.enterRow(w.line-1, true)
}

func (w *walker) moveRight() {
	if w.i+1 < len(w.row) || w.isWrapped(w.line) {
		w.next()
	}
}

func (w *walker) moveLeft() {
	if w.i > 0 || w.isWrapped(w.line-1) {
		w.previous()
	}
}

func (w *walker) nextWord() {
	c := w.class()
	for {
		broken, ok := w.next()
		if !ok {
			w.i = max(len(w.row)-1, 0)
			return
		}
		if broken || w.class() != c {
			break
		}
	}
	for w.class() == blankClass {
		if _, ok := w.next(); !ok {
			return
		}
	}
}

func (w *walker) wordEnd() {
	for {
		if _, ok := w.next(); !ok {
			return
		}
		if w.class() != blankClass {
			break
		}
	}
	w.endOfRun()
}

// endOfRun moves to the last of the clusters from here on that have the same class.
func (w *walker) endOfRun() {
	for c := w.class(); ; {
		before := *w
		if broken, ok := w.next(); !ok || broken || w.class() != c {
			*w = before
			return
		}
	}
}

func (w *walker) previousWord() {
	for {
		if _, ok := w.previous(); !ok {
			return
		}
		if w.class() != blankClass {
			break
		}
	}
	for c := w.class(); ; {
		before := *w
		if broken, ok := w.previous(); !ok || broken || w.class() != c {
			*w = before
			return
		}
	}
}

func (w *walker) lineStart() {
	for w.isWrapped(w.line-1) && w.enterRow(w.line-1, false) {
	}
	w.i = 0
}

func (w *walker) lineEnd() {
	for w.isWrapped(w.line) && w.enterRow(w.line+1, false) {
	}
	w.i = max(len(w.row)-1, 0)
}

// skipBlanks moves forward to the first cluster that is not blank, within the line.
func (w *walker) skipBlanks() {
	before := *w
	for w.class() == blankClass {
		if broken, ok := w.next(); broken || !ok {
			*w = before
			return
		}
	}
}

// moveParagraph moves to the next blank line that follows text, down if step is 1 and up if it is
// -1.
func (w *walker) moveParagraph(step int64) {
	text := false
	for w.enterRow(w.line+step, step < 0) {
		if len(w.row) > 0 {
			text = true
		} else if text {
			return
		}
	}
	if step < 0 {
		w.i = 0
	}
}
