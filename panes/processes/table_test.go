package processes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
	"tandem/themes"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func service(id, name string, change func(*api.Process)) api.Process {
	p := api.Process{
		ID: id, Kind: api.KindProcess, Name: name, State: api.StateRunning, PID: 4711, Command: "serve " + name, Actor: "person",
		StartedAt: noon.Add(-90 * time.Minute), Supervision: &api.Supervision{},
		Metrics: &api.Metrics{CPUPercent: 1.25, RSSBytes: 12 << 20, CPUHistory: []float64{0, 25, 50, 100}, HistorySeconds: []int{5, 5, 5, 5}},
	}
	if change != nil {
		change(&p)
	}
	return p
}

// sampleProcesses returns processes in several states.
func sampleProcesses() []api.Process {
	one, again := 1, noon.Add(3500*time.Millisecond)
	return []api.Process{
		service("1", "web", func(p *api.Process) {
			p.KeepAlive, p.Metrics.Ports, p.Metrics.CPUPercent = true, []int{80, 443}, 140
		}),
		service("2", "api", func(p *api.Process) {
			p.State, p.PID, p.ExitCode, p.Actor = api.StateBackoff, 0, &one, "agent:bot"
			p.Supervision.NextStart, p.Supervision.Automatic = &again, 3
		}),
		service("3", "cache", func(p *api.Process) { p.State, p.PID, p.Error = api.StateFailed, 0, "start redis: no such file" }),
		service("4", "zsh", func(p *api.Process) { p.Kind, p.Terminal = api.KindSession, &api.Terminal{} }),
		service("5", "job", func(p *api.Process) { p.State, p.PID, p.ExitSignal = api.StateStopped, 0, "SIGTERM" }),
	}
}

func tableOf(all []api.Process) *table {
	t := newTable(nil)
	t.Focused, t.order = true, order{by: columnState}
	t.setProcesses(all)
	return t
}

func namesIn(t *table) (names []string) {
	for _, row := range t.rows {
		if row.process != nil {
			names = append(names, row.process.Name)
		} else {
			names = append(names, row.project.name()+":")
		}
	}
	return names
}

func TestTableSortsByUrgencyFirst(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	panestest.CompareRows(t, panestest.PlainRows(tableOf(sampleProcesses()).Draw(118, 7, noon, look)), []string{
		"       name          state▲                pid   cpu%           mem     up   rst   ports  command                 1/5 ",
		"▌  ✗   cache         failed                                                               start redis: no such file   ",
		"   ↻   api           restarts in 4s                                            3          exited with status 1        ",
		"   ● ∞ web           running              4711    140   ▁▂▃▇    12M  1h30m        80,443  serve web                   ",
		"   ● ❯ zsh           running              4711    1.2   ▁▂▃▇    12M  1h30m                serve zsh                   ",
		"   ■   job           stopped                                                              serve job                   ",
		"                                                                                                                      ",
	})
	panestest.CompareRows(t, panestest.PlainRows(tableOf(sampleProcesses()).Draw(60, 3, noon, look)), []string{
		"       name          state▲            command          1/5 ",
		"▌  ✗   cache         failed            start redis: no suc…▐",
		"   ↻   api           restarts in 4s    exited with status 1│",
	})
}

func TestScrollbarClipsCommands(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	row := panestest.PlainRows(tableOf(sampleProcesses()).Draw(80, 3, noon, look))[1]
	if !strings.HasSuffix(row, " no su…▐") {
		t.Errorf("the row with a clipped command is %q", row)
	}
}

