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

	"tandem/panes/kit/graphics"
)

// writePNG writes a picture of w×h pixels to a file.
func writePNG(t *testing.T, w, h int) string {
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

// reportKitty makes the terminal report support for kitty's graphics protocol.
func (d *driver) reportKitty() {
	d.update(uv.KittyGraphicsEvent{Options: kitty.Options{ID: graphics.QueryID}, Payload: []byte("OK")})
	d.update(uv.CellSizeEvent{Width: 8, Height: 16})
	d.update(uv.PrimaryDeviceAttributesEvent{62})
}

func (d *driver) waitPlaced(what string, want bool) {
	d.t.Helper()
	d.waitUntil(what, func() bool {
		d.m.View()
		return (d.m.picturePlacement().Picture != nil) == want
	})
}

func plainTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
	t.Setenv("TERM_PROGRAM", "")
}

func TestTerminalDrawsPicturesIfItSupportsThem(t *testing.T) {
	plainTerminal(t)
	d, _ := onFolder(t, 120, 30, map[string]string{"a.png": writePNG(t, 640, 480), "b.txt": "hello from b\n"})
	d.onFile("a.png")
	d.waitText("▀▀▀")
	d.reportKitty()
	d.waitPlaced("the terminal draws it", true)
	d.waitNoText("▀▀▀")
	x := slices.Index([]rune(strings.Split(d.screenText(), "\n")[2]), '│') + 1 // the first column of the preview
	if p := d.m.picturePlacement(); p.X != x || p.Y != 2 || p.Picture.Cols > 120-x || p.Picture.Rows > 27 {
		t.Errorf("placed at %d,%d with %d×%d cells", p.X, p.Y, p.Picture.Cols, p.Picture.Rows)
	}
	d.pressKeys("R")
	d.waitPlaced("a question lies over it", false)
	d.waitText("▀▀▀")
	d.pressKeys("esc")
	d.waitPlaced("the question is gone", true)
	d.pressKeys("ctrl+b", "?")
	d.waitPlaced("help lies over it", false)
	d.pressKeys("esc")
	d.waitPlaced("help is gone", true)
	d.pressKeys("ctrl+b")
	d.waitPlaced("the keys after the prefix lie over it", false)
	d.waitText("▀▀▀")
	d.pressKeys("f9")
	d.waitPlaced("they are gone", true)
	d.onFile("b.txt")
	d.waitPlaced("another file is shown", false)
	d.onFile("a.png")
	d.waitPlaced("the picture again", true)
	before := d.m.picturePlacement()
	d.update(tea.WindowSizeMsg{Width: 100, Height: 24})
	d.waitUntil("it fits the smaller screen", func() bool {
		d.m.View()
		p := d.m.picturePlacement()
		return p.Picture != nil && p.Picture != before.Picture && p.Picture.Rows <= 21
	})
	d.pressKeys("alt+1")
	d.waitPlaced("another view is shown", false)
}

func TestPicturesFollowSetting(t *testing.T) {
	plainTerminal(t)
	d, _ := onFolder(t, 120, 30, map[string]string{"a.png": writePNG(t, 64, 48)})
	set := func(how string) {
		s := d.m.o.Settings
		s.Pictures = how
		d.update(settingsMsg(s))
	}
	d.onFile("a.png")
	d.reportKitty()
	d.waitPlaced("the terminal draws it", true)
	set("blocks")
	d.waitPlaced("half blocks are wanted", false)
	d.waitText("▀▀▀")
	set("off")
	d.waitText("pictures are switched off")
	set("sixel")
	d.waitUntil("sixels are wanted", func() bool {
		d.m.View()
		return d.m.picturePlacement().UsesProtocol(graphics.Sixel)
	})
	t.Setenv("TMUX", "/tmp/tmux")
	set("auto")
	d.waitPlaced("tmux is between", false)
	for how, protocol := range map[string]graphics.Protocol{"kitty": graphics.Kitty, "sixel": graphics.Sixel} {
		set(how)
		d.waitUntil("it is wanted all the same", func() bool {
			d.m.View()
			return d.m.picturePlacement().UsesProtocol(protocol)
		})
	}
}

func TestTerminalIsQueriedAndShowsPicture(t *testing.T) {
	plainTerminal(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.png"), []byte(writePNG(t, 320, 240)), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newFakeEngine()
	e.addSession("shell", "$ ").process.CWD = dir
	p := openDashboard(t, e, 100, 30)
	p.waitOutput(graphics.Query)
	p.sendText("\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;4c")
	p.waitOutput("tandem – shell")
	p.sendText("\x1b4")
	p.waitOutput("a=t,f=100")
	p.waitOutput("a=p,p=1,C=1")
	p.cancel()
	p.waitExit()
	p.waitOutput("a=d,q=2,d=I")
	p.checkRestored()
}
