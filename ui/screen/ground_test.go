package screen

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/look"
)

func paperBackground() *Background {
	g := &Background{Text: color.RGBA{1, 2, 3, 255}, Back: color.RGBA{250, 251, 252, 255}}
	for i := range g.ANSI {
		g.ANSI[i] = color.RGBA{uint8(100 + i), 0, 0, 255}
	}
	return g
}

func TestBackgroundIsPaintedBehindEveryCell(t *testing.T) {
	c, g := newCanvas(t), paperBackground()
	if err := c.enterScreen(); err != nil {
		t.Fatal(err)
	}
	c.updateFrame(func(f *frame) { f.background = g })
	rows := []string{"plain \x1b[31mred \x1b[mrest", "", "漢字 \x1b[1;48;5;12mblue\x1b[0m"}
	out := c.showView(viewOf(rows...))
	for y := range 3 {
		for x := range 20 {
			cell := c.rows.cells.CellAt(x, y)
			if cell.Width == 0 {
				continue // the second half of a wide character
			}
			if cell.Style.Bg == nil || cell.Style.Fg == nil {
				t.Errorf("column %d of row %d is a hole", x, y)
			}
		}
	}
	if got := c.rows.cells.CellAt(6, 0).Style; got.Fg != markExact(g.ANSI[1]) || got.Bg != markExact(g.Back) {
		t.Errorf("red is %v on %v", got.Fg, got.Bg)
	}
	if got := c.rows.cells.CellAt(6, 2).Style; got.Fg != markExact(g.Text) || got.Bg != markExact(g.ANSI[12]) {
		t.Errorf("text on bright blue is %v on %v", got.Fg, got.Bg)
	}
	if !strings.Contains(out, "\x1b]12;") {
		t.Errorf("the cursor keeps a colour for another background: %q", out)
	}
	c.updateFrame(func(f *frame) { f.background = nil })
	if out := c.showView(viewOf(rows...)); !strings.Contains(out, ansi.ResetCursorColor) || c.rows.cells.CellAt(19, 1).Style.Bg != nil {
		t.Errorf("the ground stays: %q", out)
	}
}

// A theme may change what a palette colour looks like.
func TestPaletteColorIsNotTakenForAnExactOneThatLooksAlike(t *testing.T) {
	for _, code := range []string{"38", "48"} {
		for n := range 256 {
			palette := fmt.Sprintf("%s;5;%d", code, n)
			switch base, _ := strconv.Atoi(code); {
			case n < 8:
				palette = strconv.Itoa(base - 8 + n)
			case n < 16:
				palette = strconv.Itoa(base + 52 + n - 8)
			}
			r, g, b, _ := ansi.IndexedColor(n).RGBA()
			exact := fmt.Sprintf("%s;2;%d;%d;%d", code, r>>8, g>>8, b>>8)
			c := newCanvas(t)
			c.enterScreen()
			if out := c.showView(viewOf("\x1b[4;" + exact + "mA\x1b[" + palette + "mB")); !strings.Contains(out, exact) || !strings.Contains(out, "\x1b["+palette+"mB") {
				t.Errorf("%s after %s wrote %q", palette, exact, out)
			}
			if out := c.showView(viewOf("\x1b[4;" + exact + "mAB")); !strings.Contains(out, exact) || !strings.Contains(out, "B") {
				t.Errorf("%s in place of %s wrote %q", exact, palette, out)
			}
		}
	}
}

func TestCursorStyleIsSetByProgramOrTerminal(t *testing.T) {
	c := newCanvas(t)
	if err := c.enterScreen(); err != nil {
		t.Fatal(err)
	}
	with := func(cursor *tea.Cursor) string {
		v := viewOf("row")
		v.Cursor = cursor
		return c.showView(v)
	}
	steps := []struct {
		cursor tea.Cursor
		want   []string
		lacks  string
	}{
		{tea.Cursor{Shape: look.OwnCursor}, []string{"\x1b[0 q"}, "\x1b]12;"},
		{tea.Cursor{Shape: tea.CursorBar, Color: color.RGBA{255, 0, 0, 255}}, []string{"\x1b]12;rgb:ffff/0000/0000", "\x1b[6 q"}, "\x1b[0 q"},
		{tea.Cursor{Shape: tea.CursorBar, Color: color.RGBA{0, 0, 255, 255}}, []string{"\x1b]12;rgb:0000/0000/ffff"}, " q"},
		{tea.Cursor{Shape: look.OwnCursor}, []string{ansi.ResetCursorColor, "\x1b[0 q"}, "\x1b]12;"}, // a different pane
	}
	for i, s := range steps {
		out := with(&s.cursor)
		for _, want := range s.want {
			if !strings.Contains(out, want) {
				t.Errorf("step %d wrote %q, without %q", i, out, want)
			}
		}
		if strings.Contains(out, s.lacks) {
			t.Errorf("step %d wrote %q, with %q", i, out, s.lacks)
		}
	}
	with(&tea.Cursor{Shape: tea.CursorUnderline, Color: color.RGBA{255, 0, 0, 255}})
	c.leaveScreen()
	checkOrder(t, c.readWritten(), ansi.ResetCursorColor, "\x1b[0 q")
}

func TestLeaveRestoresCursorColour(t *testing.T) {
	c := newCanvas(t)
	if err := c.enterScreen(); err != nil {
		t.Fatal(err)
	}
	c.updateFrame(func(f *frame) { f.background = paperBackground() })
	c.showView(viewOf("row"))
	c.leaveScreen()
	if out := c.readWritten(); !strings.Contains(out, ansi.ResetCursorColor) {
		t.Errorf("leaving wrote %q", out)
	}
	if err := c.enterScreen(); err != nil {
		t.Fatal(err)
	}
	if out := c.showView(viewOf("row")); !strings.Contains(out, "\x1b]12;") {
		t.Errorf("coming back wrote %q", out)
	}
}
