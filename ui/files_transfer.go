package ui

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/bubbles/v2/progress"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A transfer is one that the engine does at the moment.
type transfer struct {
	id   string // "" while it is found out what is in its way
	in   api.FilesTransferInput
	job  api.FileJob
	stop context.CancelFunc // ends the looking
	back *undo              // what is to be undone after it, if it takes something back
}

// text is how far the transfer is.
func (t *transfer) text(m *model, waiting int) string {
	ends := m.withKey(", ", keymap.Clear, " ends it", keymap.ScopeFiles, keymap.ScopeList)
	text := ""
	if t.back != nil {
		text = "undoing: "
	}
	n := len(t.in.Items)
	if t.id == "" {
		return text + "looking at " + countOf(n) + ends
	}
	text += map[string]string{api.TransferCopy: "copying", api.TransferMove: "moving", api.TransferTrash: "to the trash",
		api.TransferRestore: "out of the trash", api.TransferDelete: "deleting"}[t.in.Kind]
	text += " " + widget.Clip(widget.FileName(filepath.Base(t.job.Current)), 24)
	if n > 1 {
		text += " " + itoa(min(t.job.Handled+1, n)) + " of " + itoa(n)
	}
	switch {
	case t.job.Total > 0:
		text += " " + progressBar(t.job.Bytes, t.job.Total) + " of " + widget.Bytes(t.job.Total)
	case n > 1:
		text += " " + progressBar(int64(t.job.Handled), int64(n))
	}
	if waiting > 0 {
		text += ", then " + itoa(waiting) + " more"
	}
	return text + ends
}

// progressBar shows how much of something is done, of which there is some.
func progressBar(done, all int64) string {
	bar := progress.New(progress.WithWidth(10), progress.WithFillCharacters('█', '░'), progress.WithoutPercentage())
	bar.FullColor, bar.EmptyColor = lipgloss.NoColor{}, lipgloss.NoColor{} // those of the bar that it is in
	percent := int(min(done, all) * 100 / all)
	return bar.ViewAs(float64(percent/10)/10) + " " + itoa(percent) + "%"
}

// Messages of transfers.
type (
	transferWanted struct{ in api.FilesTransferInput } // after a question
	transferBegun  struct {
		of    *transfer
		in    api.FilesTransferInput // with where its items go
		out   api.FilesTransferOutput
		facts []string // of what is in the way
		err   error
	}
	transferNews struct {
		of  *transfer
		job api.FileJob
		err error
	}
)

// A wantedTransfer waits until others are over. It is begun, or finds out what
// is in its way, beside.
type wantedTransfer struct {
	*transfer
	begin func(context.Context, panes.Engine) transferBegun
}

// transfer wants a transfer done.
func (m *model) transfer(in api.FilesTransferInput) tea.Cmd {
	return m.want(wantedTransfer{&transfer{in: in}, func(ctx context.Context, e panes.Engine) transferBegun {
		return beginTransfer(ctx, e, in)
	}})
}

// want has a transfer begun when those before it are over.
func (m *model) want(t wantedTransfer) tea.Cmd {
	m.files.wanted = append(m.files.wanted, t)
	m.dirty = true
	return nil
}

// transferNext goes on with a transfer before any other.
func (m *model) transferNext(in api.FilesTransferInput, back *undo) {
	m.files.wanted = slices.Insert(m.files.wanted, 0, wantedTransfer{&transfer{in: in, back: back}, func(ctx context.Context, e panes.Engine) transferBegun {
		return beginTransfer(ctx, e, in)
	}})
}

// pumpTransfers begins what is wanted next. Only one transfer runs at a time,
// and none while it is asked what another one is to do.
func (m *model) pumpTransfers() tea.Cmd {
	f := &m.files
	if _, asking := m.overlay.(*conflict); asking || f.job != nil || len(f.wanted) == 0 {
		return nil
	}
	t := f.wanted[0]
	f.wanted = f.wanted[1:]
	f.job = t.transfer
	m.dirty = true
	if !m.toast.bad { // how far it is shows in the same place
		m.hush()
	}
	ctx, cancel := context.WithCancel(m.ctx)
	l := m.link
	t.stop = cancel
	return func() tea.Msg {
		defer cancel()
		e, err := l.At(ctx) // which may be long in coming
		if err != nil {
			return transferBegun{of: t.transfer, err: err}
		}
		msg := t.begin(ctx, e)
		msg.of = t.transfer
		return msg
	}
}

// wantTransfer is what follows a question that is answered with yes.
func wantTransfer(in api.FilesTransferInput) tea.Cmd {
	return func() tea.Msg { return transferWanted{in} }
}

func (m *model) takeTransferBegun(msg transferBegun) tea.Cmd {
	f, t := &m.files, msg.of
	if f.job != t {
		return nil
	}
	m.dirty = true
	if msg.err != nil {
		f.job = nil
		f.remember(t.left())
		if errors.Is(msg.err, context.Canceled) {
			return m.say("ended before it began", true)
		}
		return m.say(panes.ErrorText(msg.err), true)
	}
	t.in = msg.in
	if len(msg.out.Conflicts) > 0 {
		f.job = nil
		m.overlay = &conflict{m: m, of: t, paths: msg.out.Conflicts, facts: msg.facts}
		return nil
	}
	for _, item := range t.in.Items {
		delete(f.marked, item.Path)
	}
	t.id = msg.out.Job
	return m.followTransfer(30)
}

