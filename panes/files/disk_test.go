package files

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/api/userfiles"
	"tandem/engine/service"
	"tandem/panes/panestest"
	"tandem/tests/needs"
)

// A diskEngine has the engine's own file operations.
type diskEngine struct {
	*panestest.Engine
	userfiles.Files
}

// A directCaller calls the handlers of the engine's operations directly, without a connection.
type directCaller struct{ mux *server.Mux }

func (c directCaller) Do(ctx context.Context, name string, _ api.Effect, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer := httptest.NewRecorder()
	c.mux.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/"+name, bytes.NewReader(body)))
	if answer.Code < http.StatusBadRequest {
		return json.Unmarshal(answer.Body.Bytes(), out)
	}
	var failed api.Error
	if err := json.Unmarshal(answer.Body.Bytes(), &failed); err != nil {
		return err
	}
	return &failed
}

// onDisk shows a folder with files, like onFolder, but uses the file operations of the real engine.
func onDisk(t *testing.T, w, h int, files map[string]string) (*view, string) {
	t.Helper()
	dir := makeFolder(t, files)
	t.Setenv("XDG_DATA_HOME", t.TempDir()) // contains the trash
	ctx, cancel := context.WithCancel(context.Background())
	handlers := service.NewFiles(ctx, t.TempDir(), nil, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { cancel(); handlers.Close() })
	mux := server.NewMux(nil)
	handlers.Handle(mux)
	d := showFolder(t, w, h, diskEngine{panestest.NewEngine(), userfiles.Files{Engine: directCaller{mux}}}, dir)
	d.env.UserHome = dir
	d.Wait("the folder is listed", func() bool { return d.cursorRow() != "" })
	return d, dir
}

// filterTo filters the list and waits until the cursor is on name, the only match.
func (d *view) filterTo(filter, name string) {
	d.t.Helper()
	d.Press("/", "'"+filter, "enter")
	d.Wait("the cursor is on "+name, func() bool { return d.isOnFile(name) })
}

func TestFilesArePackedAndUnpackedOnDisk(t *testing.T) {
	d, dir := onDisk(t, 120, 36, map[string]string{"one.txt": "one\n", "sub/two.txt": "two\n"})
	d.Press("v", "Z")
	d.WaitText("Pack 2 items into")
	d.Press("ctrl+u", "'both.zip", "enter")
	d.WaitText("packed 2 items into both.zip")
	d.waitExists(dir+"/both.zip", true)

	d.filterTo("both", "both.zip")
	d.Press("U")
	d.WaitText("Unpack both.zip to")
	d.Press("enter")
	d.WaitText("unpacked both.zip")
	d.waitExists(dir+"/both/one.txt", true)
	d.waitExists(dir+"/both/sub/two.txt", true)

	d.Press("U", "enter")
	d.WaitText("both already exists")
	d.Press("k")
	d.WaitText("unpacked both.zip")
	d.waitExists(dir+"/both (2)/one.txt", true)
	d.Press("u")
	d.WaitText("undone: both (2)")
	d.waitExists(dir+"/both (2)", false)
}

func TestTrashedFileIsRestoredOrDeletedOnDisk(t *testing.T) {
	d, dir := onDisk(t, 120, 36, map[string]string{"one.txt": "one\n", "sub/two.txt": "two\n"})
	trash := func() {
		d.Press("D")
		d.WaitText("moved to the trash")
		d.waitExists(dir+"/one.txt", false)
		d.Press("ctrl+t")
		d.WaitMatch(`one\.txt +from ~ `)
	}
	d.filterTo("one", "one.txt")
	trash()
	d.Press("'empty the")
	d.WaitNoText("from ~ ")
	d.WaitText("Empty the trash")
	d.Press("ctrl+u", "'one.txt", "enter")
	d.WaitText("restored one.txt")
	d.waitExists(dir+"/one.txt", true)
	d.Wait("the cursor is on the restored file", func() bool { return d.isOnFile("one.txt") })

	trash()
	d.Press("'one.txt", "delete")
	d.WaitText("Delete one.txt permanently?")
	d.Press("y")
	d.WaitText("deleted one.txt")
	d.waitExists(dir+"/one.txt", false)
	d.Press("ctrl+t")
	d.WaitText("the trash is empty")
}

