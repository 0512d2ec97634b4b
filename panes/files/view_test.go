package files

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
	"tandem/themes"
)

// A view is a folder on the screen.
type view struct {
	*panestest.Driver
	t      *testing.T
	env    *panestest.Env
	pane   *Pane
	engine fakeEngine
	width  int
	height int
}

// A fakeEngine serves the files of a directory on disk. It has neither git nor transfers between
// machines.
type fakeEngine struct {
	*panestest.Engine
	*panestest.Files
}

// onFolder shows a new folder with files, which maps paths to contents. A path with a trailing
// slash is a folder.
func onFolder(t *testing.T, w, h int, files map[string]string) (*view, string) {
	t.Helper()
	dir := makeFolder(t, files)
	engine := fakeEngine{panestest.NewEngine(), panestest.NewFiles()}
	engine.Branch, engine.GitMarks = "main", map[string]string{"b.txt": ".M"}
	d := showFolder(t, w, h, engine, dir)
	d.engine = engine
	d.WaitText("on main")
	d.Wait("the folder is listed", func() bool {
		return d.cursorRow() != "" || strings.Contains(d.Screen(), "empty folder") || strings.Contains(d.Screen(), "only hidden files")
	})
	return d, dir
}

// makeFolder makes a directory with files, as onFolder does.
func makeFolder(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// showFolder shows a folder of an engine.
func showFolder(t *testing.T, w, h int, engine panes.Engine, dir string) *view {
	t.Helper()
	env := &panestest.Env{SessionID: "1", SessionFolder: dir}
	env.API = engine
	env.Inks.Glyphs = themes.UnicodeGlyphs()
	env.Known.Info.DataDir = t.TempDir()
	pane := New(env)
	return &view{Driver: panestest.Drive(t, env, pane, w, h), t: t, env: env, pane: pane, width: w, height: h}
}

// waitEditor waits until the editor is started.
func (d *view) waitEditor() {
	d.t.Helper()
	d.Wait("the editor is started", func() bool { return d.env.Visited != nil })
}

// cursorRow returns the selected row of the list of files, starting with the name; "" if
// there is none.
func (d *view) cursorRow() string {
	for row := range strings.Lines(d.Screen()) {
		if d.width >= 140 { // the parent folder is to its left
			_, row, _ = strings.Cut(row, "│")
		}
		if runes := []rune(row); len(runes) > 4 && runes[0] == '▌' {
			return string(runes[4:])
		}
	}
	return ""
}

// isOnFile reports whether the cursor is on a name.
func (d *view) isOnFile(name string) bool {
	name = text.FileName(name)
	if begin, _, clipped := strings.Cut(d.cursorRow(), "…"); clipped {
		return strings.HasPrefix(name, begin)
	}
	rest, ok := strings.CutPrefix(d.cursorRow(), name)
	return ok && strings.HasPrefix(strings.TrimLeft(rest, "/@|=*"), " ")
}

// waitTransfer waits until a transfer is running or, if want is false, until none is.
func (d *view) waitTransfer(want bool) {
	d.t.Helper()
	d.Wait(fmt.Sprintf("under way: %t", want), func() bool {
		note, _ := d.pane.Note()
		return strings.Contains(note, "cancels it") == want
	})
}

// waitBeforeCursor waits until the row of the cursor has text directly before the cursor.
func (d *view) waitBeforeCursor(text string) {
	d.t.Helper()
	d.Wait("there is typed "+text, func() bool {
		if d.env.Shown == nil {
			return false
		}
		rows, _, x, y := d.env.Shown.Draw(d.env, d.width, d.height)
		return x >= 0 && strings.HasSuffix(ansi.Strip(ansi.Cut(rows[y], 0, x)), text)
	})
}

// onFile moves the cursor to a name.
func (d *view) onFile(name string) {
	d.t.Helper()
	d.Wait("there is "+name, func() bool {
		d.Press("home")
		for row := ""; !d.isOnFile(name) && row != d.cursorRow(); d.Press("down") {
			row = d.cursorRow()
		}
		return d.isOnFile(name)
	})
}

func (d *view) waitExists(path string, want bool) {
	d.t.Helper()
	d.Wait(fmt.Sprintf("%s exists: %v", path, want), func() bool {
		_, err := os.Lstat(path)
		return (err == nil) == want
	})
}

func TestFilesShowFolderAndPreview(t *testing.T) {
	for _, size := range [][2]int{{60, 24}, {80, 24}, {120, 36}, {200, 60}} {
		d, _ := onFolder(t, size[0], size[1], map[string]string{"a/inside": "", "b.txt": "hello from b\n", "c.go": "package c\n"})
		d.onFile("b.txt")
		d.WaitText("hello from b")
		d.WaitText("M b.txt")
		d.CheckRows()
	}
}

func TestFoldersRememberCursorWhenRevisited(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a/b/deep.txt": "deep", "z.txt": "z"})
	d.onFile("a")
	d.Press("l")
	d.Wait("in a", func() bool { return d.pane.Folder() == dir+"/a" && d.cursorRow() != "" })
	d.Press("enter")
	d.WaitText("deep.txt")
	d.Press("enter") // shows the complete file
	d.WaitNoText("▌")
	d.Press("esc", "h", "h")
	d.Wait("back, on a", func() bool {
		return d.pane.Folder() == dir && d.isOnFile("a")
	})
	d.Press("-")
	d.Wait("where we were", func() bool { return d.pane.Folder() == dir+"/a" })
	d.Press("c", "ctrl+u", "'"+dir+"/z.t")
	d.WaitText("│ z.txt ")
	d.Press("tab", "enter")
	d.Wait("on the file that was typed", func() bool {
		return d.pane.Folder() == dir && d.isOnFile("z.txt")
	})
}

func TestFilesAreHiddenSortedAndFiltered(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{".rc": "", "part10": "xx", "part9": "x"})
	d.WaitNoText(".rc")
	d.Press(".")
	d.WaitText(".rc")
	d.Press("o")
	d.WaitText("by size")
	d.Press("O")
	d.WaitText("by size, reversed")
	d.Press("/", "'10")
	d.WaitNoText("part9")
	d.Press("enter", "esc")
	d.WaitText("part9")
}

