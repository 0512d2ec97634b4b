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
	"tandem/panes/files/entries"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// The engine does the transfers; here they are queued and followed. A transfer is started in the
// background, because checking its destination reads the disk. The start may find conflicts and
// need the user's answer, and the end may push an undo. Only one transfer runs at a time, and none
// starts while a question about conflicts is open: the answer must match what the user saw.

// transfers are copies, moves and deletions: the running one, waiting ones, and those to undo.
type transfers struct {
	env     panes.Env
	marks   entries.Marks // without the files transferred
	results place
	running *transfer
	waiting []queuedTransfer
	asking  dialog.Overlay // the question about conflicts
	undos   []undo
}

// A place shows the results of transfers.
type place interface {
	noteChange()                    // lists the files again
	selectPath(path string) tea.Cmd // moves the cursor to a file, if it is there
}

// A transfer is an operation on files by the engine.
type transfer struct {
	id      string // "" while it is being started
	in      api.FilesTransferInput
	job     api.FileJob
	stop    context.CancelFunc // cancels starting it
	undoing *undo              // remaining steps if it is part of an undo
}

// A queuedTransfer waits for others to end. begin starts it, or finds what is in its way, in the
// background.
type queuedTransfer struct {
	*transfer
	begin func(context.Context, panes.Engine) (transferStart, error)
}

// A transferStart is the result of starting a transfer.
type transferStart struct {
	in    api.FilesTransferInput // the input, with destinations
	out   api.FilesTransferOutput
	facts []string // descriptions of conflicts
}

// progressNote describes the progress of the running transfer; "" if there is none.
func (ts *transfers) progressNote() string {
	t := ts.running
	if t == nil {
		return ""
	}
	stop := ts.env.Bindings().WithKey(", ", keymap.Clear, " cancels it", keymap.ScopeFiles, keymap.ScopeList)
	status := ""
	if t.undoing != nil {
		status = "undoing: "
	}
	n := len(t.in.Items)
	if t.id == "" {
		return status + "checking " + countItems(n) + stop
	}
	status += map[string]string{api.TransferCopy: "copying", api.TransferMove: "moving", api.TransferTrash: "to the trash",
		api.TransferRestore: "out of the trash", api.TransferDelete: "deleting", api.TransferExtract: "unpacking", api.TransferPack: "packing"}[t.in.Kind]
	status += " " + text.Clip(text.FileName(filepath.Base(t.job.Current)), 24)
	if n > 1 {
		status += " " + text.Itoa(min(t.job.Handled+1, n)) + " of " + text.Itoa(n)
	}
	switch {
	case t.job.Total > 0:
		status += " " + progressBar(t.job.Bytes, t.job.Total) + " of " + units.Bytes(t.job.Total)
	case n > 1:
		status += " " + progressBar(int64(t.job.Handled), int64(n))
	}
	if waiting := len(ts.waiting); waiting > 0 {
		status += ", then " + text.Itoa(waiting) + " more"
	}
	return status + stop
}

// progressBar draws done of all as a bar. all must be positive.
func progressBar(done, all int64) string {
	bar := progress.New(progress.WithWidth(10), progress.WithFillCharacters('█', '░'), progress.WithoutPercentage())
	bar.FullColor, bar.EmptyColor = lipgloss.NoColor{}, lipgloss.NoColor{} // inherit the status bar's colours
	percent := int(min(done, all) * 100 / all)
	return bar.ViewAs(float64(percent/10)/10) + " " + text.Itoa(percent) + "%"
}

// newQueued returns a transfer ready to start.
func newQueued(in api.FilesTransferInput, back *undo) queuedTransfer {
	return queuedTransfer{&transfer{in: in, undoing: back}, func(ctx context.Context, e panes.Engine) (transferStart, error) {
		return startTransfer(ctx, e, in)
	}}
}

// enqueueTransfer adds a transfer to the queue.
func (ts *transfers) enqueueTransfer(in api.FilesTransferInput) {
	ts.waiting = append(ts.waiting, newQueued(in, nil))
}

// enqueueFirst puts a transfer at the head of the queue.
func (ts *transfers) enqueueFirst(in api.FilesTransferInput, back *undo) {
	ts.waiting = slices.Insert(ts.waiting, 0, newQueued(in, back))
}

