package ui

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tandem/engine/api"
	"tandem/keys/keymap"
)

func TestNextDashboardRestoresFolderTabs(t *testing.T) {
	d, dir := onFolder(t, 100, 30, map[string]string{"one.txt": "one\n", "sub/two.txt": "two\n"})
	first := " 1 " + filepath.Base(dir) + " "
	waitSub := func() {
		t.Helper()
		d.waitUntil("the folder sub is shown", func() bool { return d.m.files.Folder() == dir+"/sub" && d.isOnFile("two.txt") })
	}
	d.waitText("one.txt")
	d.pressKeys("T", "c", "ctrl+u", "'sub", "enter")
	d.waitText(first + " 2 sub ")
	waitSub()
	d.pressKeys("[")
	d.waitUntil("the first folder is shown", func() bool { return d.m.files.Folder() == dir && d.isOnFile("sub") })
	d.pressKeys("]", "T", "h")
	d.waitText(first + " 2 sub  3 " + filepath.Base(dir) + " ")
	d.pressKeys("W")
	d.waitNoText(" 3 " + filepath.Base(dir))
	d.waitText(first + " 2 sub ")
	waitSub()
	d.pressKeys("q")
	d.waitUntil("the dashboard quits", func() bool { return d.quit })
	d.m.saveOnExit()
	d.cancel()

	d = drive(t, d.engine, 160, 24)
	d.waitText("$ ")
	d.pressKeys("alt+4")
	d.waitText(first + " 2 sub ")
	waitSub()
	d.pressKeys("W")
	d.waitNoText(" 2 sub ")
}

func TestFileIsOpenedWithProgramOfSettings(t *testing.T) {
	d, _ := onFolder(t, 160, 24, map[string]string{"one.txt": "one\n", "two.txt": "two\n"})
	d.changeSettings(func(s *Settings) { s.OpenWith = []string{"sh -c 'echo counted: ${1##*/}' sh"} })
	d.pressKeys("/", "'two", "enter", "E")
	d.waitText("Open two.txt with")
	d.waitText("config.toml")
	d.pressKeys("enter")
	d.waitStarted(2)
	command := d.engine.started[0].Command
	if out, err := exec.Command(command[0], command[1:]...).Output(); err != nil || string(out) != "counted: two.txt\n" {
		t.Errorf("%q prints %q, %v", command, out, err)
	}
	d.nthSession(1).exitWith(api.StateExited, new(int))
	d.waitText("alt+4 goes back to Files")
}

func TestEmptyFolderHidesKeysThatNeedAnEntry(t *testing.T) {
	d, _ := onFolder(t, 200, 24, map[string]string{"a": "1", ".hidden": ""})
	for _, hint := range []string{"enter open", "e edit", "R rename", "D trash", "n new"} {
		d.waitText(hint)
	}
	d.onFile("a")
	d.pressKeys("D")
	d.waitText("only hidden files")
	for _, hint := range []string{"enter open", "e edit", "R rename", "C copy", "M move", "D trash"} {
		d.waitNoText(hint)
	}
	d.waitText("n new")
}

func TestShellStartsInFolderOnScreen(t *testing.T) {
	d, dir := onFolder(t, 120, 36, map[string]string{"sub/deep.txt": ""})
	d.onFile("sub")
	d.pressKeys("l")
	d.waitUntil("the folder is shown", func() bool { return d.m.files.Folder() == dir+"/sub" && d.isOnFile("deep.txt") })
	d.pressKeys("h", "t")
	d.waitStarted(2)
	if in := d.engine.started[0]; in.CWD != dir || len(in.Command) > 0 {
		t.Errorf("started %+v", in)
	}
	if d.m.views.action() != keymap.ViewSessions {
		t.Error("the session is not shown")
	}
}

func TestFolderIsListedAgainAfterReconnect(t *testing.T) {
	d, dir := onFolder(t, 120, 36, map[string]string{"main.go": ""})
	d.waitText("main.go")
	next := d.loseEngine()
	if err := os.Rename(dir+"/main.go", dir+"/renamed.go"); err != nil {
		t.Fatal(err)
	}
	d.restoreEngine(next)
	d.waitText("renamed.go")
	d.waitNoText("main.go")
}

// makeDeepFolder makes a folder with two files in sub/deep.
func makeDeepFolder(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.MkdirAll(dir+"/sub/deep", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"deepest.txt": "at the bottom\n", "above.txt": "at the top\n"} {
		if err := os.WriteFile(filepath.Join(dir, "sub/deep", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFilesReportLastFolderInsteadOfFarewell(t *testing.T) {
	dir := makeDeepFolder(t)
	e := newFakeEngine()
	e.addSession("first", "$ ")
	var left string
	p := openDashboard(t, e, 80, 24, func(o *Options) {
		o.Files, o.Left = dir+"/sub", func(folder string) { left = folder }
	})
	p.waitOutput("deep")
	p.waitOutput("1 running")
	p.sendText("lq")
	if err := p.waitExit(); err != nil {
		t.Error(err)
	}
	if left != dir+"/sub/deep" {
		t.Errorf("left in %q", left)
	}
	p.checkRestored()
	p.slave.WriteString("prompt of the shell")
	p.waitOutput("prompt of the shell")
	if p.hasOutput("still running") {
		t.Error("the farewell is printed too")
	}
}

func TestFilesOpenAtFileAndStartSessionOnRequest(t *testing.T) {
	dir := makeDeepFolder(t)
	e := newFakeEngine()
	p := openDashboard(t, e, 120, 36, func(o *Options) { o.Files, o.File = dir+"/sub/deep", "deepest.txt" })
	p.waitOutput("at the bottom")
	p.waitOutput("0 running")
	if len(e.started) > 0 {
		t.Errorf("started %+v", e.started)
	}
	p.sendText("\x1b1")
	p.waitOutput("bash-1")
	p.sendText("\x02d")
	if err := p.waitExit(); err != nil {
		t.Error(err)
	}
	p.waitOutput("1 session still running. Run `tandem` to return.")
}