func TestFilesAreTrashedAndRestored(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2", "c": "3"})
	d.onFile("a")
	d.Press("space", "space")
	d.WaitText("2 marked")
	d.Press("D")
	d.waitExists(dir+"/b.txt", false)
	d.WaitText("u undoes it")
	d.waitTransfer(false)
	d.Press("u")
	d.waitExists(dir+"/b.txt", true)
	d.waitExists(dir+"/a", true)
	d.WaitText("undone: trash of 2 items")
	d.Press("u")
	d.WaitText("nothing to undo")
}

func TestUndoMovesCursorToRestoredFile(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "to/": ""})
	for _, c := range []struct {
		what string
		keys []string
	}{
		{"a rename", []string{"R", "ctrl+u", "'z", "enter"}},
		{"a move to another folder", []string{"M", "ctrl+u", "'to/", "enter"}},
		{"the trash", []string{"D"}},
	} {
		d.onFile("b")
		d.Press(c.keys...)
		d.waitExists(dir+"/b", false)
		d.WaitText("undoes it")
		d.onFile("d")
		d.Press("u")
		d.Wait("the cursor is on what was restored after "+c.what, func() bool { return d.isOnFile("b") })
	}
}

func TestBlockedUndoAsksAndCanBeRetried(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1"})
	d.onFile("a")
	d.Press("R", "ctrl+u", "'b", "enter")
	d.waitExists(dir+"/b", true)
	d.WaitText("undoes it")
	if err := os.WriteFile(dir+"/a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.Press("u")
	d.WaitText("a already exists")
	d.Press("esc")
	if err := os.Remove(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	d.Press("u")
	d.waitExists(dir+"/a", true)
	d.WaitText("undone: rename of a")
}

func TestUndoResumesAfterPartialFailure(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3"})
	d.onFile("a")
	d.Press("v", "D")
	d.waitExists(dir+"/c", false)
	d.WaitText("undoes it")
	if err := os.Rename(dir+"/.trash/b", dir+"/.trash/elsewhere"); err != nil {
		t.Fatal(err)
	}
	d.Press("u")
	d.waitExists(dir+"/c", true)
	d.waitTransfer(false)
	d.waitExists(dir+"/b", false)
	if err := os.Rename(dir+"/.trash/elsewhere", dir+"/.trash/b"); err != nil {
		t.Fatal(err)
	}
	d.Press("u")
	d.waitExists(dir+"/a", true)
	d.waitExists(dir+"/b", true)
	d.WaitText("undone: trash of 3 items")
}

func TestUndoShowsProgressAndCanBeCancelled(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"})
	d.Press("v", "D")
	d.waitExists(dir+"/d", false)
	d.WaitText("undoes it")
	d.engine.HoldTransfers(1)
	d.Press("u")
	d.WaitText("undoing: out of the trash")
	d.WaitText("2 of 4 ██░░░░░░░░ 25%")
	d.Press("esc")
	d.WaitText("u undoes the rest")
	d.Press("y")
	d.WaitText("cancelled; u undoes the rest")
	d.waitExists(dir+"/d", true)
	d.waitExists(dir+"/a", false)
	d.Press("u")
	d.waitExists(dir+"/a", true)
	d.WaitText("undone: trash of 4 items")
}

func TestQueuedTransferCanBeCancelled(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2"})
	d.Press("v", "D")
	d.waitExists(dir+"/b", false)
	d.WaitText("undoes it")
	d.engine.Hang.Store(true)
	d.Press("u")
	d.WaitText("undoing: checking 2 items, esc cancels it")
	d.Press("esc")
	d.WaitText("cancelled")
	if d.env.SaidBad {
		t.Error("the cancelled transfer is shown as an error")
	}
	d.engine.Hang.Store(false)
	d.Press("u")
	d.waitExists(dir+"/b", true)
}

func TestTransfersRunOneAtATime(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "to/": ""})
	d.engine.HoldTransfers(1)
	d.onFile("a")
	d.Press("space", "space", "D")
	d.WaitText("2 of 2")
	d.onFile("c")
	d.Press("D")
	d.WaitText("then 1 more")
	d.onFile("d")
	d.Press("M", "ctrl+u", "'to/", "enter")
	d.WaitText("then 2 more")
	d.Press("u")
	d.WaitText("another transfer is in progress")
	d.waitExists(dir+"/c", true)
	d.Press("esc", "y")
	d.waitExists(dir+"/c", false)
	d.waitExists(dir+"/to/d", true)
	d.waitTransfer(false)
}

