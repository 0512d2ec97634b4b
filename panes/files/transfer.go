package files

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
func (t *transfer) text(b keymap.Bindings, waiting int) string {
	ends := panes.WithKey(b, ", ", keymap.Clear, " ends it", keymap.ScopeFiles, keymap.ScopeList)
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
		text += " " + widget.Itoa(min(t.job.Handled+1, n)) + " of " + widget.Itoa(n)
	}
	switch {
	case t.job.Total > 0:
		text += " " + progressBar(t.job.Bytes, t.job.Total) + " of " + widget.Bytes(t.job.Total)
	case n > 1:
		text += " " + progressBar(int64(t.job.Handled), int64(n))
	}
	if waiting > 0 {
		text += ", then " + widget.Itoa(waiting) + " more"
	}
	return text + ends
}

// progressBar shows how much of something is done, of which there is some.
func progressBar(done, all int64) string {
	bar := progress.New(progress.WithWidth(10), progress.WithFillCharacters('█', '░'), progress.WithoutPercentage())
	bar.FullColor, bar.EmptyColor = lipgloss.NoColor{}, lipgloss.NoColor{} // those of the bar that it is in
	percent := int(min(done, all) * 100 / all)
	return bar.ViewAs(float64(percent/10)/10) + " " + widget.Itoa(percent) + "%"
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
func (f *Pane) transfer(in api.FilesTransferInput) tea.Cmd {
	return f.want(wantedTransfer{&transfer{in: in}, func(ctx context.Context, e panes.Engine) transferBegun {
		return beginTransfer(ctx, e, in)
	}})
}

// want has a transfer begun when those before it are over.
func (f *Pane) want(t wantedTransfer) tea.Cmd {
	f.wanted = append(f.wanted, t)
	return nil
}

// transferNext goes on with a transfer before any other.
func (f *Pane) transferNext(in api.FilesTransferInput, back *undo) {
	f.wanted = slices.Insert(f.wanted, 0, wantedTransfer{&transfer{in: in, back: back}, func(ctx context.Context, e panes.Engine) transferBegun {
		return beginTransfer(ctx, e, in)
	}})
}

// pumpTransfers begins what is wanted next. Only one transfer runs at a time,
// and none while it is asked what another one is to do.
func (f *Pane) pumpTransfers() tea.Cmd {
	if f.asking != nil && f.env.Shows(f.asking) || f.job != nil || len(f.wanted) == 0 {
		return nil
	}
	t := f.wanted[0]
	f.wanted = f.wanted[1:]
	f.job = t.transfer
	f.env.UnsayNote() // how far it is shows in the same place
	ctx, cancel := context.WithCancel(f.env.Context())
	t.stop = cancel
	return func() tea.Msg {
		defer cancel()
		e, err := f.env.Engine(ctx) // which may be long in coming
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

func (f *Pane) takeTransferBegun(msg transferBegun) tea.Cmd {
	t := msg.of
	if f.job != t {
		return nil
	}
	if msg.err != nil {
		f.job = nil
		f.remember(t.left())
		if errors.Is(msg.err, context.Canceled) {
			return f.env.Say("failed to start", true)
		}
		return f.env.Say(panes.ErrorText(msg.err), true)
	}
	t.in = msg.in
	if len(msg.out.Conflicts) > 0 {
		f.job = nil
		f.asking = &conflict{f: f, of: t, paths: msg.out.Conflicts, facts: msg.facts}
		f.env.Ask(f.asking)
		return nil
	}
	for _, item := range t.in.Items {
		delete(f.marked, item.Path)
	}
	t.id = msg.out.Job
	return f.followTransfer(30)
}

// followTransfer asks how far the transfer is.
func (f *Pane) followTransfer(waitMS int) tea.Cmd {
	t := f.job
	return panes.Call(f.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		job, err := e.TransferJob(ctx, t.id, waitMS)
		return transferNews{t, job, err}
	}, func(err error) tea.Msg { return transferNews{of: t, err: err} })
}

func (f *Pane) takeTransferNews(msg transferNews) tea.Cmd {
	t := msg.of
	if f.job != t {
		return nil
	}
	if msg.err != nil {
		f.job = nil
		f.changed()
		if errors.Is(msg.err, api.CodeNotFound) {
			return f.env.Say("the engine was restarted; the transfer was interrupted", true)
		}
		return f.env.Say(panes.ErrorText(msg.err), true)
	}
	if t.job = msg.job; t.job.State == api.JobRunning {
		return f.followTransfer(250)
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
		return f.sayTransfer(t)
	}
	return f.takenBack(t)
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
func (f *Pane) sayTransfer(t *transfer) tea.Cmd {
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
		text += ", left out " + widget.Itoa(t.job.Skipped)
	}
	if len(paths) > 0 && t.in.Kind != api.TransferDelete {
		text += panes.WithKey(f.env.Bindings(), " – ", keymap.FilesUndo, " undoes it", keymap.ScopeFiles)
	}
	switch {
	case t.job.State == api.JobFailed && len(paths) > 0:
		return f.env.Say(t.fault()+"; before that "+text, true)
	case t.job.State == api.JobFailed:
		return f.env.Say(t.fault(), true)
	case t.job.State == api.JobCancelled:
		return f.env.Say("ended; "+text, true)
	}
	return f.env.Say(text, false)
}

func (f *Pane) askCancelTransfer() tea.Cmd {
	t := f.job
	if t.id == "" {
		t.stop()
		return nil
	}
	rest := "What is finished stays, the rest is left."
	if t.back != nil {
		rest = "What is undone stays so" + panes.WithKey(f.env.Bindings(), "; ", keymap.FilesUndo, " undoes the rest", keymap.ScopeFiles) + "."
	}
	f.env.Ask(&overlay.Question{
		Title: "End the transfer?",
		Lines: []string{rest},
		Yes:   "end it",
		No:    "go on",
		Then: panes.Call(f.env, func(ctx context.Context, e panes.Engine) tea.Msg {
			return panes.DoneMsg{Err: e.CancelTransfer(ctx, t.id)}
		}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} }),
	})
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
func (f *Pane) trashFiles() tea.Cmd {
	targets := f.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	return f.transfer(api.FilesTransferInput{Kind: api.TransferTrash, Items: itemsOf(targets)})
}

// askTransfer asks where the targets go: a folder, or for one of them a new
// path.
func (f *Pane) askTransfer(kind string) tea.Cmd {
	targets := f.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	verb := strings.ToUpper(kind[:1]) + kind[1:] + " "
	text := withSlash(f.path)
	if len(targets) == 1 && filepath.Dir(targets[0]) == f.path {
		text += filepath.Base(targets[0])
	}
	p := f.newPathPrompt(verb+theseFiles(targets)+" to", text, func(to string) tea.Cmd {
		return f.transferTo(kind, targets, to)
	})
	f.env.Ask(p)
	return p.look()
}

func withSlash(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// transferTo finds out whether the place is a folder, and begins.
func (f *Pane) transferTo(kind string, targets []string, to string) tea.Cmd {
	asked := api.FilesTransferInput{Kind: kind, Items: itemsOf(targets)}
	return f.want(wantedTransfer{&transfer{in: asked}, func(ctx context.Context, e panes.Engine) transferBegun {
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
