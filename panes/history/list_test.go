package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
	"tandem/themes"
)

// fakeHistory is a history, oldest first.
type fakeHistory []api.HistoryRow

func (c *fakeHistory) addRows(lines ...string) {
	for _, line := range lines {
		*c = append(*c, api.HistoryRow{Runs: 1, Command: api.Command{
			ID: int64(len(*c) + 1), Command: line, CWD: "/home/ann/src", Actor: "person", Kind: "session",
			StartedAt: time.Unix(1_000_000, 0), DurationMS: 1500, ExitCode: new(int),
		}})
	}
}

func (c fakeHistory) search(in api.HistorySearchInput) (out api.HistorySearchOutput) {
	var all []api.HistoryRow
	for i := len(c) - 1; i >= 0; i-- {
		if strings.Contains(c[i].Command.Command, in.Query) {
			all = append(all, c[i])
		}
	}
	out.Total = len(all)
	all = all[min(in.Offset, len(all)):]
	out.Rows = all[:min(in.Limit, len(all))]
	return out
}

// answerAll answers requests until the list has none.
func (c fakeHistory) answerAll(l *List) (requests []Request) {
	for {
		r, ok := l.NextRequest()
		if !ok {
			return requests
		}
		requests = append(requests, r)
		l.StoreAnswer(r, c.search(r.Input))
	}
}

func manyCommands(n int) (c fakeHistory) {
	for i := range n {
		c.addRows(fmt.Sprintf("command %d", i))
	}
	return c
}

var historyNow = time.Unix(1_000_000, 0).Add(3 * time.Hour)

func unicodeLook() *look.Look { return &look.Look{Glyphs: themes.UnicodeGlyphs()} }

func drawHistory(l *List, w, h int) []string {
	var plain []string
	for _, row := range l.Draw(w, h, historyNow, unicodeLook()) {
		plain = append(plain, ansi.Strip(row))
	}
	return plain
}

func selectedCommand(l *List) string {
	row, _ := l.Selected()
	return row.Command.Command
}

func TestListFetchesOnlyRowsAroundTheView(t *testing.T) {
	c := manyCommands(100_000)
	var l List
	l.StartSearch(api.HistorySearchInput{}, 0)
	c.answerAll(&l)
	drawHistory(&l, 80, 21)
	for range 5 {
		l.Move(l.PageRows())
		for _, r := range c.answerAll(&l) {
			if r.Input.Limit > 2*marginRows+21 {
				t.Fatalf("%d rows are asked for at once", r.Input.Limit)
			}
		}
	}
	l.Move(1 << 30)
	if requests := c.answerAll(&l); len(requests) != 1 {
		t.Fatalf("%d requests for the end", len(requests))
	}
	if got := selectedCommand(&l); got != "command 0" {
		t.Errorf("at the end is %q", got)
	}
	if l.Total() != 100_000 {
		t.Errorf("%d in all", l.Total())
	}
}

func TestListKeepsItsPlaceWhenCommandsArrive(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		c := manyCommands(rapid.IntRange(1, 300).Draw(t, "rowsOf"))
		var l List
		l.StartSearch(api.HistorySearchInput{}, 0)
		c.answerAll(&l)
		drawHistory(&l, 80, rapid.IntRange(3, 40).Draw(t, "height"))
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			l.Move(rapid.IntRange(-50, 50).Draw(t, "move"))
			c.answerAll(&l)
			drawHistory(&l, 80, 20)
			c.answerAll(&l)
			before, place := selectedCommand(&l), l.cursor-l.top
			for range rapid.IntRange(0, marginRows).Draw(t, "new") {
				c.addRows(fmt.Sprintf("new %d", len(c)))
			}
			atTop := l.top == 0
			l.Refresh()
			c.answerAll(&l)
			if got := selectedCommand(&l); got != before {
				t.Fatalf("the cursor went from %q to %q", before, got)
			}
			if !atTop && l.cursor-l.top != place {
				t.Fatalf("the row went from %d to %d on the screen", place, l.cursor-l.top)
			}
			drawHistory(&l, 80, 20)
			if l.cursor < l.top || l.cursor >= l.top+l.height {
				t.Fatalf("the cursor at %d is not among %d rows from %d", l.cursor, l.height, l.top)
			}
		}
	})
}

