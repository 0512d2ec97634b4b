package screen

import (
	"fmt"
	"image"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
)

var (
	moves      = regexp.MustCompile(`\x1b\[\d+;\d+r\x1b\[\d*[ST]`)
	sideMargin = regexp.MustCompile(`\x1b\[\d+;\d+s`)
)

// cellsOf returns the text and style of the cells of an emulator's screen, by row.
func cellsOf(t *vt.Terminal) (rows []string) {
	_, first, end := t.Bounds()
	for _, line := range t.Lines(first, int(end-first)) {
		var row strings.Builder
		var last styled.Style
		for _, run := range line.Line.Runs {
			for _, c := range run.Text {
				style := run.Style
				if c == ' ' && style.Attrs == 0 && style.Underline == 0 {
					style.FG = 0 // cannot be seen
				}
				if style != last {
					fmt.Fprintf(&row, "%+v", style)
					last = style
				}
				row.WriteRune(c)
			}
		}
		text := row.String()
		if last == (styled.Style{}) {
			text = strings.TrimRight(text, " ")
		}
		rows = append(rows, text)
	}
	return rows
}

// A scrollPane is an area of the screen whose lines scroll.
type scrollPane struct {
	w     int
	lines []string
}

// links is the number of links drawn so far. Each has a target of its own, because the renderer
// drops a link at the start of a row if the row above ends with it.
var links int

func drawLine(r *rapid.T) string {
	links++
	return rapid.SampledFrom([]string{
		"", "", "short", "~", "a longer line of words that exceeds the narrow panes of these tests",
		"\x1b[31mred\x1b[m and plain", "\x1b[44m  \x1b[1mon blue\x1b[m", "  indented \x1b[7mreverse\x1b[m",
		"漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", "x漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", "e\u0301 ❤\ufe0f 👨\u200d👩\u200d👧 🇩🇪|", "漢 end",
		fmt.Sprintf("\x1b]8;;http://x/%d\x1b\\link\x1b]8;;\x1b\\ after", links),
	}).Draw(r, "line") + rapid.StringMatching(`[a-d]{0,3}`).Draw(r, "suffix")
}

// change scrolls a part of the pane, or changes a line.
func (p *scrollPane) change(r *rapid.T) {
	h := len(p.lines)
	top := rapid.IntRange(0, h-1).Draw(r, "top")
	part := p.lines[top:rapid.IntRange(top+1, h).Draw(r, "bottom")]
	if rapid.IntRange(0, 2).Draw(r, "whole") > 0 {
		part = p.lines
	}
	n := rapid.IntRange(0, min(len(part), 5)).Draw(r, "by")
	switch rapid.IntRange(0, 3).Draw(r, "change") {
	case 0:
		part[0] = drawLine(r)
	case 1:
		copy(part[n:], slices.Clone(part))
		for y := range n {
			part[y] = drawLine(r)
		}
	default:
		copy(part, part[n:])
		for y := len(part) - n; y < len(part); y++ {
			part[y] = drawLine(r)
		}
	}
}

// A scrollScreen is a screen of panes beside each other, above a status bar.
type scrollScreen struct {
	w, h   int
	panes  []*scrollPane
	status string // empty if there is no bar
}

func newScrollScreen(r *rapid.T) *scrollScreen {
	s := &scrollScreen{w: rapid.IntRange(8, 80).Draw(r, "cols"), h: rapid.IntRange(4, 20).Draw(r, "rows")}
	split := []int{s.w}
	if rapid.Bool().Draw(r, "split") {
		left := rapid.IntRange(2, s.w-3).Draw(r, "left")
		split = []int{left, s.w - left - 1}
	}
	for _, w := range split {
		p := &scrollPane{w: w, lines: make([]string, s.h-1)}
		for y := range p.lines {
			p.lines[y] = drawLine(r)
		}
		s.panes = append(s.panes, p)
	}
	return s
}

func (s *scrollScreen) view() tea.View {
	rows := make([]string, s.h)
	for y := range s.h - 1 {
		for i, p := range s.panes {
			if i > 0 {
				rows[y] += "│"
			}
			rows[y] += text.Fit(p.lines[y], p.w) + "\x1b[m\x1b]8;;\x1b\\"
		}
	}
	rows[s.h-1] = text.Fit(s.status, s.w)
	return tea.View{Content: strings.Join(rows, "\n")}
}

// paintOn paints the frame on a canvas and its emulator, and returns the output.
func paintOn(r *rapid.T, c *canvas, screen *vt.Terminal, change func(*frame)) string {
	c.updateFrame(change)
	if err := c.Paint(); err != nil {
		r.Fatal(err)
	}
	out := c.readWritten()
	screen.Write([]byte(out))
	return out
}