// followTransfer asks how far the transfer is.
func (m *model) followTransfer(waitMS int) tea.Cmd {
	t := m.files.job
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		job, err := e.TransferJob(ctx, t.id, waitMS)
		return transferNews{t, job, err}
	}, func(err error) tea.Msg { return transferNews{of: t, err: err} })
}

func (m *model) takeTransferNews(msg transferNews) tea.Cmd {
	f, t := &m.files, msg.of
	if f.job != t {
		return nil
	}
	m.dirty = true
	if msg.err != nil {
		f.job = nil
		f.changed()
		if errors.Is(msg.err, api.CodeNotFound) {
			return m.say("the engine was restarted; the transfer has ended", true)
		}
		return m.say(panes.ErrorText(msg.err), true)
	}
	if t.job = msg.job; t.job.State == api.JobRunning {
		return m.followTransfer(250)
	}
	f.job = nil
	f.changed()
	if n := len(t.in.Items); t.job.State != api.JobDone && t.back == nil && n > 1 { // to be tried again
		for _, item := range t.in.Items[min(t.job.Handled, n):] {
			f.marked[item.Path] = true
		}
	}
	if t.back == nil {
		f.remember(undoOf(t.in.Kind, t.job.Done))
		return m.sayTransfer(t)
	}
	return m.takenBack(t)
}

// fault is why the transfer has failed: of what its error says of an item, with
// whole paths, the cause, so that there is room for it.
func (t *transfer) fault() string {
	if t.job.Handled >= len(t.in.Items) {
		return t.job.Error
	}
	item := t.in.Items[t.job.Handled]
	for _, path := range []string{item.To, item.Path} {
		if cause, ok := cutBehind(t.job.Error, path+": "); ok && path != "" {
			return theseFiles([]string{item.Path}) + ": " + cause
		}
	}
	return t.job.Error
}

// sayTransfer tells how a transfer has ended.
func (m *model) sayTransfer(t *transfer) tea.Cmd {
	paths := make([]string, len(t.job.Done))
	for i, d := range t.job.Done {
		paths[i] = d.Path
	}
	text := map[string]string{api.TransferCopy: "copied ", api.TransferMove: "moved ", api.TransferTrash: "put into the trash: ",
		api.TransferDelete: "deleted "}[t.in.Kind] + theseFiles(paths)
	if len(paths) == 0 {
		text = "nothing was changed"
	}
	if t.job.Skipped > 0 {
		text += ", left out " + itoa(t.job.Skipped)
	}
	if len(paths) > 0 && t.in.Kind != api.TransferDelete {
		text += m.withKey(" – ", keymap.FilesUndo, " undoes it", keymap.ScopeFiles)
	}
	switch {
	case t.job.State == api.JobFailed && len(paths) > 0:
		return m.say(t.fault()+"; before that "+text, true)
	case t.job.State == api.JobFailed:
		return m.say(t.fault(), true)
	case t.job.State == api.JobCancelled:
		return m.say("ended; "+text, true)
	}
	return m.say(text, false)
}

func (m *model) askCancelTransfer() tea.Cmd {
	t := m.files.job
	if t.id == "" {
		t.stop()
		return nil
	}
	rest := "What is finished stays, the rest is left."
	if t.back != nil {
		rest = "What is undone stays so" + m.withKey("; ", keymap.FilesUndo, " undoes the rest", keymap.ScopeFiles) + "."
	}
	m.overlay = &overlay.Question{
		Title: "End the transfer?",
		Lines: []string{rest},
		Yes:   "end it",
		No:    "go on",
		Then: m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
			return panes.DoneMsg{Err: e.CancelTransfer(ctx, t.id)}
		}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} }),
	}
	return nil
}

// itemsOf are paths that go nowhere in particular.
func itemsOf(paths []string) []api.FileMove {
	items := make([]api.FileMove, len(paths))
	for i, path := range paths {
		items[i].Path = path
	}
	return items
}

// trashFiles puts the targets into the trash.
func (m *model) trashFiles() tea.Cmd {
	targets := m.files.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	return m.transfer(api.FilesTransferInput{Kind: api.TransferTrash, Items: itemsOf(targets)})
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
	p := m.newPathPrompt(verb+theseFiles(targets)+" to", text, func(to string) tea.Cmd {
		return m.transferTo(kind, targets, to)
	})
	m.overlay = p
	return p.look()
}

func withSlash(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// transferTo finds out whether the place is a folder, and begins.
func (m *model) transferTo(kind string, targets []string, to string) tea.Cmd {
	asked := api.FilesTransferInput{Kind: kind, Items: itemsOf(targets)}
	return m.want(wantedTransfer{&transfer{in: asked}, func(ctx context.Context, e panes.Engine) transferBegun {
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
	}})
}
