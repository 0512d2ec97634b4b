package screen

import (
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/kit/graphics"
)

// showWith shows rows and a picture.
func (c *canvas) showWith(p Placement, rows ...string) string {
	c.t.Helper()
	c.updateFrame(func(f *frame) { f.picture = p })
	return c.showView(viewOf(rows...))
}

// checkOrder fails unless text contains all parts in this order.
func checkOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("%q is not where it should be in %q", part, text)
		}
		rest = after
	}
}

func kittyPicture() *graphics.Picture {
	return &graphics.Picture{Protocol: graphics.Kitty, Cols: 4, Rows: 2, Data: []byte("a picture")}
}

var withNumber = regexp.MustCompile(`,i=\d+`)

// withoutIDs removes the ids of pictures from output.
func withoutIDs(s string) string { return withNumber.ReplaceAllString(s, ",i=N") }

func TestPictureIsTransmittedOnceAndPlacedInsideFrame(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.updateFrame(func(f *frame) { f.sync = true })
	c.showView(viewOf("a", "b", "c"))
	c.readWritten()
	pic := kittyPicture()
	at := Placement{pic, 3, 1}
	got := withoutIDs(c.showWith(at, "a", "\x1b[8m    \x1b[m", "c"))
	checkOrder(t, got, "a=t,f=100", "\x1b[?2026h", "\x1b[2;4H\x1b_Ga=p,p=1,C=1,q=2,i=N,c=4,r=2\x1b\\", "\x1b[?2026l")
	if got := c.showWith(at, "a", "\x1b[8m    \x1b[m", "c"); got != "" {
		t.Errorf("the same frame wrote %q", got)
	}
	if got := c.showWith(at, "x", "\x1b[8m    \x1b[m", "c"); strings.Contains(got, "\x1b_G") {
		t.Errorf("a change in another row wrote %q", got)
	}
	moved := c.showWith(Placement{pic, 5, 0}, "x", "\x1b[8m    \x1b[m", "c")
	if strings.Contains(moved, "a=t") || !strings.Contains(moved, "\x1b[1;6H\x1b_Ga=p") {
		t.Errorf("moving it wrote %q", moved)
	}
	gone := withoutIDs(c.showWith(Placement{}, "x", "b", "c"))
	checkOrder(t, gone, "\x1b[?2026h", "b", "a=d,q=2,d=i,i=N", "\x1b[?2026l") // the replacement is drawn before the picture is removed
	back := c.showWith(at, "x", "\x1b[8m    \x1b[m", "c")
	if strings.Contains(back, "a=t") || !strings.Contains(back, "a=p") {
		t.Errorf("showing it again wrote %q", back)
	}
	other := withoutIDs(c.showWith(Placement{kittyPicture(), 3, 1}, "x", "\x1b[8m    \x1b[m", "c"))
	checkOrder(t, other, "a=t", "\x1b[?2026h", "a=p", "a=d,q=2,d=I,i=N", "\x1b[?2026l")
}

func TestPictureIsPlacedAgainAfterErase(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	at := Placement{kittyPicture(), 3, 1}
	c.showWith(at, "a", "b", "c")
	c.updateFrame(func(f *frame) { f.clusters = true }) // redraws everything
	got := c.showWith(at, "a", "b", "c")
	checkOrder(t, got, "\x1b[2J", "a=t", "a=p") // terminals drop pictures, too
	if got := c.showWith(at, "x", "b", "c"); strings.Contains(got, "\x1b_G") {
		t.Errorf("the next frame has it again: %q", got)
	}
}

func TestHiddenPictureIsTransmittedAgainAfterErase(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	at := Placement{kittyPicture(), 3, 1}
	c.showWith(at, "a", "b", "c")
	c.showWith(Placement{}, "a", "b", "c")
	c.updateFrame(func(f *frame) { f.clusters = true })
	c.showWith(Placement{}, "a", "b", "c")
	checkOrder(t, c.showWith(at, "a", "b", "c"), "a=t", "a=p")
}

func TestLeaveDeletesPictures(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.showWith(Placement{kittyPicture(), 3, 1}, "a", "b", "c")
	c.leaveScreen()
	if got := withoutIDs(c.readWritten()); !strings.HasPrefix(got, "\x1b_Ga=d,q=2,d=I,i=N\x1b\\") {
		t.Errorf("leaving wrote %q", got)
	}
	c.enterScreen()
	if got := c.readWritten(); strings.Contains(got, "\x1b_G") {
		t.Errorf("entering wrote %q", got)
	}
	if got := c.showView(viewOf("a", "b", "c")); !strings.Contains(got, "a=t") || !strings.Contains(got, "a=p") {
		t.Errorf("the first frame is %q", got)
	}
}

func TestCursorStaysBesidePicture(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	v := viewOf("a", "b", "c")
	v.Cursor = tea.NewCursor(2, 2)
	c.updateFrame(func(f *frame) { f.picture = Placement{kittyPicture(), 3, 1} })
	if got := c.showView(v); !strings.HasSuffix(strings.TrimSuffix(got, "\x1b[?25h"), "\x1b[3;3H\x1b[1 q") {
		t.Errorf("got %q", got[max(len(got)-60, 0):])
	}
}

func TestSixelsFollowCellsBelow(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.showView(viewOf("a", "b", "c"))
	pic := &graphics.Picture{Protocol: graphics.Sixel, Cols: 4, Rows: 1, Data: []byte("\x1bPsixels\x1b\\")}
	room := "\x1b[0;8;38;2;0;0;9m    \x1b[m"
	checkOrder(t, c.showWith(Placement{pic, 0, 1}, "a", room, "c"), "    ", "\x1b[2;1H\x1bPsixels")
	if got := c.showWith(Placement{pic, 0, 1}, "x", room, "c"); strings.Contains(got, "sixels") {
		t.Errorf("a change in another row wrote %q", got)
	}
	checkOrder(t, c.showWith(Placement{pic, 0, 1}, "x", room+" beside", "c"), "beside", "sixels")
	wide := "\x1b[0;8;38;2;0;0;8m" + strings.Repeat(" ", 18) + "\x1b[m"
	c.showWith(Placement{pic, 2, 1}, "x", "  "+wide, "c")
	if got := c.showWith(Placement{pic, 2, 1}, "x", "ab"+wide, "c"); strings.Contains(got, "sixels") || !strings.Contains(got, "ab") {
		t.Errorf("a change to the left of it wrote %q", got)
	}
	if got := c.showWith(Placement{}, "x", "", "c"); !strings.Contains(got, "    ") && !strings.Contains(got, "\x1b[K") && !strings.Contains(got, "X") {
		t.Errorf("the cells are not written over: %q", got)
	}
}
