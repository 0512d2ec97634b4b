package engine

import (
	"testing"

	"tandem/engine/api"
)

func TestWatchReportsHistoryChanges(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	var counts []int64
	for e, err := range m.client.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Type == api.EventSnapshot:
			call(m.machine, api.HistoryAdd, api.HistoryAddInput{Command: "make"})
		case e.Type == api.EventHistory && len(counts) == 0:
			counts = append(counts, e.History)
			if rows := m.history(api.HistorySearchInput{}); len(rows) != 1 {
				t.Errorf("rows when told: %+v", rows)
			}
			call(m.machine, api.HistoryClear, api.Empty{})
		case e.Type == api.EventHistory:
			if e.History <= counts[0] {
				t.Errorf("the count went from %d to %d", counts[0], e.History)
			}
			return
		}
	}
}
