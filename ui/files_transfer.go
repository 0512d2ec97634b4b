package ui

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
)

// mostUndos is how many changes can be undone, and mostUndoItems of how many
// files in all; the last one can be in any case.
const (
	mostUndos     = 50
	mostUndoItems = 200_000
)

// An undo is how a change is taken back.
type undo struct {
	what    string         // was done
	restore []api.FileMove // out of the trash
	move    []api.FileMove
	trash   []string
}

func (f *files) remember(u undo) {
	if u.what == "" {
		return
	}
	f.undos = append(f.undos, u)
	items := 0
	for i := len(f.undos) - 1; i >= 0; i-- {
		items += len(f.undos[i].restore) + len(f.undos[i].move) + len(f.undos[i].trash)
		if i < len(f.undos)-1 && items > mostUndoItems || len(f.undos)-i > mostUndos {
			f.undos = slices.Clone(f.undos[i+1:])
			return
		}
	}
}

// A transfer is one that the engine does at the moment.
type transfer struct {
	id   string
	in   api.FilesTransferInput
	job  api.FileJob
	undo bool // it takes something back
}

// text is how far the transfer is.
func (t *transfer) text() string {
	verb := map[string]string{api.TransferCopy: "copying", api.TransferMove: "moving", api.TransferTrash: "to the trash"}[t.in.Kind]
	text := verb + " " + panes.Clip(panes.FileName(filepath.Base(t.job.Current)), 24)
	if n := len(t.in.Items); n > 1 {
		text += " " + itoa(min(t.job.Handled+1, n)) + " of " + itoa(n)
	}
	if t.job.Total > 0 {
		const cells = 10
		full := int(min(t.job.Bytes, t.job.Total) * cells / t.job.Total)
		text += " " + strings.Repeat("█", full) + strings.Repeat("░", cells-full) + " " +
			itoa(int(min(t.job.Bytes, t.job.Total)*100/t.job.Total)) + "% of " + panes.ByteSize(t.job.Total)
	}
	return text + ", esc ends it"
}

// Messages of transfers.
type (
	transferBegun struct {
		in    api.FilesTransferInput
		out   api.FilesTransferOutput
		facts []string // of what is in the way
		undo  bool
		err   error
	}
	transferNews struct {
		job api.FileJob
		err error
	}
)

// transfer begins a transfer. Only one runs at a time.
func (m *model) transfer(in api.FilesTransferInput, undoing bool) tea.Cmd {
	if m.files.job != nil {
		return m.say("another transfer is under way; esc ends it", true)
	}
	return m.call(func(ctx context.Context, e engine) tea.Msg {
		msg := beginTransfer(ctx, e, in)
		msg.undo = undoing
		return msg
	}, func(err error) tea.Msg { return transferBegun{err: err} })
}

func (m *model) takeTransferBegun(msg transferBegun) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.say(errorText(msg.err), true)
	case len(msg.out.Conflicts) > 0:
		m.overlay = &conflict{in: msg.in, paths: msg.out.Conflicts, facts: msg.facts}
		m.dirty = true
		return nil
	}
	for _, item := range msg.in.Items {
		delete(m.files.marked, item.Path)
	}
	m.files.job = &transfer{id: msg.out.Job, in: msg.in, undo: msg.undo}
	return m.followTransfer(30)
}

// followTransfer asks how far the transfer is.
func (m *model) followTransfer(waitMS int) tea.Cmd {
	id := m.files.job.id
	return m.call(func(ctx context.Context, e engine) tea.Msg {
		job, err := e.TransferJob(ctx, id, waitMS)
		return transferNews{job, err}
	}, func(err error) tea.Msg { return transferNews{err: err} })
}

func (m *model) takeTransferNews(msg transferNews) tea.Cmd {
	f := &m.files
	t := f.job
	if t == nil {
		return nil
	}
	m.dirty = true
	if msg.err != nil {
		f.job = nil
		if errors.Is(msg.err, api.CodeNotFound) {
			return m.say("the engine was restarted; the transfer has ended", true)
		}
		return m.say(errorText(msg.err), true)
	}
	if t.job = msg.job; t.job.State == api.JobRunning {
		return m.followTransfer(250)
	}
	f.job = nil
	f.changed()
	if !t.undo {
		f.remember(undoOf(t.in.Kind, t.job.Done))
	}
	return m.sayTransfer(t)
}

// undoOf is how a transfer is taken back.
func undoOf(kind string, done []api.FileMoved) (u undo) {
	if len(done) == 0 {
		return u
	}
	paths := make([]string, len(done))
	for i, d := range done {
		paths[i] = d.Path
		back := api.FileMove{Path: d.To, To: d.Path}
		switch kind {
		case api.TransferTrash:
			u.restore = append(u.restore, back)
		case api.TransferMove:
			u.move = append(u.move, back)
		case api.TransferCopy:
			u.trash = append(u.trash, d.To)
		}
		if d.Replaced != "" {
			u.restore = append(u.restore, api.FileMove{Path: d.Replaced, To: d.To})
		}
	}
	u.what = map[string]string{api.TransferCopy: "copy", api.TransferMove: "move", api.TransferTrash: "trash"}[kind] + " of " + theseFiles(paths)
	return u
}

