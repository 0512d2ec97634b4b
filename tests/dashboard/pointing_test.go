package dashboard

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"tandem/keys"
	"tandem/tests/harness"
)

// findText waits until the screen shows a text and returns its first cell.
func (v user) findText(text string) (x, y int) {
	v.Helper()
	harness.Await(v.T, v.screen, text)
	shown, _ := v.screen.Text()
	for y, row := range strings.Split(shown, "\n") {
		if before, _, found := strings.Cut(row, text); found {
			return utf8.RuneCountInString(before), y
		}
	}
	v.Fatalf("%q disappeared:\n%s", text, shown)
	return 0, 0
}

// sendMouse sends a press, move or release of the left button.
func (v user) sendMouse(kind keys.MouseKind, x, y int) {
	v.Helper()
	if err := v.screen.Point(keys.Mouse{Kind: kind, X: x, Y: y, Button: keys.ButtonLeft}); err != nil {
		v.Fatal(err)
	}
}

// clickAt clicks a cell several times in a row.
func (v user) clickAt(x, y, times int) {
	v.Helper()
	var events []keys.Mouse
	for range times {
		events = append(events, keys.Mouse{Kind: keys.MouseDown, X: x, Y: y, Button: keys.ButtonLeft},
			keys.Mouse{Kind: keys.MouseUp, X: x, Y: y, Button: keys.ButtonLeft})
	}
	if err := v.screen.Point(events...); err != nil {
		v.Fatal(err)
	}
}

func (v user) drag(x, y, toX, toY int) {
	v.Helper()
	v.sendMouse(keys.MouseDown, x, y)
	v.sendMouse(keys.MouseMove, toX, toY)
	v.sendMouse(keys.MouseUp, toX, toY)
}

// awaitMatch waits until the screen matches.
func (v user) awaitMatch(expr string) {
	v.Helper()
	re := regexp.MustCompile("(?m)" + expr)
	if err := v.screen.WaitFor(re.MatchString); err != nil {
		v.Fatalf("waiting for %s: %v", expr, err)
	}
}

// awaitClipboard waits until the user's clipboard matches expr from beginning to end.
func (v user) awaitClipboard(expr string) {
	v.Helper()
	re := regexp.MustCompile("(?s)^" + expr + "$")
	if err := v.screen.WaitFor(func(string) bool { return re.MatchString(v.screen.Clipboard()) }); err != nil {
		v.Fatalf("the clipboard holds %q, not %s: %v", v.screen.Clipboard(), expr, err)
	}
}

// In every size, the mouse and the keys can both select text, choose themes and layouts, and move
// borders and tabs.
func TestMouseAndKeysSelectChooseAndMove(t *testing.T) {
	t.Parallel()
	forEachSize(t, func(v user) {
		v.selectText()
		v.selectWhilePrinting()
		v.selectBeyondEdge()
		v.chooseTheme()
		v.chooseLayout()
		v.moveBorders()
		v.goThroughTabs()
	})
}

func (v user) selectText() {
	v.typeKeys("alpha bephata gapha", ":x=pha; clear; echo al$x be${x}ta ga$x; echo la${x}st", "enter")
	v.awaitMatch(`laphast *\n.*ready> *$`)
	x, y := v.findText("alpha bephata")
	v.drag(x, y, x+len("alpha bephata")-1, y)
	v.awaitClipboard("alpha bephata")
	v.clickAt(x+len("alpha bephata "), y, 2)
	v.awaitClipboard("gapha")
	v.clickAt(x+2, y, 3)
	v.awaitClipboard("alpha bephata gapha\n")
	v.typeKeys("line 3/", "ctrl+b", "[")
	v.typeKeys("match 1/1", "?", ":laphast", "enter")
	if err := v.screen.Press("v", "e", "y"); err != nil {
		v.Fatal(err)
	}
	v.awaitClipboard("laphast")
}

// selectWhilePrinting selects three lines of a program that prints faster than its scrollback can
// hold.
func (v user) selectWhilePrinting() {
	v.typeKeys("ready>", ":clear", "enter")
	v.awaitGone("laphast")
	x, y := v.findText("ready>")
	v.typeKeys("1000", ":seq 100000001 999999999", "enter")
	v.awaitMatch(`(\d{9}.*\n.*){5}`)
	v.sendMouse(keys.MouseDown, x, y+2)
	shown, _ := v.screen.Text()
	if err := v.screen.WaitFor(func(s string) bool { return s != shown }); err != nil {
		v.Fatal(err)
	}
	v.sendMouse(keys.MouseMove, x+8, y+4)
	v.sendMouse(keys.MouseUp, x+8, y+4)
	v.awaitClipboard(`\d{9}\n\d{9}\n\d{9}`)
	var a, b, c int
	if n, err := fmt.Sscan(v.screen.Clipboard(), &a, &b, &c); n != 3 || b != a+1 || c != b+1 {
		v.Errorf("copied %q: %v", v.screen.Clipboard(), err)
	}
	v.typeKeys("ready>", "ctrl+c")
}

