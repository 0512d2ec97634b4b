package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/persist/histdb"
)

func TestRunsAtReturnsTheCommandThatPrintedEachLine(t *testing.T) {
	h := newTestHistory(t, t.TempDir())
	const session, other = "aaaaaaaaaaaa", "bbbbbbbbbbbb"
	for _, r := range []histdb.Row{
		{Command: "make", Kind: KindSession, Process: session, LogStart: 20, LogEnd: 50, Duration: -1},
		{Command: "other", Kind: KindSession, Process: other, LogStart: 0, LogEnd: 500, Duration: -1},
		{Command: "program", Kind: KindProcess, Process: session, LogStart: 0, LogEnd: 500, Duration: -1},
		{Command: "tail -f", Kind: KindSession, Process: session, LogStart: 80, Running: true, Duration: -1},
	} {
		h.RecordRun(r)
	}
	lines := [][2]int64{{90, 95}, {60, 70}, {30, 40}, {15, 25}, {10, 20}}
	runs, err := h.RunsAt(t.Context(), session, lines)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		if r == nil {
			got = append(got, "")
			continue
		}
		got = append(got, r.Command)
	}
	if diff := cmp.Diff([]string{"tail -f", "", "make", "make", ""}, got); diff != "" {
		t.Error(diff)
	}
	if runs, err := h.RunsAt(t.Context(), "cccccccccccc", lines[:1]); err != nil || runs[0] != nil {
		t.Errorf("of an unknown session: %+v, %v", runs, err)
	}
}
