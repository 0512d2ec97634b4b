package panes

import (
	"fmt"

	"tandem/engine/api"
)

// scroll is where a pane looks while it does not follow the output.
type scroll struct {
	active bool
	wheel  bool  // began with the wheel: ends by itself at the bottom
	top    int64 // absolute number of the pane's first line
	asked  api.LineRange
}

// clamp keeps the position inside what the session still has.
func (s *scroll) clamp(st ScreenState) {
	s.top = max(min(s.top, st.First), st.Oldest)
	if s.active && s.wheel && s.top == st.First {
		s.active = false
	}
}

// Scrolling reports whether the pane is in scroll mode.
func (t *Terminal) Scrolling() bool { return t.scroll.active }

// StartScroll enters scroll mode at the present place.
func (t *Terminal) StartScroll() {
	if !t.State().Known {
		return
	}
	t.begin(false)
}

func (t *Terminal) begin(wheel bool) {
	if !t.scroll.active {
		t.scroll = scroll{active: true, wheel: wheel, top: t.State().First}
	}
}

// StopScroll follows the output again.
func (t *Terminal) StopScroll() { t.scroll = scroll{} }

// ScrollBy moves by lines, negative is up.
func (t *Terminal) ScrollBy(lines int) {
	if t.scroll.active {
		t.scrollTo(t.scroll.top + int64(lines))
	}
}

// ScrollPages moves by that many times the pane's height less a line.
func (t *Terminal) ScrollPages(halves int) {
	t.ScrollBy(halves * max(t.size.Rows-1, 1) / 2)
}

// ScrollHome and ScrollEnd go to the first line kept and to the last.
func (t *Terminal) ScrollHome() { t.scrollTo(t.State().Oldest) }
func (t *Terminal) ScrollEnd()  { t.scrollTo(t.State().First) }

func (t *Terminal) scrollTo(top int64) {
	t.scroll.top = top
	t.scroll.clamp(t.State())
	t.fetch()
}

// wheel scrolls with the mouse: up begins scroll mode, the bottom ends it.
func (t *Terminal) wheel(lines int) {
	if lines < 0 && !t.scroll.active {
		t.begin(true)
	}
	t.ScrollBy(lines)
}

// fetch asks for the lines around the position that are not held.
func (t *Terminal) fetch() {
	if !t.scroll.active || t.viewer == nil {
		return
	}
	h := t.size.Rows
	missing := t.Feed.Screen.Missing(t.scroll.top-int64(2*h), 5*h)
	if missing.Count == 0 || missing == t.scroll.asked {
		return
	}
	t.scroll.asked = missing
	t.Send(api.Input{Lines: &missing})
}

// position says how far up the pane looks: "120/2000".
func (t *Terminal) position(st ScreenState) string {
	return fmt.Sprintf("%d/%d", st.First-t.scroll.top, st.First-st.Oldest)
}
