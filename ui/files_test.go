package ui

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
	"tandem/panes/kit/text"
)

// onFolder opens the dashboard on a folder with files, a map of paths to contents. A path
// with a trailing slash is a folder.
func onFolder(t *testing.T, w, h int, files map[string]string) (*driver, string) {
	t.Helper()
	dir := t.TempDir()
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
	e := newFakeEngine()
	e.dataDir = t.TempDir()
	e.Branch, e.GitMarks = "main", map[string]string{"b.txt": ".M"}
	s := e.addSession("shell", "$ ")
	s.process.CWD = dir
	d := drive(t, e, w, h)
	d.waitText("$ ")
	d.pressKeys("alt+4")
	d.waitText("on main")
	d.waitUntil("the folder is listed", func() bool {
		return d.cursorRow() != "" || strings.Contains(d.screenText(), "empty folder") || strings.Contains(d.screenText(), "only hidden files")
	})
	return d, dir
}

// cursorRow returns the selected row of the list of files, starting with the name; "" if
// there is none.
func (d *driver) cursorRow() string {
	for row := range strings.Lines(d.screenText()) {
		if d.m.areas.w >= 140 { // the parent folder is to its left
			_, row, _ = strings.Cut(row, "│")
		}
		if runes := []rune(row); len(runes) > 4 && runes[0] == '▌' {
			return string(runes[4:])
		}
	}
	return ""
}

// isOnFile reports whether the cursor is on a name.
func (d *driver) isOnFile(name string) bool {
	name = text.FileName(name)
	if begin, _, clipped := strings.Cut(d.cursorRow(), "…"); clipped {
		return strings.HasPrefix(name, begin)
	}
	rest, ok := strings.CutPrefix(d.cursorRow(), name)
	return ok && strings.HasPrefix(strings.TrimLeft(rest, "/@|=*"), " ")
}

// waitTransfer waits until a transfer is running, or none is.
func (d *driver) waitTransfer(want bool) {
	d.t.Helper()
	d.waitUntil(fmt.Sprintf("under way: %t", want), func() bool {
		note, _ := d.m.files.Note()
		return strings.Contains(note, "cancels it") == want
	})
}

// beforeCursor returns the text before the cursor in the dialog.
func (d *driver) beforeCursor() string {
	v := d.m.View()
	return ansi.Cut(strings.Split(ansi.Strip(v.Content), "\n")[v.Cursor.Y], 0, v.Cursor.X)
}

// waitBeforeCursor waits until the text before the cursor ends in text.
func (d *driver) waitBeforeCursor(text string) {
	d.t.Helper()
	d.waitUntil("there is typed "+text, func() bool { return strings.HasSuffix(d.beforeCursor(), text) })
}

// onFile moves the cursor to a name.
func (d *driver) onFile(name string) {
	d.t.Helper()
	d.waitUntil("there is "+name, func() bool {
		d.pressKeys("home")
		for row := ""; !d.isOnFile(name) && row != d.cursorRow(); d.pressKeys("down") {
			row = d.cursorRow()
		}
		return d.isOnFile(name)
	})
}

func (d *driver) waitExists(path string, want bool) {
	d.t.Helper()
	d.waitUntil(fmt.Sprintf("%s exists: %v", path, want), func() bool {
		_, err := os.Lstat(path)
		return (err == nil) == want
	})
}

func TestFilesShowFolderAndPreview(t *testing.T) {
	for _, size := range [][2]int{{60, 24}, {80, 24}, {120, 36}, {200, 60}} {
		d, _ := onFolder(t, size[0], size[1], map[string]string{"a/inside": "", "b.txt": "hello from b\n", "c.go": "package c\n"})
		d.onFile("b.txt")
		d.waitText("hello from b")
		d.waitText("M b.txt")
		for y, line := range strings.Split(d.screenText(), "\n") {
			if n := len([]rune(line)); n != size[0] {
				t.Errorf("%v: row %d is %d wide", size, y, n)
			}
		}
	}
}

func TestFoldersRememberCursorWhenRevisited(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a/b/deep.txt": "deep", "z.txt": "z"})
	d.onFile("a")
	d.pressKeys("l")
	d.waitUntil("in a", func() bool { return d.m.files.Folder() == dir+"/a" && d.cursorRow() != "" })
	d.pressKeys("enter")
	d.waitText("deep.txt")
	d.pressKeys("enter") // shows the complete file
	d.waitNoText("▌")
	d.pressKeys("esc", "h", "h")
	d.waitUntil("back, on a", func() bool {
		return d.m.files.Folder() == dir && d.isOnFile("a")
	})
	d.pressKeys("-")
	d.waitUntil("where we were", func() bool { return d.m.files.Folder() == dir+"/a" })
	d.pressKeys("c", "ctrl+u", "'"+dir+"/z.t")
	d.waitText("│ z.txt ")
	d.pressKeys("tab", "enter")
	d.waitUntil("on the file that was typed", func() bool {
		return d.m.files.Folder() == dir && d.isOnFile("z.txt")
	})
}