// sayTransfer tells how a transfer has ended.
func (m *model) sayTransfer(t *transfer) tea.Cmd {
	paths := make([]string, len(t.job.Done))
	for i, d := range t.job.Done {
		paths[i] = d.Path
	}
	what := map[string]string{api.TransferCopy: "copied ", api.TransferMove: "moved ", api.TransferTrash: "put into the trash: "}[t.in.Kind]
	text := what + theseFiles(paths)
	if len(paths) == 0 {
		text = "nothing was changed"
	}
	if t.job.Skipped > 0 {
		text += ", left out " + itoa(t.job.Skipped)
	}
	switch t.job.State {
	case api.JobFailed:
		return m.say(t.job.Error, true)
	case api.JobCancelled:
		return m.say("ended; "+text, true)
	}
	if t.undo {
		return m.say("undone", false)
	}
	if len(paths) > 0 {
		text += " – u undoes it"
	}
	return m.say(text, false)
}

func (m *model) askCancelTransfer() tea.Cmd {
	id := m.files.job.id
	m.overlay = &question{
		title: "End the transfer?",
		lines: []string{"What is finished stays, the rest is left."},
		yes:   "end it",
		no:    "go on",
		then: m.call(func(ctx context.Context, e engine) tea.Msg {
			return doneMsg{e.CancelTransfer(ctx, id)}
		}, func(err error) tea.Msg { return doneMsg{err} }),
	}
	return nil
}

// trashFiles puts the targets into the trash.
func (m *model) trashFiles() tea.Cmd {
	f := &m.files
	targets := f.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	items := make([]api.FileMove, len(targets))
	for i, path := range targets {
		items[i].Path = path
	}
	return m.transfer(api.FilesTransferInput{Kind: api.TransferTrash, Items: items}, false)
}

// askTransfer asks where the targets go: a folder, or for one of them a new
// path.
func (m *model) askTransfer(kind string) tea.Cmd {
	f := &m.files
	targets := f.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	verb := strings.ToUpper(kind[:1]) + kind[1:] + " "
	text := withSlash(f.path)
	if len(targets) == 1 && filepath.Dir(targets[0]) == f.path {
		text += filepath.Base(targets[0])
	}
	p := m.newPathPrompt(verb+theseFiles(targets)+" to", text, func(m *model, to string) tea.Cmd {
		return m.transferTo(kind, targets, to)
	})
	m.overlay = p
	return p.look(m)
}

func withSlash(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// transferTo finds out whether the place is a folder, and begins.
func (m *model) transferTo(kind string, targets []string, to string) tea.Cmd {
	return m.call(func(ctx context.Context, e engine) tea.Msg {
		into := strings.HasSuffix(to, "/") || len(targets) > 1
		to = filepath.Clean(to)
		if !into {
			if _, err := e.ListFiles(ctx, to, "", 1); err == nil {
				into = to != targets[0]
			}
		}
		in := api.FilesTransferInput{Kind: kind}
		for _, path := range targets {
			item := api.FileMove{Path: path, To: to}
			if into {
				item.To = filepath.Join(to, filepath.Base(path))
			}
			in.Items = append(in.Items, item)
		}
		return beginTransfer(ctx, e, in)
	}, func(err error) tea.Msg { return transferBegun{err: err} })
}

// undoFiles takes back the last change.
func (m *model) undoFiles() tea.Cmd {
	f := &m.files
	if len(f.undos) == 0 {
		return m.say("there is nothing to undo", false)
	}
	u := f.undos[len(f.undos)-1]
	f.undos = f.undos[:len(f.undos)-1]
	return tea.Batch(m.say("undoing: "+u.what, false), m.call(func(ctx context.Context, e engine) tea.Msg {
		if begun, err := takeBack(ctx, e, u); err != nil {
			msg := changedFiles{err: err}
			if !begun { // it can be tried again
				msg.undo = u
			}
			return msg
		}
		return changedFiles{say: "undone: " + u.what}
	}, func(err error) tea.Msg { return changedFiles{err: err} }))
}

// takeBack undoes a change: what was put somewhere goes first, so that what was
// there before has its place again. After an error begun says whether a part of
// it was done.
func takeBack(ctx context.Context, e engine, u undo) (begun bool, err error) {
	var trash []api.FileMove
	for _, path := range u.trash {
		trash = append(trash, api.FileMove{Path: path})
	}
	steps := []api.FilesTransferInput{{Kind: api.TransferTrash, Items: trash}, {Kind: api.TransferMove, Items: u.move}}
	for _, in := range steps {
		if len(in.Items) == 0 {
			continue
		}
		started, err := transferAll(ctx, e, in)
		if begun = begun || started; err != nil {
			return begun, err
		}
	}
	if len(u.restore) == 0 {
		return begun, nil
	}
	err = e.RestoreFiles(ctx, u.restore)
	return begun || len(u.restore) > 1, err
}

// transferAll waits for a transfer that nothing may be in the way of; started
// says whether it was begun.
func transferAll(ctx context.Context, e engine, in api.FilesTransferInput) (started bool, err error) {
	out, err := e.Transfer(ctx, in)
	if err != nil {
		return false, err
	}
	if len(out.Conflicts) > 0 {
		return false, api.Errorf(api.CodeConflict, "%s is in the way", out.Conflicts[0])
	}
	for {
		job, err := e.TransferJob(ctx, out.Job, int(time.Minute/time.Millisecond))
		switch {
		case err != nil:
			return true, err
		case job.State == api.JobFailed:
			return true, api.Errorf(api.CodeConflict, "%s", job.Error)
		case job.State != api.JobRunning:
			return true, nil
		}
	}
}
