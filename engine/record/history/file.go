package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/secrets"
	"tandem/persist/histdb"
)

// Lines returns the command lines of the runs with these ids, the oldest first. Without ids, it
// returns all lines.
func (h *History) Lines(ctx context.Context, ids []int64) (lines []string, err error) {
	wanted := make(map[int64]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	err = h.viewIndex(ctx, func(x *historyIndex) error {
		for i := range x.rows {
			if e := &x.rows[i]; len(ids) == 0 || wanted[e.id] {
				lines = append(lines, x.texts.line(e.text))
			}
		}
		return nil
	})
	if err != nil {
		return nil, historyError("save", err)
	}
	return lines, nil
}

// Load adds the commands of the file at path and returns how many it added. Commands without a time
// get the time at, or the current time if at is zero. Loading reports the progress.
func (h *History) Load(ctx context.Context, path string, commands []histdb.TextCommand, at time.Time) (n int, err error) {
	l := h.loads.begin(path, len(commands))
	defer h.loads.end(l)
	if at.IsZero() {
		at = time.Now()
	}
	if n, err = h.addCommands(ctx, commands, at, l); err != nil {
		return 0, historyError("load", err)
	}
	return n, nil
}

// addCommands adds the commands of a file and returns how many it added; if ctx ends first, it adds
// none. It skips a command with a time if the history has the command at that time. It skips a
// command without a time if the history has the command at all.
func (h *History) addCommands(ctx context.Context, commands []histdb.TextCommand, at time.Time, l *load) (n int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(h.ctx, cancel)()
	defer cancel()
	rows, err := h.toRows(ctx, commands, at, l)
	if err != nil {
		return 0, err
	}
	// The function checks ctx itself: a call cancelled after the write must still report its rows.
	err = h.runLoaded(context.WithoutCancel(ctx), func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		runs := h.index.addedRuns()
		rows = slices.DeleteFunc(rows, func(r histdb.Row) bool {
			text, known := h.index.texts.findLine(r.Command)
			if r.StartedAt.Equal(at) {
				return known
			}
			return known && runs[addedRun{text, r.StartedAt.UnixMicro()}]
		})
		if err := h.commitPending(); err != nil {
			return err
		}
		h.lowerGCPercent(len(rows))
		for i := range rows {
			rows[i].ID = h.last + int64(i) + 1
		}
		if err := h.db.Load(ctx, rows, func(n int) { l.setWritten(n, len(rows)) }); err != nil {
			return h.handleDamage(err)
		}
		n, h.last = len(rows), h.last+int64(len(rows))
		h.announceChange()
		h.updateIndex(func(x *historyIndex) {
			begin := len(x.rows)
			for i := range rows {
				x.appendRow(&rows[i])
			}
			x.sortFrom(begin)
		})
		h.releaseMemory(len(rows))
		return nil
	})
	return n, err
}

// toRows converts commands to rows, and leaves out ignored ones. Commands without a time get the
// time at.
func (h *History) toRows(ctx context.Context, commands []histdb.TextCommand, at time.Time, l *load) ([]histdb.Row, error) {
	caller := api.CallerOf(ctx)
	rows := make([]histdb.Row, 0, len(commands))
	for i, c := range commands {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l.made.Store(int64(i))
		if h.Ignores(c.Line) {
			continue
		}
		r := histdb.Row{Command: secrets.RedactLine(strings.TrimRight(c.Line, " \t\n")), CWD: c.CWD, StartedAt: c.At, Duration: c.Duration,
			ExitCode: c.ExitCode, Actor: caller.Actor(), From: caller.Origin.From, Kind: commandAdded}
		if c.At.IsZero() {
			r.StartedAt = at
		}
		rows = append(rows, r)
	}
	return rows, nil
}
