package engine

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/persist"
)

// statsRows is the default length of the lists of history.stats.
const statsRows = 10

// handleHistory serves the operations of the history.
func (h *host) handleHistory(m *api.Mux) {
	api.Handle(m, api.HistorySearch, h.history.search)
	api.Handle(m, api.HistoryAdd, h.history.add)
	api.Handle(m, api.HistoryRemove, h.history.remove)
	api.Handle(m, api.HistoryClear, h.history.clear)
	api.Handle(m, api.HistorySave, h.historySave)
	api.Handle(m, api.HistoryLoad, h.historyLoad)
	api.Handle(m, api.HistoryStats, h.history.stats)
}

// errKeep is the answer when the database does not do what it should.
func errKeep(verb string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "%s history: %v", verb, err)
}

// do runs f on the history's goroutine, once the history is in memory.
func (h *history) do(ctx context.Context, f func() error) error {
	reply := make(chan error, 1)
	h.box.post(func() {
		if err := h.load(); err != nil {
			reply <- err
			return
		}
		reply <- f()
	})
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-h.done:
		return errEnding()
	}
}

// load brings the history into memory.
func (h *history) load() error {
	if h.index != nil { // nobody else sets it
		return nil
	}
	if err := h.commit(); err != nil {
		return err
	}
	x := newHistoryIndex()
	if err := h.db.Rows(h.ctx, x.add); err != nil {
		return h.damaged(err)
	}
	x.sorted(0)
	h.setIndex(x)
	return nil
}