func TestAnswersToAnEarlierSearchAreIgnored(t *testing.T) {
	c := fakeHistory{}
	c.addRows("make", "go test")
	var l List
	l.StartSearch(api.HistorySearchInput{}, 0)
	early, _ := l.NextRequest()
	l.StartSearch(api.HistorySearchInput{Query: "make"}, time.Second)
	late, ok := l.NextRequest()
	if !ok || late.Delay != time.Second {
		t.Fatalf("the second search is not asked for: %+v", late)
	}
	if l.StoreAnswer(early, c.search(early.Input)); l.IsSettled() {
		t.Error("the first answer is taken for the second")
	}
	l.StoreAnswer(late, c.search(late.Input))
	if !l.IsSettled() || selectedCommand(&l) != "make" {
		t.Errorf("chosen is %q", selectedCommand(&l))
	}
}

func TestOldRowsStayUntilTheNextAnswer(t *testing.T) {
	c := fakeHistory{}
	c.addRows("make", "go test")
	var l List
	l.StartSearch(api.HistorySearchInput{}, 0)
	c.answerAll(&l)
	l.StartSearch(api.HistorySearchInput{Query: "nowhere"}, 0)
	if screen := strings.Join(drawHistory(&l, 80, 5), "\n"); !strings.Contains(screen, "go test") {
		t.Errorf("the rows are gone:\n%s", screen)
	}
	c.answerAll(&l)
	if screen := strings.Join(drawHistory(&l, 80, 5), "\n"); !strings.Contains(screen, "nothing found") {
		t.Errorf("no word of it:\n%s", screen)
	}
}

func TestFailedSearchIsReportedAndNotRepeated(t *testing.T) {
	var l List
	l.StartSearch(api.HistorySearchInput{}, 0)
	r, _ := l.NextRequest()
	l.StoreError(r, api.Errorf(api.CodeUnavailable, "the disk is gone"))
	if _, again := l.NextRequest(); again {
		t.Error("it is requested again at once")
	}
	if screen := strings.Join(drawHistory(&l, 80, 5), "\n"); !strings.Contains(screen, "the disk is gone") {
		t.Errorf("no word of it:\n%s", screen)
	}
	l.Refresh()
	if _, again := l.NextRequest(); !again {
		t.Error("it is never requested again")
	}
}

func TestRowsFillTheWidthAndDropColumns(t *testing.T) {
	c := fakeHistory{}
	c.addRows("make", "a very long command that goes on and on "+strings.Repeat("x", 300), "ls 日本語 \u202e\x1b[31m\tend", "cat <<E\none\nE")
	c[0].ExitCode, c[0].ExitSignal = nil, "SIGSEGV"
	c[1].Runs, c[1].Actor = 12, "agent:codex/1.2"
	for w := 20; w < 220; w++ {
		var l List
		l.StartSearch(api.HistorySearchInput{Unique: true}, 0)
		c.answerAll(&l)
		for i, row := range drawHistory(&l, w, 8) {
			if got := text.Width(row); got != w {
				t.Fatalf("row %d of width %d is %d wide: %q", i, w, got, row)
			}
			if strings.ContainsAny(row, "\x1b\t\n\u202e") {
				t.Fatalf("row %d has a control character: %q", i, row)
			}
		}
		head := drawHistory(&l, w, 8)[0]
		for name, from := range map[string]int{"command": 30, "took": minElapsedWidth, "folder": minFolderWidth, "runs": minRunsWidth, "who": minWhoWidth} {
			if has := strings.Contains(head, name); has != (w >= from) && name != "command" || name == "command" && w >= from && !has {
				t.Fatalf("width %d: %q", w, head)
			}
		}
	}
}

