package transfers

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
)

// A fakePlace ignores the results of transfers.
type fakePlace struct{}

func (fakePlace) NoteChange()               {}
func (fakePlace) SelectPath(string) tea.Cmd { return nil }
func (fakePlace) SetMark(string, bool)      {}

func newTestQueue() (*Queue, *panestest.Env) {
	e := &panestest.Env{}
	return New(e, fakePlace{}), e
}

func TestUndoRevertsCycleOfRenames(t *testing.T) {
	var q Queue
	q.pushUndo(newUndo(api.TransferMove, []api.FileMoved{{Path: "/a", To: "/tmp"}, {Path: "/b", To: "/a", Replaced: "/trash/files/a"}, {Path: "/tmp", To: "/b"}}))
	want := []api.FilesTransferInput{
		{Kind: api.TransferMove, Items: []api.FileMove{{Path: "/b", To: "/tmp"}, {Path: "/a", To: "/b"}, {Path: "/tmp", To: "/a"}}},
		{Kind: api.TransferRestore, Items: []api.FileMove{{Path: "/trash/files/a", To: "/a"}}},
	}
	if diff := cmp.Diff(want, q.undos[0].steps); diff != "" {
		t.Error(diff)
	}
	q.pushUndo(newUndo(api.TransferDelete, []api.FileMoved{{Path: "/a"}}))
	q.pushUndo(newUndo(api.TransferCopy, nil))
	if len(q.undos) != 1 {
		t.Error("an operation without an undo was recorded")
	}
}

func TestUndosAreBounded(t *testing.T) {
	var q Queue
	sized := func(what string, n int) undo {
		return undo{description: what, steps: []api.FilesTransferInput{{Items: make([]api.FileMove, n)}}}
	}
	for range maxUndos + 5 {
		q.pushUndo(sized("a", 1))
	}
	if len(q.undos) != maxUndos {
		t.Errorf("%d undos recorded", len(q.undos))
	}
	q.pushUndo(sized("large", maxUndoItems+1))
	if len(q.undos) != 1 || q.undos[0].description != "large" {
		t.Errorf("after a large one %d undos remain", len(q.undos))
	}
	q.pushUndo(sized("b", 1))
	if len(q.undos) != 1 || q.undos[0].description != "b" {
		t.Errorf("after the next one %d undos remain", len(q.undos))
	}
}

func TestFailureTextNamesAction(t *testing.T) {
	item := api.FileMove{Path: "/d/a", To: "/d/b"}
	for kind, want := range map[string]string{
		api.TransferMove: "rename a", api.TransferTrash: "move a to the trash", api.TransferDelete: "delete a",
		api.TransferCopy: "copy a", api.TransferExtract: "unpack a",
	} {
		tr := &transfer{in: api.FilesTransferInput{Kind: kind, Items: []api.FileMove{item}}}
		tr.job.Error = kind + " /d/a: permission denied"
		if got := tr.failureText(); got != want+": permission denied" {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func TestPackIsReportedAndUndoneAsOneArchive(t *testing.T) {
	q, e := newTestQueue()
	in := api.FilesTransferInput{Kind: api.TransferPack, Items: []api.FileMove{{Path: "/home/d/a", To: "/home/d/d.tar.gz"}, {Path: "/home/d/b", To: "/home/d/d.tar.gz"}}}
	done := []api.FileMoved{{Path: "/home/d/a", To: "/home/d/d.tar.gz"}}
	q.handleJob(&transfer{in: in}, api.FileJob{State: api.JobDone, Handled: 1, Done: done}, nil)
	if !strings.Contains(e.Said, "packed 2 items into d.tar.gz") {
		t.Errorf("said %q", e.Said)
	}
	if u := q.undos[0]; u.steps[0].Kind != api.TransferTrash || u.steps[0].Items[0].Path != "/home/d/d.tar.gz" || u.description != "d.tar.gz" {
		t.Errorf("its undo is %+v", u)
	}
}

func TestExtractAsksBeforeUnpackingLargeArchive(t *testing.T) {
	q, e := newTestQueue()
	in := api.FilesTransferInput{Kind: api.TransferExtract, Items: []api.FileMove{{Path: "/d/a.zip", To: "/d/a"}, {Path: "/d/b.zip", To: "/d/b"}}}
	job := api.FileJob{State: api.JobFailed, Handled: 1, Large: true, Error: "extract /d/b.zip: it unpacks to more than 1024 MB"}
	q.handleJob(&transfer{in: in}, job, nil)
	asked, ok := e.Shown.(*dialog.Question)
	if !ok || !strings.Contains(asked.Title, "b.zip") {
		t.Fatalf("shown is %+v", e.Shown)
	}
	asked.Do(e, keymap.Accept)
	if w := q.waiting; len(w) != 1 || !w[0].in.Large || len(w[0].in.Items) != 1 || w[0].in.Items[0].To != "/d/b" {
		t.Errorf("enqueued %+v, want the rest of the transfer", w)
	}
}

func TestRefusedTransferReturnsToItsDialog(t *testing.T) {
	in := api.FilesTransferInput{Kind: api.TransferPack, Items: []api.FileMove{{Path: "/d/a", To: "/d/x.foo"}, {Path: "/d/b", To: "/d/x.foo"}}}
	job := api.FileJob{State: api.JobFailed, Error: "pack to /d/x.foo: wrong name"}
	q, e := newTestQueue()
	why := ""
	q.Add(in, func(s string) { why = s })
	q.handleJob(q.waiting[0], job, nil)
	if ready := e.Pending.Ready(); !ready {
		t.Error("typed input is still held")
	}
	e.Pending.Then()
	if why != "pack 2 items: wrong name" || e.Said != "" {
		t.Errorf("refused with %q, said %q", why, e.Said)
	}
	// The user has gone on since a transfer that ran for a while.
	q.waiting[0].id = "t1"
	q.handleJob(q.waiting[0], api.FileJob{State: api.JobRunning}, nil)
	if why = ""; q.handleJob(q.waiting[0], job, nil) != nil || why != "" || e.Said == "" {
		t.Errorf("refused with %q, said %q", why, e.Said)
	}
}
