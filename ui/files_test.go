package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
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

func TestFileIsReadAgainAfterItsEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -v")
	d, dir := onFolder(t, 80, 24, map[string]string{"a": "something buried\n"})
	d.onFile("a")
	d.waitText("something buried")
	d.pressKeys("e")
	d.waitStarted(2)
	if got := strings.Join(d.engine.started[0].Command, " "); got != "ed -v "+dir+"/a" {
		t.Errorf("started %s", got)
	}
	if err := os.WriteFile(dir+"/a", []byte("something edited\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.nthSession(1).exitWith(api.StateExited, new(int))
	d.waitText("alt+4 goes back to Files")
	d.pressKeys("alt+4")
	d.waitText("something edited")
}