func TestCopyAsksBeforeReplacingFiles(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "to/a": "2"})
	d.onFile("a")
	d.Press("C")
	d.WaitText("Copy a to")
	d.Press("ctrl+u", "'to/", "enter")
	d.WaitText("a already exists")
	d.WaitText("there now: 1B, changed ")
	d.WaitText("you copy:  1B, changed ")
	d.WaitNoText("enter accept")
	d.Press("k")
	d.waitExists(dir+"/to/a (2)", true)
	d.WaitText("undoes it")
	d.Press("u")
	d.waitExists(dir+"/to/a (2)", false)
}

func TestMissingDestinationFolderIsMadeOnRequest(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2"})
	for _, kind := range []struct{ key, name, to string }{{"C", "Copy", "new/"}, {"M", "Move", "other/renamed"}} {
		folder, _ := filepath.Split(dir + "/" + kind.to)
		folder = filepath.Clean(folder)
		d.onFile("a")
		d.Press(kind.key)
		d.WaitText(kind.name + " a to")
		d.Press("ctrl+u", "'"+kind.to, "enter")
		d.WaitText("Make the folder " + filepath.Base(folder) + "?")
		d.WaitText(filepath.Base(folder) + " does not exist.")
		d.Press("n")
		d.WaitNoText("Make the folder")
		if _, err := os.Stat(folder); err == nil {
			t.Fatalf("%s was made", folder)
		}
		d.Press(kind.key)
		d.WaitText(kind.name + " a to")
		d.Press("ctrl+u", "'"+kind.to, "enter")
		d.WaitText("Make the folder")
		d.Press("y")
		d.waitExists(folder, true)
		d.WaitText("undoes it")
	}
	d.waitExists(dir+"/new/a", true)
	d.waitExists(dir+"/other/renamed", true)
	d.waitExists(dir+"/a", false)
}