func TestMatchedCharactersAreMarkedAndVisible(t *testing.T) {
	style := unicodeLook()
	draw := func(command string, matched []int, w int) string {
		r := list.Row{}
		list.MarkText(command, matched, style).Draw(&r, w, "", look.Ink("<"), style)
		if r.Cells != w {
			t.Errorf("%q is %d cells wide, want %d", command, r.Cells, w)
		}
		return strings.TrimRight(strings.ReplaceAll(r.Text.String(), text.SgrReset, ">"), " ")
	}
	for _, test := range []struct {
		command string
		matched []int
		w       int
		want    string
	}{
		{"go test", []int{0, 3, 4}, 20, "<g>o <te>st"},
		{"a\x1bbc", []int{2}, 20, "a<b>c"},
		{"日本", []int{1}, 20, "日<本>"},
		{"e\u0301x", []int{1}, 20, "<e\u0301>x"},
		{"one\ntwo", []int{4}, 20, "one↵<t>wo"},
		{"0123456789", nil, 5, "0123…"},
		{"0123456789abcdef", []int{15}, 6, "…bcde<f>"},
	} {
		if got := draw(test.command, test.matched, test.w); got != test.want {
			t.Errorf("%q: %q, want %q", test.command, got, test.want)
		}
	}
}

func TestMarkedTextHasTheGivenWidth(t *testing.T) {
	look := unicodeLook()
	seed.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(hostile).Draw(t, "command")
		matched := rapid.SliceOfDistinct(rapid.IntRange(0, 60), rapid.ID).Draw(t, "matched")
		w := rapid.IntRange(4, 60).Draw(t, "width")
		r := list.Row{}
		list.MarkText(s, matched, look).Draw(&r, w, "", look.Match, look)
		if got := text.Width(r.Text.String()); got != w || r.Cells != w {
			t.Fatalf("%q is %d wide, want %d", r.Text.String(), got, w)
		}
	})
}

func newDetail(t *testing.T, c api.Command, runs int, out Output) *Detail {
	t.Helper()
	d := &Detail{Home: "/home/ann"}
	row := api.HistoryRow{Command: c, Runs: runs}
	d.ShowRow(row)
	if _, ok := d.NextRow(); !ok {
		t.Fatal("nothing is asked")
	}
	found := api.HistorySearchOutput{Total: runs}
	for range runs {
		found.Rows = append(found.Rows, row)
	}
	d.StoreRuns(&api.HistoryRow{Command: c}, found, out)
	return d
}

func (d *Detail) drawText(w, h int) string {
	return ansi.Strip(strings.Join(d.Draw(w, h, historyNow, unicodeLook()), "\n"))
}

func failedCommand() api.Command {
	code := 2
	return api.Command{ID: 7, Command: "make \\\n  all", CWD: "/home/ann/src", Actor: "agent:codex/1.2", Kind: "session",
		StartedAt: historyNow.Add(-time.Hour), DurationMS: 2500, ExitCode: &code, LogStart: 10, LogEnd: 20}
}

func TestDetailShowsARunAndTheEndOfItsOutput(t *testing.T) {
	d := newDetail(t, failedCommand(), 3, Output{Terminal: true, Text: "\r\nbegin\r\n\x1b]0;title\x07\x1b[31mred\x1b[m 10%\r 90%\x1b[K\r\n\x1b[2K\r\n"})
	for _, size := range [][2]int{{80, 14}, {140, 12}, {60, 40}} {
		text := d.drawText(size[0], size[1])
		for _, want := range []string{"make \\", "exit 2", "took 2.5s", "~/src", "codex/1.2", "3 runs, 3 failed", "begin", "90%"} {
			if !strings.Contains(text, want) {
				t.Errorf("%v: no %q in\n%s", size, want, text)
			}
		}
		if strings.Contains(text, "10%") || strings.Contains(text, "title") {
			t.Errorf("%v: text never shown by the terminal is in\n%s", size, text)
		}
	}
}

