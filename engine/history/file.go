package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/engine/api/server"
	"tandem/engine/secrets"
	"tandem/persist/histdb"
)

// Lines are the command lines of some runs, oldest first; without ids those of
// all runs.
func (h *History) Lines(ctx context.Context, ids []int64) (lines []string, err error) {
	wanted := make(map[int64]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	err = h.view(ctx, func(x *historyIndex) error {
		for i := range x.rows {
			if e := &x.rows[i]; len(ids) == 0 || wanted[e.id] {
				lines = append(lines, x.texts.line(e.text))
			}
		}
		return nil
	})
	if err != nil {
		return nil, errKeep("save", err)
	}
	return lines, nil
}

// Load adds the commands of the file at path and returns how many it added. Commands without a time
// get at, or the current time if at is zero. Loading reports the progress.
func (h *History) Load(ctx context.Context, path string, commands []histdb.TextCommand, at time.Time) (n int, err error) {
	l := h.loads.begin(path, len(commands))
	defer h.loads.end(l)
	if at.IsZero() {
		at = time.Now()
	}
	if n, err = h.addAll(ctx, commands, at, l); err != nil {
		return 0, errKeep("load", err)
	}
	return n, nil
}

// addAll adds the commands of a file and returns how many it added; none if ctx ends first. It skips
// a command with a time if the history has it at that time, and one without if the history has it.
func (h *History) addAll(ctx context.Context, commands []histdb.TextCommand, at time.Time, l *load) (n int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(h.ctx, cancel)()
	defer cancel()
	rows, err := h.rowsOf(ctx, commands, at, l)
	if err != nil {
		return 0, err
	}
	// It sees itself when ctx ends, and whether that was too late.
	err = h.do(context.WithoutCancel(ctx), func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		runs := h.index.added()
		rows = slices.DeleteFunc(rows, func(r histdb.Row) bool {
			text, known := h.index.texts.find(r.Command)
			if r.StartedAt.Equal(at) {
				return known
			}
			return known && runs[addedRun{text, r.StartedAt.UnixMicro()}]
		})
		if err := h.commit(); err != nil {
			return err
		}
		h.prepare(len(rows))
		for i := range rows {
			rows[i].ID = h.last + int64(i) + 1
		}
		if err := h.db.Load(ctx, rows, func(n int) { l.wrote(n, len(rows)) }); err != nil {
			return h.damaged(err)
		}
		n, h.last = len(rows), h.last+int64(len(rows))
		h.changed()
		h.change(func(x *historyIndex) {
			begin := len(x.rows)
			for i := range rows {
				x.add(&rows[i])
			}
			x.sorted(begin)
		})
		h.settle(len(rows))
		return nil
	})
	return n, err
}

// rowsOf converts commands to rows and leaves out those excluded from the history. Commands without
// a time get at.
func (h *History) rowsOf(ctx context.Context, commands []histdb.TextCommand, at time.Time, l *load) ([]histdb.Row, error) {
	caller := server.CallerOf(ctx)
	rows := make([]histdb.Row, 0, len(commands))
	for i, c := range commands {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l.made.Store(int64(i))
		if h.keepsOut(c.Line) {
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