func TestFilesHideSortAndFilter(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{".rc": "", "part10": "xx", "part9": "x"})
	d.waitNoText(".rc")
	d.pressKeys(".")
	d.waitText(".rc")
	d.pressKeys("o")
	d.waitText("by size")
	d.pressKeys("O")
	d.waitText("by size, reversed")
	d.pressKeys("/", "'10")
	d.waitNoText("part9")
	d.pressKeys("enter", "esc")
	d.waitText("part9")
}

func TestFilesAreTrashedAndRestored(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2", "c": "3"})
	d.onFile("a")
	d.pressKeys("space", "space")
	d.waitText("2 marked")
	d.pressKeys("D")
	d.waitExists(dir+"/b.txt", false)
	d.waitText("u undoes it")
	d.waitTransfer(false)
	d.pressKeys("u")
	d.waitExists(dir+"/b.txt", true)
	d.waitExists(dir+"/a", true)
	d.waitText("undone: trash of 2 items")
	d.pressKeys("u")
	d.waitText("nothing to undo")
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
		d.pressKeys(c.keys...)
		d.waitExists(dir+"/b", false)
		d.waitText("undoes it")
		d.onFile("d")
		d.pressKeys("u")
		d.waitUntil("the cursor is on what was restored after "+c.what, func() bool { return d.isOnFile("b") })
	}
}

func TestBlockedUndoAsksAndCanBeRetried(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1"})
	d.onFile("a")
	d.pressKeys("R", "ctrl+u", "'b", "enter")
	d.waitExists(dir+"/b", true)
	d.waitText("undoes it")
	if err := os.WriteFile(dir+"/a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.pressKeys("u")
	d.waitText("a already exists")
	d.pressKeys("esc")
	if err := os.Remove(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	d.pressKeys("u")
	d.waitExists(dir+"/a", true)
	d.waitText("undone: rename of a")
}

func TestUndoResumesAfterPartialFailure(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3"})
	d.onFile("a")
	d.pressKeys("v", "D")
	d.waitExists(dir+"/c", false)
	d.waitText("undoes it")
	if err := os.Rename(dir+"/.trash/b", dir+"/.trash/elsewhere"); err != nil {
		t.Fatal(err)
	}
	d.pressKeys("u")
	d.waitExists(dir+"/c", true)
	d.waitTransfer(false)
	d.waitExists(dir+"/b", false)
	if err := os.Rename(dir+"/.trash/elsewhere", dir+"/.trash/b"); err != nil {
		t.Fatal(err)
	}
	d.pressKeys("u")
	d.waitExists(dir+"/a", true)
	d.waitExists(dir+"/b", true)
	d.waitText("undone: trash of 3 items")
}

func TestUndoShowsProgressAndCanBeCancelled(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"})
	d.pressKeys("v", "D")
	d.waitExists(dir+"/d", false)
	d.waitText("undoes it")
	d.engine.HoldTransfers(1)
	d.pressKeys("u")
	d.waitText("undoing: out of the trash")
	d.waitText("2 of 4 ██░░░░░░░░ 25%")
	d.pressKeys("esc")
	d.waitText("u undoes the rest")
	d.pressKeys("y")
	d.waitText("cancelled; u undoes the rest")
	d.waitExists(dir+"/d", true)
	d.waitExists(dir+"/a", false)
	d.pressKeys("u")
	d.waitExists(dir+"/a", true)
	d.waitText("undone: trash of 4 items")
}

func TestQueuedTransferCanBeCancelled(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2"})
	d.pressKeys("v", "D")
	d.waitExists(dir+"/b", false)
	d.waitText("undoes it")
	d.engine.Hang.Store(true)
	d.pressKeys("u")
	d.waitText("undoing: checking 2 items, esc cancels it")
	d.pressKeys("esc")
	d.waitText("cancelled")
	if d.m.notices.toast.bad {
		t.Error("the cancelled transfer is shown as an error")
	}
	d.engine.Hang.Store(false)
	d.pressKeys("u")
	d.waitExists(dir+"/b", true)
}

func TestTransferCanBeCancelledWhileEngineIsOffline(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1"})
	d.onFile("a")
	next := d.loseEngine()
	d.pressKeys("D")
	d.waitTransfer(true)
	d.pressKeys("esc")
	d.waitTransfer(false)
	d.restoreEngine(next)
	d.pressKeys("D")
	d.waitExists(dir+"/a", false)
}

func TestTransfersRunOneAtATime(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "to/": ""})
	d.engine.HoldTransfers(1)
	d.onFile("a")
	d.pressKeys("space", "space", "D")
	d.waitText("2 of 2")
	d.onFile("c")
	d.pressKeys("D")
	d.waitText("then 1 more")
	d.onFile("d")
	d.pressKeys("M", "ctrl+u", "'to/", "enter")
	d.waitText("then 2 more")
	d.pressKeys("u")
	d.waitText("another transfer is in progress")
	d.waitExists(dir+"/c", true)
	d.pressKeys("esc", "y")
	d.waitExists(dir+"/c", false)
	d.waitExists(dir+"/to/d", true)
	d.waitTransfer(false)
}

