package service

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/workspace/files"
)

func newTransfers(t *testing.T) (*Files, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	s := NewFiles(ctx, t.TempDir(), nil, slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { cancel(); s.Close() })
	return s, &log
}

func TestPanicInATransferFailsOnlyThatTransfer(t *testing.T) {
	for _, kind := range []string{api.TransferCopy, api.TransferTrash, api.TransferExtract, api.TransferPack} {
		t.Run(kind, func(t *testing.T) {
			s, log := newTransfers(t)
			tree := &files.Tree{Roots: []string{"/"}, Confine: func() error { panic("stumbled") }}
			begun, err := s.transfers.beginTransfer(kind, "", func(ctx context.Context, j *transfer) error {
				return j.run(ctx, tree, api.FilesTransferInput{Kind: kind}, []api.FileMove{{Path: "/a", To: "/b"}})
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.getJob(t.Context(), api.FileJobInput{ID: begun.Job, WaitMS: 60_000})
			if err != nil || out.State != api.JobFailed || !strings.Contains(out.Error, "internal error in the engine") {
				t.Errorf("the transfer is %+v (%v)", out, err)
			}
			s.transfers.running.Wait()
			if text := log.String(); !strings.Contains(text, "stumbled") {
				t.Errorf("logged %q", text)
			}
		})
	}
}

func TestCancelReturnsWhenItsCallerGivesUp(t *testing.T) {
	s, _ := newTransfers(t)
	release := make(chan struct{})
	begun, err := s.transfers.beginTransfer(api.TransferCopy, "", func(context.Context, *transfer) error { <-release; return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.cancelJob(ctx, api.FileJobInput{ID: begun.Job}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancel = %v", err)
	}
}

func TestTransferCanBeCancelledAsSoonAsItIsListed(t *testing.T) {
	s, _ := newTransfers(t)
	begun, err := s.transfers.beginTransfer(api.TransferCopy, "", func(ctx context.Context, j *transfer) error {
		s.transfers.mu.Lock()
		s.transfers.jobs[j.job.ID].cancel()
		s.transfers.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.cancelJob(t.Context(), api.FileJobInput{ID: begun.Job}); err != nil || out.State != api.JobCancelled {
		t.Errorf("cancel = %+v, %v", out, err)
	}
}

// A client that asks a new engine about a transfer of the previous one must not get another
// transfer.
func TestTransferOfAnEarlierEngineIsUnknown(t *testing.T) {
	run := func(context.Context, *transfer) error { return nil }
	former, _ := newTransfers(t)
	begun, err := former.transfers.beginTransfer(api.TransferCopy, "", run)
	if err != nil {
		t.Fatal(err)
	}
	now, _ := newTransfers(t)
	if _, err := now.transfers.beginTransfer(api.TransferCopy, "", run); err != nil {
		t.Fatal(err)
	}
	for _, ask := range []func(context.Context, api.FileJobInput) (api.FileJob, error){now.getJob, now.cancelJob} {
		if out, err := ask(t.Context(), api.FileJobInput{ID: begun.Job}); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

// startWithFiles returns a client of the operations on files, with its own trash, and a directory of files.
func startWithFiles(t *testing.T, names ...string) (client, string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "share"))
	s, _ := newTransfers(t)
	c := client{mux: server.NewMux(nil)}
	s.Handle(c.mux)
	for _, name := range names {
		writeFile(t, filepath.Join(dir, name), name)
	}
	return c, dir
}

// runTransfer begins a transfer and waits for its end.
func runTransfer(t testing.TB, c api.Engine, in api.FilesTransferInput) api.FileJob {
	t.Helper()
	out := call(t, c, api.FilesTransfer, in)
	if out.Job == "" {
		t.Fatalf("it did not begin: %+v", out)
	}
	return call(t, c, api.FilesJob, api.FileJobInput{ID: out.Job, WaitMS: 60_000})
}

func readText(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func TestTransferReturnsConflictsBeforeItStarts(t *testing.T) {
	c, dir := startWithFiles(t, "a", "b", "to/a")
	in := api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: dir + "/b", To: dir + "/to/b"}, {Path: dir + "/a", To: dir + "/to/a"}}}
	out := call(t, c, api.FilesTransfer, in)
	if out.Job != "" || len(out.Conflicts) != 1 || out.Conflicts[0] != dir+"/to/a" {
		t.Fatalf("got %+v", out)
	}
	in.Conflict = api.ConflictSkip
	if job := runTransfer(t, c, in); job.State != api.JobDone || job.Skipped != 1 || len(job.Done) != 1 {
		t.Errorf("skip: %+v", job)
	}
	in.Conflict = api.ConflictKeep
	if job := runTransfer(t, c, in); job.State != api.JobDone || job.Done[1].To != dir+"/to/a (2)" || readText(t, dir+"/to/a (2)") != "a" {
		t.Errorf("keep: %+v", job)
	}
	in.Conflict = api.ConflictReplace
	job := runTransfer(t, c, in)
	if job.State != api.JobDone || readText(t, dir+"/to/a") != "a" || readText(t, job.Done[1].Replaced) != "to/a" {
		t.Errorf("replace: %+v", job)
	}
}

func TestTransferDoesNotReplaceItsOwnSource(t *testing.T) {
	c, dir := startWithFiles(t, "aa/bb/bb/f", "aa/bb/g", "a", "x/aa", "other")
	if err := errors.Join(os.Symlink(dir+"/aa/bb", dir+"/link"), os.Link(dir+"/a", dir+"/twin")); err != nil {
		t.Fatal(err)
	}
	refused := func(kind, conflict, from, to string) {
		t.Helper()
		_, err := api.FilesTransfer.Call(t.Context(), c, api.FilesTransferInput{Kind: kind, Conflict: conflict,
			Items: []api.FileMove{{Path: dir + from, To: dir + to}}})
		if !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%s of %s to %s with %q: %v", kind, from, to, conflict, err)
		}
	}
	for _, kind := range []string{api.TransferCopy, api.TransferMove} {
		for _, conflict := range []string{"", api.ConflictReplace} {
			refused(kind, conflict, "/aa/bb/bb", "/aa/bb") // the directory above
			refused(kind, conflict, "/aa/bb/g", "/aa/bb")
			refused(kind, conflict, "/link/bb/f", "/aa/bb") // by another path
			refused(kind, conflict, "/aa", "/aa/bb")        // a directory inside
			refused(kind, conflict, "/aa", "/link/new")
		}
		refused(kind, api.ConflictReplace, "/a", "/a")
		refused(kind, api.ConflictReplace, "/a", "/twin")
	}
	refused(api.TransferMove, "", "/a", "/a")
	_, err := api.FilesTransfer.Call(t.Context(), c, api.FilesTransferInput{Kind: api.TransferMove, Conflict: api.ConflictReplace,
		Items: []api.FileMove{{Path: dir + "/x/aa", To: dir + "/aa"}, {Path: dir + "/aa/bb/g", To: dir + "/g"}}})
	if !errors.Is(err, api.CodeInvalid) {
		t.Errorf("a folder is replaced in which a later item is: %v", err)
	}
	if readText(t, dir+"/aa/bb/bb/f") != "aa/bb/bb/f" || readText(t, dir+"/aa/bb/g") != "aa/bb/g" || readText(t, dir+"/a") != "a" {
		t.Error("something was moved")
	}
	if _, err := os.Stat(dir + "/share/Trash/files"); err == nil {
		t.Error("something was moved to the trash")
	}
}

func TestCopyNextToItselfGetsANewName(t *testing.T) {
	c, dir := startWithFiles(t, "a")
	in := api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: dir + "/a", To: dir + "/a"}}}
	if out := call(t, c, api.FilesTransfer, in); len(out.Conflicts) != 1 {
		t.Errorf("it asks nothing: %+v", out)
	}
	in.Conflict = api.ConflictKeep
	if job := runTransfer(t, c, in); job.State != api.JobDone || readText(t, dir+"/a (2)") != "a" {
		t.Errorf("got %+v", job)
	}
}

