// Package transfers queues copies, moves and other transfers of files. The engine carries them out;
// the package follows them, asks about conflicts and undoes them.
package transfers

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/progress"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// The engine carries out the transfers; here they are queued and followed. A transfer is started in
// the background, because checking its destination reads the disk. Starting it may find conflicts
// that the user must resolve. When it ends, an undo may be recorded. Only one transfer runs at a
// time, and none starts while a question about conflicts is open: the answer must match what the
// user saw.

// A Queue holds the running transfer, the waiting ones, and what is needed to undo earlier ones.
type Queue struct {
	env     panes.Env
	place   Place
	running *transfer
	waiting []*transfer
	asking  dialog.Overlay // the question about conflicts
	undos   []undo
}

// A Place shows the results of transfers.
type Place interface {
	NoteChange()                    // lists the files again
	SelectPath(path string) tea.Cmd // moves the cursor to a file, if it is there
	SetMark(path string, on bool)
}

// New returns an empty queue.
func New(env panes.Env, place Place) *Queue { return &Queue{env: env, place: place} }

// A transfer is an operation on files by the engine.
type transfer struct {
	id      string // "" while it is being started
	in      api.FilesTransferInput
	job     api.FileJob
	stop    context.CancelFunc // cancels starting it
	undoing *undo              // remaining steps if it is part of an undo
	settled bool               // it runs, has failed or asks a question
	awaited bool               // typed input waits until it has settled
	ask     func()             // what to ask then; may be nil
	refused func(why string)   // reports an error instead of the status bar; nil once it runs

	unanswered bool // the last request for its progress has failed
	abandoned  bool // the user tried to cancel it while it was unanswered, and that request has failed too

	// begin starts the transfer, or finds what is in its way. It is called in the background.
	begin func(context.Context, panes.Engine) (transferStart, error)
}

// A transferStart is the result of starting a transfer.
type transferStart struct {
	in    api.FilesTransferInput // the input, with destinations
	out   api.FilesTransferOutput
	facts []string // descriptions of conflicts

	missing string // the destination folder if it does not exist; nothing has started
}

