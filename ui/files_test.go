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
	"tandem/panes/widget"
)

// onFolder opens the dashboard on a folder with files, each a path with its
// content, or a folder that ends in a slash.
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
	e.branch, e.gitMarks = "main", map[string]string{"b.txt": ".M"}
	s := e.add("shell", "$ ")
	s.process.CWD = dir
	d := drive(t, e, w, h)
	d.shows("$ ")
	d.press("alt+4")
	d.shows("on main")
	d.until("the folder is listed", func() bool {
		return d.cursorRow() != "" || strings.Contains(d.screen(), "empty folder") || strings.Contains(d.screen(), "only hidden files")
	})
	return d, dir
}

// cursorRow is the row of the list of files that the cursor is on, from the name
// on; "" without one.
func (d *driver) cursorRow() string {
	for row := range strings.Lines(d.screen()) {
		if d.m.areas.w >= 140 { // the folder above is before it
			_, row, _ = strings.Cut(row, "│")
		}
		if runes := []rune(row); len(runes) > 4 && runes[0] == '▌' {
			return string(runes[4:])
		}
	}
	return ""
}

// isOn reports whether the cursor is on a name.
func (d *driver) isOn(name string) bool {
	name = widget.FileName(name)
	if begin, _, clipped := strings.Cut(d.cursorRow(), "…"); clipped {
		return strings.HasPrefix(name, begin)
	}
	rest, ok := strings.CutPrefix(d.cursorRow(), name)
	return ok && strings.HasPrefix(strings.TrimLeft(rest, "/@|=*"), " ")
}

// transferring waits until a transfer is under way, or none is.
func (d *driver) transferring(want bool) {
	d.t.Helper()
	d.until(fmt.Sprintf("under way: %t", want), func() bool {
		note, _ := d.m.files.Note()
		return strings.Contains(note, "cancels it") == want
	})
}

// beforeCursor is the row of the dialog's cursor up to it.
func (d *driver) beforeCursor() string {
	v := d.m.View()
	return ansi.Cut(strings.Split(ansi.Strip(v.Content), "\n")[v.Cursor.Y], 0, v.Cursor.X)
}

// hasTyped waits until what was typed ends in text.
func (d *driver) hasTyped(text string) {
	d.t.Helper()
	d.until("there is typed "+text, func() bool { return strings.HasSuffix(d.beforeCursor(), text) })
}

// onFile puts the cursor on a name.
func (d *driver) onFile(name string) {
	d.t.Helper()
	d.until("there is "+name, func() bool {
		d.press("home")
		for row := ""; !d.isOn(name) && row != d.cursorRow(); d.press("down") {
			row = d.cursorRow()
		}
		return d.isOn(name)
	})
}

func (d *driver) exists(path string, want bool) {
	d.t.Helper()
	d.until(fmt.Sprintf("%s exists: %v", path, want), func() bool {
		_, err := os.Lstat(path)
		return (err == nil) == want
	})
}

func TestFilesShowAFolderAndAPreview(t *testing.T) {
	for _, size := range [][2]int{{60, 24}, {80, 24}, {120, 36}, {200, 60}} {
		d, _ := onFolder(t, size[0], size[1], map[string]string{"a/inside": "", "b.txt": "hello from b\n", "c.go": "package c\n"})
		d.onFile("b.txt")
		d.shows("hello from b")
		d.shows("M b.txt")
		for y, line := range strings.Split(d.screen(), "\n") {
			if n := len([]rune(line)); n != size[0] {
				t.Errorf("%v: row %d is %d wide", size, y, n)
			}
		}
	}
}

func TestFoldersAreWalkedAndRemembered(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a/b/deep.txt": "deep", "z.txt": "z"})
	d.onFile("a")
	d.press("l")
	d.until("in a", func() bool { return d.m.files.Folder() == dir+"/a" && d.cursorRow() != "" })
	d.press("enter")
	d.shows("deep.txt")
	d.press("enter") // the file, in full
	d.lacks("▌")
	d.press("esc", "h", "h")
	d.until("back, on a", func() bool {
		return d.m.files.Folder() == dir && d.isOn("a")
	})
	d.press("-")
	d.until("where we were", func() bool { return d.m.files.Folder() == dir+"/a" })
	d.press("c", "ctrl+u", "'"+dir+"/z.t")
	d.shows("│ z.txt ")
	d.press("tab", "enter")
	d.until("on the file that was typed", func() bool {
		return d.m.files.Folder() == dir && d.isOn("z.txt")
	})
}