func TestTransferCanSwapNames(t *testing.T) {
	c, dir := startWithFiles(t, "a", "b")
	job := runTransfer(t, c, api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{
		{Path: dir + "/a", To: dir + "/c"}, {Path: dir + "/b", To: dir + "/a"}, {Path: dir + "/c", To: dir + "/b"}}})
	if job.State != api.JobDone || readText(t, dir+"/a") != "b" || readText(t, dir+"/b") != "a" {
		t.Errorf("got %+v", job)
	}
}

func TestTransferStopsAtTheFirstFailureAndReportsProgress(t *testing.T) {
	c, dir := startWithFiles(t, "a")
	job := runTransfer(t, c, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: dir + "/a"}, {Path: dir + "/missing"}}})
	if job.State != api.JobFailed || job.Error == "" || len(job.Done) != 1 {
		t.Fatalf("got %+v", job)
	}
	call(t, c, api.FilesRestore, api.FilesRestoreInput{Items: []api.FileMove{{Path: job.Done[0].To, To: dir + "/a"}}})
	if got := readText(t, dir+"/a"); got != "a" {
		t.Errorf("restored as %q", got)
	}
}

func TestArchivesArePackedAndExtractedAsTransfers(t *testing.T) {
	c, dir := startWithFiles(t, "a", "b")
	pack := api.FilesTransferInput{Kind: api.TransferPack, Items: []api.FileMove{{Path: dir + "/a", To: dir + "/x.zip"}, {Path: dir + "/b", To: dir + "/x.zip"}}}
	if job := runTransfer(t, c, pack); job.State != api.JobDone || len(job.Done) != 1 || job.Bytes != 2 || job.Total != 2 {
		t.Fatalf("packed: %+v", job)
	}
	if out := call(t, c, api.FilesTransfer, pack); len(out.Conflicts) != 1 {
		t.Errorf("in the way are %q", out.Conflicts)
	}
	extract := api.FilesTransferInput{Kind: api.TransferExtract, Items: []api.FileMove{{Path: dir + "/x.zip", To: dir + "/x"}}}
	if job := runTransfer(t, c, extract); job.State != api.JobDone || readText(t, dir+"/x/b") != "b" || job.Total == 0 {
		t.Errorf("extracted: %+v", job)
	}
	extract.Conflict = api.ConflictKeep
	if job := runTransfer(t, c, extract); job.State != api.JobDone || readText(t, dir+"/x (2)/a") != "a" {
		t.Errorf("extracted beside: %+v", job)
	}
	// An archive that expands to more than a gigabyte is unpacked only on request.
	bomb, err := os.Create(dir + "/bomb.zip")
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(bomb)
	_, err = w.CreateRaw(&zip.FileHeader{Name: "zeros", UncompressedSize64: 2 << 30})
	if err := errors.Join(err, w.Close(), bomb.Close()); err != nil {
		t.Fatal(err)
	}
	job := runTransfer(t, c, api.FilesTransferInput{Kind: api.TransferExtract, Items: []api.FileMove{{Path: dir + "/bomb.zip", To: dir + "/bomb"}}})
	if job.State != api.JobFailed || !job.Large {
		t.Errorf("a bomb: %+v", job)
	}
	if left, _ := filepath.Glob(dir + "/.bomb*"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

func TestTransferCanBeCancelled(t *testing.T) {
	c, dir := startWithFiles(t, "a")
	if err := os.Truncate(dir+"/a", 1<<36); err != nil {
		t.Fatal(err)
	}
	out := call(t, c, api.FilesTransfer, api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: dir + "/a", To: dir + "/b"}}})
	job := call(t, c, api.FilesCancel, api.FileJobInput{ID: out.Job})
	if job.State == api.JobRunning {
		t.Errorf("it goes on: %+v", job)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("something is left: %v, %v", entries, err)
	}
	_, err = api.FilesJob.Call(t.Context(), c, api.FileJobInput{ID: "t999"})
	if !errors.Is(err, api.CodeNotFound) {
		t.Errorf("a transfer that never was: %v", err)
	}
}

