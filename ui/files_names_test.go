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

func TestNamesThatCannotBeShownAreRenamed(t *testing.T) {
	marks := "a" + strings.Repeat("\u0301", 120)
	for _, name := range []string{"bad\xff", "line\nbreak", "esc\x1b[2J", "rtl\u202egnp", marks, " spaces ", "tab\t"} {
		d, dir := onFolder(t, 120, 30, map[string]string{name: "x", "z": ""})
		d.onFile(name)
		d.press("R")
		d.shows("cannot be shown")
		d.press("enter") // what was not touched stays
		d.exists(filepath.Join(dir, name), true)
		d.press("R", "home", "'new ", "enter")
		d.exists(filepath.Join(dir, "new "+name), true)
		d.exists(filepath.Join(dir, name), false)
	}
}

func TestAWrongEscapeRenamesNothing(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"bad\xff": "x"})
	d.onFile("bad\xff")
	d.press("R", `'\q`, "enter")
	d.shows(`\q stands for nothing`)
	d.exists(dir+"/bad\xff", true)
}

// renameList returns the path of the list of names that the editor was started with.
func renameList(d *driver) string {
	_, list, _ := strings.Cut(d.engine.started[0].Command[2], ">")
	return list
}

func TestNamesThatCannotBeShownAreRenamedInTheEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, dir := onFolder(t, 120, 30, map[string]string{"bad\xff": "1", "line\nbreak": "2", `back\slash`: "3"})
	d.press("v", "R")
	d.hasStarted(2)
	list := renameList(d)
	if text, err := os.ReadFile(list); err != nil || string(text) != "back\\\\slash\nbad\\xff\nline\\nbreak\n" {
		t.Fatalf("the list is %q, %v", text, err)
	}
	if err := os.WriteFile(list, []byte("back\\\\slash\ngood\\xff\nline\\n\\nbreak\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.nth(1).end(api.StateExited, new(int))
	d.shows("Rename 2 items?")
	d.press("y")
	d.exists(dir+"/good\xff", true)
	d.exists(dir+"/line\n\nbreak", true)
	d.exists(dir+`/back\slash`, true)
}

func TestPathsThatCannotBeShownAreTypedAndCompleted(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"odd\xff\n/inside": "x", `odd\/f`: "", "f": "1"})
	d.press("c", "ctrl+u", "'"+dir+"/o")
	d.shows(`odd\xff\n/`)
	d.press("tab") // up to where they differ
	d.hasTyped(filepath.Base(dir) + "/odd")
	d.press("down", "tab")
	d.hasTyped(filepath.Base(dir) + `/odd\xff\n/`)
	d.shows("cannot be shown")
	d.press("enter")
	d.until("in the folder", func() bool { return d.m.files.Folder() == dir+"/odd\xff\n" })
	d.shows("inside")
	d.press("c")
	d.hasTyped(filepath.Base(dir) + `/odd\xff\n/`)
	d.press(`'\`, "enter")
	d.shows("stands alone")
	d.press("esc", "B")
	d.shows("bookmarked")
	d.press("B")
	d.shows("bookmark removed")
}

func TestPathsInTheHomeFolderAreCompleted(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"deep/er/f": ""})
	d.m.o.Home = dir
	d.press("c", "ctrl+u", "'~/")
	d.shows("~/deep/")
	d.press("tab")
	d.shows("~/deep/er/")
	d.press("tab")
	d.hasTyped("~/deep/er/")
	d.press("enter")
	d.until("there", func() bool { return d.m.files.Folder() == dir+"/deep/er" })
}

func TestProgramsAreGivenNamesOfAnyBytes(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "cat")
	d, dir := onFolder(t, 80, 24, map[string]string{"odd\xff/bad\xfe": "the content", "odd\xff/end\n": ""})
	d.onFile("odd\xff")
	d.press("l")
	d.until("in the folder", func() bool { return d.m.files.Folder() == dir+"/odd\xff" })
	d.onFile("bad\xfe")
	d.press("e")
	d.hasStarted(2)
	started := d.engine.started[0]
	if out, err := exec.Command(started.Command[0], started.Command[1:]...).Output(); err != nil || string(out) != "the content" {
		t.Errorf("%q gives %q, %v", started.Command, out, err)
	}
	d.nth(1).end(api.StateExited, new(int))
	d.until("the files are shown again", func() bool { return d.m.view == viewFiles })
	d.onFile("end\n")
	d.press("e")
	d.shows("cannot be passed to a program")
	if d.m.visit != nil {
		t.Error("the view waits for a session that there is not")
	}
}

func TestAFolderWithTooManyEntriesSaysSoAndTheRestIsReached(t *testing.T) {
	files := map[string]string{".hidden-far": "found\n"}
	for _, name := range []string{"a", "b", "c", "x", "y", "z"} {
		files[name] = name + " inside\n"
	}
	d, dir := onFolder(t, 120, 30, files)
	d.engine.beyond = "d"
	d.press("ctrl+r")
	d.shows("and 3 more")
	d.shows("1/3 of 7")
	d.press("c", "ctrl+u", "'"+dir+"/y", "enter")
	d.shows("y inside")
	d.shows("and 2 more")
	d.press("f", "'z")
	d.shows("1 found")
	d.press("enter")
	d.shows("z inside")
	d.engine.beyond = ".a"
	d.press("c", "ctrl+u", "'"+dir+"/.hidden-far", "enter")
	d.until("on a hidden file", func() bool {
		return d.isOn(".hidden-far")
	})
}

func TestTheFilterReachesEntriesThatAreTooManyToShow(t *testing.T) {
	needs.FullRun(t)
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c", "needle 1", "needle 2", "other"} {
		files[name] = name + " inside\n"
	}
	d, dir := onFolder(t, 120, 30, files)
	d.engine.beyond = "d"
	d.press("ctrl+r")
	d.shows("and 3 more")
	d.press("/", "'needle")
	d.shows("needle 2")
	d.press("enter")
	d.shows("/2 of 6")
	d.lacks("and 3 more")
	d.lacks("other")
	d.press("down")
	d.shows("needle 2 inside")
	if err := os.WriteFile(dir+"/needle 3", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.folderChanged <- struct{}{} }()
	d.shows("needle 3")
	d.press("o")
	d.shows("by size")
	d.shows("needle 3")
	d.press("/", "ctrl+u", "'nowhere")
	d.shows("nothing matches")
	d.press("enter", "esc")
	d.shows("and 3 more")
	d.shows("4 of 7") // with that of the cursor
}

func TestKeysTypedBeforeTheFolderIsThereCount(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"dir/a": "", "dir/b": "", "dir/c": "the last\n"})
	d.onFile("dir")
	d.pressAtOnce("l", "G")
	d.shows("the last")
	d.press("h", "c", "ctrl+u", "'dir/", "enter", "G") // with the folder being looked for
	d.shows("the last")
}

func TestFilesInAFolderThatGitDoesNotKnowAreMarked(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": "", "b.txt": ""})
	d.engine.gitAll = "??"
	d.press("ctrl+r")
	d.shows("? a")
	d.shows("M b.txt")
}

func TestIconsAreShownWhereTheyAreWanted(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a.go": "", "dir/": ""})
	d.lacks("\ue627")
	d.m.o.FileIcons = true
	d.press("ctrl+r")
	d.shows("\ue627 a.go")
	d.shows("\uf07b dir/")
}
