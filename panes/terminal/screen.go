package terminal

import (
	"slices"
	"sync"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/text"
)

// maxScrolledLines is how many lines are kept after they have scrolled off the screen. Older ones
// can be requested from the engine.
const maxScrolledLines = 1000

// A Screen is a copy of a session's screen and of parts of its scrollback. One goroutine receives
// frames from the engine and applies them, another reads the screen to draw it. The mutex guards
// the fields; nothing is called while it is held.
type Screen struct {
	mu    sync.Mutex
	state ScreenState
	lines map[int64]*screenLine
	buf   []byte

	gallery gallery

	keepFrom, keepTo int64 // lines far above the screen in use by a viewer

	drawn   Window   // the last one drawn
	region  Region   // that draws frames without the dashboard; nil if none may be
	changes []string // the last frame's rows for it; only for the goroutine that receives
}

// ScreenState is the state of a Screen except for its lines.
type ScreenState struct {
	Known  bool // a frame has arrived
	Cols   int
	Rows   int
	Alt    bool
	Oldest int64 // first line of the scrollback
	First  int64 // line number of the top row
	Cursor api.Cursor
	Title  string
	Mouse  keys.MouseMode
	Bells  uint32

	version uint64      // counts changes of the state or the lines
	fulls   uint64      // counts full frames
	anchors []api.Place // of the last full frame
}

// rowsAbove returns how many rows at the top of the screen a pane of h rows must leave out to show
// the cursor.
func (st ScreenState) rowsAbove(h int) int {
	if st.Rows <= h {
		return 0
	}
	return min(max(st.Cursor.Y-h+1, 0), st.Rows-h)
}

// A screenLine is a line with its last drawing.
type screenLine struct {
	line   api.Line
	drawn  string
	width  int             // of the drawing; 0 without one
	target graphics.Screen // the drawing's way to show pictures
}

// Apply applies a frame.
func (s *Screen) Apply(f *api.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applyFrame(f)
}

func (s *Screen) applyFrame(f *api.Frame) {
	// A full frame may number the lines differently, so the lines held so far are useless.
	if f.Full || s.lines == nil {
		s.lines = make(map[int64]*screenLine, len(f.Lines))
	}
	version, fulls, anchors := s.state.version+1, s.state.fulls, s.state.anchors
	if f.Full {
		fulls, anchors = fulls+1, f.Anchors
	}
	s.state = ScreenState{
		Known: true, Cols: f.Cols, Rows: f.Rows, Alt: f.Alt, Oldest: f.Oldest, First: f.First,
		Cursor: f.Cursor, Title: f.Title, Mouse: f.Mouse, Bells: f.Bells,
		version: version, fulls: fulls, anchors: anchors,
	}
	s.putLines(f.Lines)
	s.pruneLines()
	s.gallery.pruneSheets(s.lines)
}

// AddPicture adds a picture for lines to come.
func (s *Screen) AddPicture(p *api.Picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gallery.addPicture(p)
}

// dropPictures drops all pictures, because a new attachment sends them again.
func (s *Screen) dropPictures() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gallery = gallery{}
}

// AddLines adds requested lines of the scrollback.
func (s *Screen) AddLines(lines []api.NumberedLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		return
	}
	s.putLines(lines)
	s.state.version++
}

func (s *Screen) putLines(lines []api.NumberedLine) {
	// Make the sheets now: a sheet keeps its picture, which the gallery may drop before the line is
	// drawn.
	s.gallery.addSheets(lines)
	for _, l := range lines {
		s.lines[l.N] = &screenLine{line: l.Line}
	}
}

// pruneLines drops lines far above the screen, many at a time.
func (s *Screen) pruneLines() {
	if len(s.lines) <= s.state.Rows+2*maxScrolledLines+int(s.keepTo-s.keepFrom) {
		return
	}
	for n := range s.lines {
		if n >= s.keepFrom && n < s.keepTo {
			continue
		}
		if n < s.state.First-maxScrolledLines || n >= s.state.First+int64(s.state.Rows) {
			delete(s.lines, n)
		}
	}
}

// keepLines protects a range of lines, from inclusive and to exclusive, from being dropped, however
// far the screen scrolls. It replaces the range kept before.
func (s *Screen) keepLines(from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepFrom, s.keepTo = from, to
	s.region = nil // which would replace the range
}

// lineAt returns a line, if it is held. The caller must not change it.
func (s *Screen) lineAt(n int64) (l api.Line, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.lines[n]; held != nil {
		return held.line, true
	}
	return api.Line{}, false
}

// heldLines returns the numbers of the held lines in a range, from inclusive and to exclusive, in
// order.
func (s *Screen) heldLines(from, to int64) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var numbers []int64
	for n := range s.lines {
		if n >= from && n < to {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// drawnTop returns the number of the line at the pane's top when the pane was last drawn.
func (s *Screen) drawnTop() drawnTop {
	s.mu.Lock()
	defer s.mu.Unlock()
	return drawnTop{s.drawn.Top, s.drawn.fulls}
}

func (s *Screen) State() ScreenState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// A Window is the part of a Screen to draw: H lines of W cells, starting with line Top.
type Window struct {
	Top  int64
	W, H int

	Pictures graphics.Screen // how pictures are drawn

	version, fulls uint64 // of the state that Top was computed from
}

// Draw appends the lines of a window to rows, each exactly w = min(W, Cols) cells wide. It returns
// w because Cols may have changed since Top was computed. Lines below the screen are left out; a
// line that is not held is blank.
func (s *Screen) Draw(rows []string, win Window) (drawn []string, w int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn, s.region = win, nil
	w = min(win.W, s.state.Cols)
	end := min(win.Top+int64(win.H), s.state.First+int64(s.state.Rows))
	for n := win.Top; n < end; n++ {
		rows = append(rows, s.drawLine(n, w, win.Pictures))
	}
	return rows, w
}

func (s *Screen) drawLine(n int64, w int, on graphics.Screen) string {
	l := s.lines[n]
	if l == nil {
		return text.Spaces(w)
	}
	// Fast path: most lines are drawn again unchanged.
	if l.drawn == "" || l.width != w || l.target != on && len(l.line.Pictures) > 0 {
		s.buf = text.AppendLine(s.buf[:0], spreadDouble(s.gallery.drawPictures(l.line, w, on)), w)
		l.drawn, l.width, l.target = string(s.buf), w, on
	}
	return l.drawn
}

// MissingLines looks for lines of the scrollback that are not held, among n lines starting with
// line from. It returns the smallest range that contains all of them; its Count is 0 if none is
// missing.
func (s *Screen) MissingLines(from int64, n int) api.LineRange {
	s.mu.Lock()
	defer s.mu.Unlock()
	var r api.LineRange
	end := min(from+int64(n), s.state.First)
	for l := max(from, s.state.Oldest); l < end; l++ {
		if s.lines[l] != nil {
			continue
		}
		if r.Count == 0 {
			r.From = l
		}
		r.Count = int(l - r.From + 1)
	}
	return r
}
