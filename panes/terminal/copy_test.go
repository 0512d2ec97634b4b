package terminal

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/keys"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
)

// scrollPane returns a pane in scroll mode with the cursor at a place. A row ending in "\" wraps
// into the next one.
func scrollPane(w, h int, at api.Place, rows ...string) *Terminal {
	f := screenOf(w, max(len(rows), h), 0, rows...)
	for i, r := range rows {
		if s, ok := strings.CutSuffix(r, `\`); ok {
			f.Lines[i].Line = textLine(textRun(s, text.Width(s), api.Style{}))
			f.Lines[i].Line.Wrapped = true
		}
		f.Lines[i].N = int64(i)
	}
	p, _ := livePane(w, h, f)
	p.Scroll.Start()
	p.Scroll.GoTo(at)
	return p
}

func cellAt(line int64, cell int) api.Place { return api.Place{Line: line, Cell: cell} }

func TestCursorMovesByWordsLinesAndParagraphs(t *testing.T) {
	rows := []string{
		"func main() {",  // 0
		"  漢字 = wide(x)", // 1
		"",               // 2
		"a line that is", // 3
		"long, and goes", // 4
		"end",            // 5
	}
	tests := []struct {
		name   string
		from   api.Place
		motion Motion
		count  int
		want   api.Place
	}{
		{"w to punctuation behind a word", cellAt(0, 5), NextWord, 1, cellAt(0, 9)},
		{"w over a line end", cellAt(0, 12), NextWord, 1, cellAt(1, 2)},
		{"w over wide characters", cellAt(1, 2), NextWord, 1, cellAt(1, 7)},
		{"w over a blank line", cellAt(1, 15), NextWord, 1, cellAt(3, 0)},
		{"3w", cellAt(0, 0), NextWord, 3, cellAt(0, 12)},
		{"w at the end", cellAt(5, 0), NextWord, 1, cellAt(5, 2)},
		{"b to the start of the word", cellAt(0, 7), PreviousWord, 1, cellAt(0, 5)},
		{"b over a line end", cellAt(1, 2), PreviousWord, 1, cellAt(0, 12)},
		{"b at the start", cellAt(0, 0), PreviousWord, 1, cellAt(0, 0)},
		{"e to the end of the word", cellAt(0, 0), WordEnd, 1, cellAt(0, 3)},
		{"e to the end of the next", cellAt(0, 3), WordEnd, 1, cellAt(0, 8)},
		{"e on wide characters", cellAt(1, 2), WordEnd, 1, cellAt(1, 4)},
		{"0", cellAt(1, 8), LineStart, 1, cellAt(1, 0)},
		{"^", cellAt(1, 8), LineText, 1, cellAt(1, 2)},
		{"$", cellAt(0, 3), LineEnd, 1, cellAt(0, 12)},
		{"h", cellAt(0, 3), CellLeft, 2, cellAt(0, 1)},
		{"h stays in the line", cellAt(1, 1), CellLeft, 5, cellAt(1, 0)},
		{"l over a wide character", cellAt(1, 2), CellRight, 1, cellAt(1, 4)},
		{"l stays in the line", cellAt(5, 2), CellRight, 5, cellAt(5, 2)},
		{"j into a shorter line", cellAt(4, 10), LineDown, 1, cellAt(5, 2)},
		{"j into a wide character", cellAt(0, 3), LineDown, 1, cellAt(1, 2)},
		{"5k", cellAt(5, 0), LineUp, 5, cellAt(0, 0)},
		{"j at the end", cellAt(5, 0), LineDown, 3, cellAt(5, 0)},
		{"}", cellAt(0, 0), NextParagraph, 1, cellAt(2, 0)},
		{"{", cellAt(4, 3), PreviousParagraph, 1, cellAt(2, 0)},
		{"g", cellAt(4, 3), Oldest, 1, cellAt(0, 0)},
		{"G", cellAt(0, 0), Newest, 1, cellAt(5, 0)},
		{"4G", cellAt(0, 0), Newest, 4, cellAt(3, 0)},
		{"M", cellAt(0, 0), ScreenMiddle, 1, cellAt(2, 0)},
		{"2L", cellAt(0, 0), ScreenBottom, 2, cellAt(4, 0)},
		{"2H", cellAt(5, 0), ScreenTop, 2, cellAt(1, 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := scrollPane(20, 6, tt.from, rows...)
			if tt.count > 1 {
				p.Scroll.count.addDigit(tt.count)
			}
			p.Scroll.MoveCursor(tt.motion)
			if got := p.Scroll.CursorPlace(); got != tt.want {
				t.Errorf("at %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCursorKeepsItsColumnOverShorterLines(t *testing.T) {
	p := scrollPane(20, 4, cellAt(0, 8), "a long line", "abc", "another long one")
	p.Scroll.MoveCursor(LineDown)
	p.Scroll.MoveCursor(LineDown)
	if got := p.Scroll.CursorPlace(); got != cellAt(2, 8) {
		t.Errorf("at %v", got)
	}
	p.Scroll.MoveCursor(LineEnd)
	p.Scroll.MoveCursor(LineUp)
	if got := p.Scroll.CursorPlace(); got != cellAt(1, 2) {
		t.Errorf("behind the end of a line, the next one up is at %v", got)
	}
}

func TestMotionsTreatWrappedRowsAsOneLine(t *testing.T) {
	p := scrollPane(6, 4, cellAt(0, 4), `abc de\`, `fgh ij\`, "kl m")
	p.Scroll.MoveCursor(WordEnd)
	if got := p.Scroll.CursorPlace(); got != cellAt(1, 2) {
		t.Errorf("e goes to %v", got)
	}
	p.Scroll.MoveCursor(LineEnd)
	if got := p.Scroll.CursorPlace(); got != cellAt(2, 3) {
		t.Errorf("$ goes to %v", got)
	}
	p.Scroll.MoveCursor(LineStart)
	if got := p.Scroll.CursorPlace(); got != cellAt(0, 0) {
		t.Errorf("0 goes to %v", got)
	}
}

func TestCountBeforeAMotionIsShownAndUsedOnce(t *testing.T) {
	p := scrollPane(40, 4, cellAt(0, 0), "a", "b", "c", "d")
	if p.Scroll.count.addDigit(0) {
		t.Error("0 alone is a number")
	}
	p.Scroll.count.addDigit(1)
	p.Scroll.count.addDigit(0)
	if rows := plainRows(p, 40, 4); !strings.Contains(rows[0], "10 · line 1/4") {
		t.Errorf("shown: %q", rows[0])
	}
	p.Scroll.MoveCursor(LineDown)
	if got := p.Scroll.CursorPlace(); got.Line != 3 {
		t.Errorf("10j goes to %v", got)
	}
	p.Scroll.MoveCursor(LineUp)
	if got := p.Scroll.CursorPlace(); got.Line != 2 {
		t.Errorf("k afterwards goes to %v", got)
	}
}

func TestSelectionMatchesTheCopiedRange(t *testing.T) {
	rows := []string{`one two \`, "three", "four five", "six"}
	tests := []struct {
		name  string
		kind  SelectKind
		a, b  api.Place
		want  api.SessionTextInput
		shown []string // with the selection in brackets
	}{
		{"characters", SelectText, cellAt(0, 4), cellAt(2, 3),
			api.SessionTextInput{From: cellAt(0, 4), To: cellAt(2, 4)},
			[]string{"one [two ] ", "[three]    ", "[four] five", "six      "}},
		{"backwards", SelectText, cellAt(2, 3), cellAt(0, 4),
			api.SessionTextInput{From: cellAt(0, 4), To: cellAt(2, 4)},
			[]string{"one [two ] ", "[three]    ", "[four] five", "six      "}},
		{"lines take all rows that a line wrapped into", SelectLines, cellAt(1, 2), cellAt(1, 0),
			api.SessionTextInput{From: cellAt(0, 0), To: cellAt(2, 0)},
			[]string{"[one two  ]", "[three    ]", "four five", "six      "}},
		{"block", SelectBlock, cellAt(0, 6), cellAt(2, 2),
			api.SessionTextInput{From: cellAt(0, 2), To: cellAt(2, 7), Block: true},
			[]string{"on[e two]  ", "th[ree  ]  ", "fo[ur fi]ve", "six      "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := scrollPane(9, 4, tt.a, rows...)
			p.Scroll.ToggleSelection(tt.kind)
			p.Scroll.GoTo(tt.b)
			if d := cmp.Diff(tt.want, p.Scroll.Selection()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if d := cmp.Diff(tt.shown, drawBracketed(p, 9, 4)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// drawBracketed returns the drawn pane with brackets around marked parts.
func drawBracketed(p *Terminal, w, h int) []string {
	look := &look.Look{Selected: "\x1b[7m", Match: "\x1b[4m", FoundHere: "\x1b[1m"}
	st := p.State()
	rows, _ := p.Feed.Screen.Draw(nil, Window{Top: p.Scroll.topLine(st), W: w, H: h})
	p.Scroll.drawMarks(rows, st, w, look)
	replace := strings.NewReplacer("\x1b[7m", "[", "\x1b[4m", "{", "\x1b[1m", "<", "\x1b[m", "]")
	for y, r := range rows {
		rows[y] = ansi.Strip(replace.Replace(r))
	}
	return rows
}

func TestSelectionSwapsEndsAndChangesKind(t *testing.T) {
	p := scrollPane(9, 2, cellAt(0, 2), "abcdefgh", "ijklmnop")
	if p.Scroll.SwapEnds() {
		t.Error("swapped the ends of nothing")
	}
	p.Scroll.ToggleSelection(SelectText)
	p.Scroll.GoTo(cellAt(1, 3))
	if !p.Scroll.SwapEnds() || p.Scroll.CursorPlace() != cellAt(0, 2) {
		t.Errorf("at %v", p.Scroll.CursorPlace())
	}
	p.Scroll.ToggleSelection(SelectBlock)
	if in := p.Scroll.Selection(); !in.Block {
		t.Errorf("%+v", in)
	}
	p.Scroll.ToggleSelection(SelectBlock)
	if p.Scroll.HasSelection() || !p.Scroll.Active() {
		t.Error("the same key again does not end the selection")
	}
}

func TestCancelUndoesOneStepAtATime(t *testing.T) {
	p := scrollPane(9, 2, cellAt(0, 0), "a", "b")
	p.Scroll.matches = matches{pattern: regexp.MustCompile("a")}
	p.Scroll.ToggleSelection(SelectLines)
	p.Scroll.count.addDigit(3)
	for i := range 3 {
		if !p.Scroll.CancelLast() {
			t.Errorf("nothing to cancel at step %d", i)
		}
	}
	if p.Scroll.CancelLast() || p.Scroll.HasSelection() || p.Scroll.matches.pattern != nil {
		t.Error("something is left")
	}
}

func TestVisibleMatchesAreMarkedAcrossWraps(t *testing.T) {
	p := scrollPane(8, 4, cellAt(0, 0), "foo Foo", `a foo f\`, "oo fo", "漢foo字")
	p.Scroll.matches = matches{pattern: regexp.MustCompile("foo")}
	want := []string{"<foo] Foo ", "a {foo] {f] ", "{oo] fo   ", "漢{foo]字 "}
	if d := cmp.Diff(want, drawBracketed(p, 8, 4)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	p.Scroll.matches.number, p.Scroll.matches.total = 2, 7
	if row := plainRows(p, 60, 4)[0]; !strings.Contains(row, "match 2/7 · line 1/4") {
		t.Errorf("%q", row)
	}
}

func TestBlockSelectionMarksWideCharactersWhole(t *testing.T) {
	p := scrollPane(8, 2, cellAt(0, 1), "漢字漢字", "abcdefgh")
	p.Scroll.ToggleSelection(SelectBlock)
	p.Scroll.GoTo(cellAt(1, 4))
	want := []string{"[漢字漢]字", "a[bcde]fgh"}
	if d := cmp.Diff(want, drawBracketed(p, 8, 2)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestOutputDoesNotMoveScrollMode(t *testing.T) {
	var rows []string
	for i := range 10 {
		rows = append(rows, fmt.Sprint("row ", i))
	}
	p := scrollPane(20, 10, cellAt(3, 2), rows...)
	first := int64(0)
	for range 400 {
		first += 10
		f := screenOf(20, 10, first, "x", "x", "x", "x", "x", "x", "x", "x", "x", "x")
		f.Full = false
		p.Feed.Receive(api.Output{Frame: f})
		p.Sync()
	}
	if got := plainRows(p, 20, 10); got[3] != "row 3               " {
		t.Errorf("%q", got)
	}
	if p.Scroll.CursorPlace() != cellAt(3, 2) {
		t.Errorf("the cursor went to %v", p.Scroll.CursorPlace())
	}
	p.Scroll.Stop()
	p.Sync()
	p.Feed.Receive(api.Output{Frame: screenOf(20, 10, first, "y")})
	if _, held := p.Feed.Screen.lineAt(3); held {
		t.Error("lines are held after scroll mode has ended")
	}
}

func TestScrollModeKeepsItsPlaceWhenAResizeRewraps(t *testing.T) {
	p, box := livePane(20, 4, screenOf(20, 4, 100, "a", "b", "c", "d"))
	p.Scroll.Start()
	p.Scroll.GoTo(cellAt(102, 0))
	p.Scroll.ToggleSelection(SelectLines)
	p.Scroll.GoTo(cellAt(103, 0))
	last := box.sent[len(box.sent)-1]
	if d := cmp.Diff([]api.Place{cellAt(100, 0), cellAt(103, 0), cellAt(102, 0)}, last.Anchors); d != "" {
		t.Fatalf("(-want +got)\n%s", d)
	}
	f := screenOf(10, 4, 200, "a", "b", "c", "d")
	f.Anchors = []api.Place{cellAt(198, 0), cellAt(201, 0), cellAt(200, 3)}
	p.Feed.Receive(api.Output{Frame: f})
	p.Sync()
	if p.Scroll.top != 198 || p.Scroll.CursorPlace() != cellAt(201, 0) || p.Scroll.sel.anchor != cellAt(200, 3) {
		t.Errorf("top %d, cursor %v, selection from %v", p.Scroll.top, p.Scroll.CursorPlace(), p.Scroll.sel.anchor)
	}
	box.sent = nil
	p.Scroll.Stop()
	if len(box.sent) != 1 || box.sent[0].Anchors == nil || len(box.sent[0].Anchors) != 0 {
		t.Errorf("the session still keeps places: %v", box.sent)
	}
}

func TestMouseSelectsCharactersWordsAndLines(t *testing.T) {
	rows := []string{"see a/b.go:12, and", "漢字 https://x.org/?q=1)", "end"}
	tests := []struct {
		name string
		do   func(p *Terminal)
		want api.SessionTextInput
	}{
		{"drag", func(p *Terminal) { p.Pointer.Press(2, 0, 1); p.Pointer.Drag(4, 1, false) },
			api.SessionTextInput{From: cellAt(0, 2), To: cellAt(1, 5)}},
		{"drag upwards", func(p *Terminal) { p.Pointer.Press(4, 1, 1); p.Pointer.Drag(2, 0, false) },
			api.SessionTextInput{From: cellAt(0, 2), To: cellAt(1, 5)}},
		{"drag with alt", func(p *Terminal) { p.Pointer.Press(2, 0, 1); p.Pointer.Drag(4, 1, true) },
			api.SessionTextInput{From: cellAt(0, 2), To: cellAt(1, 5), Block: true}},
		{"double click on a path", func(p *Terminal) { p.Pointer.Press(5, 0, 1); p.Pointer.Press(5, 0, 2) },
			api.SessionTextInput{From: cellAt(0, 4), To: cellAt(0, 14)}},
		{"double click on a wide character", func(p *Terminal) { p.Pointer.Press(1, 1, 2) },
			api.SessionTextInput{From: cellAt(1, 0), To: cellAt(1, 4)}},
		{"double click and drag", func(p *Terminal) { p.Pointer.Press(16, 0, 2); p.Pointer.Drag(10, 1, false) },
			api.SessionTextInput{From: cellAt(0, 15), To: cellAt(1, 23)}},
		{"triple click", func(p *Terminal) { p.Pointer.Press(5, 0, 3) },
			api.SessionTextInput{From: cellAt(0, 0), To: cellAt(1, 0)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := livePane(30, 3, screenOf(30, 3, 0, rows...))
			tt.do(p)
			got, ok := p.Pointer.Release()
			if d := cmp.Diff(tt.want, got); d != "" || !ok {
				t.Errorf("ok %v (-want +got)\n%s", ok, d)
			}
			if p.Scroll.Active() {
				t.Error("the live screen is not shown again")
			}
			if rows := strings.Join(drawBracketed(p, 30, 3), "\n"); !strings.Contains(rows, "[") {
				t.Errorf("the selection is not marked:\n%s", rows)
			}
			if !p.Scroll.ClearFlash() || p.Scroll.ClearFlash() {
				t.Error("the marks do not go away")
			}
		})
	}
}

func TestSingleClickSelectsNothing(t *testing.T) {
	p, _ := livePane(30, 3, screenOf(30, 3, 0, "one", "two"))
	p.Pointer.Press(1, 1, 1)
	if p.Pointer.Drag(1, 1, false); p.Scroll.Active() {
		t.Error("a click began a selection")
	}
	if _, ok := p.Pointer.Release(); ok {
		t.Error("a click copies")
	}
}

func TestDragBeyondTheEdgeScrolls(t *testing.T) {
	p, _ := livePane(10, 3, screenOf(10, 3, 50, "a", "b", "c"))
	p.Pointer.Press(0, 1, 1)
	for range 5 {
		if !p.Pointer.Drag(0, -1, false) {
			t.Fatal("the mouse is not beyond the edge")
		}
	}
	if p.Scroll.top != 45 || p.Scroll.CursorPlace() != cellAt(45, 0) {
		t.Errorf("top %d, cursor %v", p.Scroll.top, p.Scroll.CursorPlace())
	}
	p.Pointer.Release()
	if !p.Scroll.Active() || !p.Scroll.HasSelection() {
		t.Error("the scrolled lines are no longer shown")
	}
}

func TestShiftKeepsMouseEventsFromAProgram(t *testing.T) {
	f := screenOf(10, 3, 0, "a")
	f.Mouse = keys.MouseDrag
	p, _ := livePane(10, 3, f)
	press := keys.Mouse{Button: keys.ButtonLeft}
	if !p.WantsMouse(press) {
		t.Error("the program does not get the mouse")
	}
	press.Mods = keys.Shift
	if p.WantsMouse(press) {
		t.Error("shift does not take the mouse")
	}
}

func TestTargetAtCursorFindsPathsAndAddresses(t *testing.T) {
	tests := []struct {
		row  string
		x    int
		want Target
	}{
		{"see a/b.go:12:3: undefined", 6, Target{Path: "a/b.go", Line: 12, Column: 3}},
		{"see a/b.go:12, or", 6, Target{Path: "a/b.go", Line: 12}},
		{"./x.sh", 2, Target{Path: "./x.sh"}},
		{"~/notes.txt.", 2, Target{Path: "~/notes.txt"}},
		{"(https://example.org/a?b=1).", 5, Target{URL: "https://example.org/a?b=1"}},
		{"url=https://example.org,", 9, Target{URL: "https://example.org"}},
		{"mailto:ann@example.org", 0, Target{URL: "mailto:ann@example.org"}},
	}
	for _, tt := range tests {
		p := scrollPane(40, 2, cellAt(0, tt.x), tt.row)
		got, ok := p.Scroll.screen.targetAt(p.Scroll.cursor)
		if d := cmp.Diff(tt.want, got); d != "" || !ok {
			t.Errorf("%s: ok %v (-want +got)\n%s", tt.row, ok, d)
		}
	}
	p := scrollPane(40, 2, cellAt(0, 3), "a   b")
	if got, ok := p.Scroll.screen.targetAt(p.Scroll.cursor); ok {
		t.Errorf("blanks are %+v", got)
	}
}

func TestMarksDoNotChangeTheWidthOfALine(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		l := generateLine(t)
		w := rapid.IntRange(1, 30).Draw(t, "w")
		var spans []span
		for range rapid.IntRange(0, 4).Draw(t, "spans") {
			from := rapid.IntRange(-2, 30).Draw(t, "from")
			spans = append(spans, span{from, from + rapid.IntRange(0, 9).Draw(t, "n"), "\x1b[7m"})
		}
		marked := string(appendMarked(nil, l, w, spans))
		bare := string(text.AppendLine(nil, l, w))
		if a, b := plainText(marked), plainText(bare); a != b {
			t.Fatalf("%q became %q", b, a)
		}
	})
}

func generateLine(t *rapid.T) api.Line {
	var l api.Line
	for range rapid.IntRange(0, 5).Draw(t, "runs") {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab _.漢字é\u0301👩\u200d🚀\x1b/:9"))).Draw(t, "text")
		l.Runs = append(l.Runs, textRun(text, rapid.IntRange(0, 12).Draw(t, "cells"), api.Style{Rendition: api.Rendition{FG: api.Color(rapid.IntRange(0, 1).Draw(t, "fg")) * (styled.ColorIndexed | 1)}}))
	}
	l.Wrapped = rapid.Bool().Draw(t, "wrapped")
	return l
}

func TestCursorStaysVisibleAfterAnyKeys(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 12).Draw(t, "rows")
		f := &api.Frame{Full: true, Cols: rapid.IntRange(1, 20).Draw(t, "cols"), Rows: rows, First: 100, Oldest: 90}
		for y := range rows {
			f.Lines = append(f.Lines, api.NumberedLine{N: 100 + int64(y), Line: generateLine(t)})
		}
		h := rapid.IntRange(1, 8).Draw(t, "h")
		p, _ := livePane(rapid.IntRange(1, 20).Draw(t, "w"), h, f)
		p.Scroll.Start()
		p.Scroll.matches = matches{pattern: regexp.MustCompile(`(?i)[a漢]+`)}
		for range rapid.IntRange(1, 30).Draw(t, "keys") {
			switch k := rapid.IntRange(0, 30).Draw(t, "key"); {
			case k <= int(Newest):
				p.Scroll.MoveCursor(Motion(k))
			case k < 24:
				p.Scroll.ToggleSelection(SelectKind(k - 20))
			case k < 26:
				p.Scroll.count.addDigit(k - 20)
			case k == 26:
				p.Scroll.SwapEnds()
			case k == 27:
				p.Scroll.screen.targetAt(p.Scroll.cursor)
			case k == 28:
				p.Pointer.Press(rapid.IntRange(-1, 21).Draw(t, "x"), rapid.IntRange(-1, 9).Draw(t, "y"), rapid.IntRange(1, 3).Draw(t, "n"))
			case k == 29:
				p.Pointer.Drag(rapid.IntRange(-1, 21).Draw(t, "x"), rapid.IntRange(-1, 9).Draw(t, "y"), false)
			default:
				p.Scroll.ScrollBy(rapid.IntRange(-5, 5).Draw(t, "lines"))
			}
			in := p.Scroll.Selection()
			if p.Scroll.Active() && !p.Scroll.drag && (p.Scroll.HasSelection() && in.To.Before(in.From) && !in.Block || p.Scroll.CursorPlace().Line < p.Scroll.top || p.Scroll.CursorPlace().Line >= p.Scroll.top+int64(h)) {
				t.Fatalf("top %d, cursor %v, selection %+v", p.Scroll.top, p.Scroll.CursorPlace(), in)
			}
			plainRows(p, 20, h)
		}
	})
}

func TestDoubleWidthLinesAreSpread(t *testing.T) {
	f := screenOf(12, 2, 0, "ab漢", "x")
	f.Lines[0].Line.Size = styled.DoubleWidth
	f.Cursor = api.Cursor{X: 2, Y: 0, Visible: true}
	p, _ := livePane(12, 2, f)
	compareRows(t, plainRows(p, 12, 2), []string{"a b 漢      ", "x           "})
	if c, _ := p.Cursor(); c.X != 4 {
		t.Errorf("the cursor is at %d", c.X)
	}
	p.Pointer.Press(2, 0, 1)
	p.Pointer.Drag(5, 0, false)
	if in, _ := p.Pointer.Release(); in.From.Cell != 1 || in.To.Cell != 4 {
		t.Errorf("selected %+v", in)
	}
	compareRows(t, drawBracketed(p, 12, 2), []string{"a [b 漢  ]    ", "x           "})
}

func TestScrollModeKeepsLinesTheSessionHasDropped(t *testing.T) {
	p := scrollPane(20, 3, cellAt(1, 0), "one", `two \`, "and more")
	p.Scroll.ToggleSelection(SelectText)
	f := screenOf(20, 3, 90_000, "x", "y", "z")
	f.Full, f.Oldest = false, 80_000
	p.Feed.Receive(api.Output{Frame: f})
	p.Sync()
	compareRows(t, plainRows(p, 20, 3)[1:], []string{"two                 ", "and more            "})
	p.Scroll.MoveCursor(LineDown)
	p.Scroll.MoveCursor(WordEnd)
	text, held := p.Feed.Screen.HeldText(p.Scroll.Selection())
	if text != "two and" || !held {
		t.Errorf("held %v: %q", held, text)
	}
	p.Scroll.ScrollBy(100_000)
	if p.Scroll.CursorPlace().Line < 80_000 {
		t.Errorf("at %v", p.Scroll.CursorPlace())
	}
}

func TestScrollCursorAppearsAfterTheFirstKey(t *testing.T) {
	p, _ := livePane(10, 3, screenOf(10, 3, 50, "a", "b", "c"))
	shown := func() bool { _, ok := p.Cursor(); return ok }
	p.Mouse(keys.Mouse{Button: keys.WheelUp})
	if !p.Scroll.Active() || shown() {
		t.Error("the wheel shows a cursor")
	}
	p.Scroll.Start()
	if !shown() {
		t.Error("there is no cursor in scroll mode")
	}
	p.Mouse(keys.Mouse{Button: keys.WheelDown})
	if !p.Scroll.Active() {
		t.Error("the wheel ends scroll mode started by a key")
	}
	p.Scroll.Stop()
	p.Pointer.Press(0, 1, 1)
	p.Pointer.Drag(0, -1, false)
	p.Pointer.Release()
	if !shown() {
		t.Error("there is no cursor behind a drag")
	}
}

func TestClickSelectsTheDrawnLineDespiteNewOutput(t *testing.T) {
	p, _ := livePane(20, 3, screenOf(20, 3, 50, "first one", "second two", "third three"))
	plainRows(p, 20, 3)
	f := screenOf(20, 3, 51, "second two", "third three", "fourth four")
	f.Full = false
	p.Feed.Receive(api.Output{Frame: f})
	p.Pointer.Press(1, 0, 2)
	if in, ok := p.Pointer.Release(); !ok || in.From != (api.Place{Line: 50}) || in.To != (api.Place{Line: 50, Cell: 5}) {
		t.Errorf("selected %+v", in)
	}
	if text, held := p.Feed.Screen.HeldText(api.SessionTextInput{From: api.Place{Line: 50}, To: api.Place{Line: 51, Cell: 7}}); !held || text != "first one\nsecond " {
		t.Errorf("held %v: %q", held, text)
	}
	if _, held := p.Feed.Screen.HeldText(api.SessionTextInput{From: api.Place{Line: 40}, To: api.Place{Line: 52}}); held {
		t.Error("lines not received yet are held")
	}
}

func TestSelectionIncludesSpacingVowelSigns(t *testing.T) {
	p := scrollPane(12, 1, api.Place{Line: 0, Cell: 0}, "xกำyकी")
	for _, tt := range []struct{ cell, from, to int }{{0, 0, 1}, {1, 1, 3}, {2, 1, 3}, {3, 3, 4}, {5, 4, 6}} {
		p.Scroll.GoTo(api.Place{Line: 0, Cell: tt.cell})
		p.Scroll.ToggleSelection(SelectText)
		if in := p.Scroll.Selection(); in.From.Cell != tt.from || in.To.Cell != tt.to {
			t.Errorf("at cell %d: cells %d to %d, want %d to %d", tt.cell, in.From.Cell, in.To.Cell, tt.from, tt.to)
		}
		p.Scroll.ToggleSelection(SelectText)
	}
}
