package engine

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tandem/engine/api"
)

// startWithFiles returns a machine with its own trash, and a directory of files.
func startWithFiles(t *testing.T, names ...string) (*machine, string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "share"))
	m := startMachine(t)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m, dir
}

// runTransfer begins a transfer and waits for its end.
func runTransfer(m *machine, in api.FilesTransferInput) api.FileJob {
	m.Helper()
	out := call(m, api.FilesTransfer, in)
	if out.Job == "" {
		m.Fatalf("it did not begin: %+v", out)
	}
	return call(m, api.FilesJob, api.FileJobInput{ID: out.Job, WaitMS: 60_000})
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
	m, dir := startWithFiles(t, "a", "b", "to/a")
	in := api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: dir + "/b", To: dir + "/to/b"}, {Path: dir + "/a", To: dir + "/to/a"}}}
	out := call(m, api.FilesTransfer, in)
	if out.Job != "" || len(out.Conflicts) != 1 || out.Conflicts[0] != dir+"/to/a" {
		t.Fatalf("got %+v", out)
	}
	in.Conflict = api.ConflictSkip
	if job := runTransfer(m, in); job.State != api.JobDone || job.Skipped != 1 || len(job.Done) != 1 {
		t.Errorf("skip: %+v", job)
	}
	in.Conflict = api.ConflictKeep
	if job := runTransfer(m, in); job.State != api.JobDone || job.Done[1].To != dir+"/to/a (2)" || readText(t, dir+"/to/a (2)") != "a" {
		t.Errorf("keep: %+v", job)
	}
	in.Conflict = api.ConflictReplace
	job := runTransfer(m, in)
	if job.State != api.JobDone || readText(t, dir+"/to/a") != "a" || readText(t, job.Done[1].Replaced) != "to/a" {
		t.Errorf("replace: %+v", job)
	}
}

func TestTransferDoesNotReplaceItsOwnSource(t *testing.T) {
	m, dir := startWithFiles(t, "aa/bb/bb/f", "aa/bb/g", "a", "x/aa", "other")
	if err := errors.Join(os.Symlink(dir+"/aa/bb", dir+"/link"), os.Link(dir+"/a", dir+"/twin")); err != nil {
		t.Fatal(err)
	}
	refused := func(kind, conflict, from, to string) {
		t.Helper()
		_, err := api.FilesTransfer.Call(t.Context(), m.client, api.FilesTransferInput{Kind: kind, Conflict: conflict,
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
	_, err := api.FilesTransfer.Call(t.Context(), m.client, api.FilesTransferInput{Kind: api.TransferMove, Conflict: api.ConflictReplace,
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
	m, dir := startWithFiles(t, "a")
	in := api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: dir + "/a", To: dir + "/a"}}}
	if out := call(m, api.FilesTransfer, in); len(out.Conflicts) != 1 {
		t.Errorf("it asks nothing: %+v", out)
	}
	in.Conflict = api.ConflictKeep
	if job := runTransfer(m, in); job.State != api.JobDone || readText(t, dir+"/a (2)") != "a" {
		t.Errorf("got %+v", job)
	}
}

func TestTransferCanSwapNames(t *testing.T) {
	m, dir := startWithFiles(t, "a", "b")
	job := runTransfer(m, api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{
		{Path: dir + "/a", To: dir + "/c"}, {Path: dir + "/b", To: dir + "/a"}, {Path: dir + "/c", To: dir + "/b"}}})
	if job.State != api.JobDone || readText(t, dir+"/a") != "b" || readText(t, dir+"/b") != "a" {
		t.Errorf("got %+v", job)
	}
}

func TestTransferStopsAtTheFirstFailureAndReportsProgress(t *testing.T) {
	m, dir := startWithFiles(t, "a")
	job := runTransfer(m, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: dir + "/a"}, {Path: dir + "/missing"}}})
	if job.State != api.JobFailed || job.Error == "" || len(job.Done) != 1 {
		t.Fatalf("got %+v", job)
	}
	call(m, api.FilesRestore, api.FilesRestoreInput{Items: []api.FileMove{{Path: job.Done[0].To, To: dir + "/a"}}})
	if got := readText(t, dir+"/a"); got != "a" {
		t.Errorf("restored as %q", got)
	}
}

