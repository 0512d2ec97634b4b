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
	"tandem/engine/units"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// transfers are copies, moves and deletions: the one that the engine does at the
// moment, those that wait for it, and those that can be undone.
type transfers struct {
	env     panes.Env
	folder  *folder // whose entries they change
	running *transfer
	waiting []wantedTransfer
	asking  overlay.Overlay // what is to become of files that are in the way
	undos   []undo
}

// A transfer is one that the engine does.
type transfer struct {
	id   string // "" while it is found out what is in its way
	in   api.FilesTransferInput
	job  api.FileJob
	stop context.CancelFunc // ends the looking
	back *undo              // what is to be undone after it, if it takes something back
}

// A wantedTransfer waits until others are over. It is begun, or finds out what
// is in its way, beside.
type wantedTransfer struct {
	*transfer
	begin func(context.Context, panes.Engine) (begun, error)
}

// begun is what came of beginning a transfer.
type begun struct {
	in    api.FilesTransferInput // with where its items go
	out   api.FilesTransferOutput
	facts []string // of what is in the way
}

// note says how far the transfer is that runs; "" without one.
func (ts *transfers) note() string {
	t := ts.running
	if t == nil {
		return ""
	}
	stop := panes.WithKey(ts.env.Bindings(), ", ", keymap.Clear, " cancels it", keymap.ScopeFiles, keymap.ScopeList)
	text := ""
	if t.back != nil {
		text = "undoing: "
	}
	n := len(t.in.Items)
	if t.id == "" {
		return text + "checking " + countOf(n) + stop
	}
	text += map[string]string{api.TransferCopy: "copying", api.TransferMove: "moving", api.TransferTrash: "to the trash",
		api.TransferRestore: "out of the trash", api.TransferDelete: "deleting", api.TransferExtract: "unpacking", api.TransferPack: "packing"}[t.in.Kind]
	text += " " + widget.Clip(widget.FileName(filepath.Base(t.job.Current)), 24)
	if n > 1 {
		text += " " + widget.Itoa(min(t.job.Handled+1, n)) + " of " + widget.Itoa(n)
	}
	switch {
	case t.job.Total > 0:
		text += " " + progressBar(t.job.Bytes, t.job.Total) + " of " + units.Bytes(t.job.Total)
	case n > 1:
		text += " " + progressBar(int64(t.job.Handled), int64(n))
	}
	if waiting := len(ts.waiting); waiting > 0 {
		text += ", then " + widget.Itoa(waiting) + " more"
	}
	return text + stop
}

// progressBar shows how much of something is done, of which there is some.
func progressBar(done, all int64) string {
	bar := progress.New(progress.WithWidth(10), progress.WithFillCharacters('█', '░'), progress.WithoutPercentage())
	bar.FullColor, bar.EmptyColor = lipgloss.NoColor{}, lipgloss.NoColor{} // those of the bar that it is in
	percent := int(min(done, all) * 100 / all)
	return bar.ViewAs(float64(percent/10)/10) + " " + widget.Itoa(percent) + "%"
}

// wanted is a transfer that is ready to begin.
func wanted(in api.FilesTransferInput, back *undo) wantedTransfer {
	return wantedTransfer{&transfer{in: in, back: back}, func(ctx context.Context, e panes.Engine) (begun, error) {
		return beginTransfer(ctx, e, in)
	}}
}

// add has a transfer done when those before it are over.
func (ts *transfers) add(in api.FilesTransferInput) { ts.waiting = append(ts.waiting, wanted(in, nil)) }

// addNext goes on with a transfer before any other.
func (ts *transfers) addNext(in api.FilesTransferInput, back *undo) {
	ts.waiting = slices.Insert(ts.waiting, 0, wanted(in, back))
}

// adding is what follows a question that is answered with yes.
func (ts *transfers) adding(in api.FilesTransferInput) tea.Cmd {
	return panes.Result(func() tea.Cmd {
		ts.add(in)
		return nil
	}).Cmd
}

// pump begins what is wanted next. Only one transfer runs at a time, and none
// while it is asked what another one is to do.
func (ts *transfers) pump() tea.Cmd {
	if ts.asking != nil && ts.env.Shows(ts.asking) || ts.running != nil || len(ts.waiting) == 0 {
		return nil
	}
	t := ts.waiting[0]
	ts.waiting = ts.waiting[1:]
	ts.running = t.transfer
	ts.env.ClearNote() // how far it is shows in the same place
	ctx, cancel := context.WithCancel(ts.env.Context())
	t.stop = cancel
	return panes.Ask(ctx, ts.env, t.begin, func(b begun, err error) tea.Cmd {
		cancel()
		return ts.begun(t.transfer, b, err)
	})
}

func (ts *transfers) begun(t *transfer, b begun, err error) tea.Cmd {
	if err != nil {
		ts.running = nil
		ts.remember(t.left())
		if errors.Is(err, context.Canceled) {
			return ts.env.Say("cancelled", false)
		}
		return ts.env.Say(panes.ErrorText(err), true)
	}
	t.in = b.in
	if len(b.out.Conflicts) > 0 {
		ts.running = nil
		ts.askConflict(t, b)
		return nil
	}
	for _, item := range t.in.Items {
		delete(ts.folder.marked, item.Path)
	}
	t.id = b.out.Job
	return ts.follow(t, 30)
}