func TestCopyAsksBeforeReplacingFiles(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "to/a": "2"})
	d.onFile("a")
	d.pressKeys("C")
	d.waitText("Copy a to")
	d.pressKeys("ctrl+u", "'to/", "enter")
	d.waitText("a already exists")
	d.waitText("there now: 1B, changed ")
	d.waitText("you copy:  1B, changed ")
	d.waitNoText("enter accept")
	d.pressKeys("k")
	d.waitExists(dir+"/to/a (2)", true)
	d.waitText("undoes it")
	d.pressKeys("u")
	d.waitExists(dir+"/to/a (2)", false)
}

func TestFilesAreCreatedRenamedAndDeleted(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1"})
	d.pressKeys("n", "'new/", "enter")
	d.waitExists(dir+"/new", true)
	d.pressKeys("n", "'file", "enter")
	d.waitExists(dir+"/file", true)
	d.onFile("a")
	d.pressKeys("R", "ctrl+u", "'b", "enter")
	d.waitExists(dir+"/b", true)
	d.pressKeys("n", "'.rc", "enter")
	d.waitText(".rc")
	d.onFile("b")
	d.pressKeys("X")
	d.waitText("Delete b permanently?")
	d.pressKeys("y")
	d.waitExists(dir+"/b", false)
	d.waitNoText("  b  ")
}

func TestChangesOnDiskAppearByThemselves(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1"})
	if err := os.WriteFile(dir+"/fresh", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.FolderChanged <- struct{}{} }()
	d.waitText("fresh")
}

func TestDeletedFolderIsReported(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"in/a": "1"})
	d.onFile("in")
	d.pressKeys("l")
	d.waitUntil("in the folder", func() bool { return d.m.files.Folder() == dir+"/in" && d.cursorRow() != "" })
	if err := os.RemoveAll(dir + "/in"); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.FolderChanged <- struct{}{} }()
	d.waitText("no such file")
	d.pressKeys("h")
	d.waitText("empty folder")
}

func TestUntransferredFilesStayMarked(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1", "b/": "", "c": "3", "to/": ""})
	for _, name := range []string{"a", "b", "c"} {
		d.onFile(name)
		d.pressKeys("space")
	}
	d.pressKeys("C", "ctrl+u", "'to/", "enter")
	d.waitText("b: is a directory; before that copied a – u undoes it") // the fake cannot copy directories
	d.waitExists(dir+"/to/a", true)
	d.pressKeys("y")
	d.waitUntil("what is left is marked", func() bool { return d.m.clip.text == dir+"/b\n"+dir+"/c" })
}

func TestFileSearchUpdatesWhileTyping(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"x/y/needle.txt": "one\ntwo straw\n", "other": ""})
	d.pressKeys("f", "'needle")
	d.waitText("x/y/needle.txt")
	d.pressKeys("tab", "ctrl+u", "'straw")
	d.waitText("needle.txt:2")
	d.pressKeys("ctrl+u", "'(")
	d.waitText("read pattern")
	d.pressKeys("ctrl+u", "'straw")
	d.waitText("1 found")
	d.pressKeys("enter")
	d.waitUntil("on the file", func() bool {
		return d.m.files.Folder() == dir+"/x/y" && d.isOnFile("needle.txt")
	})
}