func TestNonUTF8NamesPassThroughTheAPI(t *testing.T) {
	c, dir := startWithFiles(t, "bad\xff%41")
	scope := api.FileScope{Escaped: true}
	list := call(t, c, api.FilesList, api.FilesListInput{FileScope: scope, Path: api.EscapePath(dir)})
	if len(list.Entries) != 1 || api.UnescapePath(list.Entries[0].Name) != "bad\xff%41" {
		t.Fatalf("listed %+v", list)
	}
	path := api.EscapePath(filepath.Join(dir, "bad\xff%41"))
	if r := call(t, c, api.FilesRead, api.FilesReadInput{FileScope: scope, Path: path, Bytes: true}); string(r.Data) != "bad\xff%41" {
		t.Errorf("read %+v", r)
	}
	job := runTransfer(t, c, api.FilesTransferInput{FileScope: scope, Kind: api.TransferMove, Items: []api.FileMove{{Path: path, To: api.EscapePath(dir) + "/%FE"}}})
	if job.State != api.JobDone || readText(t, dir+"/\xfe") == "" {
		t.Errorf("renamed: %+v", job)
	}
}

func TestInvalidTransfersAreRejected(t *testing.T) {
	c, dir := startWithFiles(t, "a", "b")
	item := []api.FileMove{{Path: dir + "/a", To: dir + "/c"}}
	two := []api.FileMove{{Path: dir + "/a", To: dir + "/x.zip"}, {Path: dir + "/b", To: dir + "/y.zip"}}
	for _, test := range []struct {
		in   api.FilesTransferInput
		want string
	}{
		{api.FilesTransferInput{Kind: "link", Items: item}, "must be copy, move, trash, restore, delete, extract or pack"},
		{api.FilesTransferInput{Items: item}, "unknown kind \"\""},
		{api.FilesTransferInput{Kind: api.TransferCopy}, "must be 1 to 100000 items, got 0"},
		{api.FilesTransferInput{Kind: api.TransferTrash, Items: make([]api.FileMove, maxItems+1)}, "must be 1 to 100000 items, got 100001"},
		{api.FilesTransferInput{Kind: api.TransferCopy, Items: item, Conflict: "ask"}, "must be skip, replace or keep"},
		{api.FilesTransferInput{Kind: api.TransferPack, Items: two}, "pack makes one archive"},
		{api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: dir + "/a"}}}, "no destination given"},
		{api.FilesTransferInput{FileScope: api.FileScope{Roots: []string{"relative"}}, Kind: api.TransferTrash, Items: item}, "must be absolute"},
	} {
		wantError(t, c, api.FilesTransfer, test.in, api.CodeInvalid, test.want)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("something was changed: %v, %v", entries, err)
	}
}