func TestStateIsInWordsAndKeepsItsColorUnderTheCursor(t *testing.T) {
	seven, yes, no := 7, true, false
	style := &look.Look{Glyphs: themes.UnicodeGlyphs(), Good: "<good>", Warn: "<warn>", Bad: "<bad>", Dim: "<dim>", Selected: "<here>"}
	for words, c := range map[string]struct {
		ink    look.Ink
		change func(*api.Process)
	}{
		"running":          {style.Good, nil},
		"ready":            {style.Good, func(p *api.Process) { p.Supervision.Ready = &yes }},
		"not ready":        {style.Warn, func(p *api.Process) { p.Supervision.Ready = &no }},
		"failed: exited 7": {style.Bad, func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateFailed, 0, &seven }},
		"failed: SIGSEGV":  {style.Bad, func(p *api.Process) { p.State, p.PID, p.ExitSignal = api.StateExited, 0, "SIGSEGV" }},
		"exit unknown":     {style.Bad, func(p *api.Process) { p.State, p.PID, p.ExitUnknown = api.StateExited, 0, true }},
		"stopped":          {style.Dim, func(p *api.Process) { p.State, p.PID = api.StateStopped, 0 }},
		"waiting for db": {style.Warn, func(p *api.Process) {
			p.State, p.PID, p.WaitsFor = api.StateWaiting, 0, []api.Dependency{{Name: "db"}}
		}},
	} {
		row := tableOf([]api.Process{service("1", "web", c.change)}).Draw(118, 2, noon, style)[1]
		at := strings.Index(row, string(c.ink)+words)
		if at < 0 {
			t.Errorf("no %s%s in %q", c.ink, words, row)
			continue
		}
		if _, behind, _ := strings.Cut(row[at:], text.SgrReset); !strings.HasPrefix(behind, string(style.Selected)) {
			t.Errorf("%s: the row under the cursor goes on with %q", words, behind)
		}
	}
}

func TestTableShowsWhyAProcessWaits(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	waits := service("2", "api", func(p *api.Process) {
		p.State, p.PID, p.WaitsFor = api.StateWaiting, 0, []api.Dependency{{Name: "db"}, {Name: "migrate"}}
	})
	table := tableOf(append(sampleProcesses()[:1], waits))
	if rows := panestest.PlainRows(table.Draw(118, 3, noon, look)); !strings.Contains(rows[1], "…   api") || !strings.Contains(rows[1], "waiting for db, migrate") || strings.Contains(rows[1], "1h30m") {
		t.Errorf("a wide table shows %q", rows[1])
	}
	if rows := panestest.PlainRows(table.Draw(60, 3, noon, look)); !strings.Contains(rows[1], "waiting for db, mig…") {
		t.Errorf("a narrow one %q", rows[1])
	}
}

func TestTableRowsFillTheWidth(t *testing.T) {
	all := append(sampleProcesses(), service("6", "一二三四五六七八九十一二三四五六七八九十", func(p *api.Process) { p.Command = "\x1b[31m長い" }))
	for w := 30; w < 180; w++ {
		table := tableOf(all)
		table.ToggleMark()
		for _, row := range table.Draw(w, 9, noon, &look.Look{Glyphs: themes.UnicodeGlyphs()}) {
			if got := text.Width(row); got != w {
				t.Fatalf("row %q takes %d cells of %d", row, got, w)
			}
		}
	}
}

func TestTableSortsByAnyColumn(t *testing.T) {
	table := tableOf(sampleProcesses())
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	table.Draw(140, 7, noon, look)
	panestest.CompareRows(t, namesIn(table), []string{"cache", "api", "web", "zsh", "job"})
	table.SortBy(columnName)
	panestest.CompareRows(t, namesIn(table), []string{"api", "cache", "job", "web", "zsh"})
	table.SortBy(columnName)
	panestest.CompareRows(t, namesIn(table), []string{"zsh", "web", "job", "cache", "api"})
	table.SortBy(columnCPU)
	if got := namesIn(table)[0]; got != "web" {
		t.Errorf("%s uses most", got)
	}
	if c, ok := table.columns.at(120); !ok || c != columnCommand {
		t.Errorf("at column 120 is %v", c)
	}
	seen := map[column]bool{}
	for range columnCount {
		seen[table.order.by] = true
		table.SortNext()
	}
	if len(seen) != int(columnCount)-1 || seen[columnHost] { // all but that of other machines
		t.Errorf("going on sorts by %v of %d", seen, columnCount)
	}
	if p, _ := table.Selected(); p.Name != "cache" {
		t.Errorf("the cursor went to %s", p.Name)
	}
}

func TestFilterMatchesAndExcludesWords(t *testing.T) {
	table := tableOf(sampleProcesses())
	for filter, want := range map[string][]string{
		"serve !web":   {"cache", "api", "zsh", "job"},
		"443":          {"web"},
		"BOT":          {"api"},
		"!session run": {"web"},
		"nothing":      nil,
		"!":            {"cache", "api", "web", "zsh", "job"},
	} {
		table.SetFilter(filter)
		if got := namesIn(table); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q shows %v, want %v", filter, got, want)
		}
	}
}

