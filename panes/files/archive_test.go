package files

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
)

// acceptPrompt accepts the path prompt and returns the transfer it enqueued.
func acceptPrompt(t *testing.T, f *Pane, e *panestest.Env) api.FilesTransferInput {
	t.Helper()
	p, ok := e.Shown.(*pathPrompt)
	if !ok {
		t.Fatalf("shown is %T, said %q", e.Shown, e.Said)
	}
	runAll(p.Do(e, keymap.Accept))
	return startedTransfer(f, e)
}

// A transferEngine records the last transfer and starts none.
type transferEngine struct {
	panes.Engine
	asked api.FilesTransferInput
}

func (e *transferEngine) Transfer(_ context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	e.asked = in
	return api.FilesTransferOutput{}, context.Canceled
}

// startedTransfer starts the next transfer and returns its input; the zero value if none is
// waiting.
func startedTransfer(f *Pane, e *panestest.Env) api.FilesTransferInput {
	engine := &transferEngine{}
	e.API = engine
	runAll(f.transfers.StartNext())
	return engine.asked
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
	if diff := cmp.Diff(want, startedTransfer(f, e)); diff != "" {
		t.Error(diff)
	}
	u = f.trash.picker(all, now)
	u.List.Select(emptyTrash)
	runAll(u.Do(e, keymap.Accept))
	if in := startedTransfer(f, e); in.Kind != "" {
		t.Errorf("emptied without a question: %+v", in)
	}
	runAll(e.Shown.(*dialog.Question).Do(e, keymap.Accept))
	if in := startedTransfer(f, e); in.Kind != api.TransferDelete || len(in.Items) != 2 {
		t.Errorf("emptied with %+v", in)
	}
	u.List.Select(1)
	runAll(u.Do(e, keymap.Accept))
	if !strings.Contains(e.Said, "its original folder is unknown") {
		t.Errorf("said %q", e.Said)
	}
}