func TestFilesAreCreatedRenamedAndDeleted(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1"})
	d.Press("n", "'new/", "enter")
	d.waitExists(dir+"/new", true)
	d.Press("n", "'file", "enter")
	d.waitExists(dir+"/file", true)
	d.onFile("a")
	d.Press("R", "ctrl+u", "'b", "enter")
	d.waitExists(dir+"/b", true)
	d.Press("n", "'.rc", "enter")
	d.WaitText(".rc")
	d.onFile("b")
	d.Press("X")
	d.WaitText("Delete b permanently?")
	d.Press("y")
	d.waitExists(dir+"/b", false)
	d.WaitNoText("  b  ")
}

func TestChangesOnDiskAppearByThemselves(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1"})
	if err := os.WriteFile(dir+"/fresh", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.FolderChanged <- struct{}{} }()
	d.WaitText("fresh")
}

func TestDeletedFolderIsReported(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"in/a": "1"})
	d.onFile("in")
	d.Press("l")
	d.Wait("in the folder", func() bool { return d.pane.Folder() == dir+"/in" && d.cursorRow() != "" })
	if err := os.RemoveAll(dir + "/in"); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.FolderChanged <- struct{}{} }()
	d.WaitText("no such file")
	d.Press("h")
	d.WaitText("empty folder")
}

func TestUntransferredFilesStayMarked(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1", "b/": "", "c": "3", "to/": ""})
	for _, name := range []string{"a", "b", "c"} {
		d.onFile(name)
		d.Press("space")
	}
	d.Press("C", "ctrl+u", "'to/", "enter")
	d.WaitText("b: is a directory; before that copied a – u undoes it") // the fake cannot copy directories
	d.waitExists(dir+"/to/a", true)
	d.Press("y")
	d.Wait("what is left is marked", func() bool { return d.env.Copied == dir+"/b\n"+dir+"/c" })
}

func TestFileSearchUpdatesWhileTyping(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"x/y/needle.txt": "one\ntwo straw\n", "other": ""})
	d.Press("f", "'needle")
	d.WaitText("x/y/needle.txt")
	d.Press("tab", "ctrl+u", "'straw")
	d.WaitText("needle.txt:2")
	d.Press("ctrl+u", "'(")
	d.WaitText("read pattern")
	d.Press("ctrl+u", "'straw")
	d.WaitText("1 found")
	d.Press("enter")
	d.Wait("on the file", func() bool {
		return d.pane.Folder() == dir+"/x/y" && d.isOnFile("needle.txt")
	})
}

func TestContentSearchStartsWithSmallFiles(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{"z-small": "needle\n", "a-large": strings.Repeat("straw\n", 8<<20/6) + "needle\n"})
	d.Press("ctrl+f", "'needle")
	d.WaitText("1 found, searching…")
	d.WaitText("2 found")
	d.WaitText("a-large:")
	d.WaitNoText("searching")
}

func TestSeveralFilesAreRenamedInEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2"})
	d.Press("v", "R")
	d.waitEditor()
	list := renameList(d)
	if text, err := os.ReadFile(list); err != nil || string(text) != "a\nb.txt\n" {
		t.Fatalf("the list is %q, %v", text, err)
	}
	if err := os.WriteFile(list, []byte("b.txt\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Run(d.env.AfterVisit())
	d.WaitText("Rename 2 items?")
	d.WaitText("a → b.txt")
	d.Press("n")
	d.waitExists(list, false)
	d.waitExists(dir+"/a", true)
}

func TestRenameCountsSwappedFilesOnce(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, _ := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2"})
	d.Press("v", "R")
	d.waitEditor()
	if err := os.WriteFile(renameList(d), []byte("b.txt\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Run(d.env.AfterVisit())
	d.WaitText("Rename 2 items?")
	d.Press("y")
	d.WaitText("renamed 2 items – u undoes it")
	d.Press("u")
	d.WaitText("undone: rename of 2 items")
}

func TestBookmarksAreSavedAndOpened(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a/": ""})
	d.Press("b")
	d.WaitText("no bookmarks yet")
	d.Press("B")
	d.WaitText("bookmarked")
	d.Press("h")
	d.Wait("elsewhere", func() bool { return d.pane.Folder() != dir })
	d.Press("b")
	d.WaitText("go there")
	d.Press("enter")
	d.Wait("back", func() bool { return d.pane.Folder() == dir })
	d.Press("B")
	d.WaitText("bookmark removed")
}

func TestMouseSelectsAndOpensFiles(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a/x": "", "b.txt": strings.Repeat("line\n", 100), "c": ""})
	d.Click(6, 3)
	d.Wait("a click chooses", func() bool { return d.isOnFile("b.txt") })
	d.WaitText("1  line")
	d.Mouse(keys.Mouse{X: 60, Y: 8, Button: keys.WheelDown, Kind: keys.MouseDown})
	d.WaitText("│  4  line")
	d.Click(6, 2)
	d.Click(6, 2)
	d.Wait("a double click opens", func() bool { return d.pane.Folder() == dir+"/a" })
}

func TestUnreadableFileIsReportedInPreview(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a/": ""})
	d.onFile("a")
	if err := os.Remove(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	d.Press("enter")
	d.WaitText("no such file")
}

func TestHostileNamesAreEscapedAndUsable(t *testing.T) {
	hostile := []string{"line\nbreak", "esc\x1b[2J", "bad\xff", "rtl\u202egnp", strings.Repeat("a\u0301", 84)}
	files := map[string]string{}
	for _, name := range hostile {
		files[name] = "x"
	}
	d, dir := onFolder(t, 80, 24, files)
	d.WaitText("line␊break")
	d.WaitText("esc␛[2J")
	if content := strings.Join(d.pane.Draw(), "\n"); strings.Contains(content, "\x1b[2J") || strings.Contains(content, "\u202e") {
		t.Error("a name reaches the terminal as it is")
	}
	for _, name := range hostile {
		d.onFile(name)
		d.Press("D")
		d.waitExists(filepath.Join(dir, name), false)
		d.waitTransfer(false)
	}
}

func TestKeysTypedWhileTrashLoadsAreHandled(t *testing.T) {
	d, _ := onFolder(t, 120, 36, map[string]string{"a": "", "b": "", "c": ""})
	d.onFile("a")
	d.engine.Trash = make(chan []api.TrashedFile, 1)
	d.Press("ctrl+t", "down", "down")
	d.Wait("the keys wait", func() bool { return d.env.Pending != nil })
	d.engine.Trash <- []api.TrashedFile{{Path: "/t/x", From: "/d/x", Type: "file"}, {Path: "/t/y", From: "/d/y", Type: "file"}}
	d.WaitText("▌   Empty the trash")
	if !regexp.MustCompile(`the last row empties it +2 `).MatchString(d.Screen()) {
		t.Errorf("the last row is counted:\n%s", d.Screen())
	}
	d.Press("esc")
	if !d.isOnFile("a") {
		t.Error("the keys have gone to the list")
	}
	d.Press("ctrl+t", "esc", "down")
	d.Wait("esc calls the trash off", func() bool { return d.isOnFile("b") })
	d.WaitNoText("Empty the trash")
}

func TestPreviewSearchUpdatesWhileTyping(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": strings.Repeat("straw\n", 200) + "Needle\n" + strings.Repeat("straw\n", 200) + "needle\n"})
	d.onFile("a")
	d.WaitText("straw")
	d.Press("enter", "/", "'needle")
	d.WaitText("1/2 │")
	d.WaitText("201  Needle")
	d.WaitNoText(" 1  straw")
	d.Press("'s")
	d.WaitText("no match")
	d.WaitText(" 1  straw") // back at the line where the search began
	d.Press("backspace", "enter")
	d.WaitText("match 1 of 2")
	d.Press("n")
	d.WaitText("402  needle")
	d.Press("/", "'Needle")
	d.WaitText("1/1 │")
	d.Press("esc")
	d.WaitText("match 2 of 2")
	d.WaitText("402  needle")
	d.Press("/", "'nowhere", "enter")
	d.WaitText("no match")
}

func TestFoundLineIsNotCoveredBySearchLine(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": strings.Repeat("straw\n", 60) + "needle\n"})
	d.onFile("a")
	d.WaitText("straw")
	d.Press("enter", "/", "'needle")
	d.WaitText("1/1 │")
	d.WaitText("61  needle")
}

func TestLongPreviewSearchShowsProgressAndStopsForNextOne(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": "straw\nneedle\n", "b": "other\n"})
	d.onFile("a")
	d.WaitText("straw")
	d.engine.Hang.Store(true)
	d.Press("enter", "/", "'needle", "enter")
	d.WaitText("searching for “needle”…")
	d.engine.Hang.Store(false)
	d.Press("/", "'straw", "enter")
	d.WaitText("match 1 of 1")
	d.engine.Hang.Store(true)
	d.Press("/", "'needle", "enter")
	d.WaitText("searching for")
	d.Press("esc")
	d.onFile("b")
	d.WaitText("other")
	d.WaitNoText("searching for")
}

func TestPreviewReplacesListOnSmallScreen(t *testing.T) {
	d, _ := onFolder(t, 60, 15, map[string]string{"a": "hello\n", "b.txt": "there\n"})
	d.onFile("b.txt")
	d.WaitNoText("there")
	d.Press("tab")
	d.WaitText("there")
	d.WaitNoText("M b.txt")
	d.Press("esc")
	d.WaitText("M b.txt")
	d.CheckRows()
}

func TestShiftedLettersSortFiles(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{"a.txt": "xxx", "b.go": "x", "c.md": "xx"})
	glyphs := d.env.Inks.Glyphs
	for _, step := range []struct{ key, heading, first, last string }{
		{"S", "by size " + glyphs.Descending, "a.txt", "b.go"},
		{"S", "by size, reversed " + glyphs.Ascending, "b.go", "a.txt"},
		{"K", "by extension " + glyphs.Ascending, "b.go", "a.txt"},
		{"L", "by time " + glyphs.Descending, "", ""},
		{"N", "", "a.txt", "c.md"},
		{"N", "by name, reversed " + glyphs.Descending, "c.md", "a.txt"},
	} {
		d.Press(step.key)
		d.WaitText(step.heading)
		d.Wait(step.key+" has sorted them", func() bool {
			screen := d.Screen()
			return step.first == "" || strings.Index(screen, step.first+"   ") < strings.Index(screen, step.last+"   ")
		})
	}
	d.WaitNoText("by size")
}

func TestHiddenFilesAreNotCountedInHeading(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", ".hidden": "3"})
	d.WaitText("1/2 ")
	if strings.Contains(d.Screen(), "1/2 of 3") {
		t.Error("the heading counts what is hidden")
	}
}
