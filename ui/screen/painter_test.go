package screen

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/screen/vt"
	"tandem/panes/kit/graphics"
)

// A canvas is a painter that paints into a file.
type canvas struct {
	*painter
	t    *testing.T
	file *os.File
	at   int64
}

func newCanvas(t *testing.T) *canvas {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	file, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return &canvas{painter: newPainter(file, colorprofile.TrueColor), t: t, file: file}
}

// restart returns a new canvas on the same file.
func (c *canvas) restart() *canvas {
	c.t.Helper()
	if err := c.file.Truncate(0); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		c.t.Fatal(err)
	}
	return &canvas{painter: newPainter(c.file, colorprofile.TrueColor), t: c.t, file: c.file}
}

// readWritten returns what was written since the previous call.
func (c *canvas) readWritten() string {
	c.t.Helper()
	size, err := c.file.Seek(0, io.SeekEnd)
	if err != nil {
		c.t.Fatal(err)
	}
	text := make([]byte, size-c.at)
	if _, err := c.file.ReadAt(text, c.at); err != nil && len(text) > 0 {
		c.t.Fatal(err)
	}
	c.at = size
	return string(text)
}

func (c *canvas) showView(v tea.View) string {
	c.t.Helper()
	c.updateFrame(func(f *frame) { f.setView(v, 20, 3) })
	if err := c.Paint(); err != nil {
		c.t.Fatal(err)
	}
	return c.readWritten()
}

func viewOf(rows ...string) tea.View {
	return tea.View{Content: strings.Join(rows, "\n"), MouseMode: tea.MouseModeCellMotion}
}

func TestPainterWritesOnlyChanges(t *testing.T) {
	c := newCanvas(t)
	if err := c.enterScreen(); err != nil {
		t.Fatal(err)
	}
	c.readWritten()
	first := c.showView(viewOf("first row           ", "second row          ", "third row           "))
	for _, row := range []string{"first row", "second row", "third row"} {
		if !strings.Contains(first, row) {
			t.Errorf("the first frame lacks %q: %q", row, first)
		}
	}
	if again := c.showView(viewOf("first row           ", "second row          ", "third row           ")); again != "" {
		t.Errorf("the same frame wrote %q", again)
	}
	changed := c.showView(viewOf("first row           ", "second now          ", "third row           "))
	if !strings.Contains(changed, "n") || strings.Contains(changed, "first") || len(changed) > 40 {
		t.Errorf("one changed word wrote %q", changed)
	}
}

func TestBlankRowsAtBottomKeepRowAbove(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	screen := vt.New(vt.Options{Cols: 20, Rows: 3})
	screen.Write([]byte(c.showView(viewOf("first", "second", ""))))
	screen.Write([]byte(c.showView(viewOf("first", "", ""))))
	if got := screenOf(screen); got != "first\n\n\n" {
		t.Errorf("the screen shows %q", got)
	}
}

func TestPainterRequestsKeyboardFlagsOfPane(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	if got := c.readWritten(); !strings.Contains(got, "\x1b[>5u") { // disambiguate, alternate keys
		t.Errorf("enter writes %q, want CSI > 5 u", got)
	}
	c.showView(viewOf("a", "b", "c"))
	for _, step := range []struct {
		flags uint8
		want  string
	}{{2, "\x1b[=7;1u"}, {2, ""}, {8, "\x1b[=29;1u"}, {0, "\x1b[=5;1u"}} {
		c.updateFrame(func(f *frame) { f.keyboard = step.flags })
		if got := c.showView(viewOf("a", "b", "c")); got != step.want {
			t.Errorf("flags %d write %q, want %q", step.flags, got, step.want)
		}
	}
}

