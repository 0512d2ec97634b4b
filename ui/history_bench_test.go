package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/history"
	"tandem/ui/conn"
	"tandem/ui/screen"
)

// longHistory is a dashboard of 200×60 on a history of 100,000 commands; serve
// answers what its list asks for.
func longHistory(b *testing.B) (m *model, serve func()) {
	l := conn.New(newFakeEngine(), nil)
	m = newModel(b.Context(), Options{}.withDefaults(), l, &screen.Input{Notify: func() {}})
	m.opened, m.news.Connected = true, true
	m.resize(200, 60)
	m.setView(viewHistory)
	row := func(i int) api.HistoryRow {
		return api.HistoryRow{Runs: 3, Matched: []int{0, 1, 5, 9, 14}, Command: api.Command{
			ID: int64(i), Command: fmt.Sprintf("go test ./engine/... -run 'History|Search' -count %d -timeout 3m", i),
			CWD: "/home/ann/src/tandem", StartedAt: time.Now().Add(-time.Duration(i) * time.Minute),
			DurationMS: int64(i), ExitCode: new(int), Actor: "agent:codex/1.2", Kind: "session",
		}}
	}
	serve = func() {
		h := &m.history
		for r, ok := h.list.Next(); ok; r, ok = h.list.Next() {
			out := api.HistorySearchOutput{Total: 100_000}
			for i := range r.Input.Limit {
				out.Rows = append(out.Rows, row(r.Input.Offset+i))
			}
			h.list.Take(r, out)
		}
		if chosen, ok := h.list.Selected(); ok {
			h.detail.Show(chosen)
			h.detail.Next()
			h.detail.Take(chosen.ID, api.HistorySearchOutput{Rows: []api.HistoryRow{chosen, chosen}, Total: 2},
				history.Output{Text: strings.Repeat("ok\ttandem/engine\t\x1b[32m0.012s\x1b[m and more\r\n", 700), Terminal: true})
		}
	}
	serve()
	return m, serve
}

func (m *model) benchKey(k keys.Key) {
	m.in.Add(screen.Event{Kind: keys.EventKey, Key: k})
	m.Update(inputMsg{})
	m.View()
}

// BenchmarkHistoryCursor is a key that moves the cursor by a page: what
// is shown at once, without the rows that are asked for.
func BenchmarkHistoryCursor(b *testing.B) {
	m, serve := longHistory(b)
	for b.Loop() {
		m.benchKey(keys.Key{Code: keys.PageDown})
		b.StopTimer()
		serve()
		b.StartTimer()
	}
}

// BenchmarkHistoryQuery is a key of the query, and the answer to it.
func BenchmarkHistoryQuery(b *testing.B) {
	m, serve := longHistory(b)
	m.typeQuery()
	i := 0
	for b.Loop() {
		i++
		if i%20 == 0 {
			m.benchKey(keys.Key{Code: 'u', Mods: keys.Ctrl})
		}
		m.benchKey(keys.Key{Code: 'g', Text: "g"})
		serve()
		m.dirty = true
		m.View()
	}
}