func TestContentSearchStartsWithSmallFiles(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{"z-small": "needle\n", "a-large": strings.Repeat("straw\n", 8<<20/6) + "needle\n"})
	d.pressKeys("ctrl+f", "'needle")
	d.waitText("1 found, searching…")
	d.waitText("2 found")
	d.waitText("a-large:")
	d.waitNoText("searching")
}

func TestSeveralFilesAreRenamedInEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2"})
	d.pressKeys("v", "R")
	d.waitStarted(2)
	list := renameList(d)
	if text, err := os.ReadFile(list); err != nil || string(text) != "a\nb.txt\n" {
		t.Fatalf("the list is %q, %v", text, err)
	}
	if err := os.WriteFile(list, []byte("b.txt\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.nthSession(1).exitWith(api.StateExited, new(int))
	d.waitText("Rename 2 items?")
	d.waitText("a → b.txt")
	d.pressKeys("n")
	d.waitExists(list, false)
	d.waitExists(dir+"/a", true)
}

func TestRenameCountsSwappedFilesOnce(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, _ := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2"})
	d.pressKeys("v", "R")
	d.waitStarted(2)
	if err := os.WriteFile(renameList(d), []byte("b.txt\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.nthSession(1).exitWith(api.StateExited, new(int))
	d.waitText("Rename 2 items?")
	d.pressKeys("y")
	d.waitText("renamed 2 items – u undoes it")
	d.pressKeys("u")
	d.waitText("undone: rename of 2 items")
}

func TestBookmarksAreSavedAndOpened(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a/": ""})
	d.pressKeys("b")
	d.waitText("no bookmarks yet")
	d.pressKeys("B")
	d.waitText("bookmarked")
	d.pressKeys("h")
	d.waitUntil("elsewhere", func() bool { return d.m.files.Folder() != dir })
	d.pressKeys("b")
	d.waitText("go there")
	d.pressKeys("enter")
	d.waitUntil("back", func() bool { return d.m.files.Folder() == dir })
	d.pressKeys("B")
	d.waitText("bookmark removed")
}

func TestMouseSelectsAndOpensFiles(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a/x": "", "b.txt": strings.Repeat("line\n", 100), "c": ""})
	d.click(6, 3)
	d.waitUntil("a click chooses", func() bool { return d.isOnFile("b.txt") })
	d.waitText("1  line")
	d.sendMouse(keys.Mouse{X: 60, Y: 8, Button: keys.WheelDown, Kind: keys.MouseDown})
	d.waitText("│  4  line")
	d.click(6, 2)
	d.click(6, 2)
	d.waitUntil("a double click opens", func() bool { return d.m.files.Folder() == dir+"/a" })
}

func TestUnreadableFileIsReportedInPreview(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a/": ""})
	d.onFile("a")
	if err := os.Remove(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	d.pressKeys("enter")
	d.waitText("no such file")
}

func TestHostileNamesAreEscapedAndUsable(t *testing.T) {
	hostile := []string{"line\nbreak", "esc\x1b[2J", "bad\xff", "rtl\u202egnp", strings.Repeat("a\u0301", 84)}
	files := map[string]string{}
	for _, name := range hostile {
		files[name] = "x"
	}
	d, dir := onFolder(t, 80, 24, files)
	d.waitText("line␊break")
	d.waitText("esc␛[2J")
	if content := d.m.View().Content; strings.Contains(content, "\x1b[2J") || strings.Contains(content, "\u202e") {
		t.Error("a name reaches the terminal as it is")
	}
	for _, name := range hostile {
		d.onFile(name)
		d.pressKeys("D")
		d.waitExists(filepath.Join(dir, name), false)
		d.waitTransfer(false)
	}
}

func TestClosingEditorReturnsToFiles(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -v")
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1"})
	d.onFile("a")
	d.pressKeys("e")
	d.waitStarted(2)
	if got := strings.Join(d.engine.started[0].Command, " "); got != "ed -v "+dir+"/a" {
		t.Errorf("started %s", got)
	}
	d.nthSession(1).exitWith(api.StateExited, new(int))
	d.waitUntil("the files are shown again", func() bool { return d.m.view == viewFiles })
}

func TestKeysTypedWhileTrashLoadsAreHandled(t *testing.T) {
	d, _ := onFolder(t, 120, 36, map[string]string{"a": "", "b": "", "c": ""})
	d.onFile("a")
	d.engine.Trash = make(chan []api.TrashedFile, 1)
	d.pressKeys("ctrl+t", "down", "down")
	d.waitUntil("the keys wait", d.m.input.isHeld)
	d.engine.Trash <- []api.TrashedFile{{Path: "/t/x", From: "/d/x", Type: "file"}, {Path: "/t/y", From: "/d/y", Type: "file"}}
	d.waitText("▌   Empty the trash")
	if !regexp.MustCompile(`the last row empties it +2 `).MatchString(d.screenText()) {
		t.Errorf("the last row is counted:\n%s", d.screenText())
	}
	d.pressKeys("esc")
	if !d.isOnFile("a") {
		t.Error("the keys have gone to the list")
	}
	d.pressKeys("ctrl+t", "esc", "down")
	d.waitUntil("esc calls the trash off", func() bool { return d.isOnFile("b") })
	d.waitNoText("Empty the trash")
}

func TestPreviewSearchUpdatesWhileTyping(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": strings.Repeat("straw\n", 200) + "Needle\n" + strings.Repeat("straw\n", 200) + "needle\n"})
	d.onFile("a")
	d.waitText("straw")
	d.pressKeys("enter", "/", "'needle")
	d.waitText("1/2 │")
	d.waitText("201  Needle")
	d.waitNoText(" 1  straw")
	d.pressKeys("'s")
	d.waitText("no match")
	d.waitText(" 1  straw") // back at the line where the search began
	d.pressKeys("backspace", "enter")
	d.waitText("match 1 of 2")
	d.pressKeys("n")
	d.waitText("402  needle")
	d.pressKeys("/", "'Needle")
	d.waitText("1/1 │")
	d.pressKeys("esc")
	d.waitText("match 2 of 2")
	d.waitText("402  needle")
	d.pressKeys("/", "'nowhere", "enter")
	d.waitText("no match")
}

func TestFoundLineIsNotCoveredBySearchLine(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": strings.Repeat("straw\n", 60) + "needle\n"})
	d.onFile("a")
	d.waitText("straw")
	d.pressKeys("enter", "/", "'needle")
	d.waitText("1/1 │")
	d.waitText("61  needle")
}

func TestLongPreviewSearchShowsProgressAndStopsForNextOne(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": "straw\nneedle\n", "b": "other\n"})
	d.onFile("a")
	d.waitText("straw")
	d.engine.Hang.Store(true)
	d.pressKeys("enter", "/", "'needle", "enter")
	d.waitText("searching for “needle”…")
	d.engine.Hang.Store(false)
	d.pressKeys("/", "'straw", "enter")
	d.waitText("match 1 of 1")
	d.engine.Hang.Store(true)
	d.pressKeys("/", "'needle", "enter")
	d.waitText("searching for")
	d.pressKeys("esc")
	d.onFile("b")
	d.waitText("other")
	d.waitNoText("searching for")
}

func TestPreviewReplacesListOnSmallScreen(t *testing.T) {
	d, _ := onFolder(t, 60, 15, map[string]string{"a": "hello\n", "b.txt": "there\n"})
	d.onFile("b.txt")
	d.waitNoText("there")
	d.pressKeys("tab")
	d.waitText("there")
	d.waitNoText("M b.txt")
	d.pressKeys("esc")
	d.waitText("M b.txt")
	for y, line := range strings.Split(d.screenText(), "\n") {
		if n := len([]rune(line)); n != 60 {
			t.Errorf("row %d is %d wide", y, n)
		}
	}
}

func TestShiftedLettersSortFiles(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{"a.txt": "xxx", "b.go": "x", "c.md": "xx"})
	glyphs := d.m.theme.look.Glyphs
	for _, step := range []struct{ key, heading, first, last string }{
		{"S", "by size " + glyphs.Descending, "a.txt", "b.go"},
		{"S", "by size, reversed " + glyphs.Ascending, "b.go", "a.txt"},
		{"K", "by extension " + glyphs.Ascending, "b.go", "a.txt"},
		{"L", "by time " + glyphs.Descending, "", ""},
		{"N", "", "a.txt", "c.md"},
		{"N", "by name, reversed " + glyphs.Descending, "c.md", "a.txt"},
	} {
		d.pressKeys(step.key)
		d.waitText(step.heading)
		d.waitUntil(step.key+" has sorted them", func() bool {
			screen := d.screenText()
			return step.first == "" || strings.Index(screen, step.first+"   ") < strings.Index(screen, step.last+"   ")
		})
	}
	d.waitNoText("by size")
}

func TestHiddenFilesAreNotCountedAsMissing(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", ".hidden": "3"})
	d.waitText("1/2 ")
	if strings.Contains(d.screenText(), "1/2 of 3") {
		t.Error("the heading counts what is hidden")
	}
}
