package outputs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
)

// numbered returns a log with n lines that contain word.
func numbered(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", word, i)
	}
	return b.String()
}

func TestLinesAreFoundWhileTyping(t *testing.T) {
	failed := process("p1", "make all", api.StateFailed)
	failed.ExitCode = new(int)
	*failed.ExitCode = 2
	d := newTestSearch(t, 120, 36, process("s1", "bash", api.StateRunning), failed)
	d.setLog("s1", "one\nneedle here\ntwo\nneedle there\n")
	d.setLog("p1", "\x1b[31mneedle\x1b[0m in red\n")
	d.WaitText("Search all output")
	d.press("'needl")
	d.WaitText("3 lines")
	d.WaitMatch(`● name-s1  bash +you  now`)
	d.WaitMatch(`▌ +needle there`)
	d.WaitMatch(`✗ name-p1 exit 2  make all`)
	d.WaitMatch(`^│ +needle in red`)
	// The log around the selected line.
	d.WaitMatch(`^│ one +│$`)
	d.WaitMatch(`─ name-s1 bash ─`)
	d.CheckRows()
	d.press("'e x")
	d.WaitText("No line found")
}

func TestInvalidRegexpKeepsTheLines(t *testing.T) {
	d := newTestSearch(t, 80, 24, process("p1", "make", api.StateExited))
	d.setLog("p1", "a needle\n")
	d.press("alt+r", "'need.e")
	d.WaitMatch(`regexp / need.e`)
	d.WaitText("1 line")
	d.press("'(")
	d.WaitText("missing closing )")
	d.WaitText("a needle")
	d.press("down")
	if d.focus != onPattern {
		t.Error("the lines of another pattern have the keyboard")
	}
	if slices.ContainsFunc(d.searches(), func(in api.OutputSearchInput) bool { return strings.Contains(in.Text, "(") }) {
		t.Error("an invalid pattern is searched for")
	}
	d.press("backspace")
	d.WaitNoText("missing closing")
	d.set(func() { d.refuse = api.Errorf(api.CodeInvalid, "search output of kind x: must be session") })
	d.press("'  kind:x")
	d.WaitText("must be session")
	d.WaitText("a needle")
}

func TestNewPatternCancelsTheSearch(t *testing.T) {
	d := newTestSearch(t, 80, 24, process("p1", "make", api.StateExited))
	d.setLog("p1", "ab\n")
	d.set(func() { d.blocked["a"] = make(chan struct{}) })
	d.press("'a")
	<-d.began
	d.press("'b")
	d.WaitText("1 line")
	if text := <-d.ended; text != "a" {
		t.Errorf("the search for %q was cancelled", text)
	}
}

// Whoever types enter right after the pattern means the lines that are about to appear.
func TestEnterWaitsForTheFirstAnswer(t *testing.T) {
	d := newTestSearch(t, 80, 24, process("s1", "bash", api.StateRunning))
	d.setLog("s1", "ab\n")
	wait := make(chan struct{})
	d.set(func() { d.blocked["a"] = wait })
	d.Press("'a", "enter", "enter")
	close(wait)
	d.Wait("the line is shown", func() bool { return len(d.lines) == 1 })
}

func TestMoreLinesAreAddedBelow(t *testing.T) {
	d := newTestSearch(t, 80, 24, process("p1", "make", api.StateExited))
	d.setLog("p1", numbered("needle", maxLines+100))
	d.set(func() { d.page = 700 })
	d.press("'needle")
	d.Wait("the first lines are found", func() bool { return len(d.Search.lines.hits) >= 700 })
	d.press("enter", "j", "j", "j")
	selected := d.Search.lines.selected().Text
	d.WaitText("the newest 2,000 lines")
	if got := d.Search.lines.selected().Text; got != selected || selected != "needle 2096" {
		t.Errorf("%q is selected, before %q", got, selected)
	}
	if d.finder.isRunning() {
		t.Error("it goes on searching")
	}
	d.press("end")
	d.WaitText("the newest 2,000 lines; narrow the pattern")
	d.WaitText("2,000/2,000")
	d.CheckRows()
}

func TestLineReportedTwiceIsListedOnce(t *testing.T) {
	l := lines{known: map[place]bool{}, marks: map[place]bool{}}
	hit := api.OutputHit{ID: "a", LogMatch: api.LogMatch{Offset: 7}}
	l.add([]api.OutputHit{hit, hit})
	if hit.Stream = "stderr"; !l.add([]api.OutputHit{hit}) || len(l.hits) != 2 || len(l.rows) != 4 {
		t.Errorf("%d lines in %d rows", len(l.hits), len(l.rows))
	}
}