func TestUnprintableNamesReachTheDiskUnchanged(t *testing.T) {
	d, dir := onDisk(t, 100, 30, map[string]string{"bad\xff": "", "line\nbreak": "", "esc\x1b[2J": "", "odd\xfedir/": ""})
	d.WaitText("line␊break")
	d.WaitText("esc␛[2J")

	d.filterTo("bad", "bad\xff")
	d.Press("esc", "R")
	d.WaitText(`bad\xff`)
	d.Press("home", "'new-", "enter")
	d.WaitText("renamed bad")
	d.waitExists(dir+"/new-bad\xff", true)
	d.waitExists(dir+"/bad\xff", false)

	d.filterTo("break", "line\nbreak")
	d.Press("esc", "D")
	d.WaitText("moved to the trash")
	d.waitExists(dir+"/line\nbreak", false)
	d.Press("u")
	d.WaitText("undone: trash of line␊break")
	d.waitExists(dir+"/line\nbreak", true)

	d.filterTo("new-bad", "new-bad\xff")
	d.Press("C", "ctrl+u", "'odd")
	d.WaitMatch(`odd\\xfedir/ +│`)
	d.Press("tab", "enter")
	d.WaitText("copied new-bad")
	d.waitExists(dir+"/odd\xfedir/new-bad\xff", true)
	d.Press("c", "'odd")
	d.WaitMatch(`odd\\xfedir/ +│`)
	d.Press("down", "enter")
	d.WaitMatch(`^─ [^│]*/odd.+dir ─`)
	d.Wait("the copy is listed", func() bool { return d.isOnFile("new-bad\xff") })
}

func TestFileOfUntrackedFolderIsMarkedInRepository(t *testing.T) {
	git := needs.Program(t, "git", "git")
	d, dir := onDisk(t, 100, 30, map[string]string{"repo/new/sub/fresh": ""})
	if out, err := exec.Command(git, "-c", "init.defaultBranch=main", "init", "-q", dir+"/repo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d.Press("c", "ctrl+u", "'repo/new/sub", "enter")
	d.WaitMatch(`\? fresh`)
}

func TestFileOperationsAreUndoneInReverseOrderOnDisk(t *testing.T) {
	d, dir := onDisk(t, 120, 36, map[string]string{"notes.txt": "the first note\n", "main.go": "package main\n", "sub/": ""})
	d.filterTo("notes", "notes.txt")
	d.WaitText("the first note")
	d.Press("C", "ctrl+u", "'sub/", "enter")
	d.WaitText("copied notes.txt")
	d.waitExists(dir+"/sub/notes.txt", true)
	d.Press("M", "ctrl+u", "'sub/", "enter")
	d.WaitText("notes.txt already exists")
	d.Press("k")
	d.WaitText("moved notes.txt")
	d.waitExists(dir+"/sub/notes (2).txt", true)
	d.waitExists(dir+"/notes.txt", false)
	d.Press("u")
	d.WaitText("undone: move of notes.txt")
	d.waitExists(dir+"/notes.txt", true)

	d.Wait("the cursor is on the restored file", func() bool { return d.isOnFile("notes.txt") })
	d.Press("esc", "R", "ctrl+u", "'hints.txt", "enter")
	d.Wait("the cursor is on the renamed file", func() bool { return d.isOnFile("hints.txt") })
	d.WaitMatch(`hints\.txt +15`)
	d.waitExists(dir+"/notes.txt", false)
	d.Press("D")
	d.WaitText("moved to the trash")
	d.waitExists(dir+"/hints.txt", false)
	for _, step := range []struct{ undone, exists string }{
		{"undone: trash of hints.txt", "/hints.txt"},
		{"undone: rename of notes.txt", "/notes.txt"},
	} {
		d.Press("u")
		d.WaitText(step.undone)
		d.waitExists(dir+step.exists, true)
	}
}

func TestFileIsFoundByNameAndContentOnDisk(t *testing.T) {
	d, dir := onDisk(t, 120, 36, map[string]string{"notes.txt": "the first note\n", "sub/above.txt": "", "sub/deep.txt": "one\nsomething buried\n"})
	d.Press("f", "'dptxt")
	d.WaitText("sub/deep.txt")
	d.WaitText("2  something buried")
	d.Press("esc")
	d.WaitNoText("sub/deep.txt")
	d.Press("ctrl+f", "'buried")
	d.WaitText("sub/deep.txt:2")
	d.WaitText("1 found")
	d.Press("enter")
	d.Wait("the file is shown", func() bool { return d.pane.Folder() == dir+"/sub" && d.isOnFile("deep.txt") })
	d.WaitText("something buried")
}
