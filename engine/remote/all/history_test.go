package all

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

func (r *rig) searchOwn(ctx context.Context, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
	err = r.own.Do(ctx, api.HistorySearch.Name, api.Read, in, &out)
	return out, err
}

// search searches, and returns the commands found and the machines that are missing.
func (r *rig) search(t *testing.T, in api.HistorySearchInput) string {
	t.Helper()
	out, err := r.Search(t.Context(), in, r.searchOwn)
	if err != nil {
		return err.Error()
	}
	var rows []string
	for _, row := range out.Rows {
		rows = append(rows, api.OnMachine(row.Host, row.Command.Command))
	}
	for _, m := range out.Missing {
		rows = append(rows, m.Host+": "+m.Message)
	}
	return strings.Join(rows, " ")
}

func newHistoryRig(t *testing.T) *rig {
	r := newRig(t, "box", "slow")
	r.own.rows = map[string]time.Duration{"ls": time.Second, "make make": time.Hour}
	r.links["box"].rows = map[string]time.Duration{"make": time.Minute}
	r.links["slow"].rows = map[string]time.Duration{"df": time.Minute / 2}
	r.links["slow"].hang = make(chan struct{})
	return r
}

func TestSearchThatMustAnswerSoonWaitsForNoMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHistoryRig(t)
		w := r.watch(t)
		w.next()
		all := api.HistorySearchInput{Hosts: []string{"", "box", "slow"}, Limit: 10, Soon: true}
		began := time.Now()
		if got := r.search(t, all); got != "ls box/make make make" || time.Since(began) != maxSearchWait {
			t.Errorf("found %q after %v", got, time.Since(began))
		}
		w.want(t, "")
		close(r.links["slow"].hang)
		w.want(t, "history")
		if got := r.search(t, all); got != "ls slow/df box/make make make" {
			t.Errorf("found %q", got)
		}
		w.want(t, "") // it is not asked again without end
		query := api.HistorySearchInput{Query: "make", Hosts: []string{"", "box"}, Soon: true}
		if got := r.search(t, query); got != "make make box/make ls" {
			t.Errorf("by rank: %q", got)
		}
		window := all
		window.Offset, window.Limit = 1, 2
		if got := r.search(t, window); got != "slow/df box/make" {
			t.Errorf("a window: %q", got)
		}
		r.setState("slow", api.MachineAway)
		r.setState("box", api.MachineAway)
		if got := r.search(t, api.HistorySearchInput{Hosts: []string{"box", "slow"}, Soon: true}); got != "" {
			t.Errorf("of offline machines: %q", got)
		}
		if got := r.search(t, api.HistorySearchInput{Hosts: []string{"box"}, Soon: true}); got != "reach machine box: it is offline" {
			t.Errorf("of one offline machine: %q", got)
		}
	})
}

func TestKeptSearchIsValidUntilTheHistoryChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHistoryRig(t)
		box, in := r.links["box"], api.HistorySearchInput{Hosts: []string{"", "box"}, Soon: true}
		w := r.watch(t)
		box.events <- snapshot()
		synctest.Wait()
		r.search(t, in)
		box.rows = map[string]time.Duration{"new": 0}
		if got := r.search(t, in); got != "ls box/make make make" {
			t.Errorf("it was asked again: %q", got)
		}
		box.events <- api.Event{Type: api.EventHistory, History: 7}
		synctest.Wait()
		if got := r.search(t, in); got != "box/new ls make make" {
			t.Errorf("after a change: %q", got)
		}
		box.rows = map[string]time.Duration{"newer": 0}
		r.links["box"].events <- snapshot() // another engine, perhaps
		synctest.Wait()
		if got := r.search(t, in); got != "box/newer ls make make" {
			t.Errorf("after a reconnection: %q", got)
		}
		w.stop()
	})
}

func TestSearchOfHostsWaitsAndNamesThoseMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHistoryRig(t)
		slow := r.links["slow"]
		time.AfterFunc(time.Second, func() { close(slow.hang) })
		r.setState("box", api.MachineAway)
		in := api.HistorySearchInput{Hosts: []string{"", "slow", "box"}}
		if got := r.search(t, in); got != "ls slow/df make make box: reach machine box: it is offline" {
			t.Errorf("found %q", got)
		}
		if got := r.search(t, api.HistorySearchInput{}); got != "ls make make" && got != "make make ls" {
			t.Errorf("of this machine: %q", got)
		}
	})
}
