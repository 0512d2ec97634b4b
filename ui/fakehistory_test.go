package ui

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
)

// A fakeHistory is the command history of a fakeEngine, oldest first.
type fakeHistory struct {
	runs     []api.Command
	searches []api.HistorySearchInput
	changes  int64
	files    map[string]bool
}

// addRun adds a run of a command to the history and announces it.
func (e *fakeEngine) addRun(command string, change ...func(*api.Command)) api.Command {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := &e.history
	c := api.Command{
		ID: int64(len(h.runs) + 1), Command: command, CWD: "/home/ann/src", StartedAt: time.Now().Add(-time.Hour),
		DurationMS: 1500, ExitCode: new(int), Actor: "person", Kind: "session", Process: fmt.Sprintf("%012x", 1),
	}
	for _, f := range change {
		f(&c)
	}
	h.runs = append(h.runs, c)
	h.changes++
	e.announce(api.Event{Type: api.EventHistory, History: h.changes})
	return c
}

// withExit sets a run's exit status.
func withExit(code int) func(*api.Command) { return func(c *api.Command) { c.ExitCode = &code } }

// listSearches returns the searches so far, except those for the runs of one command.
func (e *fakeEngine) listSearches() (all []api.HistorySearchInput) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, in := range e.history.searches {
		if in.Exact == "" {
			all = append(all, in)
		}
	}
	return all
}

// searchHistory finds the commands containing the query literally.
func (e *fakeEngine) searchHistory(ctx context.Context, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return out, err
	}
	e.history.searches = append(e.history.searches, in)
	seen := map[string]int{}
	var rows []api.HistoryRow
	for _, c := range slices.Backward(e.history.runs) {
		at := strings.Index(c.Command, in.Query)
		bad := !c.Stopped && (c.ExitSignal != "" || c.ExitCode != nil && *c.ExitCode != 0)
		switch {
		case at < 0, in.Exact != "" && c.Command != in.Exact, in.Failed && !bad, in.CWD != "" && c.CWD != in.CWD,
			in.Process != "" && c.Process != in.Process, in.Since != nil && c.StartedAt.Before(*in.Since),
			in.Actor == "person" && c.Actor != "person", in.Actor == "agent" && !strings.HasPrefix(c.Actor, "agent:"):
			continue
		}
		if i, ok := seen[c.Command]; ok && in.Unique {
			rows[i].Runs++
			continue
		}
		seen[c.Command] = len(rows)
		row := api.HistoryRow{Command: c, Runs: 1}
		for i := range len([]rune(in.Query)) {
			row.Matched = append(row.Matched, len([]rune(c.Command[:at]))+i)
		}
		rows = append(rows, row)
	}
	limit := in.Limit
	if limit == 0 {
		limit = 50
	}
	out.Total = len(rows)
	rows = rows[min(in.Offset, len(rows)):]
	out.Rows = rows[:min(limit, len(rows))]
	return out, nil
}

func (e *fakeEngine) removeHistory(_ context.Context, in api.HistoryRemoveInput) (api.HistoryCount, error) {
	e.recordCall("forget %q %v", in.Command, in.IDs)
	e.mu.Lock()
	defer e.mu.Unlock()
	h := &e.history
	before := len(h.runs)
	h.runs = slices.DeleteFunc(h.runs, func(c api.Command) bool {
		return slices.Contains(in.IDs, c.ID) || in.Command != "" && c.Command == in.Command
	})
	h.changes++
	e.announce(api.Event{Type: api.EventHistory, History: h.changes})
	return api.HistoryCount{Count: before - len(h.runs)}, nil
}

func (e *fakeEngine) saveHistory(_ context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
	if e.recordCall("save %s %v", in.Path, in.Overwrite); in.IDs != nil {
		e.recordCall("of %v", in.IDs)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.history.hasFile(in.Path) && !in.Overwrite {
		return api.HistoryCount{}, api.Errorf(api.CodeConflict, "save history: the file exists")
	}
	if in.IDs != nil {
		return api.HistoryCount{Count: len(in.IDs)}, nil
	}
	return api.HistoryCount{Count: len(e.history.runs)}, nil
}

func (e *fakeEngine) loadHistory(_ context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
	e.recordCall("load %s", in.Path)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.history.hasFile(in.Path) {
		return api.HistoryCount{}, api.Errorf(api.CodeNotFound, "load history: no such file")
	}
	return api.HistoryCount{Count: 1200}, nil
}

// hasFile reports whether a file exists, on disk or only in the test.
func (h *fakeHistory) hasFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil || h.files[path]
}
