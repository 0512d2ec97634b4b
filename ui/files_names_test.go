package ui

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/needs"
)

func TestUnprintableNamesCanBeRenamed(t *testing.T) {
	marks := "a" + strings.Repeat("\u0301", 120)
	for _, name := range []string{"bad\xff", "line\nbreak", "esc\x1b[2J", "rtl\u202egnp", marks, " spaces ", "tab\t"} {
		d, dir := onFolder(t, 120, 30, map[string]string{name: "x", "z": ""})
		d.onFile(name)
		d.pressKeys("R")
		d.waitText("cannot be shown")
		d.pressKeys("enter") // an unchanged name stays
		d.waitExists(filepath.Join(dir, name), true)
		d.pressKeys("R", "home", "'new ", "enter")
		d.waitExists(filepath.Join(dir, "new "+name), true)
		d.waitExists(filepath.Join(dir, name), false)
	}
}

func TestInvalidEscapeRenamesNothing(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"bad\xff": "x"})
	d.onFile("bad\xff")
	d.pressKeys("R", `'\q`, "enter")
	d.waitText(`unknown escape \q`)
	d.waitExists(dir+"/bad\xff", true)
}

// renameList returns the path of the list of names passed to the editor.
func renameList(d *driver) string {
	_, list, _ := strings.Cut(d.engine.started[0].Command[2], ">")
	return list
}

func TestUnprintableNamesCanBeRenamedInEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, dir := onFolder(t, 120, 30, map[string]string{"bad\xff": "1", "line\nbreak": "2", `back\slash`: "3"})
	d.pressKeys("v", "R")
	d.waitStarted(2)
	list := renameList(d)
	if text, err := os.ReadFile(list); err != nil || string(text) != "back\\\\slash\nbad\\xff\nline\\nbreak\n" {
		t.Fatalf("the list is %q, %v", text, err)
	}
	if err := os.WriteFile(list, []byte("back\\\\slash\ngood\\xff\nline\\n\\nbreak\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.nthSession(1).exitWith(api.StateExited, new(int))
	d.waitText("Rename 2 items?")
	d.pressKeys("y")
	d.waitExists(dir+"/good\xff", true)
	d.waitExists(dir+"/line\n\nbreak", true)
	d.waitExists(dir+`/back\slash`, true)
}

func TestUnprintablePathsCanBeTypedAndCompleted(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"odd\xff\n/inside": "x", `odd\/f`: "", "f": "1"})
	d.pressKeys("c", "ctrl+u", "'"+dir+"/o")
	d.waitText(`odd\xff\n/`)
	d.pressKeys("tab") // completes the common prefix
	d.waitBeforeCursor(filepath.Base(dir) + "/odd")
	d.pressKeys("down", "tab")
	d.waitBeforeCursor(filepath.Base(dir) + `/odd\xff\n/`)
	d.waitText("cannot be shown")
	d.pressKeys("enter")
	d.waitUntil("in the folder", func() bool { return d.m.files.Folder() == dir+"/odd\xff\n" })
	d.waitText("inside")
	d.pressKeys("c")
	d.waitBeforeCursor(filepath.Base(dir) + `/odd\xff\n/`)
	d.pressKeys(`'\`, "enter")
	d.waitText("a lone \\")
	d.pressKeys("esc", "B")
	d.waitText("bookmarked")
	d.pressKeys("B")
	d.waitText("bookmark removed")
}

func TestPathsInHomeFolderAreCompleted(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"deep/er/f": ""})
	d.m.o.Home = dir
	d.pressKeys("c", "ctrl+u", "'~/")
	d.waitText("~/deep/")
	d.pressKeys("tab")
	d.waitText("~/deep/er/")
	d.pressKeys("tab")
	d.waitBeforeCursor("~/deep/er/")
	d.pressKeys("enter")
	d.waitUntil("there", func() bool { return d.m.files.Folder() == dir+"/deep/er" })
}

func TestProgramsReceiveNamesWithAnyBytes(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "cat")
	d, dir := onFolder(t, 80, 24, map[string]string{"odd\xff/bad\xfe": "the content", "odd\xff/end\n": ""})
	d.onFile("odd\xff")
	d.pressKeys("l")
	d.waitUntil("in the folder", func() bool { return d.m.files.Folder() == dir+"/odd\xff" })
	d.onFile("bad\xfe")
	d.pressKeys("e")
	d.waitStarted(2)
	started := d.engine.started[0]
	if out, err := exec.Command(started.Command[0], started.Command[1:]...).Output(); err != nil || string(out) != "the content" {
		t.Errorf("%q gives %q, %v", started.Command, out, err)
	}
	d.nthSession(1).exitWith(api.StateExited, new(int))
	d.waitUntil("the files are shown again", func() bool { return d.m.view == viewFiles })
	d.onFile("end\n")
	d.pressKeys("e")
	d.waitText("cannot be passed to a program")
	if d.m.visit != nil {
		t.Error("the view waits for a session that there is not")
	}
}

func TestTruncatedFolderSaysSoAndRestIsReachable(t *testing.T) {
	files := map[string]string{".hidden-far": "found\n"}
	for _, name := range []string{"a", "b", "c", "x", "y", "z"} {
		files[name] = name + " inside\n"
	}
	d, dir := onFolder(t, 120, 30, files)
	d.engine.CutAt = "d"
	d.pressKeys("ctrl+r")
	d.waitText("and 3 more")
	d.waitText("1/3 of 7")
	d.pressKeys("c", "ctrl+u", "'"+dir+"/y", "enter")
	d.waitText("y inside")
	d.waitText("and 2 more")
	d.pressKeys("f", "'z")
	d.waitText("1 found")
	d.pressKeys("enter")
	d.waitText("z inside")
	d.engine.CutAt = ".a"
	d.pressKeys("c", "ctrl+u", "'"+dir+"/.hidden-far", "enter")
	d.waitUntil("on a hidden file", func() bool {
		return d.isOnFile(".hidden-far")
	})
}

func TestFilterFindsEntriesOfTruncatedFolder(t *testing.T) {
	needs.FullRun(t)
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c", "needle 1", "needle 2", "other"} {
		files[name] = name + " inside\n"
	}
	d, dir := onFolder(t, 120, 30, files)
	d.engine.CutAt = "d"
	d.pressKeys("ctrl+r")
	d.waitText("and 3 more")
	d.pressKeys("/", "'needle")
	d.waitText("needle 2")
	d.pressKeys("enter")
	d.waitText("/2 of 6")
	d.waitNoText("and 3 more")
	d.waitNoText("other")
	d.pressKeys("down")
	d.waitText("needle 2 inside")
	if err := os.WriteFile(dir+"/needle 3", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.FolderChanged <- struct{}{} }()
	d.waitText("needle 3")
	d.pressKeys("o")
	d.waitText("by size")
	d.waitText("needle 3")
	d.pressKeys("/", "ctrl+u", "'nowhere")
	d.waitText("nothing matches")
	d.pressKeys("enter", "esc")
	d.waitText("and 3 more")
	d.waitText("4 of 7") // including the one under the cursor
}

func TestKeysTypedWhileFolderLoadsAreHandled(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"dir/a": "", "dir/b": "", "dir/c": "the last\n"})
	d.onFile("dir")
	d.pressAtOnce("l", "G")
	d.waitText("the last")
	d.pressKeys("h", "c", "ctrl+u", "'dir/", "enter", "G") // during the search for the folder
	d.waitText("the last")
}

func TestFilesInUntrackedFolderAreMarked(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": "", "b.txt": ""})
	d.engine.GitAll = "??"
	d.pressKeys("ctrl+r")
	d.waitText("? a")
	d.waitText("M b.txt")
}

func TestIconsAreShownIfEnabled(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a.go": "", "dir/": ""})
	d.waitNoText("\ue627")
	d.m.o.Icons = true
	d.pressKeys("ctrl+r")
	d.waitText("\ue627 a.go")
	d.waitText("\uf07b dir/")
}
