package terminal

import (
	"slices"
	"sync"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/graphics"
	"tandem/panes/widget"
)

// keepScrolled is how many lines above the screen stay held after they came
// by; the engine has the rest.
const keepScrolled = 1000

// A Screen is what a viewer knows of one session's terminal. The goroutine that
// receives from the engine applies frames to it, the one that draws reads it;
// its mutex guards the fields and nothing is called under it.
type Screen struct {
	mu    sync.Mutex
	state ScreenState
	lines map[int64]*heldLine
	buf   []byte

	gallery gallery

	keepFrom, keepTo int64 // lines that a viewer looks at, far above the screen
}

// ScreenState is everything about a Screen but its lines.
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
	Paste  bool
	Bells  uint32

	version uint64      // counts changes of state or lines
	fulls   uint64      // counts full frames
	anchors []api.Place // of the last full frame
}

// above is how many rows of a screen that is higher than a pane of h rows are
// above the pane's top.
func (st ScreenState) above(h int) int {
	if st.Rows <= h {
		return 0
	}
	return min(max(st.Cursor.Y-h+1, 0), st.Rows-h)
}

// A heldLine keeps a line together with how it was last drawn.
type heldLine struct {
	line  api.Line
	drawn string
	width int             // 0: not drawn yet
	on    graphics.Screen // where its pictures were drawn
}

// Apply takes the screen to the state that the frame describes.
func (s *Screen) Apply(f *api.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Full || s.lines == nil {
		s.lines = make(map[int64]*heldLine, len(f.Lines))
	}
	version, fulls, anchors := s.state.version+1, s.state.fulls, s.state.anchors
	if f.Full {
		fulls, anchors = fulls+1, f.Anchors
	}
	s.state = ScreenState{
		Known: true, Cols: f.Cols, Rows: f.Rows, Alt: f.Alt, Oldest: f.Oldest, First: f.First,
		Cursor: f.Cursor, Title: f.Title, Mouse: f.Mouse, Paste: f.Paste, Bells: f.Bells,
		version: version, fulls: fulls, anchors: anchors,
	}
	s.put(f.Lines)
	s.prune()
	s.gallery.prune(s.lines)
}

// AddPicture takes in a picture that lines to come show.
func (s *Screen) AddPicture(p *api.Picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gallery.take(p)
}

// forgetPictures forgets what an attachment has sent; the next one begins anew.
func (s *Screen) forgetPictures() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gallery = gallery{}
}

// AddLines takes in scrollback that was asked for.
func (s *Screen) AddLines(lines []api.NumberedLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		return
	}
	s.put(lines)
	s.state.version++
}

func (s *Screen) put(lines []api.NumberedLine) {
	s.gallery.hang(lines)
	for _, l := range lines {
		s.lines[l.N] = &heldLine{line: l.Line}
	}
}

// prune lets go of lines that scrolled far away, in batches.
func (s *Screen) prune() {
	if len(s.lines) <= s.state.Rows+2*keepScrolled+int(s.keepTo-s.keepFrom) {
		return
	}
	for n := range s.lines {
		if n >= s.keepFrom && n < s.keepTo {
			continue
		}
		if n < s.state.First-keepScrolled || n >= s.state.First+int64(s.state.Rows) {
			delete(s.lines, n)
		}
	}
}

// keep has the lines from absolute line from up to line to held, however far
// the screen scrolls on.
func (s *Screen) keep(from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepFrom, s.keepTo = from, to
}

// line gives a line that is held. Whoever gets it must not change it.
func (s *Screen) line(n int64) (l api.Line, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.lines[n]; held != nil {
		return held.line, true
	}
	return api.Line{}, false
}

// held are the numbers of the lines held from one up to, and not including,
// another, in order.
func (s *Screen) held(from, to int64) []int64 {
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

// State is a copy of what is known beside the lines.
func (s *Screen) State() ScreenState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// A Window is the part of a Screen to draw: H lines from absolute line Top on,
// each W cells wide.
type Window struct {
	Top  int64
	W, H int

	Pictures graphics.Screen // how pictures are drawn
}

// Draw appends the lines of a window to rows; each is exactly min(W, Cols)
// cells wide. Lines behind the screen's end are left out, one that is not held
// is blank.
func (s *Screen) Draw(rows []string, win Window) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := min(win.W, s.state.Cols)
	end := min(win.Top+int64(win.H), s.state.First+int64(s.state.Rows))
	for n := win.Top; n < end; n++ {
		if l := s.lines[n]; l != nil {
			rows = append(rows, s.draw(l, w, win.Pictures))
		} else {
			rows = append(rows, widget.Spaces(w))
		}
	}
	return rows
}

func (s *Screen) draw(l *heldLine, w int, on graphics.Screen) string {
	if l.drawn == "" || l.width != w || l.on != on && len(l.line.Pictures) > 0 {
		s.buf = widget.AppendLine(s.buf[:0], spread(s.gallery.pictured(l.line, w, on)), w)
		l.drawn, l.width, l.on = string(s.buf), w, on
	}
	return l.drawn
}

// Missing is the smallest range with all lines of the scrollback among the n
// from absolute line from on that are not held; its Count is 0 if there is
// none.
func (s *Screen) Missing(from int64, n int) api.LineRange {
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