// follow asks how far the transfer is.
func (ts *transfers) follow(t *transfer, waitMS int) tea.Cmd {
	return panes.Ask(ts.env.Context(), ts.env, func(ctx context.Context, e panes.Engine) (api.FileJob, error) {
		return e.TransferJob(ctx, t.id, waitMS)
	}, func(job api.FileJob, err error) tea.Cmd { return ts.learned(t, job, err) })
}

func (ts *transfers) learned(t *transfer, job api.FileJob, err error) tea.Cmd {
	if err == nil {
		if t.job = job; job.State == api.JobRunning {
			return ts.follow(t, 250)
		}
	}
	ts.running = nil
	ts.folder.changed()
	switch {
	case errors.Is(err, api.CodeNotFound):
		return ts.env.Say("the engine was restarted; the transfer was interrupted", true)
	case err != nil:
		return ts.env.Say(panes.ErrorText(err), true)
	case t.back != nil:
		return ts.undone(t)
	}
	if n := len(t.in.Items); job.State != api.JobDone && n > 1 { // to be tried again
		for _, item := range t.in.Items[min(job.Handled, n):] {
			ts.folder.marked[item.Path] = true
		}
	}
	ts.remember(undoOf(t.in.Kind, job.Done))
	return ts.sayEnded(t)
}

// fault returns what could not be done, and why. It leaves out the whole paths in an error
// about an item, to make room for the cause.
func (t *transfer) fault() string {
	if t.job.Handled >= len(t.in.Items) {
		return t.job.Error
	}
	item := t.in.Items[t.job.Handled]
	for _, path := range []string{item.To, item.Path} {
		if _, cause, ok := strings.Cut(t.job.Error, path+": "); ok && path != "" {
			return t.doing(item) + ": " + cause
		}
	}
	return t.job.Error
}

// doing names what the transfer does with an item, as in "move a.txt to the trash".
func (t *transfer) doing(item api.FileMove) string {
	name := theseFiles([]string{item.Path})
	switch kind := t.in.Kind; {
	case kind == api.TransferMove && filepath.Dir(item.Path) == filepath.Dir(item.To):
		return "rename " + name
	case kind == api.TransferTrash:
		return "move " + name + " to the trash"
	case kind == api.TransferExtract:
		return "unpack " + name
	default:
		return kind + " " + name
	}
}

// sayEnded tells how a transfer has ended.
func (ts *transfers) sayEnded(t *transfer) tea.Cmd {
	paths := originals(t.job.Done)
	text := map[string]string{api.TransferCopy: "copied ", api.TransferMove: "moved ", api.TransferTrash: "moved to the trash: ",
		api.TransferDelete: "deleted ", api.TransferRestore: "restored ", api.TransferExtract: "unpacked "}[t.in.Kind]
	if isRename(t.in.Kind, t.job.Done) {
		text = "renamed "
	}
	text += theseFiles(paths)
	if t.in.Kind == api.TransferPack && len(paths) > 0 {
		text = "packed " + countOf(len(t.in.Items)) + " into " + theseFiles([]string{t.job.Done[0].To})
	}
	if len(paths) == 0 {
		text = "nothing was changed"
	}
	if t.job.Skipped > 0 {
		text += ", skipped " + widget.Itoa(t.job.Skipped)
	}
	if len(paths) > 0 && t.in.Kind != api.TransferDelete && t.in.Kind != api.TransferRestore {
		text += panes.WithKey(ts.env.Bindings(), " – ", keymap.FilesUndo, " undoes it", keymap.ScopeFiles)
	}
	switch {
	case t.job.Large:
		askLarge(ts, t)
		return nil
	case t.job.State == api.JobFailed && len(paths) > 0:
		return ts.env.Say(t.fault()+"; before that "+text, true)
	case t.job.State == api.JobFailed:
		return ts.env.Say(t.fault(), true)
	case t.job.State == api.JobCancelled:
		return ts.env.Say("cancelled; "+text, true)
	}
	return ts.env.Say(text, false)
}

// isRename reports whether a transfer only changed names.
func isRename(kind string, done []api.FileMoved) bool {
	return kind == api.TransferMove && !slices.ContainsFunc(done, func(d api.FileMoved) bool { return filepath.Dir(d.Path) != filepath.Dir(d.To) })
}

// cancel ends the transfer that runs, after a question if it has begun.
func (ts *transfers) cancel() {
	t := ts.running
	if t.id == "" {
		t.stop()
		return
	}
	rest := "Finished items stay; the rest is left alone."
	if t.back != nil {
		rest = "What was undone stays undone" + panes.WithKey(ts.env.Bindings(), "; ", keymap.FilesUndo, " undoes the rest", keymap.ScopeFiles) + "."
	}
	ts.env.Ask(&overlay.Question{
		Title: "Cancel the transfer?",
		Lines: []string{rest},
		Yes:   "cancel it",
		No:    "go on",
		Then:  panes.Do(ts.env, func(ctx context.Context, e panes.Engine) error { return e.CancelTransfer(ctx, t.id) }),
	})
}

// itemsOf are paths that go nowhere in particular.
func itemsOf(paths []string) []api.FileMove {
	items := make([]api.FileMove, len(paths))
	for i, path := range paths {
		items[i].Path = path
	}
	return items
}

func withSlash(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// addTo finds out whether the place is a folder, and begins.
func (ts *transfers) addTo(kind string, targets []string, to string) {
	asked := api.FilesTransferInput{Kind: kind, Items: itemsOf(targets)}
	ts.waiting = append(ts.waiting, wantedTransfer{&transfer{in: asked}, func(ctx context.Context, e panes.Engine) (begun, error) {
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
