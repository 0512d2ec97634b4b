package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/panestest"
)

// newTestEnv returns a dashboard in which the session used last is in ~/src.
func newTestEnv() *panestest.Env {
	return &panestest.Env{SessionID: "000000000001", SessionFolder: "/home/ann/src"}
}

// newTestPane returns a pane with these commands, the newest first. answer answers the pane's
// request for them.
func newTestPane(commands ...string) (p *Pane, e *panestest.Env, answer func()) {
	e = newTestEnv()
	e.Known.Connected = true
	p = New(e)
	p.Resize(100, 24)
	p.Show()
	answer = func() {
		for r, ok := p.finder.list.NextRequest(); ok; r, ok = p.finder.list.NextRequest() {
			out := api.HistorySearchOutput{Total: len(commands)}
			for i, c := range commands {
				out.Rows = append(out.Rows, api.HistoryRow{Runs: 1, Command: api.Command{ID: int64(i + 1), Command: c, CWD: "/home/ann/src"}})
			}
			p.finder.storeAnswer(r, out, nil)
		}
	}
	return p, e, answer
}

func TestChoiceWaitsForThePendingSearch(t *testing.T) {
	p, e, answer := newTestPane("make", "go test")
	panestest.Press(t, p.Actions(), keymap.Open)
	if e.Pending == nil || e.Inserted != "" {
		t.Fatalf("it does not wait: %q is inserted", e.Inserted)
	}
	answer()
	e.RunPending()
	if e.Pending != nil || e.Inserted != "make" {
		t.Errorf("%q is inserted", e.Inserted)
	}
}

func TestMarkedCommandsAreCopiedInOrder(t *testing.T) {
	p, e, answer := newTestPane("three", "two", "one")
	answer()
	panestest.Press(t, p.Actions(), keymap.Mark)
	panestest.Press(t, p.Actions(), keymap.Mark)
	if text, _ := p.Note(); text != "2 marked" {
		t.Errorf("the status bar says %q", text)
	}
	panestest.Press(t, p.Actions(), keymap.HistoryCopy)
	if lines := strings.Split(e.Copied, "\n"); len(lines) != 2 {
		t.Errorf("%q is copied", e.Copied)
	}
}

// longHistory returns a pane of 200×60 cells with a history of 100,000 commands. serve answers the
// request of its list.
func longHistory() (p *Pane, serve func()) {
	e := newTestEnv()
	e.Known.Connected = true
	p = New(e)
	p.Resize(200, 58)
	p.Show()
	row := func(i int) api.HistoryRow {
		return api.HistoryRow{Runs: 3, Matched: []int{0, 1, 5, 9, 14}, Command: api.Command{
			ID: int64(i), Command: fmt.Sprintf("go test ./engine/... -run 'History|Search' -count %d -timeout 3m", i),
			CWD: "/home/ann/src/tandem", StartedAt: time.Now().Add(-time.Duration(i) * time.Minute),
			DurationMS: int64(i), ExitCode: new(int), Actor: "agent:codex/1.2", Kind: "session",
		}}
	}
	serve = func() {
		h := p
		for r, ok := h.finder.list.NextRequest(); ok; r, ok = h.finder.list.NextRequest() {
			out := api.HistorySearchOutput{Total: 100_000}
			for i := range r.Input.Limit {
				out.Rows = append(out.Rows, row(r.Input.Offset+i))
			}
			h.finder.list.StoreAnswer(r, out)
		}
		if chosen, ok := h.finder.list.Selected(); ok {
			h.viewer.detail.ShowRow(chosen)
			h.viewer.detail.NextRow()
			h.viewer.detail.StoreRuns(&chosen, api.HistorySearchOutput{Rows: []api.HistoryRow{chosen, chosen}, Total: 2},
				Output{Text: strings.Repeat("ok\ttandem/engine\t\x1b[32m0.012s\x1b[m and more\r\n", 700), Terminal: true})
		}
	}
	serve()
	return p, serve
}