func TestTargetsAreTheMarkedOrTheCurrentProcess(t *testing.T) {
	table := tableOf(sampleProcesses())
	targets := func() (names []string) {
		for _, p := range table.Targets() {
			names = append(names, p.Name)
		}
		return names
	}
	panestest.CompareRows(t, targets(), []string{"cache"})
	table.Move(1)
	table.ToggleMark()
	table.Move(1)
	table.ToggleMark()
	panestest.CompareRows(t, targets(), []string{"api", "zsh"})
	table.setProcesses(sampleProcesses()[:3])
	panestest.CompareRows(t, targets(), []string{"api"})
	table.ClearMarks()
	if table.MarkCount() != 0 {
		t.Error("marks are left")
	}
}

func thousandProcesses() []api.Process {
	var all []api.Process
	for i := range 1000 {
		all = append(all, service(fmt.Sprint(i), fmt.Sprintf("worker-%03d", i*7919%1000), nil))
	}
	return all
}

func BenchmarkDrawThousandProcesses(b *testing.B) {
	table, look := tableOf(thousandProcesses()), &look.Look{Glyphs: themes.UnicodeGlyphs()}
	for b.Loop() {
		table.Move(1)
		table.Draw(200, 40, noon, look)
	}
}

func BenchmarkSortThousandProcesses(b *testing.B) {
	all, table := thousandProcesses(), tableOf(nil)
	table.SortBy(columnCPU)
	for b.Loop() {
		table.setProcesses(all)
	}
}

// The columns depend only on the table's width and on whether there are other machines, so that the
// user finds each value in its usual place.
func TestColumnsStayWhateverTheRowsContain(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	heads := func(t *table, w int) (all []string, command int) {
		t.Draw(w, 20, noon, look)
		for _, c := range t.columns.placed {
			if all = append(all, c.head); c.column == columnCommand {
				command = c.w
			}
		}
		return all, command
	}
	some := service("9", "a-name-that-is-longer-than-any-column", func(p *api.Process) {
		code := 127
		p.Actor, p.From, p.Metrics.Ports, p.State, p.ExitCode = "agent:claude", "me@laptop.example.org", []int{80, 443, 8080}, api.StateFailed, &code
		p.Supervision.Automatic = 1234
	})
	for _, machines := range []bool{false, true} {
		for w := 60; w <= 200; w++ {
			table := tableOf([]api.Process{service("1", "a", nil)})
			table.machines = machines
			want, _ := heads(table, w)
			check := func(when string) {
				if got, command := heads(table, w); !slices.Equal(got, want) || command < minCommandCells-1 && !machines || w >= 80 && command < minCommandCells-1 {
					t.Errorf("%d cells, %s: %q with %d cells for the command, want %q", w, when, got, command, want)
				}
			}
			check("one process")
			table.setProcesses(append(sampleProcesses(), some))
			check("several")
			table.SetFilter("zsh")
			check("with a filter")
			table.setProcesses(nil)
			check("none")
		}
	}
}

func TestSparklineTellsIdleFromLittleUse(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs(), Faint: "<faint>", Accent: "<accent>"}
	bar := func(percent float64) sparkPart {
		parts := sparkline(history{values: []float64{percent}, seconds: []int{5}}, 1, look)
		if len(parts) != 1 {
			t.Fatalf("%v is drawn as %v", percent, parts)
		}
		return parts[0]
	}
	if zero := bar(0); zero != (sparkPart{look.Glyphs.Level(0), look.Faint}) {
		t.Errorf("zero is %v", zero)
	}
	seen := map[string]float64{}
	for _, percent := range []float64{0, 3, 9, 25} {
		if other, twice := seen[bar(percent).bars]; twice {
			t.Errorf("%v and %v look the same", other, percent)
		}
		seen[bar(percent).bars] = percent
	}
}