func TestArchivesArePackedAndExtractedAsTransfers(t *testing.T) {
	m, dir := startWithFiles(t, "a", "b")
	pack := api.FilesTransferInput{Kind: api.TransferPack, Items: []api.FileMove{{Path: dir + "/a", To: dir + "/x.zip"}, {Path: dir + "/b", To: dir + "/x.zip"}}}
	if job := runTransfer(m, pack); job.State != api.JobDone || len(job.Done) != 1 || job.Bytes != 2 || job.Total != 2 {
		t.Fatalf("packed: %+v", job)
	}
	if out := call(m, api.FilesTransfer, pack); len(out.Conflicts) != 1 {
		t.Errorf("in the way are %q", out.Conflicts)
	}
	extract := api.FilesTransferInput{Kind: api.TransferExtract, Items: []api.FileMove{{Path: dir + "/x.zip", To: dir + "/x"}}}
	if job := runTransfer(m, extract); job.State != api.JobDone || readText(t, dir+"/x/b") != "b" || job.Total == 0 {
		t.Errorf("extracted: %+v", job)
	}
	extract.Conflict = api.ConflictKeep
	if job := runTransfer(m, extract); job.State != api.JobDone || readText(t, dir+"/x (2)/a") != "a" {
		t.Errorf("extracted beside: %+v", job)
	}
	// An archive growing beyond a gigabyte is unpacked only on request.
	bomb, err := os.Create(dir + "/bomb.zip")
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(bomb)
	_, err = w.CreateRaw(&zip.FileHeader{Name: "zeros", UncompressedSize64: 2 << 30})
	if err := errors.Join(err, w.Close(), bomb.Close()); err != nil {
		t.Fatal(err)
	}
	job := runTransfer(m, api.FilesTransferInput{Kind: api.TransferExtract, Items: []api.FileMove{{Path: dir + "/bomb.zip", To: dir + "/bomb"}}})
	if job.State != api.JobFailed || !job.Large {
		t.Errorf("a bomb: %+v", job)
	}
	if left, _ := filepath.Glob(dir + "/.bomb*"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

func TestTransferCanBeCancelled(t *testing.T) {
	m, dir := startWithFiles(t, "a")
	if err := os.Truncate(dir+"/a", 1<<36); err != nil {
		t.Fatal(err)
	}
	out := call(m, api.FilesTransfer, api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: dir + "/a", To: dir + "/b"}}})
	job := call(m, api.FilesCancel, api.FileJobInput{ID: out.Job})
	if job.State == api.JobRunning {
		t.Errorf("it goes on: %+v", job)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("something is left: %v, %v", entries, err)
	}
	_, err = api.FilesJob.Call(t.Context(), m.client, api.FileJobInput{ID: "t999"})
	if !errors.Is(err, api.CodeNotFound) {
		t.Errorf("a transfer that never was: %v", err)
	}
}

func TestNonUTF8NamesPassThroughTheAPI(t *testing.T) {
	m, dir := startWithFiles(t, "bad\xff%41")
	scope := api.FileScope{Escaped: true}
	list := call(m, api.FilesList, api.FilesListInput{FileScope: scope, Path: api.EscapePath(dir)})
	if len(list.Entries) != 1 || api.UnescapePath(list.Entries[0].Name) != "bad\xff%41" {
		t.Fatalf("listed %+v", list)
	}
	path := api.EscapePath(filepath.Join(dir, "bad\xff%41"))
	if r := call(m, api.FilesRead, api.FilesReadInput{FileScope: scope, Path: path, Bytes: true}); string(r.Data) != "bad\xff%41" {
		t.Errorf("read %+v", r)
	}
	job := runTransfer(m, api.FilesTransferInput{FileScope: scope, Kind: api.TransferMove, Items: []api.FileMove{{Path: path, To: api.EscapePath(dir) + "/%FE"}}})
	if job.State != api.JobDone || readText(t, dir+"/\xfe") == "" {
		t.Errorf("renamed: %+v", job)
	}
}

func TestInvalidTransfersAreRejected(t *testing.T) {
	m, dir := startWithFiles(t, "a")
	item := []api.FileMove{{Path: dir + "/a", To: dir + "/b"}}
	for _, in := range []api.FilesTransferInput{{Kind: "link", Items: item}, {Kind: api.TransferCopy}, {Kind: api.TransferCopy, Items: item, Conflict: "ask"}} {
		if _, err := api.FilesTransfer.Call(t.Context(), m.client, in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

func TestFilesAreRestoredFromTheTrashInTheBackground(t *testing.T) {
	m, dir := startWithFiles(t, "a", "b/c")
	trashed := runTransfer(m, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: dir + "/a"}, {Path: dir + "/b"}}})
	items := []api.FileMove{{Path: trashed.Done[1].To, To: dir + "/new/b"}, {Path: trashed.Done[0].To, To: dir + "/a"}}
	job := runTransfer(m, api.FilesTransferInput{Kind: api.TransferRestore, Items: items})
	if job.State != api.JobDone || job.Kind != api.TransferRestore || job.Handled != 2 || readText(t, dir+"/new/b/c") != "b/c" || readText(t, dir+"/a") != "a" {
		t.Errorf("got %+v", job)
	}
	if records, err := os.ReadDir(dir + "/share/Trash/info"); err != nil || len(records) != 0 {
		t.Errorf("%d records stay, %v", len(records), err)
	}
	trashed = runTransfer(m, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: dir + "/a"}}})
	if err := os.WriteFile(dir+"/a", []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	back := api.FilesTransferInput{Kind: api.TransferRestore, Items: []api.FileMove{{Path: trashed.Done[0].To, To: dir + "/a"}}}
	if out := call(m, api.FilesTransfer, back); len(out.Conflicts) != 1 {
		t.Errorf("it asks nothing: %+v", out)
	}
	back.Conflict = api.ConflictKeep
	if job := runTransfer(m, back); job.State != api.JobDone || readText(t, dir+"/a (2)") != "a" || readText(t, dir+"/a") != "another" {
		t.Errorf("keep: %+v", job)
	}
	back.Items[0].Path = dir + "/new/b/c"
	back.Conflict = api.ConflictReplace
	if job := runTransfer(m, back); job.State != api.JobFailed || readText(t, dir+"/a") != "another" {
		t.Errorf("what is not in the trash: %+v", job)
	}
}

