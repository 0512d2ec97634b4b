package terminal

import "tandem/engine/api"

// A walker goes over the clusters of the lines that are held. Lines that
// wrapped are one for it.
type walker struct {
	screen *Screen
	line   int64
	row    []cluster
	i      int // in row; 0 in an empty one
	last   int64
}

// walk begins at a place.
func (s *Screen) walk(p api.Place) *walker {
	w := &walker{screen: s, line: p.Line, last: s.lastLine()}
	w.row, _ = s.row(p.Line)
	w.i = max(min(at(w.row, p.Cell), len(w.row)-1), 0)
	return w
}

// row is what a line shows, without blanks at its end; ok is false when it is
// not held.
func (s *Screen) row(n int64) (row []cluster, ok bool) {
	l, ok := s.line(n)
	row = clusters(nil, l)
	for len(row) > 0 && row[len(row)-1].class() == blankClass && !l.Wrapped {
		row = row[:len(row)-1]
	}
	return row, ok
}

// lastLine is the last line that has text or the program's cursor.
func (s *Screen) lastLine() int64 {
	st := s.State()
	last := st.First + int64(min(st.Cursor.Y, st.Rows-1))
	for n := st.First + int64(st.Rows) - 1; n > last; n-- {
		if l, _ := s.line(n); len(l.Runs) > 0 {
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

func (w *walker) class() class {
	if w.i >= len(w.row) {
		return blankClass
	}
	return w.row[w.i].class()
}

// wrapped reports whether a line goes on in the next one.
func (w *walker) wrapped(n int64) bool {
	l, ok := w.screen.line(n)
	return ok && l.Wrapped
}

// enter goes to another row, if it is held.
func (w *walker) enter(n int64, atEnd bool) bool {
	row, ok := w.screen.row(n)
	if !ok || n > w.last {
		return false
	}
	w.line, w.row, w.i = n, row, 0
	if atEnd {
		w.i = max(len(row)-1, 0)
	}
	return true
}

// next goes to the next cluster; broken says that a line ends between.
func (w *walker) next() (broken, ok bool) {
	if w.i+1 < len(w.row) {
		w.i++
		return false, true
	}
	broken = !w.wrapped(w.line)
	return broken, w.enter(w.line+1, false)
}

func (w *walker) previous() (broken, ok bool) {
	if w.i > 0 {
		w.i--
		return false, true
	}
	broken = !w.wrapped(w.line - 1)
	return broken, w.enter(w.line-1, true)
}

func (w *walker) right() {
	if w.i+1 < len(w.row) || w.wrapped(w.line) {
		w.next()
	}
}

func (w *walker) left() {
	if w.i > 0 || w.wrapped(w.line-1) {
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
	w.runEnd()
}

// runEnd goes to the last cluster of the class that there is here.
func (w *walker) runEnd() {
	for c := w.class(); ; {
		was := *w
		if broken, ok := w.next(); !ok || broken || w.class() != c {
			*w = was
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
		was := *w
		if broken, ok := w.previous(); !ok || broken || w.class() != c {
			*w = was
			return
		}
	}
}

func (w *walker) lineStart() {
	for w.wrapped(w.line-1) && w.enter(w.line-1, false) {
	}
	w.i = 0
}

func (w *walker) lineEnd() {
	for w.wrapped(w.line) && w.enter(w.line+1, false) {
	}
	w.i = max(len(w.row)-1, 0)
}

// skipBlanks goes on to the first character of the line that is none.
func (w *walker) skipBlanks() {
	was := *w
	for w.class() == blankClass {
		if broken, ok := w.next(); broken || !ok {
			*w = was
			return
		}
	}
}

// paragraph goes to the next blank line behind text, up or down.
func (w *walker) paragraph(step int64) {
	text := false
	for w.enter(w.line+step, step < 0) {
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
