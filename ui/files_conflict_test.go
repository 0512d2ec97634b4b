package ui

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/ui/overlay"
)

func TestOfSeveralConflictsEachIsToldInALine(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "22", "to/a": "333", "to/b": "4"})
	for name, day := range map[string]int{"a": 2, "b": 2, "to/a": 1, "to/b": 3} {
		at := time.Date(2020, 1, day, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	d.onFile("a")
	d.press("space")
	d.onFile("b")
	d.press("space", "C", "ctrl+u", "'to/", "enter")
	d.shows("2 of these already exist")
	d.shows("a: 3B there now, yours is newer, 1B")
	d.shows("b: 1B there now, yours is older, 2B")
}

func TestAFileIsCopiedOntoItselfOnlyToKeepBoth(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1"})
	d.onFile("a")
	d.press("C", "enter")
	d.shows("cannot replace itself")
	d.lacks("r replace")
	d.press("r", "k")
	d.exists(dir+"/a (2)", true)
	d.exists(dir+"/a", true)
}

func TestAWrongNameIsToldInTheDialogWithWhatWasTyped(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "bad\xff": "2"})
	d.onFile("a")
	for text, mistake := range map[string]string{"x/y": "a name cannot contain /", ".": "not a valid name", "..": "not a valid name"} {
		d.press("R", "ctrl+u", "'"+text, "enter")
		d.shows(mistake)
		if p, ok := d.m.dialog.open.(*overlay.Prompt); !ok || p.Field.Text() != text {
			t.Fatalf("%q: the dialog is gone, or the text: %+v", text, d.m.dialog.open)
		}
		d.press("'z")
		d.lacks(mistake)
		d.press("esc")
	}
	d.onFile("bad\xff")
	d.press("R", "ctrl+u", `'x\q`, "enter")
	d.shows(`\q stands for nothing`)
	d.press("backspace", `'\`, "enter")
	d.exists(dir+`/x\`, true)
}