func TestTransferIsVisibleToItsOwnerAndTheUser(t *testing.T) {
	user, dir := startWithFiles(t, "a", "b")
	first, second := user, user
	first.owner, second.owner = "one", "two"
	begin := func(c client, name string) string {
		return call(t, c, api.FilesTransfer, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: dir + name}}}).Job
	}
	agents, users := begin(first, "/a"), begin(user, "/b")
	for _, id := range []string{agents, users, "t999", "", "../t1"} {
		for who, c := range map[string]client{"the user": user, "the agent": first, "another agent": second} {
			visible := id == agents && c.owner != "two" || id == users && c.owner == ""
			job, err := api.FilesJob.Call(t.Context(), c, api.FileJobInput{ID: id, WaitMS: 60_000})
			_, cancelErr := api.FilesCancel.Call(t.Context(), c, api.FileJobInput{ID: id})
			switch {
			case visible && (err != nil || cancelErr != nil || job.State != api.JobDone):
				t.Errorf("%s of %s: %+v, %v, %v", id, who, job, err, cancelErr)
			case !visible && (!errors.Is(err, api.CodeNotFound) || !errors.Is(cancelErr, api.CodeNotFound)):
				t.Errorf("%s of %s: %v, %v", id, who, err, cancelErr)
			}
		}
	}
}

func TestFinishedTransferIsKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTransfers(t)
		release := make(chan struct{})
		begun, err := s.transfers.beginTransfer(api.TransferCopy, "", func(context.Context, *transfer) error { <-release; return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, ask := range []int{-1, 0, 1, 1 << 31} {
			if out, err := s.getJob(t.Context(), api.FileJobInput{ID: begun.Job, WaitMS: ask}); err != nil || out.State != api.JobRunning || out.Done != nil {
				t.Errorf("wait %d: %+v, %v", ask, out, err)
			}
		}
		close(release)
		synctest.Wait()
		time.Sleep(transferTTL - time.Nanosecond)
		if out, err := s.getJob(t.Context(), api.FileJobInput{ID: begun.Job}); err != nil || out.State != api.JobDone {
			t.Errorf("%+v, %v", out, err)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if _, err := s.getJob(t.Context(), api.FileJobInput{ID: begun.Job}); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("it is still known: %v", err)
		}
	})
}

func TestNoTransferBeginsWhileTheEngineStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := NewFiles(ctx, t.TempDir(), nil, slog.New(slog.DiscardHandler))
	cancel()
	if _, err := s.transfers.beginTransfer(api.TransferCopy, "", nil); !api.IsEnding(err) {
		t.Errorf("began: %v", err)
	}
	s.Close()
}

// The replaced file must not be lost if the new one cannot be put in its place.
func TestFailedReplacementIsUndone(t *testing.T) {
	c, dir := startWithFiles(t, "to/a", "from/b") // b is not an archive
	in := api.FilesTransferInput{Kind: api.TransferExtract, Conflict: api.ConflictReplace, Items: []api.FileMove{{Path: dir + "/from/b", To: dir + "/to/a"}}}
	if job := runTransfer(t, c, in); job.State != api.JobFailed || len(job.Done) != 0 || readText(t, dir+"/to/a") != "to/a" {
		t.Errorf("got %+v, the file has %q", job, readText(t, dir+"/to/a"))
	}
}

func TestFilesAreRestoredFromTheTrashInTheBackground(t *testing.T) {
	c, dir := startWithFiles(t, "a", "b/c")
	trashed := runTransfer(t, c, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: dir + "/a"}, {Path: dir + "/b"}}})
	items := []api.FileMove{{Path: trashed.Done[1].To, To: dir + "/new/b"}, {Path: trashed.Done[0].To, To: dir + "/a"}}
	job := runTransfer(t, c, api.FilesTransferInput{Kind: api.TransferRestore, Items: items})
	if job.State != api.JobDone || job.Kind != api.TransferRestore || job.Handled != 2 || readText(t, dir+"/new/b/c") != "b/c" || readText(t, dir+"/a") != "a" {
		t.Errorf("got %+v", job)
	}
	if records, err := os.ReadDir(dir + "/share/Trash/info"); err != nil || len(records) != 0 {
		t.Errorf("%d records stay, %v", len(records), err)
	}
	trashed = runTransfer(t, c, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: dir + "/a"}}})
	if err := os.WriteFile(dir+"/a", []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	back := api.FilesTransferInput{Kind: api.TransferRestore, Items: []api.FileMove{{Path: trashed.Done[0].To, To: dir + "/a"}}}
	if out := call(t, c, api.FilesTransfer, back); len(out.Conflicts) != 1 {
		t.Errorf("it asks nothing: %+v", out)
	}
	back.Conflict = api.ConflictKeep
	if job := runTransfer(t, c, back); job.State != api.JobDone || readText(t, dir+"/a (2)") != "a" || readText(t, dir+"/a") != "another" {
		t.Errorf("keep: %+v", job)
	}
	back.Items[0].Path = dir + "/new/b/c"
	back.Conflict = api.ConflictReplace
	if job := runTransfer(t, c, back); job.State != api.JobFailed || readText(t, dir+"/a") != "another" {
		t.Errorf("what is not in the trash: %+v", job)
	}
}

func TestFilesAreDeletedInTheBackground(t *testing.T) {
	c, dir := startWithFiles(t, "a", "b/c", "d")
	job := runTransfer(t, c, api.FilesTransferInput{Kind: api.TransferDelete, Items: []api.FileMove{{Path: dir + "/b"}, {Path: dir + "/missing"}, {Path: dir + "/d"}}})
	if job.State != api.JobFailed || len(job.Done) != 1 || job.Done[0].Path != dir+"/b" || job.Done[0].To != "" {
		t.Errorf("got %+v", job)
	}
	if _, err := os.Stat(dir + "/b"); err == nil || readText(t, dir+"/d") != "d" {
		t.Error("something else was deleted")
	}
}

