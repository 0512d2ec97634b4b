package transfers

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/text"
)

// reportFailure reports why a transfer could not start, in its dialog if that is still waiting.
func (q *Queue) reportFailure(t *transfer, why string) tea.Cmd {
	if t.refused == nil {
		return q.env.Say(why, true)
	}
	t.askWhenHeld(func() { t.refused(why) })
	return nil
}

// failureText says which action failed and why. If the error begins with a path, it leaves that out
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
	name := NameFiles([]string{item.Path})
	switch kind := t.in.Kind; {
	case kind == api.TransferMove && filepath.Dir(item.Path) == filepath.Dir(item.To):
		return "rename " + name
	case kind == api.TransferTrash:
		return "move " + name + " to the trash"
	case kind == api.TransferExtract:
		return "unpack " + name
	case kind == api.TransferPack && len(t.in.Items) > 1: // into one archive
		return "pack " + CountItems(len(t.in.Items))
	default:
		return kind + " " + name
	}
}

// finishJob ends a transfer that is no longer followed, and shows its result. err is not nil if the
// result is unknown.
func (q *Queue) finishJob(t *transfer, job api.FileJob, err error) tea.Cmd {
	q.running = nil
	q.place.NoteChange()
	switch {
	case errors.Is(err, api.CodeNotFound):
		return q.env.Say("the engine was restarted; the transfer was interrupted", true)
	case err != nil:
		return q.env.Say(panes.ErrorText(err)+"; the transfer may still be running", true)
	case t.undoing != nil:
		return q.continueUndo(t)
	}
	if n := len(t.in.Items); job.State != api.JobDone && n > 1 { // mark the rest for another try
		for _, item := range t.in.Items[min(job.Handled, n):] {
			q.place.SetMark(item.Path, true)
		}
	}
	q.pushUndo(newUndo(t.in.Kind, job.Done))
	return q.reportResult(t)
}

// reportResult shows the result of a transfer.
func (q *Queue) reportResult(t *transfer) tea.Cmd {
	paths := originalPaths(t.job.Done)
	done := map[string]string{api.TransferCopy: "copied ", api.TransferMove: "moved ", api.TransferTrash: "moved to the trash: ",
		api.TransferDelete: "deleted ", api.TransferRestore: "restored ", api.TransferExtract: "unpacked "}[t.in.Kind]
	if isRename(t.in.Kind, t.job.Done) {
		done = "renamed "
	}
	done += NameFiles(paths)
	if t.in.Kind == api.TransferPack && len(paths) > 0 {
		done = "packed " + CountItems(len(t.in.Items)) + " into " + NameFiles([]string{t.job.Done[0].To})
	}
	if len(paths) == 0 {
		done = "nothing was changed"
	}
	if t.job.Skipped > 0 {
		done += ", skipped " + text.Itoa(t.job.Skipped)
	}
	if len(paths) > 0 && t.in.Kind != api.TransferDelete && t.in.Kind != api.TransferRestore {
		done += q.env.Bindings().WithKey(" – ", keymap.FilesUndo, " undoes it", keymap.ScopeFiles)
	}
	switch {
	case t.job.Large:
		q.askLarge(t)
		return nil
	case t.job.State == api.JobFailed && len(paths) > 0:
		return q.env.Say(t.failureText()+"; before that "+done, true)
	case t.job.State == api.JobFailed:
		return q.reportFailure(t, t.failureText())
	case t.job.State == api.JobCancelled:
		return q.env.Say("cancelled; "+done, true)
	}
	return q.env.Say(done, false)
}

// isRename reports whether a transfer only changed names.
func isRename(kind string, done []api.FileMoved) bool {
	return kind == api.TransferMove && !slices.ContainsFunc(done, func(d api.FileMoved) bool { return filepath.Dir(d.Path) != filepath.Dir(d.To) })
}