func TestHiddenFilesOrderAndFilter(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{".rc": "", "part10": "xx", "part9": "x"})
	d.lacks(".rc")
	d.press(".")
	d.shows(".rc")
	d.press("o")
	d.shows("by size")
	d.press("O")
	d.shows("by size, reversed")
	d.press("/", "'10")
	d.lacks("part9")
	d.press("enter", "esc")
	d.shows("part9")
}

func TestFilesAreTrashedAndBroughtBack(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2", "c": "3"})
	d.onFile("a")
	d.press("space", "space")
	d.shows("2 marked")
	d.press("D")
	d.exists(dir+"/b.txt", false)
	d.shows("u undoes it")
	d.transferring(false)
	d.press("u")
	d.exists(dir+"/b.txt", true)
	d.exists(dir+"/a", true)
	d.shows("undone: trash of 2 items")
	d.press("u")
	d.shows("nothing to undo")
}

func TestUndoMovesTheCursorToTheRestoredFile(t *testing.T) {
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
		d.press(c.keys...)
		d.exists(dir+"/b", false)
		d.shows("undoes it")
		d.onFile("d")
		d.press("u")
		d.until("the cursor is on what was restored after "+c.what, func() bool { return d.isOn("b") })
	}
}

func TestAnUndoThatSomethingIsInTheWayOfAsksAndCanBeTriedAgain(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1"})
	d.onFile("a")
	d.press("R", "ctrl+u", "'b", "enter")
	d.exists(dir+"/b", true)
	d.shows("undoes it")
	if err := os.WriteFile(dir+"/a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.press("u")
	d.shows("a already exists")
	d.press("esc")
	if err := os.Remove(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	d.press("u")
	d.exists(dir+"/a", true)
	d.shows("undone: rename of a")
}

func TestAnUndoThatFailsHalfWayGoesOnWhereItFailed(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3"})
	d.onFile("a")
	d.press("v", "D")
	d.exists(dir+"/c", false)
	d.shows("undoes it")
	if err := os.Rename(dir+"/.trash/b", dir+"/.trash/elsewhere"); err != nil {
		t.Fatal(err)
	}
	d.press("u")
	d.exists(dir+"/c", true)
	d.transferring(false)
	d.exists(dir+"/b", false)
	if err := os.Rename(dir+"/.trash/elsewhere", dir+"/.trash/b"); err != nil {
		t.Fatal(err)
	}
	d.press("u")
	d.exists(dir+"/a", true)
	d.exists(dir+"/b", true)
	d.shows("undone: trash of 3 items")
}

func TestAnUndoShowsHowFarItIsAndCanBeEnded(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"})
	d.press("v", "D")
	d.exists(dir+"/d", false)
	d.shows("undoes it")
	d.engine.holdTransfers(1)
	d.press("u")
	d.shows("undoing: out of the trash")
	d.shows("2 of 4 ██░░░░░░░░ 25%")
	d.press("esc")
	d.shows("u undoes the rest")
	d.press("y")
	d.shows("cancelled; u undoes the rest")
	d.exists(dir+"/d", true)
	d.exists(dir+"/a", false)
	d.press("u")
	d.exists(dir+"/a", true)
	d.shows("undone: trash of 4 items")
}

func TestATransferIsEndedBeforeItBegins(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2"})
	d.press("v", "D")
	d.exists(dir+"/b", false)
	d.shows("undoes it")
	d.engine.looks.Store(true)
	d.press("u")
	d.shows("undoing: checking 2 items, esc cancels it")
	d.press("esc")
	d.shows("cancelled")
	if d.m.notices.toast.bad {
		t.Error("the cancelled transfer is shown as an error")
	}
	d.engine.looks.Store(false)
	d.press("u")
	d.exists(dir+"/b", true)
}

func TestATransferIsEndedWhileTheEngineIsAway(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1"})
	d.onFile("a")
	next := d.loseEngine()
	d.press("D")
	d.transferring(true)
	d.press("esc")
	d.transferring(false)
	d.reachEngine(next)
	d.press("D")
	d.exists(dir+"/a", false)
}

func TestTransfersBeginOneAfterTheOther(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "to/": ""})
	d.engine.holdTransfers(1)
	d.onFile("a")
	d.press("space", "space", "D")
	d.shows("2 of 2")
	d.onFile("c")
	d.press("D")
	d.shows("then 1 more")
	d.onFile("d")
	d.press("M", "ctrl+u", "'to/", "enter")
	d.shows("then 2 more")
	d.press("u")
	d.shows("another transfer is under way")
	d.exists(dir+"/c", true)
	d.press("esc", "y")
	d.exists(dir+"/c", false)
	d.exists(dir+"/to/d", true)
	d.transferring(false)
}