func (v user) selectBeyondEdge() {
	v.typeKeys("row 300 of all", ":clear; x=al; i=1; while [ $i -le 300 ]; do echo row $i of ${x}l; i=$((i+1)); done", "enter")
	v.awaitMatch(`ready> *$`)
	x, y := v.findText("row 300 of all")
	v.sendMouse(keys.MouseDown, x+2, y)
	v.sendMouse(keys.MouseMove, x, 0)
	v.awaitMatch(`row 200 of all`)
	v.sendMouse(keys.MouseUp, x, 0)
	v.awaitClipboard(`(.*\n)?row 200 of all\n.*row 299 of all\nrow`)
	if err := v.screen.Press("q"); err != nil {
		v.Fatal(err)
	}
	v.awaitMatch(`row 300 of all`)
}

func (v user) chooseTheme() {
	v.choose("choose a theme", "ctrl+b", "::")
	v.click("choose a theme, with", "keep it")
	x, y := v.findText("nord")
	v.clickAt(x, y, 1)
	harness.AwaitNotice(v.T, v.screen, "saved theme nord")
	v.choose("dracula", "ctrl+b", "T")
	harness.Press(v.T, v.screen, "enter")
	harness.AwaitNotice(v.T, v.screen, "saved theme dracula")
}

func (v user) chooseLayout() {
	v.typeKeys("sh-2", "ctrl+b", "%")
	v.awaitMatch(`─ sh .*─ sh-2 .*\n.*│ready>`)
	v.choose("show a layout", "ctrl+b", "::")
	v.click("layout: a saved one", "main left")
	v.click("rows", "sh-2")
	v.awaitMatch(`─ sh .*─\n(?s:.*)\n.*─ sh-2 .*─$`)
	v.choose("columns", "ctrl+b", "space")
	v.typeKeys("sh-2", "enter")
	v.awaitMatch(`─ sh .*┬─ sh-2 `)
}

// choose opens a list with keys, types filter, and waits until one choice is left.
func (v user) choose(filter string, names ...string) {
	v.Helper()
	if err := v.screen.Press(append(names, ":"+filter)...); err != nil {
		v.Fatal(err)
	}
	v.awaitMatch(`❯ ` + filter + ` +1( of \d+)? `)
}

func (v user) moveBorders() {
	x, y := v.findText("─ sh-2 ")
	v.drag(x-1, y+2, x-11, y+2)
	v.awaitAt("─ sh-2 ", x-10, y)
	v.typeKeys("─ sh-2 ", "ctrl+b", "L")
	v.awaitAt("─ sh-2 ", x-6, y)
}

// awaitAt waits until a text begins at a cell.
func (v user) awaitAt(text string, x, y int) {
	v.Helper()
	if err := v.screen.WaitFor(func(s string) bool {
		rows := strings.Split(s, "\n")
		before, _, found := strings.Cut(rows[min(y, len(rows)-1)], text)
		return found && utf8.RuneCountInString(before) == x
	}); err != nil {
		v.Fatalf("waiting for %q at %d,%d: %v", text, x, y, err)
	}
}

func (v user) goThroughTabs() {
	v.typeKeys("second-4", ":clear; echo second-$((2+2))", "enter")
	v.choose("a tab of its own", "ctrl+b", "::")
	v.click("the pane to a tab of its own", "2 running")
	v.awaitGone("row 300 of all")
	v.click("● sh ", "row 300 of all")
	v.awaitGone("second-4")
	v.click("● sh-2", "second-4")
	v.awaitGone("row 300 of all")
	v.typeKeys("row 300 of all", "ctrl+b", "n")
	v.typeKeys("second-4", "ctrl+b", "p")
	v.choose("sh-2", "ctrl+b", "n", "ctrl+b", "m")
	v.typeKeys("second-4", "enter")
	v.awaitMatch(`row 300 of all`)
}

// awaitGone waits until the screen no longer shows a text.
func (v user) awaitGone(text string) {
	v.Helper()
	if err := v.screen.WaitFor(func(s string) bool { return !strings.Contains(s, text) }); err != nil {
		v.Fatalf("waiting for %q to disappear: %v", text, err)
	}
}
