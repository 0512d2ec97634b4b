package supervise

import (
	"testing"
	"time"

	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

func TestOldestRunsAreForgotten(t *testing.T) {
	var r store.Record
	code := 7
	for i := range maxRuns + 5 {
		r.StartedAt = time.Unix(int64(100*i), 0)
		beginRun(&r)
		before := r.Runs
		endRun(&r, Ending{Exit: keeper.Exit{Code: &code}, At: time.Unix(int64(100*i+50), 0)}, time.Time{})
		if !before[len(before)-1].EndedAt.IsZero() {
			t.Fatal("an earlier copy of the record has changed")
		}
	}
	endRun(&r, Ending{At: time.Unix(1, 0)}, time.Time{})
	runs := describeRuns(r)
	if len(runs) != maxRuns || !runs[0].StartedAt.Equal(time.Unix(500, 0)) || *runs[0].ExitCode != 7 || !runs[0].EndedAt.Equal(time.Unix(550, 0)) {
		t.Errorf("runs are %+v", runs)
	}
}