// enqueueCmd returns a command to enqueue a transfer, for the answer to a question.
func (ts *transfers) enqueueCmd(in api.FilesTransferInput) tea.Cmd {
	return panes.Result(func() tea.Cmd {
		ts.enqueueTransfer(in)
		return nil
	}).Cmd
}

// startNext starts the next transfer. Only one runs at a time, and none while a conflict is being
// resolved.
func (ts *transfers) startNext() tea.Cmd {
	if ts.asking != nil && ts.env.Shows(ts.asking) || ts.running != nil || len(ts.waiting) == 0 {
		return nil
	}
	t := ts.waiting[0]
	ts.waiting = ts.waiting[1:]
	ts.running = t.transfer
	ts.env.ClearNote() // progress uses the same place
	ctx, cancel := context.WithCancel(ts.env.Context())
	t.stop = cancel
	return panes.Ask(ctx, ts.env, t.begin, func(b transferStart, err error) tea.Cmd {
		cancel()
		return ts.handleStart(t.transfer, b, err)
	})
}

func (ts *transfers) handleStart(t *transfer, b transferStart, err error) tea.Cmd {
	if err != nil {
		ts.running = nil
		ts.pushUndo(t.remainingUndo())
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
	// The marks have served their purpose.
	for _, item := range t.in.Items {
		delete(ts.marks, item.Path)
	}
	t.id = b.out.Job
	return ts.pollJob(t, 30)
}

// pollJob asks for the progress of a transfer.
func (ts *transfers) pollJob(t *transfer, waitMS int) tea.Cmd {
	return panes.Ask(ts.env.Context(), ts.env, func(ctx context.Context, e panes.Engine) (api.FileJob, error) {
		return e.TransferJob(ctx, t.id, waitMS)
	}, func(job api.FileJob, err error) tea.Cmd { return ts.handleJob(t, job, err) })
}

func (ts *transfers) handleJob(t *transfer, job api.FileJob, err error) tea.Cmd {
	if err == nil {
		if t.job = job; job.State == api.JobRunning {
			return ts.pollJob(t, 250)
		}
	}
	ts.running = nil
	ts.results.noteChange()
	switch {
	case errors.Is(err, api.CodeNotFound):
		return ts.env.Say("the engine was restarted; the transfer was interrupted", true)
	case err != nil:
		return ts.env.Say(panes.ErrorText(err), true)
	case t.undoing != nil:
		return ts.continueUndo(t)
	}
	if n := len(t.in.Items); job.State != api.JobDone && n > 1 { // mark the rest for another try
		for _, item := range t.in.Items[min(job.Handled, n):] {
			ts.marks[item.Path] = true
		}
	}
	ts.pushUndo(newUndo(t.in.Kind, job.Done))
	return ts.reportResult(t)
}

// failureText returns the action that failed, and why. It drops whole paths from an item's error,
// to make room for the cause.
func (t *transfer) failureText() string {
	if t.job.Handled >= len(t.in.Items) {
		return t.job.Error
	}
	item := t.in.Items[t.job.Handled]
	for _, path := range []string{item.To, item.Path} {
		if _, cause, ok := strings.Cut(t.job.Error, path+": "); ok && path != "" {
			return t.describeItem(item) + ": " + cause
		}
	}
	return t.job.Error
}

// describeItem names the action on an item, as in "move a.txt to the trash".
func (t *transfer) describeItem(item api.FileMove) string {
	name := nameFiles([]string{item.Path})
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

// reportResult shows the result of a transfer.
func (ts *transfers) reportResult(t *transfer) tea.Cmd {
	paths := originalPaths(t.job.Done)
	done := map[string]string{api.TransferCopy: "copied ", api.TransferMove: "moved ", api.TransferTrash: "moved to the trash: ",
		api.TransferDelete: "deleted ", api.TransferRestore: "restored ", api.TransferExtract: "unpacked "}[t.in.Kind]
	if isRename(t.in.Kind, t.job.Done) {
		done = "renamed "
	}
	done += nameFiles(paths)
	if t.in.Kind == api.TransferPack && len(paths) > 0 {
		done = "packed " + countItems(len(t.in.Items)) + " into " + nameFiles([]string{t.job.Done[0].To})
	}
	if len(paths) == 0 {
		done = "nothing was changed"
	}
	if t.job.Skipped > 0 {
		done += ", skipped " + text.Itoa(t.job.Skipped)
	}
	if len(paths) > 0 && t.in.Kind != api.TransferDelete && t.in.Kind != api.TransferRestore {
		done += ts.env.Bindings().WithKey(" – ", keymap.FilesUndo, " undoes it", keymap.ScopeFiles)
	}
	switch {
	case t.job.Large:
		ts.askLarge(t)
		return nil
	case t.job.State == api.JobFailed && len(paths) > 0:
		return ts.env.Say(t.failureText()+"; before that "+done, true)
	case t.job.State == api.JobFailed:
		return ts.env.Say(t.failureText(), true)
	case t.job.State == api.JobCancelled:
		return ts.env.Say("cancelled; "+done, true)
	}
	return ts.env.Say(done, false)
}

// isRename reports whether a transfer only changed names.
func isRename(kind string, done []api.FileMoved) bool {
	return kind == api.TransferMove && !slices.ContainsFunc(done, func(d api.FileMoved) bool { return filepath.Dir(d.Path) != filepath.Dir(d.To) })
}

// cancelRunning cancels the running transfer, after a question if it has started.
func (ts *transfers) cancelRunning() {
	t := ts.running
	// Nothing has changed yet, so there is nothing to ask.
	if t.id == "" {
		t.stop()
		return
	}
	rest := "Finished items stay; the rest is left alone."
	if t.undoing != nil {
		rest = "What was undone stays undone" + ts.env.Bindings().WithKey("; ", keymap.FilesUndo, " undoes the rest", keymap.ScopeFiles) + "."
	}
	ts.env.Ask(&dialog.Question{
		Title: "Cancel the transfer?",
		Lines: []string{rest},
		Yes:   "cancel it",
		No:    "go on",
		Then:  panes.Do(ts.env, func(ctx context.Context, e panes.Engine) error { return e.CancelTransfer(ctx, t.id) }),
	})
}

// askLarge asks whether to unpack an archive much larger than its file.
func (ts *transfers) askLarge(t *transfer) {
	in := t.in
	in.Items, in.Large = in.Items[min(t.job.Handled, len(in.Items)-1):], true
	ts.env.Ask(&dialog.Question{
		Title: "Unpack " + nameFiles([]string{in.Items[0].Path}) + " all the same?",
		Lines: append(text.WrapWords(t.failureText()+".", 60), "Nothing was kept. Extracting it may fill the disk."),
		Yes:   "unpack it",
		Then:  ts.enqueueCmd(in),
	})
}

// askDelete asks before deleting files for good. names are the paths the user knows them by.
func (ts *transfers) askDelete(title string, paths, names []string) {
	ts.env.Ask(&dialog.Question{
		Title: title,
		Lines: append(text.Some(names, 10, func(path string) string { return text.Clip(text.FileName(filepath.Base(path)), 60) }),
			"This cannot be undone."),
		Yes:  "delete",
		No:   "keep",
		Then: ts.enqueueCmd(api.FilesTransferInput{Kind: api.TransferDelete, Items: itemsFor(paths)}),
	})
}

// nameFiles names one file, or the number of several.
func nameFiles(paths []string) string {
	if len(paths) == 1 {
		return text.Clip(text.FileName(filepath.Base(paths[0])), 40)
	}
	return countItems(len(paths))
}

// countItems returns a number of files and folders in words.
func countItems(n int) string { return text.Count(n, "item") }

// itemsFor returns items without a destination.
func itemsFor(paths []string) []api.FileMove {
	items := make([]api.FileMove, len(paths))
	for i, path := range paths {
		items[i].Path = path
	}
	return items
}

func withSlash(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// enqueueTo enqueues a transfer to a path, first checking whether that is a folder.
func (ts *transfers) enqueueTo(kind string, targets []string, to string) {
	asked := api.FilesTransferInput{Kind: kind, Items: itemsFor(targets)}
	ts.waiting = append(ts.waiting, queuedTransfer{&transfer{in: asked}, func(ctx context.Context, e panes.Engine) (transferStart, error) {
		into := strings.HasSuffix(to, "/") || len(targets) > 1
		to = filepath.Clean(to)
		if !into {
			if _, err := e.ListFiles(ctx, to, "", 1); err == nil {
				// A folder cannot go into itself.
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
		return startTransfer(ctx, e, in)
	}})
}
