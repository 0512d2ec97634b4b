package panestest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
)

// A History is the command history of a fake engine.
type History struct {
	Files map[string]bool // files that exist only in the test

	mu       sync.Mutex
	announce func(api.Event)
	record   func(call string)
	runs     []api.Command // oldest first
	searches []api.HistorySearchInput
	changes  int64
}

// Serve registers the operations of the history with a fake engine. It calls announce with each
// event, and record with each change that the dashboard requests. Both functions may lock the
// engine.
func (h *History) Serve(e *Engine, announce func(api.Event), record func(call string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.announce, h.record = announce, record
	On(e, api.HistorySearch, h.search)
	On(e, api.HistoryRemove, h.remove)
	On(e, api.HistorySave, h.save)
	On(e, api.HistoryLoad, h.load)
}

// AddRun adds a run of a command and announces it.
func (h *History) AddRun(command string, change ...func(*api.Command)) api.Command {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := api.Command{
		ID: int64(len(h.runs) + 1), Command: command, CWD: "/home/ann/src", StartedAt: time.Now().Add(-time.Hour),
		DurationMS: 1500, ExitCode: new(int), Actor: "person", Kind: "session", Process: fmt.Sprintf("%012x", 1),
	}
	for _, f := range change {
		f(&c)
	}
	h.runs = append(h.runs, c)
	h.announceChange()
	return c
}

func (h *History) announceChange() {
	h.changes++
	h.announce(api.Event{Type: api.EventHistory, History: h.changes})
}

// WithExit sets a run's exit status.
func WithExit(code int) func(*api.Command) { return func(c *api.Command) { c.ExitCode = &code } }

// Searches returns the searches so far, except those for the runs of one command.
func (h *History) Searches() (all []api.HistorySearchInput) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, in := range h.searches {
		if in.Exact == "" {
			all = append(all, in)
		}
	}
	return all
}

// search finds the commands containing the query literally.
func (h *History) search(ctx context.Context, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return out, err
	}
	h.searches = append(h.searches, in)
	seen := map[string]int{}
	var rows []api.HistoryRow
	for _, c := range slices.Backward(h.runs) {
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

func (h *History) remove(_ context.Context, in api.HistoryRemoveInput) (api.HistoryCount, error) {
	h.record(fmt.Sprintf("forget %q %v", in.Command, in.IDs))
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.runs)
	h.runs = slices.DeleteFunc(h.runs, func(c api.Command) bool {
		return slices.Contains(in.IDs, c.ID) || in.Command != "" && c.Command == in.Command
	})
	h.announceChange()
	return api.HistoryCount{Count: before - len(h.runs)}, nil
}

func (h *History) save(_ context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
	if h.record(fmt.Sprintf("save %s %v", in.Path, in.Overwrite)); in.IDs != nil {
		h.record(fmt.Sprintf("of %v", in.IDs))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hasFile(in.Path) && !in.Overwrite {
		return api.HistoryCount{}, api.Errorf(api.CodeConflict, "save history: the file exists").WithReason(api.ReasonExists)
	}
	if in.IDs != nil {
		return api.HistoryCount{Count: len(in.IDs)}, nil
	}
	return api.HistoryCount{Count: len(h.runs)}, nil
}

func (h *History) load(_ context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
	h.record(fmt.Sprintf("load %s", in.Path))
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hasFile(in.Path) {
		return api.HistoryCount{}, api.Errorf(api.CodeNotFound, "load history: no such file")
	}
	return api.HistoryCount{Count: 1200}, nil
}

// hasFile reports whether a file exists, on disk or only in the test.
func (h *History) hasFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil || h.Files[path]
}
