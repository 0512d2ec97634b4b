package machines

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// setHistory makes an engine answer searches, after wait, with commands of the given ages,
// newest first.
func (f *fakeEngine) setHistory(wait func(context.Context), commands map[string]time.Duration) {
	began := time.Now()
	panestest.On(f.Engine, api.HistorySearch, func(ctx context.Context, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
		wait(ctx)
		for c, age := range commands {
			row := api.HistoryRow{Command: api.Command{ID: 1, Command: c, StartedAt: began.Add(-age), Process: "p"}, Runs: 1}
			if in.Query != "" {
				row.Score = strings.Count(c, in.Query)
			}
			out.Rows = append(out.Rows, row)
		}
		out.Total = len(commands)
		return out, ctx.Err()
	})
}

func (w *testSet) searchNames(t *testing.T, in api.HistorySearchInput) string {
	t.Helper()
	out, err := api.HistorySearch.Call(t.Context(), w.WrapEngine(w.own), in)
	if err != nil {
		return err.Error()
	}
	var rows []string
	for _, r := range out.Rows {
		rows = append(rows, api.OnMachine(r.Host, r.Command.Command))
	}
	return strings.Join(append(rows, out.Missing...), " ")
}

func TestHistoryIsMergedWithoutWaitingForMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		box, slow := w.own.far["box"], w.own.far["slow"]
		answer := make(chan struct{})
		at := func(context.Context) {}
		w.own.setHistory(at, map[string]time.Duration{"ls": time.Second, "make make": time.Hour})
		box.setHistory(at, map[string]time.Duration{"make": time.Minute})
		slow.setHistory(func(ctx context.Context) {
			select {
			case <-answer:
			case <-ctx.Done():
			}
		}, map[string]time.Duration{"df": time.Minute / 2})
		box.events <- snapshot()
		slow.events <- snapshot()
		synctest.Wait()
		all := api.HistorySearchInput{Hosts: []string{"", "box", "slow"}, Limit: 10}
		began, before := time.Now(), w.news().History
		if got := w.searchNames(t, all); got != "ls box/make make make" || time.Since(began) != maxSearchWait {
			t.Errorf("found %q after %v", got, time.Since(began))
		}
		close(answer)
		synctest.Wait()
		if w.news().History == before {
			t.Error("the answer that came late is not told")
		}
		before = w.news().History
		if got := w.searchNames(t, all); got != "ls slow/df box/make make make" {
			t.Errorf("found %q", got)
		}
		if synctest.Wait(); w.news().History != before {
			t.Error("it is asked again without end")
		}
		if got := w.searchNames(t, api.HistorySearchInput{Query: "make", Hosts: []string{"", "box"}}); got != "make make box/make ls" {
			t.Errorf("by rank: %q", got)
		}
		window := all
		window.Offset, window.Limit = 1, 2
		if got := w.searchNames(t, window); got != "slow/df box/make" {
			t.Errorf("a window: %q", got)
		}
		if got := w.searchNames(t, api.HistorySearchInput{Hosts: []string{"box"}}); got != "box/make" {
			t.Errorf("of box: %q", got)
		}
		if got := w.searchNames(t, api.HistorySearchInput{}); got != "ls make make" && got != "make make ls" {
			t.Errorf("of this machine: %q", got)
		}
		w.setState("slow", api.MachineAway)
		w.setState("box", api.MachineAway)
		if got := w.searchNames(t, api.HistorySearchInput{Hosts: []string{"box", "slow"}}); got != "" {
			t.Errorf("of machines that are away: %q", got)
		}
		if got := w.searchNames(t, api.HistorySearchInput{Hosts: []string{"box"}}); !strings.HasPrefix(got, "box: away") {
			t.Errorf("of one that is away: %q", got)
		}
	})
}