// Progress describes the progress of the running transfer; "" if there is none.
func (q *Queue) Progress() string {
	t := q.running
	if t == nil {
		return ""
	}
	stop := q.env.Bindings().WithKey(", ", keymap.Clear, " cancels it", keymap.ScopeFiles, keymap.ScopeList)
	status := ""
	if t.undoing != nil {
		status = "undoing: "
	}
	n := len(t.in.Items)
	if t.id == "" {
		return status + "checking " + CountItems(n) + stop
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
	if waiting := len(q.waiting); waiting > 0 {
		status += ", then " + text.Itoa(waiting) + " more"
	}
	if t.unanswered {
		status += ", no answer"
	}
	return status + stop
}

// progressBar draws a bar that shows how much of total is done. total must be positive.
func progressBar(done, total int64) string {
	bar := progress.New(progress.WithWidth(10), progress.WithFillCharacters('█', '░'), progress.WithoutPercentage())
	bar.FullColor, bar.EmptyColor = lipgloss.NoColor{}, lipgloss.NoColor{} // inherit the status bar's colours
	percent := int(min(done, total) * 100 / total)
	return bar.ViewAs(float64(percent/10)/10) + " " + text.Itoa(percent) + "%"
}

// Trash moves files to the trash.
func (q *Queue) Trash(paths []string) tea.Cmd {
	return q.Add(api.FilesTransferInput{Kind: api.TransferTrash, Items: itemsFor(paths)}, nil)
}

// newTransfer returns a transfer ready to start.
func newTransfer(in api.FilesTransferInput, back *undo) *transfer {
	return &transfer{in: in, undoing: back, begin: func(ctx context.Context, e panes.Engine) (transferStart, error) {
		return startTransfer(ctx, e, in)
	}}
}

// Add adds a transfer to the queue. It must be called while a key of the user is handled. If the
// transfer starts at once and fails before it has changed anything, refused is called with the
// error, unless it is nil.
func (q *Queue) Add(in api.FilesTransferInput, refused func(why string)) tea.Cmd {
	t := newTransfer(in, nil)
	q.waiting = append(q.waiting, t)
	return q.awaitStart(t, refused)
}

// addFirst puts a transfer at the head of the queue.
func (q *Queue) addFirst(in api.FilesTransferInput, back *undo) *transfer {
	t := newTransfer(in, back)
	q.waiting = slices.Insert(q.waiting, 0, t)
	return t
}

// awaitStart holds typed input until a new transfer has started, so that the next keys answer a
// question about conflicts. It does nothing if there can be no such question, or if the transfer
// has to wait for others.
func (q *Queue) awaitStart(t *transfer, refused func(why string)) tea.Cmd {
	asks := t.in.Kind != api.TransferTrash && t.in.Kind != api.TransferDelete
	if !asks || q.running != nil || q.isAsking() || q.waiting[0] != t {
		return nil
	}
	t.refused, t.awaited = refused, true
	return q.env.Await(panes.Pending{
		Ready: func() bool { return t.settled },
		Then: func() tea.Cmd {
			if t.ask != nil {
				t.ask()
			}
			return nil
		},
		Cancel: func() {
			if t.refused, t.awaited = nil, false; t.id == "" && t.stop != nil {
				t.stop()
			}
		},
	})
}

// askWhenHeld calls ask, which opens a dialog. If typed input waits for the transfer, ask is called
// just before that input is handled, so that the input goes to the dialog.
func (t *transfer) askWhenHeld(ask func()) {
	if t.awaited {
		t.ask = ask
		return
	}
	ask()
}

// isAsking reports whether a question about conflicts is open or waits to be opened.
func (q *Queue) isAsking() bool { return q.asking != nil && q.env.Shows(q.asking) }

// StartNext starts the next transfer. Only one runs at a time, and none while a conflict is being
// resolved.
func (q *Queue) StartNext() tea.Cmd {
	if q.isAsking() || q.running != nil || len(q.waiting) == 0 {
		return nil
	}
	t := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.running = t
	q.env.ClearNote() // progress uses the same place
	ctx, cancel := context.WithCancel(q.env.Context())
	t.stop = cancel
	return panes.Call(ctx, q.env, t.begin, func(b transferStart, err error) tea.Cmd {
		cancel()
		return q.handleStart(t, b, err)
	})
}

func (q *Queue) handleStart(t *transfer, b transferStart, err error) tea.Cmd {
	if err != nil {
		q.running, t.settled = nil, true
		q.pushUndo(t.remainingUndo())
		if errors.Is(err, context.Canceled) {
			return q.env.Say("cancelled", false)
		}
		return q.reportFailure(t, panes.ErrorText(err))
	}
	t.in = b.in
	if b.missing != "" {
		q.running, t.settled = nil, true
		t.askWhenHeld(func() { q.askFolder(t, b.missing) })
		return nil
	}
	if len(b.out.Conflicts) > 0 {
		q.running, t.settled = nil, true
		t.askWhenHeld(func() { q.askConflict(t, b) })
		return nil
	}
	// The marks have served their purpose.
	for _, item := range t.in.Items {
		q.place.SetMark(item.Path, false)
	}
	t.id = b.out.Job
	return q.pollJob(t, 30)
}

// pollJob asks for the progress of a transfer.
func (q *Queue) pollJob(t *transfer, waitMS int) tea.Cmd {
	return panes.Call(q.env.Context(), q.env, func(ctx context.Context, e panes.Engine) (api.FileJob, error) {
		return e.TransferJob(ctx, t.id, waitMS)
	}, func(job api.FileJob, err error) tea.Cmd { return q.handleJob(t, job, err) })
}

// retryPause is the time before progress is requested again after an error.
const retryPause = time.Second

// handleJob handles the answer to pollJob: it polls again while the transfer runs or its engine does
// not answer, unless the user has abandoned the transfer.
func (q *Queue) handleJob(t *transfer, job api.FileJob, err error) tea.Cmd {
	t.settled = true
	t.unanswered = err != nil && !errors.Is(err, api.CodeNotFound)
	if err == nil {
		t.job, t.abandoned = job, false
	}
	poll := func() tea.Cmd { return q.pollJob(t, 250) }
	if t.unanswered && !t.abandoned {
		// Only the engine that runs the transfer knows when it ends, and that engine may be offline
		// for a moment.
		t.refused = nil
		return panes.After(retryPause, poll)
	}
	if err == nil && job.State == api.JobRunning {
		t.refused = nil
		return poll()
	}
	return q.finishJob(t, job, err)
}

// CancelRunning cancels the current transfer. If the transfer has begun, it asks first. It reports
// whether there is a current transfer.
func (q *Queue) CancelRunning() bool {
	t := q.running
	if t == nil {
		return false
	}
	// If the transfer has not begun, nothing has changed, so there is nothing to ask.
	if t.id == "" {
		t.stop()
		return true
	}
	rest := "Finished items stay; the rest is left alone."
	if t.undoing != nil {
		rest = "What was undone stays undone" + q.env.Bindings().WithKey("; ", keymap.FilesUndo, " undoes the rest", keymap.ScopeFiles) + "."
	}
	q.env.Ask(&dialog.Question{
		Title: "Cancel the transfer?",
		Lines: []string{rest},
		Yes:   "cancel it",
		No:    "go on",
		Then:  func() tea.Cmd { return q.cancel(t) },
	})
	return true
}

// cancel returns a command that cancels a transfer. If the transfer's engine does not answer, the
// transfer is abandoned, so that the next one can start.
func (q *Queue) cancel(t *transfer) tea.Cmd {
	return panes.Call(q.env.Context(), q.env, func(ctx context.Context, e panes.Engine) (struct{}, error) {
		return struct{}{}, e.CancelTransfer(ctx, t.id)
	}, func(_ struct{}, err error) tea.Cmd {
		if err == nil {
			return nil
		}
		t.abandoned = t.unanswered
		return q.env.Say(panes.ErrorText(err), true)
	})
}

// NameFiles returns the name of a single file, or the number of files in words.
func NameFiles(paths []string) string {
	if len(paths) == 1 {
		return text.Clip(text.FileName(filepath.Base(paths[0])), 40)
	}
	return CountItems(len(paths))
}

// CountItems returns a number of files and folders in words.
func CountItems(n int) string { return text.Count(n, "item") }

// itemsFor returns items without a destination.
func itemsFor(paths []string) []api.FileMove {
	items := make([]api.FileMove, len(paths))
	for i, path := range paths {
		items[i].Path = path
	}
	return items
}

// AddTo adds a transfer of targets to a path. If the path is a folder, they go into it, and
// otherwise it is the new path of the only target. refused is as in Add.
func (q *Queue) AddTo(kind string, targets []string, to string, refused func(why string)) tea.Cmd {
	in := api.FilesTransferInput{Kind: kind, Items: itemsFor(targets)}
	t := &transfer{in: in, begin: func(ctx context.Context, e panes.Engine) (transferStart, error) {
		into := strings.HasSuffix(to, "/") || len(targets) > 1
		to = filepath.Clean(to)
		if !into {
			if _, err := e.ListFiles(ctx, to, "", 1); err == nil {
				// A folder cannot go into itself.
				into = to != targets[0]
			}
		}
		in.Items = slices.Clone(in.Items)
		for i, path := range targets {
			if in.Items[i].To = to; into {
				in.Items[i].To = filepath.Join(to, filepath.Base(path))
			}
		}
		folder := filepath.Dir(in.Items[0].To)
		if _, err := e.ListFiles(ctx, folder, "", 1); errors.Is(err, api.CodeNotFound) {
			return transferStart{in: in, missing: folder}, nil
		}
		return startTransfer(ctx, e, in)
	}}
	q.waiting = append(q.waiting, t)
	return q.awaitStart(t, refused)
}
