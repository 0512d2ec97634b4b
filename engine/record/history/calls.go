package history

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/engine/base/secrets"
	"tandem/persist/histdb"
)

const (
	// manyRows is the number of rows from which the garbage collector is tuned before they are
	// loaded.
	manyRows = 10_000
	// manyRowsGC is the value of GOGC while so many rows are in memory: garbage may add this
	// percentage of the live heap.
	manyRowsGC = 20
)

// historyError converts an error of the database to an API error. It returns a cancellation
// unchanged.
func historyError(verb string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "%s history: %v", verb, err)
}

// runLoaded loads the index and then runs f, both on the history's goroutine. A panic in f is
// raised in the caller.
func (h *History) runLoaded(ctx context.Context, f func() error) error {
	type answer struct {
		err    error
		caught *panics.Caught
	}
	// The channel has a buffer, because the caller may have given up by then.
	reply := make(chan answer, 1)
	h.box.Post(func() {
		h.lastAsked = time.Now()
		var a answer
		a.caught = panics.Catch(func() {
			if a.err = h.loadIndex(); a.err == nil {
				a.err = f()
			}
		})
		if a.caught != nil {
			// The index may be half changed.
			h.setIndex(nil)
		}
		reply <- a
	})
	select {
	case a := <-reply:
		a.caught.Raise()
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	case <-h.done:
		return api.ErrEnding()
	}
}

// loadIndex loads the history into memory.
func (h *History) loadIndex() error {
	h.closeDeleted()
	if h.index != nil { // safe to read: only this goroutine sets it
		return nil
	}
	// The rows are read from the database, so pending ones must be written first.
	if err := h.commitPending(); err != nil {
		return err
	}
	x := newHistoryIndex()
	rows, bytes, err := h.db.Size()
	if err != nil {
		return h.handleDamage(err)
	}
	h.lowerGCPercent(rows)
	x.reserveRows(rows, bytes)
	if err := h.db.Rows(h.ctx, x.appendRow); err != nil {
		return h.handleDamage(err)
	}
	x.sortFrom(0)
	h.setIndex(x)
	h.releaseMemory(rows)
	return nil
}

// lowerGCPercent makes the garbage collector run more often, before many rows are loaded.
func (h *History) lowerGCPercent(rows int) {
	if rows > manyRows && h.gcPercent == 0 {
		h.gcPercent = debug.SetGCPercent(manyRowsGC)
	}
}

func (h *History) releaseMemory(rows int) {
	if rows > manyRows {
		h.box.Post(debug.FreeOSMemory) // loading leaves about as much garbage
	}
}

// viewIndex runs f on the index under a read lock. It writes pending changes first, if it can, so
// everything that a caller sees survives a crash.
func (h *History) viewIndex(ctx context.Context, f func(x *historyIndex) error) error {
	err := h.runLoaded(ctx, func() error {
		if !h.writeFailed {
			h.flushPending()
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.index == nil {
		return api.ErrEnding() // released between the two steps
	}
	return f(h.index)
}

func (h *History) Search(ctx context.Context, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
	if in.Limit < 0 || in.Offset < 0 {
		return out, api.Errorf(api.CodeInvalid, "search history: limit and offset cannot be negative")
	}
	err = h.viewIndex(ctx, func(x *historyIndex) error {
		out, err = x.search(ctx, in)
		return err
	})
	if err != nil {
		return api.HistorySearchOutput{}, historyError("search", err)
	}
	return out, nil
}

func (h *History) Add(ctx context.Context, in api.HistoryAddInput) (out api.Command, err error) {
	line := strings.TrimRight(in.Command, " \t\n")
	switch {
	case line == "":
		return out, api.Errorf(api.CodeInvalid, "add to history: no command given")
	case len(line) > MaxLine:
		return out, api.Errorf(api.CodeInvalid, "add to history: the command is longer than %d KiB", MaxLine>>10)
	case h.Ignores(line):
		return out, api.Errorf(api.CodeConflict, "add to history: this command is excluded").
			WithHint("commands that begin with a space or match history.ignore in config.toml are excluded")
	case in.DurationMS != nil && *in.DurationMS < 0:
		return out, api.Errorf(api.CodeInvalid, "add to history: duration_ms cannot be negative")
	}
	r := histdb.Row{
		Command: secrets.RedactLine(line), CWD: in.CWD, StartedAt: time.Now(), Duration: -1, ExitCode: in.ExitCode,
		Actor: cmp.Or(in.Actor, api.CallerOf(ctx).Actor()), From: api.CallerOf(ctx).Origin.From, Kind: commandAdded,
	}
	if in.StartedAt != nil {
		r.StartedAt = *in.StartedAt
	}
	if in.DurationMS != nil {
		r.Duration = time.Duration(*in.DurationMS) * time.Millisecond
	}
	err = h.runLoaded(ctx, func() error {
		r.ID = h.last + 1
		if err := h.commitPending(histdb.Change{Add: []histdb.Row{r}}); err != nil {
			return err
		}
		h.last = r.ID
		h.updateIndex(func(x *historyIndex) {
			x.insertRow(r)
			out = x.newestCommand(r.ID)
		})
		return nil
	})
	if err != nil {
		return api.Command{}, historyError("add to", err)
	}
	return out, nil
}

func (h *History) Remove(ctx context.Context, in api.HistoryRemoveInput) (api.HistoryCount, error) {
	if len(in.IDs) == 0 && in.Command == "" {
		return api.HistoryCount{}, api.Errorf(api.CodeInvalid, "remove from history: give ids or a command")
	}
	return h.removeRows(ctx, func(x *historyIndex) func(*historyEntry) bool {
		ids := make(map[int64]bool, len(in.IDs))
		for _, id := range in.IDs {
			ids[id] = true
		}
		line, known := x.texts.findLine(in.Command)
		known = known && in.Command != ""
		return func(e *historyEntry) bool { return ids[e.id] || known && e.text == line }
	})
}

func (h *History) Clear(ctx context.Context, _ api.Empty) (api.HistoryCount, error) {
	return h.removeRows(ctx, func(*historyIndex) func(*historyEntry) bool {
		return func(*historyEntry) bool { return true }
	})
}

// removeRows deletes the selected rows, first on disk and then from the index.
func (h *History) removeRows(ctx context.Context, selectRows func(x *historyIndex) func(*historyEntry) bool) (out api.HistoryCount, err error) {
	err = h.runLoaded(ctx, func() error {
		match := selectRows(h.index)
		ids := h.index.rowIDs(match)
		change := histdb.Change{Remove: ids, Clear: len(ids) == len(h.index.rows)}
		if change.Clear {
			change.Remove = nil
		}
		if len(ids) > 0 {
			if err := h.commitPending(change); err != nil {
				return err
			}
		}
		out.Count = len(ids)
		if change.Clear {
			h.setIndex(newHistoryIndex())
			return nil
		}
		h.updateIndex(func(x *historyIndex) {
			x.removeRows(match)
		})
		return nil
	})
	if err != nil {
		return api.HistoryCount{}, historyError("change", err)
	}
	return out, nil
}
