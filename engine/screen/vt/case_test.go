package vt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt10x"
)

// grids are the grid implementations every behaviour is checked on.
var grids = map[string]func(cols, rows int) grid.Grid{"own": nil, "vt10x": vt10x.New}

// TestEveryCasePassesOnEveryGrid runs testdata/*.test; testdata/README describes their format. Each
// case runs on every grid, with its input whole and byte by byte.
func TestEveryCasePassesOnEveryGrid(t *testing.T) {
	files, err := filepath.Glob("testdata/*.test")
	if err != nil || len(files) == 0 {
		t.Fatalf("find cases: %v, %d files", err, len(files))
	}
	for _, file := range files {
		subject := strings.TrimSuffix(filepath.Base(file), ".test")
		for _, c := range readCases(t, file) {
			for grid := range grids {
				for _, bytewise := range []bool{false, true} {
					name := fmt.Sprintf("%s/%s/%s/bytewise=%v", subject, c.name, grid, bytewise)
					t.Run(name, func(t *testing.T) { c.run(t, grid, bytewise) })
				}
			}
		}
	}
}

type testCase struct {
	name, file string
	cols, rows int
	steps      []step
}

type step struct {
	line int
	verb string
	args []string
}

func readCases(t *testing.T, file string) []*testCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []*testCase
	names := map[string]bool{}
	for i, text := range strings.Split(string(data), "\n") {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		verb, rest, _ := strings.Cut(text, " ")
		if verb == "case" {
			if names[rest] {
				t.Fatalf("%s:%d: case %q appears twice", file, i+1, rest)
			}
			names[rest] = true
			cases = append(cases, &testCase{name: rest, file: file, cols: 20, rows: 5})
			continue
		}
		c := cases[len(cases)-1]
		args, err := splitWords(rest)
		if err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
		if verb == "size" {
			c.cols, c.rows = parseSize(args[0])
			continue
		}
		c.steps = append(c.steps, step{i + 1, verb, args})
	}
	return cases
}

// escapes converts \e to an escape Go knows.
var escapes = strings.NewReplacer(`\\`, `\\`, `\e`, `\x1b`)

// splitWords splits a line at spaces. Quoted words may contain Go's escapes and \e.
func splitWords(s string) ([]string, error) {
	var out []string
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		if s[0] != '"' {
			word, rest, _ := strings.Cut(s, " ")
			out, s = append(out, word), rest
			continue
		}
		end := 1
		for end < len(s) && s[end] != '"' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(s) {
			return nil, fmt.Errorf("no closing quote in %s", s)
		}
		word, err := strconv.Unquote(escapes.Replace(s[:end+1]))
		if err != nil {
			return nil, fmt.Errorf("read %s: %v", s[:end+1], err)
		}
		out, s = append(out, word), s[end+1:]
	}
	return out, nil
}

func parseSize(s string) (cols, rows int) {
	c, r, _ := strings.Cut(s, "x")
	cols, _ = strconv.Atoi(c)
	rows, _ = strconv.Atoi(r)
	return cols, rows
}

// A testTerminal is a terminal with its replies and events.
type testTerminal struct {
	*vt.Terminal
	replies string
	events  []string
}

// testColors returns a palette of black colours, with a few exceptions.
func testColors() styled.Palette {
	const rgb = styled.ColorRGB
	p := styled.Palette{Foreground: rgb | 0xEEEEEE, Background: rgb | 0x102030, Cursor: rgb | 0xFF8000}
	for i := range p.Colors {
		p.Colors[i] = rgb
	}
	p.Colors[1], p.Colors[15] = rgb|0xCD0000, rgb|0xFFFFFF
	return p
}

func newTestTerminal(cols, rows int, grid string) *testTerminal {
	b := &testTerminal{}
	b.Terminal = vt.New(vt.Options{
		Cols: cols, Rows: rows, Grid: grids[grid],
		Colors: testColors(),
		Reply:  func(p []byte) { b.replies += string(p) },
		Event:  func(e vt.Event) { b.events = append(b.events, eventText(e)) },
	})
	return b
}

func eventText(e vt.Event) string {
	switch e := e.(type) {
	case vt.TitleEvent:
		return "title " + e.Title
	case vt.BellEvent:
		return "bell"
	case vt.CWDEvent:
		return "cwd " + e.Host + " " + e.Path
	case vt.PromptEvent:
		return promptText(e)
	case vt.NotifyEvent:
		return "notify " + e.Title + "|" + e.Body
	case vt.ProgressEvent:
		return fmt.Sprintf("progress %d %d", e.State, e.Percent)
	case vt.ClipboardEvent:
		return "clipboard " + string(e.Data)
	}
	return fmt.Sprintf("%T", e)
}

func promptText(e vt.PromptEvent) string {
	text := fmt.Sprintf("prompt %c", e.Mark)
	if e.Exit != nil {
		text += fmt.Sprintf(" %d", *e.Exit)
	}
	if e.Line != "" {
		text += fmt.Sprintf(" %q", e.Line)
	}
	if e.Options != "" {
		text += " " + e.Options
	}
	return text
}

func (c *testCase) run(t *testing.T, grid string, bytewise bool) {
	b := newTestTerminal(c.cols, c.rows, grid)
	for _, s := range c.steps {
		if s.verb == "put" {
			b.put(s.args, bytewise)
			continue
		}
		want, got := b.evaluate(s)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:%d: %s (-want +got)\n%s\nscreen:\n%s", c.file, s.line, s.verb, diff, b.Text())
		}
	}
}

