package transfers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
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

func TestUndoStackIsBounded(t *testing.T) {
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
	// The user has done something else since the transfer began.
	q.waiting[0].id = "t1"
	q.handleJob(q.waiting[0], api.FileJob{State: api.JobRunning}, nil)
	if why = ""; q.handleJob(q.waiting[0], job, nil) != nil || why != "" || e.Said == "" {
		t.Errorf("refused with %q, said %q", why, e.Said)
	}
}

// A jobEngine answers each request for a transfer's progress with the next of errs, and with job
// after that.
type jobEngine struct {
	panes.Engine
	errs   []error
	job    api.FileJob
	cancel error // the answer to a cancellation
}

func (e *jobEngine) Transfer(context.Context, api.FilesTransferInput) (api.FilesTransferOutput, error) {
	return api.FilesTransferOutput{Job: "box/t1"}, nil
}

func (e *jobEngine) TransferJob(context.Context, string, int) (api.FileJob, error) {
	if len(e.errs) == 0 {
		return e.job, nil
	}
	err := e.errs[0]
	e.errs = e.errs[1:]
	return e.job, err
}

func (e *jobEngine) CancelTransfer(context.Context, string) error { return e.cancel }

var errOffline = api.Errorf(api.CodeUnavailable, "box: away")

func TestTransferIsFollowedUntilItsEngineReportsItsEnd(t *testing.T) {
	for name, err := range map[string]error{
		"machine offline": errOffline,
		"other error":     api.Errorf(api.CodeInternal, "a bug"),
		"foreign error":   errors.New("broken pipe"),
	} {
		synctest.Test(t, func(t *testing.T) {
			q, e := newTestQueue()
			e.API = &jobEngine{errs: []error{err, err, nil, err}, job: api.FileJob{State: api.JobRunning}}
			q.Add(api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: "/box:/a", To: "/b"}}}, nil)
			q.Add(api.FilesTransferInput{Kind: api.TransferCopy}, nil)
			poll := q.StartNext()().(panes.Result)()
			for answer := range 4 {
				poll = poll().(panes.Result)()
				if pause := answer != 2; pause {
					poll = poll().(panes.Result)()
				}
				if unanswered := strings.Contains(q.Progress(), "no answer"); unanswered != (answer != 2) || q.StartNext() != nil || e.Said != "" {
					t.Errorf("%s, answer %d: %q, said %q", name, answer, q.Progress(), e.Said)
				}
			}
			e.API.(*jobEngine).job = api.FileJob{State: api.JobDone, Handled: 1, Done: []api.FileMoved{{Path: "/box:/a", To: "/b"}}}
			panestest.RunAll(poll)
			if !strings.HasPrefix(e.Said, "copied a") || len(q.undos) != 1 || q.StartNext() == nil {
				t.Errorf("%s: said %q, %d undos", name, e.Said, len(q.undos))
			}
		})
	}
}

func TestTransferUnknownToRestartedEngineIsReportedAsInterrupted(t *testing.T) {
	q, e := newTestQueue()
	e.API = &jobEngine{errs: []error{api.Errorf(api.CodeNotFound, "no such transfer")}}
	q.Add(api.FilesTransferInput{Kind: api.TransferCopy}, nil)
	panestest.RunAll(q.StartNext())
	if !strings.Contains(e.Said, "interrupted") || q.running != nil {
		t.Errorf("said %q, running %v", e.Said, q.running)
	}
}

func TestCancelledTransferOfOfflineMachineMakesWayForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, e := newTestQueue()
		engine := &jobEngine{errs: []error{nil, errOffline, nil, errOffline, errOffline}, job: api.FileJob{State: api.JobRunning}, cancel: errOffline}
		e.API = engine
		q.Add(api.FilesTransferInput{Kind: api.TransferCopy}, nil)
		cancel := func() {
			q.CancelRunning()
			panestest.RunAll(e.Shown.(*dialog.Question).Then())
		}
		poll := q.StartNext()().(panes.Result)()().(panes.Result)()
		if cancel(); e.Said != "box: away" {
			t.Errorf("said %q", e.Said)
		}
		pause := poll().(panes.Result)() // the first error, after the cancellation
		poll = pause().(panes.Result)()
		cancel()
		poll = poll().(panes.Result)() // an answer, so it is followed again
		pause = poll().(panes.Result)()
		poll = pause().(panes.Result)()
		if q.running == nil {
			t.Fatal("the transfer is forgotten though its engine answered")
		}
		cancel()
		panestest.RunAll(poll)
		if e.Said != "box: away; the transfer may still be running" || q.running != nil {
			t.Errorf("said %q, running %v", e.Said, q.running)
		}
	})
}
