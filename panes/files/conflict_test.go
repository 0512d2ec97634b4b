package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/panes/kit/dialog"
)

func TestEveryConflictIsListed(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "b": "22", "to/a": "333", "to/b": "4"})
	for name, day := range map[string]int{"a": 2, "b": 2, "to/a": 1, "to/b": 3} {
		at := time.Date(2020, 1, day, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	d.onFile("a")
	d.Press("space")
	d.onFile("b")
	d.Press("space", "C", "ctrl+u", "'to/", "enter")
	d.WaitText("2 of these already exist")
	d.WaitText("a: 3B exists, yours is newer, 1B")
	d.WaitText("b: 1B exists, yours is older, 2B")
}

func TestCopyOntoItselfOffersOnlyKeepBoth(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1"})
	d.onFile("a")
	d.Press("C", "enter")
	d.WaitText("cannot replace itself")
	d.WaitNoText("r replace")
	d.Press("r", "k")
	d.waitExists(dir+"/a (2)", true)
	d.waitExists(dir+"/a", true)
}

func TestInvalidNameIsReportedInDialogAndKept(t *testing.T) {
	d, dir := onFolder(t, 120, 30, map[string]string{"a": "1", "bad\xff": "2"})
	d.onFile("a")
	for text, mistake := range map[string]string{"x/y": "a name cannot contain /", ".": "not a valid name", "..": "not a valid name"} {
		d.Press("R", "ctrl+u", "'"+text, "enter")
		d.WaitText(mistake)
		if p, ok := d.env.Shown.(*dialog.Prompt); !ok || p.Field.Text() != text {
			t.Fatalf("%q: the dialog is gone, or the text: %+v", text, d.env.Shown)
		}
		d.Press("'z")
		d.WaitNoText(mistake)
		d.Press("esc")
	}
	d.onFile("bad\xff")
	d.Press("R", "ctrl+u", `'x\q`, "enter")
	d.WaitText(`unknown escape \q`)
	d.Press("backspace", `'\`, "enter")
	d.waitExists(dir+`/x\`, true)
}
