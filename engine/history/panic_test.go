package history

import (
	"testing"

	"tandem/engine/api"
	"tandem/engine/panics"
	"tandem/persist/histdb"
)

func TestPanicOfAHistoryCallReachesItsCaller(t *testing.T) {
	h := newHistorian(t, t.TempDir())
	h.ran("make")
	c := panics.Catch(func() { _ = h.do(t.Context(), func() error { panic("stumbled") }) })
	if c == nil || c.String() != "stumbled" {
		t.Errorf("caught %v", c)
	}
	h.ran("ls")
	h.want(api.HistorySearchInput{}, "ls", "make")
}

func TestPanicOfASearchWorkerReachesTheSearch(t *testing.T) {
	c := panics.Catch(func() {
		_ = inParallel(t.Context(), 1000, nil, func(_ *matcher, from, _ int) {
			if from == parallelStep {
				panic("stumbled")
			}
		})
	})
	if c == nil || c.String() != "stumbled" {
		t.Errorf("caught %v", c)
	}
}

func TestHistoryGoesOnAfterAPanic(t *testing.T) {
	h := newHistorian(t, t.TempDir())
	h.ran("make")
	h.want(api.HistorySearchInput{}, "make")
	h.box.Post(func() { panic("stumbled") })
	h.box.Post(func() { // what cannot be written at all
		h.announce = func(int64) { panic("stumbled") }
		h.record(histdb.Row{Command: "bad", StartedAt: historyBegin})
		h.flush()
		h.announce = nil
	})
	h.ran("ls")
	h.want(api.HistorySearchInput{Query: "ls"}, "ls")
	if told := h.told(); len(told) != 1 {
		t.Errorf("told %q", told)
	}
}
