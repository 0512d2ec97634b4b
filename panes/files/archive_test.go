package files

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
)

// acceptPrompt accepts the path prompt and returns the transfer it enqueued.
func acceptPrompt(t *testing.T, f *Pane, e *fakeEnv) api.FilesTransferInput {
	t.Helper()
	p, ok := e.Shown.(*pathPrompt)
	if !ok {
		t.Fatalf("shown is %T, said %q", e.Shown, e.Said)
	}
	runAll(p.Do(e, keymap.Accept))
	if len(f.transfers.waiting) != 1 {
		t.Fatalf("%d transfers wait", len(f.transfers.waiting))
	}
	in := f.transfers.waiting[0].in
	f.transfers.waiting = nil
	return in
}

func TestExtractSuggestsFolderNamedAfterArchive(t *testing.T) {
	f, e := newShownPane("/d")
	f.setListing("b.zip", "src.tar.gz", "text.txt")
	f.Actions()[keymap.FilesExtract]()
	want := api.FilesTransferInput{Kind: api.TransferExtract, Items: []api.FileMove{{Path: "/d/b.zip", To: "/d/b"}}}
	if diff := cmp.Diff(want, acceptPrompt(t, f, e)); diff != "" {
		t.Error(diff)
	}
	f.folder.list.Marks["/d/b.zip"], f.folder.list.Marks["/d/src.tar.gz"] = true, true
	f.Actions()[keymap.FilesExtract]()
	want.Items = append(want.Items, api.FileMove{Path: "/d/src.tar.gz", To: "/d/src"})
	if diff := cmp.Diff(want, acceptPrompt(t, f, e)); diff != "" {
		t.Error(diff)
	}
	f.folder.list.Marks["/d/text.txt"] = true
	if f.Actions()[keymap.FilesExtract](); !strings.Contains(e.Said, "unpack text.txt") {
		t.Errorf("said %q", e.Said)
	}
}

func TestPackPutsTargetsIntoOneArchive(t *testing.T) {
	f, e := newShownPane("/home/d")
	f.setListing("a", "b")
	f.folder.list.Marks["/home/d/a"], f.folder.list.Marks["/home/d/b"] = true, true
	f.Actions()[keymap.FilesPack]()
	want := api.FilesTransferInput{Kind: api.TransferPack, Items: []api.FileMove{{Path: "/home/d/a", To: "/home/d/d.tar.gz"}, {Path: "/home/d/b", To: "/home/d/d.tar.gz"}}}
	if diff := cmp.Diff(want, acceptPrompt(t, f, e)); diff != "" {
		t.Error(diff)
	}
	done := []api.FileMoved{{Path: "/home/d/a", To: "/home/d/d.tar.gz"}}
	f.transfers.handleJob(&transfer{in: want}, api.FileJob{State: api.JobDone, Handled: 1, Done: done}, nil)
	if !strings.Contains(e.Said, "packed 2 items into d.tar.gz") {
		t.Errorf("said %q", e.Said)
	}
	if u := f.transfers.undos[0]; u.steps[0].Kind != api.TransferTrash || u.steps[0].Items[0].Path != "/home/d/d.tar.gz" || u.description != "d.tar.gz" {
		t.Errorf("its undo is %+v", u)
	}
}

func TestExtractAsksBeforeUnpackingLargeArchive(t *testing.T) {
	f, e := newShownPane("/d")
	in := api.FilesTransferInput{Kind: api.TransferExtract, Items: []api.FileMove{{Path: "/d/a.zip", To: "/d/a"}, {Path: "/d/b.zip", To: "/d/b"}}}
	job := api.FileJob{State: api.JobFailed, Handled: 1, Large: true, Error: "extract /d/b.zip: it unpacks to more than 1024 MB"}
	f.transfers.handleJob(&transfer{in: in}, job, nil)
	q, ok := e.Shown.(*dialog.Question)
	if !ok || !strings.Contains(q.Title, "b.zip") {
		t.Fatalf("shown is %+v", e.Shown)
	}
	runAll(q.Do(e, keymap.Accept))
	if w := f.transfers.waiting; len(w) != 1 || !w[0].in.Large || len(w[0].in.Items) != 1 || w[0].in.Items[0].To != "/d/b" {
		t.Errorf("enqueued %+v, want the rest of the transfer", w)
	}
}

func TestTrashListsFilesAndAsksBeforeEmptying(t *testing.T) {
	f, e := newShownPane("/d")
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)
	all := []api.TrashedFile{
		{Path: "/t/files/a (2)", From: "/home/ann/src/a", Deleted: now, Type: "file", Size: 3},
		{Path: "/t/files/lost", Type: "dir"},
	}
	u := f.trash.picker(all, now)
	rows, _, _, _ := u.Draw(e, 120, 36)
	text := strings.Join(rows, "\n")
	for _, want := range []string{"a ", "from ~/src", "3B", "12:00:00", "lost/", "from an unknown folder", "Empty the trash"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	runAll(u.Do(e, keymap.Accept))
	want := api.FilesTransferInput{Kind: api.TransferRestore, Items: []api.FileMove{{Path: "/t/files/a (2)", To: "/home/ann/src/a"}}}
	if diff := cmp.Diff(want, f.transfers.waiting[0].in); diff != "" {
		t.Error(diff)
	}
	f.transfers.waiting = nil
	u = f.trash.picker(all, now)
	u.List.Select(emptyTrash)
	runAll(u.Do(e, keymap.Accept))
	if len(f.transfers.waiting) != 0 {
		t.Error("emptied without a question")
	}
	runAll(e.Shown.(*dialog.Question).Do(e, keymap.Accept))
	if in := f.transfers.waiting[0].in; in.Kind != api.TransferDelete || len(in.Items) != 2 {
		t.Errorf("emptied with %+v", in)
	}
	u.List.Select(1)
	runAll(u.Do(e, keymap.Accept))
	if !strings.Contains(e.Said, "its original folder is unknown") {
		t.Errorf("said %q", e.Said)
	}
}
