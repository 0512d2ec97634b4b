package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/files"
	"tandem/engine/names"
	"tandem/engine/secrets"
	"tandem/persist/histdb"
)

// lines are the command lines of some runs, oldest first; without ids those of
// all runs.
func (h *history) lines(ctx context.Context, ids []int64) (lines []string, err error) {
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
	return lines, err
}

func (h *host) historySave(ctx context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
	none := api.HistoryCount{}
	if err := checkCommandFile("save", in.Path); err != nil {
		return none, err
	}
	if in.Recent && len(in.IDs) > 0 {
		return none, api.Errorf(api.CodeInvalid, "save history: ids are of the history, not of the recent list")
	}
	lines := h.recent.list()
	if !in.Recent {
		var err error
		if lines, err = h.history.lines(ctx, in.IDs); err != nil {
			return none, errKeep("save", err)
		}
	}
	text, n := histdb.EncodeCommands(lines)
	out, err := onFiles(ctx, h.files, in.FileScope, func(t *files.Tree) (files.WriteResult, error) {
		return t.Write(ctx, files.WriteRequest{Path: in.In(in.Path), Data: text, New: !in.Overwrite, Private: true})
	})
	if errors.Is(err, api.CodeConflict) && !in.Overwrite {
		return none, api.Errorf(api.CodeConflict, "save history to %s: the file exists", names.Shown(in.Path)).
			WithHint("overwrite replaces it")
	}
	return api.HistoryCount{Count: n, Replaced: out.Replaced}, err
}

func checkCommandFile(verb, path string) error {
	if !filepath.IsAbs(path) {
		return api.Errorf(api.CodeInvalid, "%s history: the path %s is not absolute", verb, names.Shown(path))
	}
	return nil
}

// mostCommands bounds a file of commands, in bytes.
const mostCommands = 256 << 20

// commandsOf reads a file of commands.
func (h *host) commandsOf(ctx context.Context, in api.HistoryLoadInput) ([]histdb.TextCommand, error) {
	text, err := onFiles(ctx, h.files, in.FileScope, func(t *files.Tree) ([]byte, error) {
		return t.ReadAll(ctx, in.In(in.Path), mostCommands)
	})
	if err != nil {
		return nil, err
	}
	commands, err := histdb.DecodeCommands(text, !in.Recent)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "load history from %s: %v", names.Shown(in.Path), err)
	}
	return commands, nil
}

func (h *host) historyLoad(ctx context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
	none := api.HistoryCount{}
	if err := checkCommandFile("load", in.Path); err != nil {
		return none, err
	}
	commands, err := h.commandsOf(ctx, in)
	switch {
	case err != nil:
		return none, err
	case in.Recent:
		lines := make([]string, len(commands))
		for i, c := range commands {
			lines[i] = c.Line
		}
		return api.HistoryCount{Count: len(h.recent.replace(lines))}, nil
	}
	l := h.history.loads.begin(in.Path, len(commands))
	defer h.history.loads.end(l)
	n, err := h.history.addAll(ctx, commands, l)
	if err != nil {
		return none, errKeep("load", err)
	}
	return api.HistoryCount{Count: n}, nil
}

// addAll adds the commands of a file, all or none if ctx ends before, and tells
// how many. Those whose time the file tells are not added twice.
func (h *history) addAll(ctx context.Context, commands []histdb.TextCommand, l *load) (n int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(h.ctx, cancel)()
	defer cancel()
	rows, err := h.rowsOf(ctx, commands, l)
	if err != nil {
		return 0, err
	}
	// It sees itself when ctx ends, and whether that was too late.
	err = h.do(context.WithoutCancel(ctx), func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		there := h.index.added()
		rows = slices.DeleteFunc(rows, func(r histdb.Row) bool {
			text, _, known := h.index.texts.find(r.Command)
			return known && there[addedRun{text, r.StartedAt.UnixMicro()}]
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

// rowsOf makes rows of commands without those that are to be kept out. A command
// whose time nobody knows counts as of now.
func (h *history) rowsOf(ctx context.Context, commands []histdb.TextCommand, l *load) ([]histdb.Row, error) {
	now, actor := time.Now(), callerActor(server.CallerOf(ctx))
	rows := make([]histdb.Row, 0, len(commands))
	for i, c := range commands {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l.made.Store(int64(i))
		if h.keepsOut(c.Line) {
			continue
		}
		r := histdb.Row{Command: secrets.RedactLine(strings.TrimRight(c.Line, " \t\n")), StartedAt: c.At, Duration: c.Duration,
			Actor: actor, Kind: commandAdded}
		if c.At.IsZero() {
			r.StartedAt = now
		}
		rows = append(rows, r)
	}
	return rows, nil
}
