package ui

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi/kitty"

	"tandem/panes/graphics"
)

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
		return (d.m.placedPicture().Picture != nil) == want
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
	x := slices.Index([]rune(strings.Split(d.screen(), "\n")[2]), '│') + 1 // where the preview begins
	if p := d.m.placedPicture(); p.X != x || p.Y != 2 || p.Picture.Cols > 120-x || p.Picture.Rows > 27 {
		t.Errorf("placed at %d,%d with %d×%d cells", p.X, p.Y, p.Picture.Cols, p.Picture.Rows)
	}
	d.press("R")
	d.placed("a question lies over it", false)
	d.shows("▀▀▀")
	d.press("esc")
	d.placed("the question is gone", true)
	d.press("ctrl+b", "?")
	d.placed("help lies over it", false)
	d.press("esc")
	d.placed("help is gone", true)
	d.press("ctrl+b")
	d.placed("the keys after the prefix lie over it", false)
	d.shows("▀▀▀")
	d.press("f9")
	d.placed("they are gone", true)
	d.onFile("b.txt")
	d.placed("another file is shown", false)
	d.onFile("a.png")
	d.placed("the picture again", true)
	before := d.m.placedPicture()
	d.update(tea.WindowSizeMsg{Width: 100, Height: 24})
	d.until("it fits the smaller screen", func() bool {
		d.m.View()
		p := d.m.placedPicture()
		return p.Picture != nil && p.Picture != before.Picture && p.Picture.Rows <= 21
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
		return d.m.placedPicture().Speaks(graphics.Sixel)
	})
	t.Setenv("TMUX", "/tmp/tmux")
	set("auto")
	d.placed("tmux is between", false)
	for how, protocol := range map[string]graphics.Protocol{"kitty": graphics.Kitty, "sixel": graphics.Sixel} {
		set(how)
		d.until("it is wanted all the same", func() bool {
			d.m.View()
			return d.m.placedPicture().Speaks(protocol)
		})
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