func TestEveryConnectedMachineIsSearched(t *testing.T) {
	d := newTestSearch(t, 120, 36, process("p1", "make", api.StateExited), process("box/s1", "bash", api.StateRunning))
	at := time.Now().Add(-time.Hour)
	d.env.Known.Machines = []panes.Machine{
		{Machine: api.Machine{Name: "box", State: api.MachineConnected}},
		{Machine: api.Machine{Name: "pi", LastSeen: &at}},
	}
	d.setLog("p1", "a needle\n")
	d.setLog("box/s1", "needle on the box\n")
	d.press("'needle")
	d.WaitText("2 lines")
	d.WaitText("● box/name-s1")
	d.WaitText("without pi: away for 1h")
	d.press("'  host:b")
	d.WaitText("1 line ")
	d.WaitNoText("name-p1")
	d.press("'x")
	d.WaitText("host:bx: no such machine")
}

func TestSearchContinuesInTheNextEngine(t *testing.T) {
	f := finder{}
	m := &machine{cursor: &api.OutputCursor{ID: "a"}, calling: true}
	f.accept(m, api.OutputSearchOutput{}, api.Errorf(api.CodeUnavailable, "the engine is gone"))
	if m.done || m.calling || m.cursor == nil || m.delay == 0 {
		t.Errorf("after the engine was lost: %+v", m)
	}
	other := &machine{host: "box"}
	f.machines = []*machine{other}
	f.accept(other, api.OutputSearchOutput{}, api.Errorf(api.CodeUnavailable, "box is offline"))
	if missing := f.missing(); missing != "without box: box is offline" || f.isRunning() {
		t.Errorf("the missing machine: %q", missing)
	}
}

func TestLineOpensWhereItWasPrinted(t *testing.T) {
	d := newTestSearch(t, 80, 24, process("s1", "bash", api.StateRunning), process("s2", "bash", api.StateExited), process("p1", "make", api.StateRunning))
	for _, id := range []string{"s1", "s2", "p1"} {
		d.setLog(id, "a\tneedle (1)\nother needle\na\tneedle (1)\n")
	}
	d.press("'needle", "enter", "j", "j")
	d.WaitText("9 lines")
	d.press("enter")
	if len(d.lines) != 1 || d.env.Shown != nil {
		t.Fatalf("shown in scrollbacks: %+v", d.lines)
	}
	if l := d.lines[0]; l.ID != "s1" || l.Nth != 2 || l.Pattern.Text != "needle" {
		t.Errorf("it shows %+v", l)
	}
	re, err := d.lines[0].Text.Compile()
	if err != nil || !re.MatchString("a       needle (1)") || re.MatchString("a needle (1) more") {
		t.Errorf("the line is found as %+v: %v", d.lines[0].Text, err)
	}
	d.open()
	d.press("enter", "j", "enter")
	d.open()
	d.press("enter", "end", "enter")
	if len(d.inLogs) != 2 || d.inLogs[0].ID != "s2" || d.inLogs[0].Offset != 26 || d.inLogs[1].ID != "p1" || d.inLogs[1].Offset != 0 {
		t.Errorf("shown in logs: %+v", d.inLogs)
	}
}

func TestReopenedSearchKeepsItsPlace(t *testing.T) {
	d := newTestSearch(t, 80, 24, process("p1", "make", api.StateRunning))
	d.setLog("p1", numbered("needle", 20))
	d.press("'needle", "enter", "j", "j", "enter")
	d.setLog("p1", numbered("needle", 30))
	d.open()
	d.WaitText("30 lines")
	if got := d.Search.lines.selected().Text; got != "needle 17" {
		t.Errorf("%q is selected", got)
	}
	// What is typed replaces the pattern, unless it is edited first.
	d.press("backspace", "'e")
	d.WaitText("30 lines")
	d.open()
	d.press("'line")
	d.WaitMatch(`^│ / line `)
	d.WaitText("No line found")
}

func TestKeysOfTheLines(t *testing.T) {
	own := process("s1", "bash", api.StateRunning)
	d := newTestSearch(t, 80, 24, own, process("p1", "make all", api.StateExited))
	d.setLog("s1", "\x1b[32mneedle\x1b[0m one\nneedle two\n")
	d.setLog("p1", numbered("needle", 30))
	d.press("'needle", "enter", "y")
	if d.env.Copied != "needle two" {
		t.Errorf("copied %q", d.env.Copied)
	}
	d.press("space", "space", "y")
	if d.WaitText("2 marked"); d.env.Copied != "needle two\nneedle one" {
		t.Errorf("copied %q", d.env.Copied)
	}
	d.press("esc")
	d.WaitNoText("marked")
	d.press("r")
	if d.env.Inserted != "make all" {
		t.Errorf("inserted %q", d.env.Inserted)
	}
	d.open()
	d.press("enter", "end", "tab")
	d.WaitText("k j scroll")
	d.WaitMatch(`^│ needle 0 `)
	d.press("end")
	d.WaitMatch(`^│ needle 29 `)
	d.press("esc", "/")
	if d.focus != onPattern {
		t.Error("the pattern has no keyboard")
	}
	d.press("enter", "esc", "esc")
	if d.env.Shown != nil {
		t.Error("it is still open")
	}
}