// A restart in a crash loop must not move rows or change counts, because it is nothing new for the
// user.
func TestCrashLoopMovesNoRowAndChangesNoCount(t *testing.T) {
	one := 1
	began := time.Now().Add(-time.Hour)
	all := append(sampleProcesses()[2:], service("6", "b", nil), service("7", "loop", nil), service("8", "loop", nil))
	step := func(state api.State) func(*api.Process) {
		return func(p *api.Process) {
			p.State, p.StartedAt = state, time.Now().Add(-time.Second)
			ended := p.StartedAt.Add(-time.Second)
			start := ended.Add(-time.Second)
			if state == api.StateStarting {
				p.StartedAt = began // of the first start, until this one has happened
			}
			p.Supervision = &api.Supervision{Automatic: 3, Runs: []api.ProcessRun{{StartedAt: start, EndedAt: &ended, ExitCode: &one}, {StartedAt: p.StartedAt}}}
			if state == api.StateBackoff {
				exited := p.StartedAt.Add(time.Second / 2)
				p.PID, p.ExitCode, p.ExitedAt = 0, &one, &exited
			}
		}
	}
	for _, by := range []column{columnName, columnState, columnMemory, columnWho} {
		table := tableOf(nil)
		table.order = order{by: by}
		var names []string
		var counts [3]int
		for i, state := range []api.State{api.StateBackoff, api.StateStarting, api.StateRunning, api.StateBackoff, api.StateRunning} {
			now := slices.Clone(all)
			now[len(now)-1] = service("8", "loop", step(state))
			table.setProcesses(now)
			g := groupByProject(now, "", table.order)[0]
			up, failed, total := g.countStates()
			if i > 0 && (!slices.Equal(namesIn(table), names) || counts != [3]int{up, failed, total}) {
				t.Errorf("by %v, %s: %v with %v, before %v with %v", by, state, namesIn(table), [3]int{up, failed, total}, names, counts)
			}
			names, counts = namesIn(table), [3]int{up, failed, total}
		}
	}
	steady := service("8", "loop", step(api.StateRunning))
	steady.StartedAt = began
	if steady.IsFailing(time.Now()) {
		t.Error("it has run for an hour")
	}
}

// The reason of the failure stays visible while the process runs again, so that the log below does
// not jump and the command does not appear for a moment.
func TestReasonOfACrashLoopStaysWhileItRuns(t *testing.T) {
	three := 3
	loop := func(state api.State) api.Process {
		return service("1", "loop", func(p *api.Process) {
			ended := time.Now().Add(-time.Second)
			start := ended.Add(-time.Second)
			p.State, p.StartedAt = state, time.Now()
			p.Supervision = &api.Supervision{Automatic: 3, Runs: []api.ProcessRun{{StartedAt: start, EndedAt: &ended, ExitCode: &three}}}
			if state == api.StateBackoff {
				next := time.Now().Add(time.Second / 2)
				p.PID, p.Error, p.ExitCode, p.StartedAt, p.ExitedAt, p.Supervision.NextStart = 0, "exited with 3", &three, start, &ended, &next
			}
		})
	}
	for _, w := range []int{80, 120} {
		var reason, log string
		for _, state := range []api.State{api.StateBackoff, api.StateStarting, api.StateRunning} {
			p, e := newTestPane(loop(state))
			e.Inks.Glyphs = themes.UnicodeGlyphs()
			p.Resize(w, 30)
			p.Fetch()
			rows := panestest.PlainRows(p.Draw())
			at := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, "─") })
			nowLog, nowReason := rows[at+1], rows[1][max(strings.Index(rows[1], "exited"), 0):]
			if !strings.Contains(nowLog, "exited with 3, ran 1s, 1s ago, 3 restarts") || !strings.HasPrefix(nowReason, "exited with 3 ") {
				t.Errorf("%d cells, %s: %q, below %q", w, state, nowLog, rows[1])
			}
			if reason == "" {
				reason, log = nowReason, nowLog
			} else if nowReason != reason || nowLog != log {
				t.Errorf("%d cells: %q becomes %q, %q becomes %q", w, reason, nowReason, log, nowLog)
			}
		}
	}
}

func TestFoldedCommandsAreNotCountedInListPosition(t *testing.T) {
	command := func(id string) api.Process {
		return service(id, "grep", func(p *api.Process) { p.Actor, p.Supervision.Transient = "agent:claude/1", true })
	}
	all := []api.Process{service("1", "web", nil), service("2", "db", nil)}
	table := tableOf(all)
	want := table.listSign()
	table.setProcesses(append(all, command("3"), command("4")))
	if got := table.listSign(); got != want {
		t.Errorf("with folded commands, the sign is %+v, not %+v", got, want)
	}
}