func TestCopyAsksWhatIsToBecomeOfWhatIsThere(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "to/a": "2"})
	d.onFile("a")
	d.press("C")
	d.shows("Copy a to")
	d.press("ctrl+u", "'to/", "enter")
	d.shows("a already exists")
	d.shows("there now: 1B, changed ")
	d.shows("you copy:  1B, changed ")
	d.lacks("enter accept")
	d.press("k")
	d.exists(dir+"/to/a (2)", true)
	d.shows("undoes it")
	d.press("u")
	d.exists(dir+"/to/a (2)", false)
}

func TestFilesAreMadeRenamedAndDeleted(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1"})
	d.press("n", "'new/", "enter")
	d.exists(dir+"/new", true)
	d.press("n", "'file", "enter")
	d.exists(dir+"/file", true)
	d.onFile("a")
	d.press("R", "ctrl+u", "'b", "enter")
	d.exists(dir+"/b", true)
	d.press("n", "'.rc", "enter")
	d.shows(".rc")
	d.onFile("b")
	d.press("X")
	d.shows("Delete b for good?")
	d.press("y")
	d.exists(dir+"/b", false)
	d.lacks("  b  ")
}

func TestChangesOnDiskShowByThemselves(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1"})
	if err := os.WriteFile(dir+"/fresh", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.folderChanged <- struct{}{} }()
	d.shows("fresh")
}

func TestAFolderThatIsGoneSaysSo(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"in/a": "1"})
	d.onFile("in")
	d.press("l")
	d.until("in the folder", func() bool { return d.m.files.Folder() == dir+"/in" && d.cursorRow() != "" })
	if err := os.RemoveAll(dir + "/in"); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.folderChanged <- struct{}{} }()
	d.shows("no such file")
	d.press("h")
	d.shows("empty folder")
}

func TestWhatATransferHasNotDoneStaysMarked(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1", "b/": "", "c": "3", "to/": ""})
	for _, name := range []string{"a", "b", "c"} {
		d.onFile(name)
		d.press("space")
	}
	d.press("C", "ctrl+u", "'to/", "enter")
	d.shows("b: is a directory; before that copied a – u undoes it") // which the fake cannot copy
	d.exists(dir+"/to/a", true)
	d.press("y")
	d.until("what is left is marked", func() bool { return d.m.clip.text == dir+"/b\n"+dir+"/c" })
}

func TestFilesAreFoundWhileItIsTyped(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"x/y/needle.txt": "one\ntwo straw\n", "other": ""})
	d.press("f", "'needle")
	d.shows("x/y/needle.txt")
	d.press("tab", "ctrl+u", "'straw")
	d.shows("needle.txt:2")
	d.press("ctrl+u", "'(")
	d.shows("read pattern")
	d.press("ctrl+u", "'straw")
	d.shows("1 found")
	d.press("enter")
	d.until("on the file", func() bool {
		return d.m.files.Folder() == dir+"/x/y" && d.isOn("needle.txt")
	})
}