func TestOutputIsBesideOrBelowTheLines(t *testing.T) {
	for _, size := range []struct {
		w, h int
		want string
	}{
		{200, 60, `^│ ─ lines 1/40 ─+┬─ name-s1 bash ─+ paused 100% · 390B ─ │$`},
		{120, 36, `^│ ─ name-s1 bash ─+ paused 100% · 390B ─ │$`},
		{40, 20, `^│ ─ name-s1 b.* ─+ paused 100% · 390B ─ │$`},
	} {
		d := newTestSearch(t, size.w, size.h, process("s1", "bash", api.StateRunning))
		d.setLog("s1", numbered("needle", 40))
		d.press("'needle")
		d.WaitMatch(size.want)
		d.CheckRows()
	}
	// Without room for both, the keyboard decides.
	d := newTestSearch(t, 60, 12, process("s1", "bash", api.StateRunning))
	d.setLog("s1", numbered("needle", 40))
	d.press("'needle", "enter")
	d.WaitText("─ lines 1/40 ─")
	d.WaitNoText("paused")
	d.press("tab")
	d.WaitText("paused 100%")
	d.WaitNoText("─ lines")
}

func TestDialogFitsEveryScreen(t *testing.T) {
	name := process("p1", "make\x1b]0;evil\a all", api.StateFailed)
	name.Name = "日本\x1b[2Jname" + strings.Repeat("x", 80)
	for _, size := range [][2]int{{200, 60}, {134, 36}, {133, 36}, {80, 24}, {40, 24}, {40, 12}, {20, 6}} {
		d := newTestSearch(t, size[0], size[1], name)
		d.setLog("p1", numbered("needle 日本語\x1b]0;evil\a e\u0301 \x1b[2J"+strings.Repeat("long ", 50), 40)+"\tlast needle\n")
		for _, keys := range [][]string{{"'("}, {"backspace", "alt+r", "'("}, {"backspace", "'needle"}, {"enter"}, {"tab"}, {"esc", "end", "space"}, {"/", "'zzz"}} {
			d.press(keys...)
			d.Wait("the search is answered", func() bool { return d.finder.isSettled() })
			d.CheckRows()
			rows, w, x, _ := d.Draw(d.env, size[0], size[1])
			if len(rows)+2 >= size[1] || w+4 > size[0] || x >= w {
				t.Errorf("%v: %d rows of %d cells, cursor at %d", size, len(rows), w, x)
			}
			for _, row := range rows {
				if strings.Contains(row, "\x1b]") || strings.Contains(row, "\x1b[2J") {
					t.Errorf("%v: a sequence of the output reaches the screen: %q", size, row)
				}
			}
		}
	}
}

func TestMouseChoosesAndOpens(t *testing.T) {
	d := newTestSearch(t, 80, 24, process("p1", "make", api.StateExited))
	d.setLog("p1", numbered("needle", 100))
	d.press("'needle")
	d.WaitText("100 lines")
	click := func(x, y int) keys.Mouse {
		return keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseDown}
	}
	d.Run(d.Search.Mouse(d.env, click(5, d.parts.lines.Y+2)))
	if got := d.Search.lines.selected().Text; got != "needle 98" || d.focus != onLines {
		t.Errorf("%q is selected", got)
	}
	d.Run(d.Search.Mouse(d.env, click(5, d.parts.output.Y)))
	if d.focus != onOutput {
		t.Error("a click on the output does not focus it")
	}
	d.Run(d.Search.Mouse(d.env, click(5, 0)))
	if d.focus != onPattern {
		t.Error("a click on the pattern does not focus it")
	}
	wheel := click(5, d.parts.lines.Y+2)
	wheel.Button = keys.WheelDown
	d.Run(d.Search.Mouse(d.env, wheel))
	if got := d.Search.lines.selected().Text; got != "needle 95" {
		t.Errorf("the wheel selects %q", got)
	}
	d.Screen()
	d.Run(d.Search.Mouse(d.env, click(5, d.parts.lines.Y+1)))
	d.Run(d.Search.Mouse(d.env, click(5, d.parts.lines.Y+1)))
	if len(d.inLogs) != 1 {
		t.Error("a double click does not open the line")
	}
}

func TestEmptyPagesSayWhatToDo(t *testing.T) {
	d := newTestSearch(t, 80, 24)
	d.WaitText("Nothing has been printed yet")
	d = newTestSearch(t, 80, 24, process("p1", "make", api.StateExited))
	d.WaitText("panic: name:web* is:failed")
	d.press("'a+b")
	d.WaitText("alt+r makes it a regular expression")
}