// view runs f on the history in memory, while nobody changes it.
func (h *history) view(ctx context.Context, f func(x *historyIndex) error) error {
	if err := h.do(ctx, func() error { return nil }); err != nil {
		return err
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.index == nil {
		return errEnding() // it was let go of at this moment
	}
	return f(h.index)
}

func (h *history) search(ctx context.Context, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
	if in.Limit < 0 || in.Offset < 0 {
		return out, api.Errorf(api.CodeInvalid, "search history: limit and offset cannot be negative")
	}
	s := h.scratches.Get().(*scratch)
	defer h.scratches.Put(s)
	err = h.view(ctx, func(x *historyIndex) error {
		out, err = x.search(ctx, in, s)
		return err
	})
	if err != nil {
		return api.HistorySearchOutput{}, errKeep("search", err)
	}
	return out, nil
}

func (h *history) add(ctx context.Context, in api.HistoryAddInput) (out api.Command, err error) {
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
	r := persist.HistoryRow{
		Command: redactLine(line), CWD: in.CWD, StartedAt: time.Now(), Duration: -1, ExitCode: in.ExitCode,
		Actor: cmp.Or(in.Actor, callerActor(api.CallerOf(ctx))), Kind: commandAdded,
	}
	if in.StartedAt != nil {
		r.StartedAt = *in.StartedAt
	}
	if in.DurationMS != nil {
		r.Duration = time.Duration(*in.DurationMS) * time.Millisecond
	}
	err = h.do(ctx, func() error {
		r.ID = h.last + 1
		if err := h.commit(persist.HistoryChange{Add: []persist.HistoryRow{r}}); err != nil {
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

// callerActor is the name under which what a caller does is known.
func callerActor(c api.Caller) string {
	switch {
	case !c.Agent():
		return "person"
	case c.Version == "":
		return agentPrefix + c.Name
	}
	return agentPrefix + c.Name + "/" + c.Version
}

func (h *history) remove(ctx context.Context, in api.HistoryRemoveInput) (api.HistoryCount, error) {
	if len(in.IDs) == 0 && in.Command == "" {
		return api.HistoryCount{}, api.Errorf(api.CodeInvalid, "remove from history: neither ids nor a command are given")
	}
	return h.drop(ctx, func(x *historyIndex) func(*historyEntry) bool {
		ids := make(map[int64]bool, len(in.IDs))
		for _, id := range in.IDs {
			ids[id] = true
		}
		line, _, known := x.find(in.Command)
		known = known && in.Command != ""
		return func(e *historyEntry) bool { return ids[e.id] || known && e.text == line }
	})
}

func (h *history) clear(ctx context.Context, _ api.Empty) (api.HistoryCount, error) {
	return h.drop(ctx, func(*historyIndex) func(*historyEntry) bool {
		return func(*historyEntry) bool { return true }
	})
}

// drop forgets the rows that which chooses, on disk first.
func (h *history) drop(ctx context.Context, which func(x *historyIndex) func(*historyEntry) bool) (out api.HistoryCount, err error) {
	err = h.do(ctx, func() error {
		gone := which(h.index)
		ids := h.index.ids(gone)
		change := persist.HistoryChange{Remove: ids, Clear: len(ids) == len(h.index.rows)}
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
			x.rows = slices.DeleteFunc(x.rows, func(e historyEntry) bool { return gone(&e) })
		})
		return nil
	})
	if err != nil {
		return api.HistoryCount{}, errKeep("change", err)
	}
	return out, nil
}

// lines are all command lines, oldest first.
func (h *history) lines(ctx context.Context) (all []string, err error) {
	err = h.view(ctx, func(x *historyIndex) error {
		all = make([]string, len(x.rows))
		for i := range x.rows {
			all[i] = string(x.line(x.rows[i].text))
		}
		return nil
	})
	return all, err
}

func (h *host) historySave(ctx context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
	none := api.HistoryCount{}
	if err := checkCommandFile("save", in.Path); err != nil {
		return none, err
	}
	lines := h.recent.list()
	if !in.Recent {
		var err error
		if lines, err = h.history.lines(ctx); err != nil {
			return none, errKeep("save", err)
		}
	}
	n, replaced, err := persist.SaveCommands(in.Path, lines, in.Overwrite)
	switch {
	case errors.Is(err, fs.ErrExist):
		return none, api.Errorf(api.CodeConflict, "save history to %s: the file exists", shown(in.Path)).
			WithHint("overwrite replaces it")
	case err != nil:
		return none, api.Errorf(api.CodeUnavailable, "save history to %s: %v", shown(in.Path), err)
	}
	return api.HistoryCount{Count: n, Replaced: replaced}, nil
}

func checkCommandFile(verb, path string) error {
	if !filepath.IsAbs(path) {
		return api.Errorf(api.CodeInvalid, "%s history: the path %s is not absolute", verb, shown(path))
	}
	return nil
}

func (h *host) historyLoad(ctx context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
	none := api.HistoryCount{}
	if err := checkCommandFile("load", in.Path); err != nil {
		return none, err
	}
	commands, err := persist.LoadCommands(in.Path, !in.Recent)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, api.Errorf(api.CodeNotFound, "load history from %s: there is no such file", shown(in.Path))
	case errors.Is(err, persist.ErrNoText):
		return none, api.Errorf(api.CodeInvalid, "load history from %s: %v", shown(in.Path), err)
	case err != nil:
		return none, api.Errorf(api.CodeUnavailable, "load history from %s: %v", shown(in.Path), err)
	case in.Recent:
		lines := make([]string, len(commands))
		for i, c := range commands {
			lines[i] = c.Line
		}
		return api.HistoryCount{Count: len(h.recent.replace(lines))}, nil
	}
	n, err := h.history.addAll(ctx, commands)
	if err != nil {
		return none, errKeep("load", err)
	}
	return api.HistoryCount{Count: n}, nil
}

// addAll adds the commands of a file, all or none, and tells how many. Those
// whose time the file tells are not added twice.
func (h *history) addAll(ctx context.Context, commands []persist.TextCommand) (n int, err error) {
	actor, now := callerActor(api.CallerOf(ctx)), time.Now()
	err = h.do(ctx, func() error {
		there := h.index.added()
		var rows []persist.HistoryRow
		for _, c := range commands {
			if h.keepsOut(c.Line) {
				continue
			}
			r := persist.HistoryRow{Command: redactLine(strings.TrimRight(c.Line, " \t\n")), StartedAt: c.At, Duration: c.Duration,
				Actor: actor, Kind: commandAdded, ID: h.last + int64(len(rows)) + 1}
			if c.At.IsZero() {
				r.StartedAt = now
			} else if text, _, ok := h.index.find(r.Command); ok && there[addedRun{text, c.At.UnixMicro()}] {
				continue
			}
			rows = append(rows, r)
		}
		if err := h.commit(persist.HistoryChange{Add: rows}); err != nil {
			return err
		}
		n, h.last = len(rows), h.last+int64(len(rows))
		h.change(func(x *historyIndex) {
			begin := len(x.rows)
			for i := range rows {
				x.add(&rows[i])
			}
			x.sorted(begin)
		})
		return nil
	})
	return n, err
}

func (h *history) stats(ctx context.Context, in api.HistoryStatsInput) (out api.HistoryStatsOutput, err error) {
	if in.Limit < 0 {
		return out, api.Errorf(api.CodeInvalid, "count history: limit cannot be negative")
	}
	err = h.view(ctx, func(x *historyIndex) error {
		out = x.stats(in)
		return nil
	})
	if err != nil {
		return api.HistoryStatsOutput{}, errKeep("count", err)
	}
	return out, nil
}

// stats counts the rows.
func (x *historyIndex) stats(in api.HistoryStatsInput) api.HistoryStatsOutput {
	var out api.HistoryStatsOutput
	texts := make([]int, len(x.ends))
	folders, actors := make(map[string]int), make(map[string]int)
	for i := range x.rows {
		e := &x.rows[i]
		if in.Since != nil && e.started < in.Since.UnixMicro() {
			continue
		}
		out.Total++
		if e.failed() {
			out.Failed++
		}
		texts[e.text]++
		actors[x.words[e.actor]]++
		if e.cwd != noWord {
			folders[x.words[e.cwd]]++
		}
	}
	programs, commands := make(map[string]int), make(map[string]int)
	for n, count := range texts {
		if count > 0 {
			out.Unique++
			line := string(x.line(uint32(n)))
			commands[line] = count
			programs[programOf(line)] += count
		}
	}
	limit := cmp.Or(in.Limit, statsRows)
	out.Programs, out.Commands = mostOften(programs, limit), mostOften(commands, limit)
	out.Folders, out.Actors = mostOften(folders, limit), mostOften(actors, limit)
	return out
}

// programOf is the first word of a command line that is no assignment.
func programOf(line string) string {
	first := ""
	for word := range strings.FieldsSeq(line) {
		if first == "" {
			first = word
		}
		if name, _, set := strings.Cut(word, "="); !set || !variableName.MatchString(name) {
			return word
		}
	}
	return first
}

func mostOften(counts map[string]int, limit int) []api.NameCount {
	all := make([]api.NameCount, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, api.NameCount{Name: name, Count: counts[name]})
	}
	slices.SortStableFunc(all, func(a, b api.NameCount) int { return cmp.Compare(b.Count, a.Count) })
	return all[:min(limit, len(all))]
}