// BenchmarkHistoryCursor measures a key that moves the cursor by a page, without loading rows.
func BenchmarkHistoryCursor(b *testing.B) {
	p, serve := longHistory()
	for b.Loop() {
		p.Actions()[keymap.MovePageDown]()
		p.Draw()
		b.StopTimer()
		serve()
		b.StartTimer()
	}
}

// BenchmarkHistoryQuery measures a key typed into the query, including the answer to the search.
func BenchmarkHistoryQuery(b *testing.B) {
	p, serve := longHistory()
	p.typeQuery()
	i := 0
	for b.Loop() {
		i++
		if i%20 == 0 {
			p.Type(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
		}
		p.Type(tea.KeyPressMsg{Code: 'g', Text: "g"})
		p.Draw()
		serve()
		p.Draw()
	}
}

func TestQueryIsCompletedFromFoundCommands(t *testing.T) {
	p, _, answer := newTestPane("go test ./...", "go vet")
	answer()
	panestest.Press(t, p.Actions(), keymap.Filter)
	for _, r := range "go t" {
		p.Type(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	answer()
	if got := strings.Join(p.Draw(), "\n"); !strings.Contains(got, "go test ./...") {
		t.Errorf("drawn is %q", got)
	}
	p.Type(tea.KeyPressMsg{Code: tea.KeyRight})
	if got := p.finder.query.buildInput().Query; got != "go test ./..." {
		t.Errorf("the query is %q", got)
	}
}

func TestFromWordFiltersCommandsByOrigin(t *testing.T) {
	p, _, _ := newTestPane()
	p.finder.query.field.Set("make from:laptop x")
	p.finder.startSearch(0)
	if in := p.finder.query.buildInput(); in.From != "laptop" || in.Query != "make x" {
		t.Errorf("asks for %q from %q", in.Query, in.From)
	}
}

func TestHostFilterSelectsMachinesAndKeepsRowsApart(t *testing.T) {
	p, e, _ := newTestPane()
	e.Known.Machines = []panes.Machine{{Machine: api.Machine{Name: "box", State: api.MachineConnected}}, {Machine: api.Machine{Name: "web", State: api.MachineAway}}}
	for typed, want := range map[string]string{"": "[ box web]", "host:b x": "[box]", "host:here": "[]", "host:nosuch": "[nosuch]"} {
		p.finder.query.field.Set(typed)
		p.finder.startSearch(0)
		if in := p.finder.query.buildInput(); fmt.Sprint(in.Hosts) != want || strings.Contains(in.Query, "host:") {
			t.Errorf("%q: asks %v for %q", typed, in.Hosts, in.Query)
		}
	}
	p.finder.query.field.Set("")
	p.finder.startSearch(0)
	r, _ := p.finder.list.NextRequest()
	p.finder.storeAnswer(r, api.HistorySearchOutput{Total: 2, Rows: []api.HistoryRow{
		{Runs: 1, Command: api.Command{ID: 1, Command: "make", CWD: "/src"}},
		{Runs: 1, Command: api.Command{ID: 1, Command: "make", CWD: "/srv", Host: "box", Process: "box/p"}},
	}}, nil)
	screen := strings.Join(p.Draw(), "\n")
	for _, want := range []string{"host", "box ", "without web: away"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not in\n%s", want, screen)
		}
	}
	p.finder.list.ToggleMark()
	p.finder.list.ToggleMark()
	rows := p.finder.list.marks.sortRows()
	if len(rows) != 2 {
		t.Fatalf("marked: %v", rows)
	}
	for _, row := range rows {
		in := p.act.startInput(row, map[string]bool{})
		if machine, _ := api.MachineOf(in.ID); machine != row.Host || in.CWD != row.CWD {
			t.Errorf("%s begins on %q in %q", row.Host, machine, in.CWD)
		}
	}
	if p.act.askSave(rows); !strings.Contains(e.Said, "only commands of this machine") {
		t.Errorf("said: %q", e.Said)
	}
}
