package supervise

import (
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/record/history"
	"tandem/persist/histdb"
	"tandem/persist/store"
)

// The previous engine was killed before it wrote the last runs to the history.
func TestRunsSinceTheLastWriteAreRecordedOnce(t *testing.T) {
	dir := t.TempDir()
	start := func() *history.History {
		return history.Start(dir, nil, slog.New(slog.DiscardHandler), func(text string) { t.Error(text) }, nil)
	}
	h := start()
	h.RecordRun(histdb.Row{Command: "earlier", StartedAt: time.Now(), Process: "b"})
	h.Close()

	h = start()
	defer func() { h.Close() }()
	written, failed := h.LastWritten(), 3
	run := func(after time.Duration, ended bool) store.Run {
		r := store.Run{StartedAt: written.Add(after)}
		if ended {
			r.EndedAt, r.ExitCode = r.StartedAt.Add(time.Second), &failed
		}
		return r
	}
	runs := []store.Run{run(-time.Hour, true), run(time.Minute, true), run(2*time.Minute, true), run(3*time.Minute, false)}
	of := func(id, program string, tty bool) *proc {
		p := &proc{argv: []string{program}}
		p.rec.ID, p.rec.Argv, p.rec.TTY, p.rec.Identity, p.rec.Runs = id, p.argv, tty, &store.Identity{PID: 1}, runs
		return p
	}
	found := processes{"a": of("a", "loop", false), "c": of("c", "bash", true)}
	for range 2 {
		found.noteFound(h)
		out, err := h.Search(t.Context(), api.HistorySearchInput{Process: "a"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range out.Rows {
			exit := "runs"
			if row.ExitCode != nil {
				exit = strconv.Itoa(*row.ExitCode)
			}
			got = append(got, row.Command.Command+" "+exit)
		}
		if want := []string{"loop runs", "loop 3", "loop 3"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if all, err := h.Search(t.Context(), api.HistorySearchInput{}); err != nil || all.Total != 4 {
			t.Errorf("%d rows in all, %v", all.Total, err)
		}
	}
}
