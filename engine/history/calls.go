package history

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/panics"
	"tandem/engine/secrets"
	"tandem/persist/histdb"
)

const (
	// manyRows is when it is worth while to take care of memory.
	manyRows = 10_000
	// manyRowsGC is GOGC while so many are in memory: by as much of that there may
	// be garbage beside them.
	manyRowsGC = 20
)

// errKeep is the answer when the database does not do what it should.
func errKeep(verb string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "%s history: %v", verb, err)
}

// do runs f on the history's goroutine, once the history is in memory. What f panics
// with is the caller's.
func (h *History) do(ctx context.Context, f func() error) error {
	type answer struct {
		err    error
		caught *panics.Caught
	}
	reply := make(chan answer, 1)
	h.box.Post(func() {
		h.asked = time.Now()
		var a answer
		a.caught = panics.Catch(func() {
			if a.err = h.fill(); a.err == nil {
				a.err = f()
			}
		})
		if a.caught != nil {
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

// fill brings the history into memory.
func (h *History) fill() error {
	h.closeDeleted()
	if h.index != nil { // nobody else sets it
		return nil
	}
	if err := h.commit(); err != nil {
		return err
	}
	x := newHistoryIndex()
	rows, bytes, err := h.db.Size()
	if err != nil {
		return h.damaged(err)
	}
	h.prepare(rows)
	x.expect(rows, bytes)
	if err := h.db.Rows(h.ctx, x.add); err != nil {
		return h.damaged(err)
	}
	x.sorted(0)
	h.setIndex(x)
	h.settle(rows)
	return nil
}

// prepare and settle take care of memory before and after so many rows are
// brought into it.
func (h *History) prepare(rows int) {
	if rows > manyRows && h.percent == 0 {
		h.percent = debug.SetGCPercent(manyRowsGC)
	}
}

func (h *History) settle(rows int) {
	if rows > manyRows {
		h.box.Post(debug.FreeOSMemory) // as much again was left behind
	}
}

// view runs f on the history in memory, while nobody changes it. What f sees is
// on disk, unless that refuses it: what somebody was told of outlives a crash.
func (h *History) view(ctx context.Context, f func(x *historyIndex) error) error {
	err := h.do(ctx, func() error {
		if !h.refused {
			h.flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.index == nil {
		return api.ErrEnding() // it was let go of at this moment
	}
	return f(h.index)
}

func (h *History) Search(ctx context.Context, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
	if in.Limit < 0 || in.Offset < 0 {
		return out, api.Errorf(api.CodeInvalid, "search history: limit and offset cannot be negative")
	}
	err = h.view(ctx, func(x *historyIndex) error {
		out, err = x.search(ctx, in)
		return err
	})
	if err != nil {
		return api.HistorySearchOutput{}, errKeep("search", err)
	}
	return out, nil
}

func (h *History) Add(ctx context.Context, in api.HistoryAddInput) (out api.Command, err error) {
	line := strings.TrimRight(in.Command, " \t\n")
	switch {
	case line == "":
		return out, api.Errorf(api.CodeInvalid, "add to history: no command is given")
	case len(line) > lineMost:
		return out, api.Errorf(api.CodeInvalid, "add to history: the command is longer than %d KiB", lineMost>>10)
	case h.keepsOut(line):
		return out, api.Errorf(api.CodeConflict, "add to history: such a command is kept out").
			WithHint("what begins with a space, or matches history.ignore in config.toml, is")
	case in.DurationMS != nil && *in.DurationMS < 0:
		return out, api.Errorf(api.CodeInvalid, "add to history: duration_ms cannot be negative")
	}
	r := histdb.Row{
		Command: secrets.RedactLine(line), CWD: in.CWD, StartedAt: time.Now(), Duration: -1, ExitCode: in.ExitCode,
		Actor: cmp.Or(in.Actor, server.CallerOf(ctx).Actor()), From: server.CallerOf(ctx).Origin.From, Kind: commandAdded,
	}
	if in.StartedAt != nil {
		r.StartedAt = *in.StartedAt
	}
	if in.DurationMS != nil {
		r.Duration = time.Duration(*in.DurationMS) * time.Millisecond
	}
	err = h.do(ctx, func() error {
		r.ID = h.last + 1
		if err := h.commit(histdb.Change{Add: []histdb.Row{r}}); err != nil {
			return err
		}
		h.last = r.ID
		h.change(func(x *historyIndex) {
			x.insert(r)
			out = x.newest(r.ID)
		})
		return nil
	})
	if err != nil {
		return api.Command{}, errKeep("add to", err)
	}
	return out, nil
}

func (h *History) Remove(ctx context.Context, in api.HistoryRemoveInput) (api.HistoryCount, error) {
	if len(in.IDs) == 0 && in.Command == "" {
		return api.HistoryCount{}, api.Errorf(api.CodeInvalid, "remove from history: neither ids nor a command are given")
	}
	return h.drop(ctx, func(x *historyIndex) func(*historyEntry) bool {
		ids := make(map[int64]bool, len(in.IDs))
		for _, id := range in.IDs {
			ids[id] = true
		}
		line, known := x.texts.find(in.Command)
		known = known && in.Command != ""
		return func(e *historyEntry) bool { return ids[e.id] || known && e.text == line }
	})
}

func (h *History) Clear(ctx context.Context, _ api.Empty) (api.HistoryCount, error) {
	return h.drop(ctx, func(*historyIndex) func(*historyEntry) bool {
		return func(*historyEntry) bool { return true }
	})
}

// drop forgets the rows that which chooses, on disk first.
func (h *History) drop(ctx context.Context, which func(x *historyIndex) func(*historyEntry) bool) (out api.HistoryCount, err error) {
	err = h.do(ctx, func() error {
		gone := which(h.index)
		ids := h.index.ids(gone)
		change := histdb.Change{Remove: ids, Clear: len(ids) == len(h.index.rows)}
		if change.Clear {
			change.Remove = nil
		}
		if len(ids) > 0 {
			if err := h.commit(change); err != nil {
				return err
			}
		}
		out.Count = len(ids)
		if change.Clear {
			h.setIndex(newHistoryIndex())
			return nil
		}
		h.change(func(x *historyIndex) {
			x.remove(gone)
		})
		return nil
	})
	if err != nil {
		return api.HistoryCount{}, errKeep("change", err)
	}
	return out, nil
}
