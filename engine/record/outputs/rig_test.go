package outputs

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/record/logs"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

// A rig is a number of logs, which the test writes, and their processes.
type rig struct {
	testing.TB
	Searcher
	dir     string
	targets []Target
	runs    map[string][]api.Command // by session
	asked   []string                 // sessions of calls of RunsAt
}

func newRig(t testing.TB) *rig {
	r := &rig{TB: t, dir: t.TempDir(), runs: map[string][]api.Command{}}
	r.Logs = logs.New(slog.New(slog.DiscardHandler))
	t.Cleanup(r.Logs.Close)
	r.RunsAt = func(_ context.Context, session string, lines [][2]int64) ([]*api.Command, error) {
		r.asked = append(r.asked, session)
		runs := make([]*api.Command, len(lines))
		for i, line := range lines {
			for _, run := range r.runs[session] {
				if run.LogStart < line[1] && run.LogEnd > line[0] {
					runs[i] = &run
				}
			}
		}
		return runs, nil
	}
	return r
}

// minutesAgo is a time before the search.
func minutesAgo(n int) time.Time { return time.Now().Add(-time.Duration(n) * time.Minute) }

// add adds a process that started some minutes ago with a log of each text: one, or standard output
// and error.
func (r *rig) add(id string, started int, texts ...string) *Target {
	r.Helper()
	p := api.Process{ID: id, Name: id, Kind: api.KindProcess, State: api.StateRunning, Actor: api.Person, StartedAt: minutesAgo(started)}
	source := logs.Source{Name: id, Path: filepath.Join(r.dir, id)}
	if len(texts) > 1 {
		source.ErrPath = source.Path + ".err"
	}
	for i, text := range texts {
		r.write(source.PathOf(source.Streams()[i]), text)
	}
	source.State = func() api.State { return api.StateStarting }
	r.targets = append(r.targets, Target{p, source})
	return &r.targets[len(r.targets)-1]
}

// exit makes a process exit some minutes ago.
func (t *Target) exit(ago, code int) {
	at := minutesAgo(ago)
	t.Process.State, t.Process.ExitedAt, t.Process.ExitCode = api.StateExited, &at, &code
}

func (r *rig) write(path, text string) {
	r.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		r.Fatal(err)
	}
}

// trim frees the first page of a log that has more. It returns the start of the log.
func (r *rig) trim(path string) (start int64) {
	r.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		r.Fatal(err)
	}
	defer f.Close()
	page := int64(os.Getpagesize())
	if info, err := f.Stat(); err != nil || info.Size() <= page {
		return 0
	}
	if err := sparse.System().Punch(f, 0, page); err != nil {
		r.Fatal(err)
	}
	l, err := linelog.Open(path, linelog.Options{})
	if err != nil {
		r.Fatal(err)
	}
	defer l.Close()
	return l.Start()
}

// search makes one call.
func (r *rig) search(in api.OutputSearchInput) api.OutputSearchOutput {
	r.Helper()
	q, err := NewQuery(in)
	if err != nil {
		r.Fatal(err)
	}
	q.wait = time.Hour // a slow machine must not end a call early
	targets := slices.DeleteFunc(slices.Clone(r.targets), func(t Target) bool { return !q.Accepts(t.Process) })
	out, err := r.Search(r.Context(), q, targets)
	if err != nil {
		r.Fatal(err)
	}
	if len(out.Hits) > q.Limit {
		r.Fatalf("%d hits, must be at most %d", len(out.Hits), q.Limit)
	}
	return out
}

// searchAll makes calls until everything is searched, with between before each but the first.
func (r *rig) searchAll(in api.OutputSearchInput, between func()) (hits []api.OutputHit) {
	r.Helper()
	for range 100_000 {
		out := r.search(in)
		hits = append(hits, out.Hits...)
		if in.Cursor = out.Cursor; in.Cursor == nil {
			return hits
		}
		between()
	}
	r.Fatal("the search does not end")
	return nil
}

// found returns where hits are, and their text.
func found(hits []api.OutputHit) (all []string) {
	for _, h := range hits {
		all = append(all, fmt.Sprint(h.ID, h.Stream, " ", h.Offset, " ", h.Text))
	}
	return all
}

func nothing() {}

// grep returns what searches with process.log find in all logs, in the order of a search.
func (r *rig) grep(in api.OutputSearchInput) (all []string) {
	r.Helper()
	expr, fold := in.Expression()
	if fold {
		expr = "(?i)" + expr
	}
	targets := r.targets
	if k, ok := r.Kept.(*keptRuns); ok {
		targets = slices.Concat(targets, k.runs)
	}
	places := listPlaces(targets, api.OutputCursor{Began: time.Now()})
	for _, p := range places {
		one := api.ProcessLogInput{Grep: expr, Backward: true, Stream: p.stream, Limit: 10_000, Max: logs.MaxRead}
		for {
			out, err := r.Logs.Read(r.Context(), one, p.Source)
			if err != nil {
				r.Fatal(err)
			}
			for _, m := range out.Matches {
				all = append(all, fmt.Sprint(p.Process.ID, p.stream, " ", m.Offset, " ", m.Text))
			}
			if one.Since = &out.NextCursor; out.NextCursor <= out.Dropped {
				break
			}
		}
	}
	return slices.Clip(all)
}