func TestFilesAreDeletedInTheBackground(t *testing.T) {
	m, dir := startWithFiles(t, "a", "b/c", "d")
	job := runTransfer(m, api.FilesTransferInput{Kind: api.TransferDelete, Items: []api.FileMove{{Path: dir + "/b"}, {Path: dir + "/missing"}, {Path: dir + "/d"}}})
	if job.State != api.JobFailed || len(job.Done) != 1 || job.Done[0].Path != dir+"/b" || job.Done[0].To != "" {
		t.Errorf("got %+v", job)
	}
	if _, err := os.Stat(dir + "/b"); err == nil || readText(t, dir+"/d") != "d" {
		t.Error("something else was deleted")
	}
}

// A client's relative paths start at its base, not in the engine's working directory.
func TestRelativePathsOfATransferStartAtTheBase(t *testing.T) {
	m, dir := startWithFiles(t, "a", "to/a", "to/a (2)", "to/b", "a in the way")
	t.Setenv("HOME", dir)
	scope := api.FileScope{Base: dir}
	in := api.FilesTransferInput{FileScope: scope, Kind: api.TransferCopy, Items: []api.FileMove{{Path: "a", To: "to/a"}}}
	if out := call(m, api.FilesTransfer, in); out.Job != "" || len(out.Conflicts) != 1 || out.Conflicts[0] != "to/a" {
		t.Fatalf("got %+v", out)
	}
	in.Conflict = api.ConflictSkip
	if job := runTransfer(m, in); job.State != api.JobDone || job.Skipped != 1 {
		t.Errorf("skip: %+v", job)
	}
	in.Conflict = api.ConflictKeep
	if job := runTransfer(m, in); job.State != api.JobDone || job.Done[0].To != dir+"/to/a (3)" || readText(t, dir+"/to/a (3)") != "a" {
		t.Errorf("keep: %+v", job)
	}
	in.Conflict = api.ConflictReplace
	job := runTransfer(m, in)
	if job.State != api.JobDone || readText(t, dir+"/to/a") != "a" || readText(t, job.Done[0].Replaced) != "to/a" {
		t.Errorf("replace: %+v", job)
	}
	in.Kind, in.Items = api.TransferMove, []api.FileMove{{Path: "./to/../to/b", To: "new/../c"}, {Path: "c", To: "to/d"}}
	if job := runTransfer(m, in); job.State != api.JobDone || readText(t, dir+"/to/d") != "to/b" {
		t.Errorf("move of what was moved before: %+v", job)
	}
	for _, to := range []string{"", "a\x00b"} {
		in.Items = []api.FileMove{{Path: "a", To: to}}
		if _, err := api.FilesTransfer.Call(t.Context(), m.client, in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("to %q: %v", to, err)
		}
	}
}

// A transfer must reveal nothing outside the sandbox: neither existence nor size.
func TestTransferInASandboxSeesNothingOutside(t *testing.T) {
	m, dir := startWithFiles(t, "in/a", "out/a", "out/big/file")
	if err := os.Symlink(dir+"/out", dir+"/in/link"); err != nil {
		t.Fatal(err)
	}
	for _, conflict := range []string{"", api.ConflictSkip, api.ConflictKeep, api.ConflictReplace} {
		for _, to := range []string{"../out/a", "link/a", dir + "/out/a", "../out/none"} {
			out, err := api.FilesTransfer.Call(t.Context(), m.client, api.FilesTransferInput{
				FileScope: api.FileScope{Roots: []string{dir + "/in"}}, Kind: api.TransferCopy, Conflict: conflict, Items: []api.FileMove{{Path: "a", To: to}}})
			if err != nil || len(out.Conflicts) > 0 {
				t.Errorf("%q to %s: %v, in the way %q", conflict, to, err, out.Conflicts)
				continue
			}
			if job := call(m, api.FilesJob, api.FileJobInput{ID: out.Job, WaitMS: 60_000}); job.State != api.JobFailed || job.Skipped > 0 {
				t.Errorf("%q to %s: %+v", conflict, to, job)
			}
		}
	}
	for _, from := range []string{"../out/big", "link/big"} {
		job := runTransfer(m, api.FilesTransferInput{FileScope: api.FileScope{Roots: []string{dir + "/in"}}, Kind: api.TransferCopy,
			Items: []api.FileMove{{Path: from, To: "new"}}})
		if job.State != api.JobFailed || job.Total != 0 {
			t.Errorf("from %s: %+v", from, job)
		}
	}
	if readText(t, dir+"/out/a") != "out/a" {
		t.Error("something outside was changed")
	}
}
