package list

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/themes"
)

func session(id, name string, state api.State) api.Process {
	return api.Process{ID: id, Kind: api.KindSession, Name: name, State: state, CWD: "/home/ann/src", Terminal: &api.Terminal{}}
}

func listOf(rows ...Row) *List {
	l := &List{Home: "/home/ann"}
	l.SetRows(rows)
	return l
}

func plainRows(rows []string) (out []string) {
	for _, r := range rows {
		out = append(out, ansi.Strip(r))
	}
	return out
}

func TestSessionListShowsStateTitleAndMarks(t *testing.T) {
	vim := session("2", "vim", api.StateRunning)
	vim.Terminal.Title = "main.go"
	rang := session("3", "build", api.StateRunning)
	rang.Terminal.Rang = true
	seven := 7
	failed := session("4", "deploy\x1b[31m", api.StateExited)
	failed.ExitCode = &seven
	l := listOf(
		Row{Process: session("1", "bash", api.StateRunning), Current: true},
		Row{Process: vim, Branch: "┌"}, Row{Process: rang, Branch: "└"},
		Row{Process: failed},
	)
	compareRows(t, plainRows(l.Draw(30, 6, &look.Look{Glyphs: themes.UnicodeGlyphs()})), []string{
		"─ sessions ───────────────────",
		"▌ ● bash        ~/src         ",
		" ┌● vim         main.go       ",
		" └● build       ~/src  ♪ rang ",
		"  ✗ deploy[31m  ~/src  exit 7 ",
		"                              ",
	})
}

func TestListRowsFillTheWidth(t *testing.T) {
	p := session("1", "一二三四五六七八九十", api.StateRunning)
	p.Terminal.Title, p.Terminal.Rang = "長い題名がここにあります", true
	for w := 20; w < 60; w++ {
		for focused := range 2 {
			l := listOf(Row{Process: p, Branch: "│", Current: true})
			l.Focused = focused == 1
			for _, r := range l.Draw(w, 3, &look.Look{Glyphs: themes.UnicodeGlyphs()}) {
				if got := text.Width(r); got != w {
					t.Fatalf("row %q takes %d cells of %d", r, got, w)
				}
			}
		}
	}
}

func TestSessionLockedToAgentsIsMarked(t *testing.T) {
	locked := session("1", "zsh", api.StateRunning)
	locked.Terminal = &api.Terminal{Keyboard: "person"}
	ended := session("2", "zsh", api.StateExited)
	ended.Terminal = &api.Terminal{Keyboard: "person"}
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	rows := plainRows(listOf(Row{Process: locked}, Row{Process: ended}).Draw(34, 3, look))[1:]
	if !strings.HasSuffix(rows[0], " locked ") || strings.Contains(rows[1], "locked") {
		t.Errorf("%q", rows)
	}
}

func TestSessionsOfAgentsAreMarkedAtAnyWidth(t *testing.T) {
	p := session("1", "a-long-name-of-it", api.StateRunning)
	p.Actor = "agent:codex/1.2"
	rang := p
	rang.Terminal = &api.Terminal{Rang: true}
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	l := listOf(Row{Process: p, Current: true}, Row{Process: rang})
	compareRows(t, plainRows(l.Draw(34, 3, look))[1:], []string{
		"▌ ● a-long-name-o…  ~/src  @codex ",
		"  ● a-long-name-o…  @codex ♪ rang ",
	})
	for w := 20; w < 60; w++ {
		for _, row := range plainRows(l.Draw(w, 3, look))[1:] {
			if !strings.Contains(row, "@") || text.Width(row) != w {
				t.Errorf("%d cells: %q", w, row)
			}
		}
	}
	if got := ansi.Strip(l.DrawStrip(60, look)); !strings.HasPrefix(got, " ● a-long-name-o… @codex  ● a-long-name-o… @codex ♪ rang ") {
		t.Errorf("%q", got)
	}
}

