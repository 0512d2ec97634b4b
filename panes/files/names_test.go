package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/panes/kit/dialog"
	"tandem/persist/config/settings"
	"tandem/tests/needs"
)

func TestUnprintableNamesCanBeRenamed(t *testing.T) {
	marks := "a" + strings.Repeat("\u0301", 120)
	for _, name := range []string{"bad\xff", "line\nbreak", "esc\x1b[2J", "rtl\u202egnp", marks, " spaces ", "tab\t"} {
		d, dir := onFolder(t, 120, 30, map[string]string{name: "x", "z": ""})
		d.onFile(name)
		d.Press("R")
		d.WaitText("cannot be shown")
		d.Press("enter") // an unchanged name stays
		d.waitExists(filepath.Join(dir, name), true)
		d.Press("R", "home", "'new ", "enter")
		d.waitExists(filepath.Join(dir, "new "+name), true)
		d.waitExists(filepath.Join(dir, name), false)
	}
}

func TestInvalidEscapeRenamesNothing(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"bad\xff": "x"})
	d.onFile("bad\xff")
	d.Press("R", `'\q`, "enter")
	d.WaitText(`unknown escape \q`)
	d.waitExists(dir+"/bad\xff", true)
}

// renameList returns the path of the file with the list of names that the editor was asked to open.
func renameList(d *view) string {
	_, list, _ := strings.Cut(d.env.Visited[2], ">")
	return list
}

func TestUnprintableNamesCanBeRenamedInEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	d, dir := onFolder(t, 120, 30, map[string]string{"bad\xff": "1", "line\nbreak": "2", `back\slash`: "3"})
	d.Press("v", "R")
	d.waitEditor()
	list := renameList(d)
	if text, err := os.ReadFile(list); err != nil || string(text) != "back\\\\slash\nbad\\xff\nline\\nbreak\n" {
		t.Fatalf("the list is %q, %v", text, err)
	}
	if err := os.WriteFile(list, []byte("back\\\\slash\ngood\\xff\nline\\n\\nbreak\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Run(d.env.AfterVisit())
	d.WaitText("Rename 2 items?")
	d.Press("y")
	d.waitExists(dir+"/good\xff", true)
	d.waitExists(dir+"/line\n\nbreak", true)
	d.waitExists(dir+`/back\slash`, true)
}

func TestUnprintablePathsCanBeTypedAndCompleted(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"odd\xff\n/inside": "x", `odd\/f`: "", "f": "1"})
	d.Press("c", "ctrl+u", "'"+dir+"/o")
	d.WaitText(`odd\xff\n/`)
	d.Press("tab") // completes the common prefix
	d.waitBeforeCursor(filepath.Base(dir) + "/odd")
	d.Press("down", "tab")
	d.waitBeforeCursor(filepath.Base(dir) + `/odd\xff\n/`)
	d.WaitText("cannot be shown")
	d.Press("enter")
	d.Wait("in the folder", func() bool { return d.pane.Folder() == dir+"/odd\xff\n" })
	d.WaitText("inside")
	d.Press("c")
	d.waitBeforeCursor(filepath.Base(dir) + `/odd\xff\n/`)
	d.Press(`'\`, "enter")
	d.WaitText("a lone \\")
	d.Press("esc", "B")
	d.WaitText("bookmarked")
	d.Press("B")
	d.WaitText("bookmark removed")
}

func TestPathsInHomeFolderAreCompleted(t *testing.T) {
	d, dir := onFolder(t, 80, 24, map[string]string{"deep/er/f": ""})
	d.env.UserHome = dir
	d.Press("c", "ctrl+u", "'~/")
	d.WaitText("~/deep/")
	d.Press("tab")
	d.WaitText("~/deep/er/")
	d.Press("tab")
	d.waitBeforeCursor("~/deep/er/")
	d.Press("enter")
	d.Wait("there", func() bool { return d.pane.Folder() == dir+"/deep/er" })
}

func TestProgramsReceiveNamesWithAnyBytes(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "cat")
	d, dir := onFolder(t, 80, 24, map[string]string{"odd\xff/bad\xfe": "the content", "odd\xff/end\n": ""})
	d.onFile("odd\xff")
	d.Press("l")
	d.Wait("in the folder", func() bool { return d.pane.Folder() == dir+"/odd\xff" })
	d.onFile("bad\xfe")
	d.Press("e")
	d.waitEditor()
	started := d.env.Visited
	if out, err := exec.Command(started[0], started[1:]...).Output(); err != nil || string(out) != "the content" {
		t.Errorf("%q gives %q, %v", started, out, err)
	}
	d.env.Visited = nil
	d.onFile("end\n")
	d.Press("e")
	d.WaitText("cannot be passed to a program")
	if d.env.Visited != nil {
		t.Errorf("started %q", d.env.Visited)
	}
}

func TestTruncatedFolderIsReportedAndRestIsReachable(t *testing.T) {
	files := map[string]string{".hidden-far": "found\n"}
	for _, name := range []string{"a", "b", "c", "x", "y", "z"} {
		files[name] = name + " inside\n"
	}
	d, dir := onFolder(t, 120, 30, files)
	d.engine.CutAt = "d"
	d.Press("ctrl+r")
	d.WaitText("and 3 more")
	d.WaitText("1/3 of 7")
	d.Press("c", "ctrl+u", "'"+dir+"/y", "enter")
	d.WaitText("y inside")
	d.WaitText("and 2 more")
	d.Press("f", "'z")
	d.WaitText("1 found")
	d.Press("enter")
	d.WaitText("z inside")
	d.engine.CutAt = ".a"
	d.Press("c", "ctrl+u", "'"+dir+"/.hidden-far", "enter")
	d.Wait("on a hidden file", func() bool {
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
	d.Press("ctrl+r")
	d.WaitText("and 3 more")
	d.Press("/", "'needle")
	d.WaitText("needle 2")
	d.Press("enter")
	d.WaitText("/2 of 6")
	d.WaitNoText("and 3 more")
	d.WaitNoText("other")
	d.Press("down")
	d.WaitText("needle 2 inside")
	if err := os.WriteFile(dir+"/needle 3", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { d.engine.FolderChanged <- struct{}{} }()
	d.WaitText("needle 3")
	d.Press("o")
	d.WaitText("by size")
	d.WaitText("needle 3")
	d.Press("/", "ctrl+u", "'nowhere")
	d.WaitText("nothing matches")
	d.Press("enter", "esc")
	d.WaitText("and 3 more")
	d.WaitText("4 of 7") // including the one under the cursor
}

func TestKeysTypedWhileFolderLoadsAreHandled(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"dir/a": "", "dir/b": "", "dir/c": "the last\n"})
	d.onFile("dir")
	d.Press("l", "G")
	d.WaitText("the last")
	d.Press("h", "c", "ctrl+u", "'dir/", "enter", "G") // during the search for the folder
	d.WaitText("the last")
}

func TestFilesInUntrackedFolderAreMarked(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a": "", "b.txt": ""})
	d.engine.GitAll = "??"
	d.Press("ctrl+r")
	d.WaitText("? a")
	d.WaitText("M b.txt")
}

func TestIconsAreShownIfEnabled(t *testing.T) {
	d, _ := onFolder(t, 80, 24, map[string]string{"a.go": "", "dir/": ""})
	d.WaitNoText("\ue627")
	d.env.Set = func(s *settings.Dashboard) { s.Icons = true }
	d.Press("ctrl+r")
	d.WaitText("\ue627 a.go")
	d.WaitText("\uf07b dir/")
}

func TestFailedPromptStaysOpenWithItsText(t *testing.T) {
	for key, test := range map[string]struct{ typed, why string }{
		"n": {"no/such", "no such file"}, "c": {"nosuch", "no such file"}, "M": {"/no", "not a directory"},
		"R": {strings.Repeat("x", 256), "file name too long"},
	} {
		d, dir := onFolder(t, 160, 30, map[string]string{"a": "x", "b": ""})
		d.onFile("a")
		d.Press(key, "'"+test.typed, "enter", "'D") // which would delete the file
		d.Wait("the prompt is open again", func() bool { return d.env.Shown != nil })
		text := ""
		switch p := d.env.Shown.(type) {
		case *dialog.Prompt:
			text = p.Field.Text()
		case *pathPrompt:
			text = p.Field.Text()
		}
		if !strings.HasSuffix(text, test.typed) && !strings.HasSuffix(text, test.typed+"D") {
			t.Errorf("%s: its text is %q", key, text)
		}
		d.Press("enter")
		d.WaitText(test.why)
		d.waitExists(filepath.Join(dir, "a"), true)
	}
}
