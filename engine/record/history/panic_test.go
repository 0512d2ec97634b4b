package history

import (
	"testing"

	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/persist/histdb"
)

func TestPanicInHistoryCallReachesCaller(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	h.addRuns("make")
	c := panics.Catch(func() { _ = h.runLoaded(t.Context(), func() error { panic("stumbled") }) })
	if c == nil || c.String() != "stumbled" {
		t.Errorf("caught %v", c)
	}
	h.addRuns("ls")
	h.want(api.HistorySearchInput{}, "ls", "make")
}

func TestPanicInSearchWorkerReachesSearch(t *testing.T) {
	c := panics.Catch(func() {
		_ = runParallel(t.Context(), 1000, nil, func(_ *matcher, from, _ int) {
			if from == parallelStep {
				panic("stumbled")
			}
		})
	})
	if c == nil || c.String() != "stumbled" {
		t.Errorf("caught %v", c)
	}
}

func TestHistoryContinuesAfterPanic(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	h.addRuns("make")
	h.want(api.HistorySearchInput{}, "make")
	h.box.Post(func() { panic("stumbled") })
	h.box.Post(func() { // a change that cannot be written
		h.announce = func(int64) { panic("stumbled") }
		h.recordRow(histdb.Row{Command: "bad", StartedAt: historyBegin})
		h.flushPending()
		h.announce = nil
	})
	h.addRuns("ls")
	h.want(api.HistorySearchInput{Query: "ls"}, "ls")
	if notices := h.sentNotices(); len(notices) != 1 {
		t.Errorf("notices %q", notices)
	}
}