func TestStripShowsTheTitleOfASinglePane(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	shell, vim := session("1", "bash", api.StateRunning), session("2", "vim", api.StateRunning)
	vim.Terminal = &api.Terminal{Title: "main.go – a title that is much too long for the row"}
	for _, test := range []struct {
		rows []Row
		want string
	}{
		{[]Row{{Process: shell, Current: true}}, " ● bash                                               ~/src "},
		{[]Row{{Process: vim, Current: true}}, " ● vim  main.go – a title that is much too long fo… · ~/src "},
		{[]Row{{Process: shell, Current: true, Branch: "┌"}, {Process: vim, Branch: "└"}}, " ● bash  ● vim "},
	} {
		want := text.Pad(test.want, 60)
		if got := ansi.Strip(listOf(test.rows...).DrawStrip(60, look)); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestListKeepsItsPlaceWhenRowsComeAndGo(t *testing.T) {
	a, b, c := session("1", "a", api.StateRunning), session("2", "b", api.StateRunning), session("3", "c", api.StateRunning)
	l := listOf(Row{Process: a}, Row{Process: c})
	l.Move(1)
	l.SetRows([]Row{{Process: a}, {Process: b}, {Process: c}})
	if got := l.Selected(); got != "3" {
		t.Errorf("after a row was added above: on %s", got)
	}
	l.SetRows([]Row{{Process: a}, {Process: b}})
	if got := l.Selected(); got != "2" {
		t.Errorf("after its row has gone: on %s", got)
	}
	l.SetRows(nil)
	if got := l.Selected(); got != "" {
		t.Errorf("in an empty list: on %q", got)
	}
}

func TestLongListScrollsWithItsCursor(t *testing.T) {
	var rows []Row
	for i := range 50 {
		rows = append(rows, Row{Process: session(string(rune('A'+i)), string(rune('A'+i)), api.StateRunning)})
	}
	l := listOf(rows...)
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	l.Draw(30, 11, look)
	l.Move(12)
	l.Draw(30, 11, look)
	if got := l.SessionAt(10); got != "M" {
		t.Errorf("the last row shows %q", got)
	}
	if got := l.SessionAt(0); got != "" {
		t.Errorf("the heading is session %q", got)
	}
}

// A command that starts or exits renames its session; nothing else in the row, the strip and the tab
// bar may move.
func TestNothingMovesWhenACommandRenamesItsSession(t *testing.T) {
	p, e := newTestPane()
	e.Inks.Glyphs = themes.UnicodeGlyphs()
	tabs := [][]string{{"bash", "bash-2"}, {"bash-3"}, {"build"}}
	run := func(command string) {
		e.Known.Processes = nil
		for _, name := range []string{"bash", "bash-2", "bash-3", "build"} {
			shell := session(name, name, api.StateRunning)
			shell.Terminal = &api.Terminal{Shell: true, AutoNamed: name != "build", Running: command}
			e.Known.Processes = append(e.Known.Processes, shell)
		}
		p.SetTabs(tabs, "build")
	}
	// positions returns the columns of everything that is drawn beside the names.
	positions := func(w int) (all []int) {
		p.Resize(w, 10)
		rows := plainRows(p.Draw())
		p.Resize(w, 1)
		rows = append(rows, ansi.Strip(p.Draw()[0]), ansi.Strip(p.DrawTabBar(w)))
		for _, row := range rows {
			for _, beside := range []string{"~/", "…/", "build", " 1 ", " 2 ", " 3 ", "●", "›"} {
				for at := 0; ; {
					i := strings.Index(row[at:], beside)
					if i < 0 {
						break
					}
					all = append(all, text.Width(row[:at+i]))
					at += i + len(beside)
				}
			}
		}
		return all
	}
	for _, w := range []int{30, 44, 50, 60, 66, 80, 120} {
		run("")
		want := positions(w)
		for _, command := range []string{"vi", "make test", "npm run dev", "go test ./engine/... -run Names", "日本語のコマンド"} {
			run(command)
			if diff := cmp.Diff(want, positions(w)); diff != "" {
				t.Errorf("%d cells, running %s (-at the prompt +running):\n%s", w, command, diff)
			}
		}
	}
	if bar := ansi.Strip(p.DrawTabBar(120)); !strings.HasPrefix(bar, " 1 日本語のコ…+日本語のコ…   2 日本語のコ…   3 build ") {
		t.Errorf("%q", bar)
	}
}

func TestAutomaticNamesGiveUpTheirSpaceBeforeTheyAreCut(t *testing.T) {
	p, e := newTestPane()
	look := e.Look()
	look.Glyphs = themes.UnicodeGlyphs()
	var tabs [][]string
	e.Known.Processes = nil
	for _, name := range []string{"bash", "bash-2", "bash-3", "bash-4", "bash-5", "bash-6"} {
		shell := session(name, name, api.StateRunning)
		shell.Terminal = &api.Terminal{Shell: true, AutoNamed: true}
		e.Known.Processes = append(e.Known.Processes, shell)
		tabs = append(tabs, []string{name})
	}
	p.SetTabs(tabs, "bash")
	p.Resize(80, 1)
	for w, want := range map[int]string{
		96: " 1 bash          2 bash-2        3 bash-3        4 bash-4        5 bash-5        6 bash-6       ",
		80: " 1 bash       2 bash-2     3 bash-3     4 bash-4     5 bash-5     6 bash-6    ",
		60: " 1 bash    2 bash-2  3 bash-3  4 bash-4  5 bash-5  6 bash-6 ",
	} {
		if got := ansi.Strip(p.DrawTabBar(w)); got != text.Pad(want, w) {
			t.Errorf("the bar of %d cells:\ngot  %q\nwant %q", w, got, want)
		}
	}
	for w, want := range map[int]string{
		80: " 1 ● bash     2 ● bash-2   3 ● bash-3   4 ● bash-4   5 ● bash-5   6 ● bash-6    ",
		72: " 1 ● bash    2 ● bash-2  3 ● bash-3  4 ● bash-4  5 ● bash-5  6 ● bash-6 ",
		70: " 1 ● bash    2 ● bash-2  3 ● bash-3  4 ● bash-4  5 ● bash-5          ›",
	} {
		if got := ansi.Strip(p.list.DrawStrip(w, look)); got != text.Pad(want, w) {
			t.Errorf("the strip of %d cells:\ngot  %q\nwant %q", w, got, want)
		}
	}
	for x, want := range map[int]string{12: "bash", 13: "bash-2", 26: "bash-3", 77: "bash-6"} {
		if got := p.list.StripAt(x, 80, look); got != want {
			t.Errorf("at column %d of the strip is %q, want %q", x, got, want)
		}
	}
}

func TestStripKeepsTheCurrentSessionVisible(t *testing.T) {
	var rows []Row
	for i := range 20 {
		rows = append(rows, Row{Process: session(string(rune('a'+i)), "session"+string(rune('a'+i)), api.StateRunning)})
	}
	rows[15].Current = true
	l := listOf(rows...)
	l.Select("p")
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	got := ansi.Strip(l.DrawStrip(60, look))
	if want := "‹ ● sessionm  ● sessionn  ● sessiono  ● sessionp           ›"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for x, want := range map[int]string{0: "l", 1: "m", 40: "p", 52: "", 59: "q"} {
		if id := l.StripAt(x, 60, look); id != want {
			t.Errorf("at column %d is %q, want %q", x, id, want)
		}
	}
	for w := 5; w < 70; w++ {
		for cursor := range 20 {
			l.Select(string(rune('a' + cursor)))
			row := ansi.Strip(l.DrawStrip(w, look))
			if text.Width(row) != w || w > 16 && (strings.HasPrefix(row, "‹") == strings.Contains(row, "sessiona") ||
				strings.HasSuffix(row, "›") == strings.Contains(row, "sessiont")) {
				t.Errorf("%d cells, cursor on %d: %q", w, cursor, row)
			}
		}
	}
}

func TestExitedShellIsNotShownAsFailed(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(d time.Duration) *time.Time { end := began.Add(d); return &end }
	status := func(n int) *int { return &n }
	for _, c := range []struct {
		what   string
		argv   []string
		lived  time.Duration
		code   *int
		failed bool
	}{
		{"a shell left after a command failed", []string{"/bin/bash"}, time.Minute, status(130), false},
		{"a login shell", []string{"zsh", "-l"}, time.Minute, status(1), false},
		{"a shell whose start fails", []string{"bash", "-i"}, time.Second, status(1), true},
		{"a command line", []string{"sh", "-c", "make"}, time.Minute, status(2), true},
		{"another program", []string{"make"}, time.Minute, status(2), true},
		{"a shell that nobody saw end", []string{"bash"}, time.Minute, nil, true},
	} {
		p := api.Process{Kind: api.KindSession, State: api.StateExited, Argv: c.argv, StartedAt: began, ExitedAt: at(c.lived), ExitCode: c.code}
		if got := p.Failed(); got != c.failed {
			t.Errorf("%s: failed is %v", c.what, got)
		}
	}
}

func TestListShowsItsFilter(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	l := listOf()
	l.Filter = "z\x1bz"
	compareRows(t, plainRows(l.Draw(25, 3, look)), []string{"─ sessions ─────  /zz  0 ", "  nothing matches        ", text.Spaces(25)})
	for w := 10; w < 120; w++ {
		for _, l := range []*List{listOf(), listOf(Row{Process: session("1", "bash", api.StateRunning), Current: true})} {
			for _, filter := range []string{"zz", strings.Repeat("long ", 30)} {
				l.Filter = filter
				strip := ansi.Strip(l.DrawStrip(w, look))
				if text.Width(strip) != w || !strings.Contains(strip, " /") && !strings.Contains(strip, " no") && w > 20 {
					t.Fatalf("%d cells: %q", w, strip)
				}
				if at := text.Width(strip) - 1; l.StripAt(at, w, look) != "" {
					t.Errorf("the filter in %q is taken for a session", strip)
				}
			}
		}
	}
}

func TestFolderHeadingKeepsTheEndOfTheFolder(t *testing.T) {
	look := &look.Look{}
	for w, want := range map[int]string{40: "─ bash ~/src/project/deep/folder ───────", 24: "─ bash …/deep/folder ───", 18: "─ bash …/folder ──", 14: "─ bash fol… ──", 8: "─ bash ─"} {
		if got := ansi.Strip(look.FolderHeading("bash", "~/src/project/deep/folder", w, true)); got != want {
			t.Errorf("in %d cells it is %q, want %q", w, got, want)
		}
	}
}

func compareRows(t *testing.T, got, want []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestStateOfAnAgentFitsBesideAutomaticNames(t *testing.T) {
	shell, agent := session("1", "bash", api.StateRunning), session("2", "web", api.StateRunning)
	shell.Terminal = &api.Terminal{Shell: true, AutoNamed: true, Running: "go test ./..."}
	agent.Agent = &api.CodingAgent{Name: "claude", State: api.AgentBlocked}
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	compareRows(t, plainRows(listOf(Row{Process: shell}, Row{Process: agent}).Draw(30, 3, look))[1:], []string{
		"  ● go test …  ~/src          ",
		"  ◆ web        claude blocked ",
	})
}