func TestCursorKeepsShapeAndIsHiddenWhileDrawing(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.readWritten()
	v := viewOf("a", "b", "c")
	v.Cursor = &tea.Cursor{Position: tea.Position{X: 1, Y: 1}, Shape: tea.CursorBar, Blink: true}
	if got := c.showView(v); !strings.Contains(got, "\x1b[5 q") || !strings.HasSuffix(got, "\x1b[?25h") {
		t.Errorf("a bar that blinks: %q", got)
	}
	v.Content = "x\nb\nc"
	if got := c.showView(v); !strings.HasPrefix(got, "\x1b[?25l") || !strings.HasSuffix(got, "\x1b[?25h") {
		t.Errorf("drawing beside the cursor: %q", got)
	}
	v.Cursor = nil
	if got := c.showView(v); got != "\x1b[?25l" {
		t.Errorf("no cursor any more: %q", got)
	}
}

func TestFramesUseSynchronisedOutputIfSupported(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.readWritten()
	c.updateFrame(func(f *frame) { f.sync = true })
	got := c.showView(viewOf("a", "b", "c"))
	if !strings.Contains(got, "\x1b[?2026h") || !strings.Contains(got, "\x1b[?2026l") {
		t.Errorf("got %q", got)
	}
}

func TestLeaveResetsEveryModeSet(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.queryTerminal()
	v := viewOf("a", "b", "c")
	v.MouseMode = tea.MouseModeAllMotion
	v.WindowTitle = "title"
	c.updateFrame(func(f *frame) { f.clusters, f.sync = true, true })
	c.showView(v)
	c.leaveScreen()
	c.leaveScreen()
	data, err := os.ReadFile(c.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	all := string(data)
	for _, m := range regexp.MustCompile(`\x1b\[\?(\d+)h`).FindAllStringSubmatch(all, -1) {
		on, off := strings.LastIndex(all, m[0]), strings.LastIndex(all, "\x1b[?"+m[1]+"l")
		if m[1] != "25" && off < on {
			t.Errorf("mode %s stays set", m[1])
		}
	}
	if !strings.HasSuffix(all, restoreTitle) || strings.Count(all, "\x1b[?1049l") != 1 {
		t.Errorf("the end is %q", all[max(len(all)-60, 0):])
	}
}

func TestFailedTerminalStopsPainter(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.file.Close()
	c.updateFrame(func(f *frame) { f.setView(viewOf("a"), 20, 3) })
	var failed error
	c.Run(t.Context(), func(err error) { failed = err })
	if failed == nil {
		t.Error("no failure was told")
	}
}

func TestMouseIsRequestedOnlyByFrame(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	with := func(mode tea.MouseMode) tea.View {
		v := viewOf("a")
		v.MouseMode = mode
		return v
	}
	onMouse := regexp.MustCompile(`\x1b\[\?100[0236][hl]`)
	for _, step := range []struct {
		mode tea.MouseMode
		want string
	}{
		{tea.MouseModeNone, ""},
		{tea.MouseModeCellMotion, "\x1b[?1006h\x1b[?1002h"},
		{tea.MouseModeAllMotion, "\x1b[?1006h\x1b[?1003h"},
		{tea.MouseModeCellMotion, "\x1b[?1003l\x1b[?1002h"},
		{tea.MouseModeNone, "\x1b[?1003l\x1b[?1002l\x1b[?1006l"},
		{tea.MouseModeAllMotion, "\x1b[?1006h\x1b[?1003h"},
	} {
		if got := strings.Join(onMouse.FindAllString(c.showView(with(step.mode)), -1), ""); got != step.want {
			t.Errorf("mode %v: wrote %q, want %q", step.mode, got, step.want)
		}
	}
}

func TestViewWithEchoSkipsPauseAfterFrame(t *testing.T) {
	p := newPainter(nil, colorprofile.TrueColor)
	term := &Terminal{painter: p}
	show := func() { term.Show(tea.View{}, 80, 24, nil, Placement{}, graphics.Patches{}) }
	show()
	if len(p.hurry) != 0 {
		t.Error("a view that nobody waits for ends a rest")
	}
	term.SkipPauseNext()
	if len(p.hurry) != 0 {
		t.Error("a rest ends before the echo is there: another view would be painted")
	}
	show()
	if len(p.hurry) != 1 {
		t.Error("the view with the echo waits for the rest after the frame before")
	}
}
