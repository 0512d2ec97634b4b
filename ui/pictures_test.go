package ui

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi/kitty"

	"tandem/panes/graphics"
)

// showWith shows three rows and a picture.
func (c *canvas) showWith(p placed, rows ...string) string {
	c.t.Helper()
	c.update(func(f *frame) { f.picture = p })
	return c.show(viewOf(rows...))
}

// order fails unless every part is in text, in that order.
func order(t *testing.T, text string, parts ...string) {
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

// numberless is output without the numbers of pictures.
func numberless(s string) string { return withNumber.ReplaceAllString(s, ",i=N") }

func TestAPictureIsTransmittedOnceAndPlacedInsideTheFrame(t *testing.T) {
	c := newCanvas(t)
	c.enter(true)
	c.update(func(f *frame) { f.sync = true })
	c.show(viewOf("a", "b", "c"))
	c.written()
	pic := kittyPicture()
	at := placed{pic, 3, 1}
	got := numberless(c.showWith(at, "a", "\x1b[8m    \x1b[m", "c"))
	order(t, got, "a=t,f=100", "\x1b[?2026h", "\x1b[2;4H\x1b_Ga=p,p=1,C=1,q=2,i=N,c=4,r=2\x1b\\", "\x1b[?2026l")
	if got := c.showWith(at, "a", "\x1b[8m    \x1b[m", "c"); got != "" {
		t.Errorf("the same frame wrote %q", got)
	}
	if got := c.showWith(at, "x", "\x1b[8m    \x1b[m", "c"); strings.Contains(got, "\x1b_G") {
		t.Errorf("a change in another row wrote %q", got)
	}
	moved := c.showWith(placed{pic, 5, 0}, "x", "\x1b[8m    \x1b[m", "c")
	if strings.Contains(moved, "a=t") || !strings.Contains(moved, "\x1b[1;6H\x1b_Ga=p") {
		t.Errorf("moving it wrote %q", moved)
	}
	gone := numberless(c.showWith(placed{}, "x", "b", "c"))
	order(t, gone, "\x1b[?2026h", "b", "a=d,q=2,d=i,i=N", "\x1b[?2026l") // what comes in its place is there before it goes
	back := c.showWith(at, "x", "\x1b[8m    \x1b[m", "c")
	if strings.Contains(back, "a=t") || !strings.Contains(back, "a=p") {
		t.Errorf("showing it again wrote %q", back)
	}
	other := numberless(c.showWith(placed{kittyPicture(), 3, 1}, "x", "\x1b[8m    \x1b[m", "c"))
	order(t, other, "a=t", "\x1b[?2026h", "a=p", "a=d,q=2,d=I,i=N", "\x1b[?2026l")
}

func TestAPictureIsPlacedAnewAfterTheScreenWasErased(t *testing.T) {
	c := newCanvas(t)
	c.enter(true)
	at := placed{kittyPicture(), 3, 1}
	c.showWith(at, "a", "b", "c")
	c.update(func(f *frame) { f.clusters = true }) // which draws all anew
	got := c.showWith(at, "a", "b", "c")
	order(t, got, "\x1b[2J", "a=t", "a=p") // with which terminals let go of pictures too
	if got := c.showWith(at, "x", "b", "c"); strings.Contains(got, "\x1b_G") {
		t.Errorf("the next frame has it again: %q", got)
	}
}

func TestAPictureThatWasPutAwayIsTransmittedAfterTheScreenWasErased(t *testing.T) {
	c := newCanvas(t)
	c.enter(true)
	at := placed{kittyPicture(), 3, 1}
	c.showWith(at, "a", "b", "c")
	c.showWith(placed{}, "a", "b", "c")
	c.update(func(f *frame) { f.clusters = true })
	c.showWith(placed{}, "a", "b", "c")
	order(t, c.showWith(at, "a", "b", "c"), "a=t", "a=p")
}

func TestNoPictureIsLeftBehind(t *testing.T) {
	for _, alt := range []bool{true, false} { // at the end, and for a session that gets the terminal
		c := newCanvas(t)
		c.enter(true)
		c.showWith(placed{kittyPicture(), 3, 1}, "a", "b", "c")
		c.leave(alt)
		if got := numberless(c.written()); !strings.HasPrefix(got, "\x1b_Ga=d,q=2,d=I,i=N\x1b\\") {
			t.Errorf("leaving wrote %q", got)
		}
		c.enter(alt)
		if got := c.written(); strings.Contains(got, "\x1b_G") {
			t.Errorf("entering wrote %q", got)
		}
		if got := c.show(viewOf("a", "b", "c")); !strings.Contains(got, "a=t") || !strings.Contains(got, "a=p") {
			t.Errorf("the first frame is %q", got)
		}
	}
}

func TestCursorStaysWhereItIsBesideAPicture(t *testing.T) {
	c := newCanvas(t)
	c.enter(true)
	v := viewOf("a", "b", "c")
	v.Cursor = tea.NewCursor(2, 2)
	c.update(func(f *frame) { f.picture = placed{kittyPicture(), 3, 1} })
	if got := c.show(v); !strings.HasSuffix(strings.TrimSuffix(got, "\x1b[?25h"), "\x1b[3;3H\x1b[1 q") {
		t.Errorf("got %q", tail(got, 60))
	}
}

func TestSixelsComeAfterTheCellsBelowThem(t *testing.T) {
	c := newCanvas(t)
	c.enter(true)
	c.show(viewOf("a", "b", "c"))
	pic := &graphics.Picture{Protocol: graphics.Sixel, Cols: 4, Rows: 1, Data: []byte("\x1bPsixels\x1b\\")}
	room := "\x1b[0;8;38;2;0;0;9m    \x1b[m"
	order(t, c.showWith(placed{pic, 0, 1}, "a", room, "c"), "    ", "\x1b[2;1H\x1bPsixels")
	if got := c.showWith(placed{pic, 0, 1}, "x", room, "c"); strings.Contains(got, "sixels") {
		t.Errorf("a change in another row wrote %q", got)
	}
	order(t, c.showWith(placed{pic, 0, 1}, "x", room+" beside", "c"), "beside", "sixels")
	wide := "\x1b[0;8;38;2;0;0;8m" + strings.Repeat(" ", 18) + "\x1b[m"
	c.showWith(placed{pic, 2, 1}, "x", "  "+wide, "c")
	if got := c.showWith(placed{pic, 2, 1}, "x", "ab"+wide, "c"); strings.Contains(got, "sixels") || !strings.Contains(got, "ab") {
		t.Errorf("a change to the left of it wrote %q", got)
	}
	if got := c.showWith(placed{}, "x", "", "c"); !strings.Contains(got, "    ") && !strings.Contains(got, "\x1b[K") && !strings.Contains(got, "X") {
		t.Errorf("the cells are not written over: %q", got)
	}
}

// pngOf is a picture of a size as a file.
func pngOf(t *testing.T, w, h int) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, color.RGBA{uint8(i), uint8(i / w), 200, 255})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// answers has the terminal say that it speaks kitty's protocol.
func (d *driver) answers() {
	d.update(uv.KittyGraphicsEvent{Options: kitty.Options{ID: graphics.QueryID}, Payload: []byte("OK")})
	d.update(uv.CellSizeEvent{Width: 8, Height: 16})
	d.update(uv.PrimaryDeviceAttributesEvent{62})
}