// A client's relative paths start at its base, not in the engine's working directory.
func TestRelativePathsOfATransferStartAtTheBase(t *testing.T) {
	c, dir := startWithFiles(t, "a", "to/a", "to/a (2)", "to/b", "a in the way")
	t.Setenv("HOME", dir)
	scope := api.FileScope{Base: dir}
	in := api.FilesTransferInput{FileScope: scope, Kind: api.TransferCopy, Items: []api.FileMove{{Path: "a", To: "to/a"}}}
	if out := call(t, c, api.FilesTransfer, in); out.Job != "" || len(out.Conflicts) != 1 || out.Conflicts[0] != "to/a" {
		t.Fatalf("got %+v", out)
	}
	in.Conflict = api.ConflictSkip
	if job := runTransfer(t, c, in); job.State != api.JobDone || job.Skipped != 1 {
		t.Errorf("skip: %+v", job)
	}
	in.Conflict = api.ConflictKeep
	if job := runTransfer(t, c, in); job.State != api.JobDone || job.Done[0].To != dir+"/to/a (3)" || readText(t, dir+"/to/a (3)") != "a" {
		t.Errorf("keep: %+v", job)
	}
	in.Conflict = api.ConflictReplace
	job := runTransfer(t, c, in)
	if job.State != api.JobDone || readText(t, dir+"/to/a") != "a" || readText(t, job.Done[0].Replaced) != "to/a" {
		t.Errorf("replace: %+v", job)
	}
	in.Kind, in.Items = api.TransferMove, []api.FileMove{{Path: "./to/../to/b", To: "new/../c"}, {Path: "c", To: "to/d"}}
	if job := runTransfer(t, c, in); job.State != api.JobDone || readText(t, dir+"/to/d") != "to/b" {
		t.Errorf("move of what was moved before: %+v", job)
	}
	for _, to := range []string{"", "a\x00b"} {
		in.Items = []api.FileMove{{Path: "a", To: to}}
		if _, err := api.FilesTransfer.Call(t.Context(), c, in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("to %q: %v", to, err)
		}
	}
}

// A transfer must not reveal whether a file outside the sandbox exists, or how large it is.
func TestTransferInASandboxSeesNothingOutside(t *testing.T) {
	c, dir := startWithFiles(t, "in/a", "out/a", "out/big/file")
	if err := os.Symlink(dir+"/out", dir+"/in/link"); err != nil {
		t.Fatal(err)
	}
	for _, conflict := range []string{"", api.ConflictSkip, api.ConflictKeep, api.ConflictReplace} {
		for _, to := range []string{"../out/a", "link/a", dir + "/out/a", "../out/none"} {
			out, err := api.FilesTransfer.Call(t.Context(), c, api.FilesTransferInput{
				FileScope: api.FileScope{Roots: []string{dir + "/in"}}, Kind: api.TransferCopy, Conflict: conflict, Items: []api.FileMove{{Path: "a", To: to}}})
			if err != nil || len(out.Conflicts) > 0 {
				t.Errorf("%q to %s: %v, in the way %q", conflict, to, err, out.Conflicts)
				continue
			}
			if job := call(t, c, api.FilesJob, api.FileJobInput{ID: out.Job, WaitMS: 60_000}); job.State != api.JobFailed || job.Skipped > 0 {
				t.Errorf("%q to %s: %+v", conflict, to, job)
			}
		}
	}
	for _, from := range []string{"../out/big", "link/big"} {
		job := runTransfer(t, c, api.FilesTransferInput{FileScope: api.FileScope{Roots: []string{dir + "/in"}}, Kind: api.TransferCopy,
			Items: []api.FileMove{{Path: from, To: "new"}}})
		if job.State != api.JobFailed || job.Total != 0 {
			t.Errorf("from %s: %+v", from, job)
		}
	}
	if readText(t, dir+"/out/a") != "out/a" {
		t.Error("something outside was changed")
	}
}