// hostile are characters of no width, of two cells, or with a meaning.
var hostile = rapid.SampledFrom([]rune("ab 日\u0301\u202e\u200d\x00\x1b[31m]0;\a\r\n\t\u009b\ufffd"))

func TestDetailFillsItsAreaWithAnyText(t *testing.T) {
	seed.Check(t, func(rt *rapid.T) {
		c := failedCommand()
		c.Command = rapid.StringOf(hostile).Draw(rt, "command")
		d := &Detail{}
		d.ShowRow(api.HistoryRow{Command: c})
		d.StoreRuns(&api.HistoryRow{Command: c}, api.HistorySearchOutput{Rows: []api.HistoryRow{{Command: c}, {Command: c}}, Total: 2},
			Output{Text: rapid.StringOf(hostile).Draw(rt, "output"), Terminal: rapid.Bool().Draw(rt, "terminal")})
		w, h := rapid.IntRange(10, 160).Draw(rt, "w"), rapid.IntRange(1, 40).Draw(rt, "h")
		d.Scroll(rapid.IntRange(-10, 10).Draw(rt, "scroll"))
		rows := d.Draw(w, h, historyNow, unicodeLook())
		if len(rows) != h {
			rt.Fatalf("%d rows, want %d", len(rows), h)
		}
		for _, row := range rows {
			if got := text.Width(row); got != w {
				rt.Fatalf("a row is %d wide, want %d: %q", got, w, row)
			}
		}
	})
}

func TestDetailExplainsMissingOutput(t *testing.T) {
	for _, test := range []struct {
		out  Output
		want string
	}{
		{Output{Note: "output no longer in the log"}, "no longer in the log"},
		{Output{Terminal: true, Text: "\x1b[?1049hvim\x1b[?1049l"}, "full-screen program"},
		{Output{Terminal: true, Text: "\x1b[K\r\n"}, "no output"},
	} {
		if text := newDetail(t, failedCommand(), 1, test.out).drawText(80, 14); !strings.Contains(text, test.want) {
			t.Errorf("no %q in\n%s", test.want, text)
		}
	}
}

func TestDetailRefetchesAfterTheRunHasExited(t *testing.T) {
	c := failedCommand()
	c.ExitCode, c.DurationMS = nil, -1
	d := newDetail(t, c, 1, Output{Text: "one\n"})
	if d.ShowRow(api.HistoryRow{Command: c, Runs: 1}); d.shown {
		if _, ok := d.NextRow(); ok {
			t.Error("known details are requested again")
		}
	}
	c.DurationMS = 10
	d.ShowRow(api.HistoryRow{Command: c, Runs: 1})
	if _, ok := d.NextRow(); !ok {
		t.Error("the end is not asked for")
	}
	if text := d.drawText(80, 14); !strings.Contains(text, "one") {
		t.Errorf("the output is gone meanwhile:\n%s", text)
	}
}

func TestDetailScrollsThroughTheOutput(t *testing.T) {
	var out strings.Builder
	for i := range 100 {
		fmt.Fprintf(&out, "line %d.\n", i)
	}
	d := newDetail(t, failedCommand(), 1, Output{Text: out.String()})
	if text := d.drawText(80, 14); !strings.Contains(text, "line 99.") {
		t.Errorf("the end is not seen:\n%s", text)
	}
	d.Scroll(-1000)
	if text := d.drawText(80, 14); !strings.Contains(text, "line 0.") {
		t.Errorf("the beginning is not seen:\n%s", text)
	}
	d.Scroll(1000)
	if text := d.drawText(80, 14); !strings.Contains(text, "line 99.") {
		t.Errorf("the end is not seen again:\n%s", text)
	}
}