func (d *driver) placed(what string, want bool) {
	d.t.Helper()
	d.until(what, func() bool {
		d.m.View()
		return (d.m.placedPicture().picture != nil) == want
	})
}

func plainTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
	t.Setenv("TERM_PROGRAM", "")
}

func TestPicturesAreDrawnByTheTerminalWhenItSaysThatItCan(t *testing.T) {
	plainTerminal(t)
	d, _ := onFolder(t, 120, 30, map[string]string{"a.png": pngOf(t, 640, 480), "b.txt": "hello from b\n"})
	d.onFile("a.png")
	d.shows("▀▀▀")
	d.answers()
	d.placed("the terminal draws it", true)
	d.lacks("▀▀▀")
	at := d.m.filesParts().preview
	if p := d.m.placedPicture(); p.x != at.x || p.y != at.y || p.picture.Cols > at.w || p.picture.Rows > at.h {
		t.Errorf("placed at %d,%d with %d×%d cells", p.x, p.y, p.picture.Cols, p.picture.Rows)
	}
	d.press("ctrl+b", "?")
	d.placed("help lies over it", false)
	d.shows("▀▀▀")
	d.press("esc")
	d.placed("help is gone", true)
	d.onFile("b.txt")
	d.placed("another file is shown", false)
	d.onFile("a.png")
	d.placed("the picture again", true)
	before := d.m.placedPicture()
	d.update(tea.WindowSizeMsg{Width: 100, Height: 24})
	d.until("it fits the smaller screen", func() bool {
		d.m.View()
		p := d.m.placedPicture()
		return p.picture != nil && p.picture != before.picture && p.picture.Rows <= d.m.filesParts().preview.h
	})
	d.press("alt+1")
	d.placed("another view is shown", false)
}

func TestPicturesFollowTheSetting(t *testing.T) {
	plainTerminal(t)
	d, _ := onFolder(t, 120, 30, map[string]string{"a.png": pngOf(t, 64, 48)})
	set := func(how string) {
		s := d.m.o.Settings
		s.Pictures = how
		d.update(settingsMsg(s))
	}
	d.onFile("a.png")
	d.answers()
	d.placed("the terminal draws it", true)
	set("blocks")
	d.placed("half blocks are wanted", false)
	d.shows("▀▀▀")
	set("off")
	d.shows("pictures are switched off")
	set("sixel")
	d.until("sixels are wanted", func() bool {
		d.m.View()
		return d.m.placedPicture().speaks(graphics.Sixel)
	})
	t.Setenv("TMUX", "/tmp/tmux")
	set("auto")
	d.placed("tmux is between", false)
	for how, protocol := range map[string]graphics.Protocol{"kitty": graphics.Kitty, "sixel": graphics.Sixel} {
		set(how)
		d.until("it is wanted all the same", func() bool {
			d.m.View()
			return d.m.placedPicture().speaks(protocol)
		})
	}
}

func TestSixelTakesTheSizeOfACell(t *testing.T) {
	plainTerminal(t)
	for _, cell := range []int{0, 8, 100_000} {
		var m model
		m.o.Theme = "dark"
		m.seePictures(uv.PrimaryDeviceAttributesEvent{62, 4, 22})
		m.seePictures(uv.CellSizeEvent{Width: cell, Height: 2 * cell})
		want := graphics.Blocks
		if cell == 8 {
			want = graphics.Sixel
		}
		if got := m.pictureScreen().Protocol; got != want {
			t.Errorf("with cells of %d pixels it is %d", cell, got)
		}
	}
}

func TestTheTerminalIsAskedAndShowsAPicture(t *testing.T) {
	plainTerminal(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.png"), []byte(pngOf(t, 320, 240)), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newFakeEngine()
	e.add("shell", "$ ").process.CWD = dir
	p := open(t, e, 100, 30)
	p.sees(graphics.Query)
	p.types("\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;4c")
	p.sees("tandem – shell")
	p.types("\x1b4")
	p.sees("a=t,f=100")
	p.sees("a=p,p=1,C=1")
	p.cancel()
	p.ends()
	p.sees("a=d,q=2,d=I")
	p.restored()
}