func TestSmallFilesAreSearchedBeforeLargeOnes(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{"z-small": "needle\n", "a-large": strings.Repeat("straw\n", 8<<20/6) + "needle\n"})
	d.press("ctrl+f", "'needle")
	d.shows("1 found, searching…")
	d.shows("2 found")
	d.shows("a-large:")
	d.lacks("searching")
}

func TestSeveralFilesAreRenamedInTheEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2"})
	d.press("v", "R")
	d.hasStarted(2)
	list := renameList(d)
	if text, err := os.ReadFile(list); err != nil || string(text) != "a\nb.txt\n" {
		t.Fatalf("the list is %q, %v", text, err)
	}
	if err := os.WriteFile(list, []byte("b.txt\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.nth(1).end(api.StateExited, new(int))
	d.shows("Rename 2 items?")
	d.shows("a → b.txt")
	d.press("n")
	d.exists(list, false)
	d.exists(dir+"/a", true)
}

func TestRenameCountsFilesWhoseNamesWereSwappedOnce(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, _ := onFolder(t, 120, 30, map[string]string{"a": "1", "b.txt": "2"})
	d.press("v", "R")
	d.hasStarted(2)
	if err := os.WriteFile(renameList(d), []byte("b.txt\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.nth(1).end(api.StateExited, new(int))
	d.shows("Rename 2 items?")
	d.press("y")
	d.shows("renamed 2 items – u undoes it")
	d.press("u")
	d.shows("undone: rename of 2 items")
}

func TestBookmarksAreKeptAndChosen(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a/": ""})
	d.press("b")
	d.shows("no bookmarks yet")
	d.press("B")
	d.shows("bookmarked")
	d.press("h")
	d.until("elsewhere", func() bool { return d.m.files.Folder() != dir })
	d.press("b")
	d.shows("go there")
	d.press("enter")
	d.until("back", func() bool { return d.m.files.Folder() == dir })
	d.press("B")
	d.shows("bookmark removed")
}

func TestMouseChoosesAndOpensFiles(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a/x": "", "b.txt": strings.Repeat("line\n", 100), "c": ""})
	d.click(6, 3)
	d.until("a click chooses", func() bool { return d.isOn("b.txt") })
	d.shows("1  line")
	d.mouse(keys.Mouse{X: 60, Y: 8, Button: keys.WheelDown, Kind: keys.MouseDown})
	d.shows("│  4  line")
	d.click(6, 2)
	d.click(6, 2)
	d.until("a double click opens", func() bool { return d.m.files.Folder() == dir+"/a" })
}

func TestWhatCannotBeReadSaysSoInPlace(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"a/": ""})
	d.onFile("a")
	if err := os.Remove(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	d.press("enter")
	d.shows("no such file")
}

func TestHostileNamesAreShownAndDealtWith(t *testing.T) {
	hostile := []string{"line\nbreak", "esc\x1b[2J", "bad\xff", "rtl\u202egnp", strings.Repeat("a\u0301", 84)}
	files := map[string]string{}
	for _, name := range hostile {
		files[name] = "x"
	}
	d, dir := onFolder(t, 80, 24, files)
	d.shows("line␊break")
	d.shows("esc␛[2J")
	if content := d.m.View().Content; strings.Contains(content, "\x1b[2J") || strings.Contains(content, "\u202e") {
		t.Error("a name reaches the terminal as it is")
	}
	for _, name := range hostile {
		d.onFile(name)
		d.press("D")
		d.exists(filepath.Join(dir, name), false)
		d.transferring(false)
	}
}

func TestAFileIsOpenedInTheEditorAndComesBack(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -v")
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "1"})
	d.onFile("a")
	d.press("e")
	d.hasStarted(2)
	if got := strings.Join(d.engine.started[0].Command, " "); got != "ed -v "+dir+"/a" {
		t.Errorf("started %s", got)
	}
	d.nth(1).end(api.StateExited, new(int))
	d.until("the files are shown again", func() bool { return d.m.view == viewFiles })
}