// Whatever scrolls, the screen must be as if it had been painted from scratch.
func TestScrolledFramesEqualFullyPaintedOnes(t *testing.T) {
	canvas, fresh := newCanvas(t), newCanvas(t)
	checks, scrolled, narrow := 0, 0, 0
	seed.Check(t, func(r *rapid.T) {
		checks++
		c, s := canvas.restart(), newScrollScreen(r)
		c.enterScreen()
		screen := vt.New(vt.Options{Cols: s.w, Rows: s.h})
		margins, clusters := rapid.Bool().Draw(r, "margins"), rapid.Bool().Draw(r, "clusters")
		background := rapid.SampledFrom([]*Background{nil, {Text: ansi.BasicColor(0), Back: ansi.BasicColor(7)}}).Draw(r, "background")
		for step := range rapid.IntRange(2, 10).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "event") {
			case 0:
				s = newScrollScreen(r)
				screen.Resize(s.w, s.h)
			case 1:
				s.status = fmt.Sprint("status ", step)
			case 2:
				s.status = ""
			}
			for _, p := range s.panes {
				if rapid.IntRange(0, 3).Draw(r, "idle") > 0 {
					p.change(r)
				}
			}
			change := func(f *frame) {
				f.setView(s.view(), s.w, s.h)
				f.background = background
				f.margins, f.clusters = margins, clusters
			}
			out := paintOn(r, c, screen, change)
			scrolled, narrow = scrolled+len(moves.FindAllString(out, -1)), narrow+len(sideMargin.FindAllString(out, -1))
			if !margins && sideMargin.MatchString(out) {
				r.Fatalf("used side margins: %q", out)
			}
			whole, wanted := fresh.restart(), vt.New(vt.Options{Cols: s.w, Rows: s.h})
			whole.enterScreen()
			paintOn(r, whole, wanted, change)
			if got, want := cellsOf(screen), cellsOf(wanted); !slices.Equal(got, want) {
				r.Fatalf("step %d wrote %q and shows\n%s\nand not\n%s", step, out, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	})
	wantScrolled, wantNarrow := 20, 5
	if checks < 100 { // with -short and -race
		wantScrolled, wantNarrow = 1, 0
	}
	// Otherwise the test would prove nothing.
	if scrolled < wantScrolled || narrow < wantNarrow {
		t.Errorf("only %d moves, %d of them with side margins", scrolled, narrow)
	}
}

func TestLinkContinuedInNextFrameIsALink(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.showView(viewOf("\x1b]8;;http://x/\x1b\\ab\x1b]8;;\x1b\\", "b", "c"))
	if got := c.showView(viewOf("\x1b]8;;http://x/\x1b\\abc\x1b]8;;\x1b\\", "b", "c")); !strings.Contains(got, "http://x/\ac") {
		t.Errorf("a longer link writes %q", got)
	}
}

// numberedRows returns 32 rows of 100 cells: a title, lines first to first+29, and a bar.
// Lines in the left half leave the right half as it is.
func numberedRows(first int, half bool) []string {
	rows := []string{"title"}
	for y := range 30 {
		row := fmt.Sprintf("%d: the quick brown fox jumps over the %d", first+y, (first+y)*(first+y))
		if half {
			row = text.Fit(row, 48) + "│ " + strings.Repeat(string(rune('a'+y%26)), 45)
		}
		rows = append(rows, row)
	}
	return append(rows, "status")
}

func TestScrolledRowsAreMovedInsteadOfPainted(t *testing.T) {
	const any = 1 << 20
	exchanged := numberedRows(100, false)
	exchanged[5] = "another line"
	for _, tt := range []struct {
		name        string
		half        bool
		from        int
		to          []string
		margins     bool
		move        string // a regular expression; empty if nothing is moved
		most, least int    // bytes
	}{
		{"one line up", false, 100, numberedRows(101, false), false, `^\x1b\[2;31r\x1b\[S\x1b\[r`, 80, 0},
		{"one line down", false, 100, numberedRows(99, false), false, `^\x1b\[2;31r\x1b\[T\x1b\[r`, 80, 0},
		{"half a page", false, 100, numberedRows(115, false), false, `^\x1b\[2;31r\x1b\[15S\x1b\[r`, 900, 0},
		{"another page", false, 100, numberedRows(5000, false), true, ``, any, 1000},
		{"one row", false, 100, exchanged, true, ``, 100, 0},
		{"half without margins", true, 100, numberedRows(101, true), false, ``, any, 1000},
		{"half", true, 100, numberedRows(101, true), true, `^\x1b\[\?69h\x1b\[\d;4\ds\x1b\[2;31r\x1b\[S\x1b\[\?69l\x1b\[r`, 110, 0},
	} {
		c := newCanvas(t)
		c.enterScreen()
		show := func(rows []string) string {
			c.updateFrame(func(f *frame) {
				f.setView(viewOf(rows...), 100, 32)
				f.margins = tt.margins
			})
			if err := c.Paint(); err != nil {
				t.Fatal(err)
			}
			return c.readWritten()
		}
		show(numberedRows(tt.from, tt.half))
		got := show(tt.to)
		if moved := strings.Contains(got, "r\x1b["); moved != (tt.move != "") || !regexp.MustCompile(tt.move).MatchString(got) {
			t.Errorf("%s: wrote %q, want %q", tt.name, got, tt.move)
		}
		if len(got) > tt.most || len(got) < tt.least {
			t.Errorf("%s: wrote %d bytes, want %d to %d", tt.name, len(got), tt.least, tt.most)
		}
	}
}

func TestSingleColumnIsNotScrolled(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	for first := range 2 {
		rows := make([]string, 32)
		for y := range rows {
			rows[y] = fmt.Sprintf("%c│ %s", 'a'+(first+y)%26, strings.Repeat(string(rune('A'+y%26)), 40))
		}
		c.updateFrame(func(f *frame) {
			f.setView(viewOf(rows...), 100, 32)
			f.margins = true
		})
		if err := c.Paint(); err != nil {
			t.Fatal(err)
		}
		if got := c.readWritten(); sideMargin.MatchString(got) {
			t.Errorf("wrote %q", got)
		}
	}
}

func TestSideMarginsCutNoWideCellsBesideTheScrolledRows(t *testing.T) {
	for _, pad := range []string{"", "x"} {
		for _, before := range []string{"title", pad + strings.Repeat("漢", 49)} {
			wide := pad + strings.Repeat("漢", 49)
			c := newCanvas(t)
			c.enterScreen()
			var got string
			for first, title := range []string{before, wide} {
				rows := numberedRows(100+first, true)
				rows[0], rows[len(rows)-1] = title, wide
				c.updateFrame(func(f *frame) {
					f.setView(viewOf(rows...), 100, 32)
					f.margins = true
				})
				if err := c.Paint(); err != nil {
					t.Fatal(err)
				}
				got = c.readWritten()
			}
			var left, right int
			if _, err := fmt.Sscanf(sideMargin.FindString(got), "\x1b[%d;%ds", &left, &right); err != nil {
				t.Fatalf("%q: wrote %q: %v", before, got, err)
			}
			if left > 1 && (left-1-len(pad))%2 != 0 || (right-len(pad))%2 != 0 {
				t.Errorf("%q, %q: margins %d and %d", pad, before, left, right)
			}
		}
	}
}

func TestLinuxConsoleIsNotScrolled(t *testing.T) {
	c := newCanvas(t)
	t.Setenv("TERM", "linux")
	c = c.restart()
	c.enterScreen()
	for first := range 3 {
		c.updateFrame(func(f *frame) { f.setView(viewOf(numberedRows(first, false)...), 100, 32) })
		if err := c.Paint(); err != nil {
			t.Fatal(err)
		}
		if got := c.readWritten(); moves.MatchString(got) {
			t.Errorf("wrote %q", got)
		}
	}
}

func TestRowsWithPicturesDoNotScroll(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	patches := graphics.Patches{
		On:  graphics.Screen{Protocol: graphics.Kitty},
		All: []graphics.Patch{{Sheet: sheetOf(t, 1), Cells: image.Rect(0, 0, 3, 2), X: 2, Y: 10}},
	}
	show := func(rows []string, patches graphics.Patches) string {
		c.updateFrame(func(f *frame) {
			f.setView(viewOf(rows...), 100, 32)
			f.patches = patches
		})
		if err := c.Paint(); err != nil {
			t.Fatal(err)
		}
		return c.readWritten()
	}
	show(numberedRows(100, false), patches)
	// Rows 10 and 11 hold the picture; the larger block below them scrolls.
	if got := show(numberedRows(101, false), patches); !strings.Contains(got, "\x1b[13;31r\x1b[S") {
		t.Errorf("beside a picture: %q", got)
	}
	// The picture is still there when the frame removes it.
	if got := show(numberedRows(102, false), graphics.Patches{On: patches.On}); !strings.Contains(got, "\x1b[13;31r\x1b[S") {
		t.Errorf("with a picture removed: %q", got)
	}
	if got := show(numberedRows(103, false), graphics.Patches{On: patches.On}); !strings.Contains(got, "\x1b[2;31r\x1b[S") {
		t.Errorf("without pictures: %q", got)
	}
}