func (b *testTerminal) put(args []string, bytewise bool) {
	for _, a := range args {
		if !bytewise {
			b.Write([]byte(a))
			continue
		}
		for i := range len(a) {
			b.Write([]byte(a[i : i+1]))
		}
	}
}

// evaluate returns the expected and the actual result of a step.
func (b *testTerminal) evaluate(s step) (want, got any) {
	n := func(i int) int { v, _ := strconv.Atoi(s.args[i]); return v }
	switch s.verb {
	case "resize":
		b.Resize(parseSize(s.args[0]))
		return nil, nil
	case "screen":
		return strings.TrimRight(strings.Join(s.args, "\n"), "\n"), strings.TrimRight(b.Text(), "\n")
	case "row":
		return s.args[1], strings.Split(b.Text(), "\n")[n(0)]
	case "at":
		c := b.Cursor()
		return [2]int{n(0), n(1)}, [2]int{c.X, c.Y}
	case "style":
		return strings.Join(s.args[2:], " "), styleText(b.styleAt(n(0), n(1)))
	case "reply":
		got, b.replies = b.replies, ""
		return strings.Join(s.args, ""), got
	case "event":
		got, b.events = strings.Join(b.events, "\n"), nil
		return strings.Join(s.args, "\n"), got
	case "history":
		return strings.Join(s.args, "\n"), b.scrollbackText()
	case "wraps":
		_, first, _ := b.Bounds()
		return s.args[1] == "yes", b.Lines(first+int64(n(0)), 1)[0].Line.Wrapped
	case "sizes":
		return strings.Join(s.args, " "), b.sizes()
	case "title":
		return s.args[0], b.Title()
	case "pictures":
		return strings.Join(s.args, "\n"), b.pictures()
	case "mode":
		name, value, _ := strings.Cut(s.args[0], "=")
		return value, b.modeText(name)
	}
	return "a known command", s.verb
}

func (b *testTerminal) scrollbackText() string {
	oldest, first, _ := b.Bounds()
	var lines []string
	for _, l := range b.Lines(oldest, int(first-oldest)) {
		lines = append(lines, l.Line.Text())
	}
	return strings.Join(lines, "\n")
}

// sizes names the line sizes in the scrollback and on the screen, up to the last non-single one.
func (b *testTerminal) sizes() string {
	names := []string{"single", "double", "top", "bottom"}
	oldest, _, end := b.Bounds()
	text := ""
	for _, l := range b.Lines(oldest, int(end-oldest)) {
		text += names[l.Line.Size] + " "
	}
	for text = strings.TrimSpace(text); strings.HasSuffix(text, "single"); {
		text = strings.TrimSpace(strings.TrimSuffix(text, "single"))
	}
	return text
}

// pictures lists the picture strips of each line, counting screen rows from 0 up and scrollback
// lines from -1 down.
func (b *testTerminal) pictures() string {
	oldest, first, end := b.Bounds()
	var rows []string
	for _, l := range b.Lines(oldest, int(end-oldest)) {
		text := ""
		for _, s := range l.Line.Pictures {
			text += fmt.Sprintf(" #%d[%d] %d-%d", s.Picture, s.Row, s.From, s.To)
			if s.Z != 0 {
				text += fmt.Sprintf(" z=%d", s.Z)
			}
		}
		if text != "" {
			rows = append(rows, fmt.Sprintf("%d:%s", l.N-first, text))
		}
	}
	return strings.Join(rows, "\n")
}

func (b *testTerminal) styleAt(x, y int) styled.Style {
	_, first, _ := b.Bounds()
	for _, r := range b.Lines(first+int64(y), 1)[0].Line.Runs {
		if x < r.Cells {
			return r.Style
		}
		x -= r.Cells
	}
	return styled.Style{}
}

func styleText(s styled.Style) string {
	var out []string
	names := []string{"bold", "faint", "italic", "blink", "reverse", "conceal", "strike", "overline"}
	for i, name := range names {
		if s.Attrs&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	if s.Underline != 0 {
		out = append(out, []string{"", "underline", "double", "curly", "dotted", "dashed"}[s.Underline])
	}
	for _, c := range []struct {
		name  string
		color styled.Color
	}{{"fg", s.FG}, {"bg", s.BG}, {"ul", s.UL}} {
		if c.color&styled.ColorRGB != 0 {
			out = append(out, fmt.Sprintf("%s=#%06x", c.name, uint32(c.color&0xFFFFFF)))
		} else if c.color != 0 {
			out = append(out, fmt.Sprintf("%s=%d", c.name, uint32(c.color&0xFF)))
		}
	}
	if s.Link != "" {
		out = append(out, "link="+s.Link)
	}
	if out == nil {
		return "plain"
	}
	return strings.Join(out, " ")
}

func (b *testTerminal) modeText(name string) string {
	m, c := b.Modes(), b.Cursor()
	flags := map[string]any{
		"alt": m.Alt, "cursorkeys": m.AppCursor, "keypad": m.AppKeypad, "newline": m.Newline,
		"paste": m.BracketedPaste, "focus": m.FocusReports, "altscroll": m.AlternateScroll,
		"mouse": m.Mouse, "encoding": m.MouseEncoding, "modify": m.ModifyOther, "kitty": m.Kitty,
		"sync": m.Sync, "reverse": m.ReverseScreen,
		"visible": c.Visible, "shape": c.Shape, "blink": c.Blink,
	}
	return fmt.Sprint(flags[name])
}