func TestKeysTypedBeforeTheTrashIsThereAreForIt(t *testing.T) {
	d, _ := onFolder(t, 120, 36, map[string]string{"a": "", "b": "", "c": ""})
	d.onFile("a")
	d.engine.trash = make(chan []api.TrashedFile, 1)
	d.press("ctrl+t", "down", "down")
	d.until("the keys wait", d.m.input.waits)
	d.engine.trash <- []api.TrashedFile{{Path: "/t/x", From: "/d/x", Type: "file"}, {Path: "/t/y", From: "/d/y", Type: "file"}}
	d.shows("▌   Empty the trash")
	if !regexp.MustCompile(`the last row empties it +2 `).MatchString(d.screen()) {
		t.Errorf("the last row is counted:\n%s", d.screen())
	}
	d.press("esc")
	if !d.isOn("a") {
		t.Error("the keys have gone to the list")
	}
	d.press("ctrl+t", "esc", "down")
	d.until("esc calls the trash off", func() bool { return d.isOn("b") })
	d.lacks("Empty the trash")
}

func TestAFileIsSearchedWhileItIsTyped(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": strings.Repeat("straw\n", 200) + "Needle\n" + strings.Repeat("straw\n", 200) + "needle\n"})
	d.onFile("a")
	d.shows("straw")
	d.press("enter", "/", "'needle")
	d.shows("1/2 │")
	d.shows("201  Needle")
	d.lacks(" 1  straw")
	d.press("'s")
	d.shows("no match")
	d.shows(" 1  straw") // back where it began
	d.press("backspace", "enter")
	d.shows("match 1 of 2")
	d.press("n")
	d.shows("402  needle")
	d.press("/", "'Needle")
	d.shows("1/1 │")
	d.press("esc")
	d.shows("match 2 of 2")
	d.shows("402  needle")
	d.press("/", "'nowhere", "enter")
	d.shows("no match")
}

func TestALineFoundInAFileIsNotCoveredByTheSearch(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": strings.Repeat("straw\n", 60) + "needle\n"})
	d.onFile("a")
	d.shows("straw")
	d.press("enter", "/", "'needle")
	d.shows("1/1 │")
	d.shows("61  needle")
}

func TestALongSearchInAFileIsShownAndEndsWithTheNextOne(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": "straw\nneedle\n", "b": "other\n"})
	d.onFile("a")
	d.shows("straw")
	d.engine.looks.Store(true)
	d.press("enter", "/", "'needle", "enter")
	d.shows("searching for “needle”…")
	d.engine.looks.Store(false)
	d.press("/", "'straw", "enter")
	d.shows("match 1 of 1")
	d.engine.looks.Store(true)
	d.press("/", "'needle", "enter")
	d.shows("searching for")
	d.press("esc")
	d.onFile("b")
	d.shows("other")
	d.lacks("searching for")
}

func TestOnASmallScreenThePreviewTakesThePlaceOfTheList(t *testing.T) {
	d, _ := onFolder(t, 60, 15, map[string]string{"a": "hello\n", "b.txt": "there\n"})
	d.onFile("b.txt")
	d.lacks("there")
	d.press("tab")
	d.shows("there")
	d.lacks("M b.txt")
	d.press("esc")
	d.shows("M b.txt")
	for y, line := range strings.Split(d.screen(), "\n") {
		if n := len([]rune(line)); n != 60 {
			t.Errorf("row %d is %d wide", y, n)
		}
	}
}

func TestFilesAreSortedByShiftAndALetter(t *testing.T) {
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
		d.press(step.key)
		d.shows(step.heading)
		d.until(step.key+" has sorted them", func() bool {
			screen := d.screen()
			return step.first == "" || strings.Index(screen, step.first+"   ") < strings.Index(screen, step.last+"   ")
		})
	}
	d.lacks("by size")
}

func TestHiddenFilesAreNotCountedAsMissing(t *testing.T) {
	d, _ := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "2", ".hidden": "3"})
	d.shows("1/2 ")
	if strings.Contains(d.screen(), "1/2 of 3") {
		t.Error("the heading counts what is hidden")
	}
}
