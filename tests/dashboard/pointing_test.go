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

// at waits until the screen shows a text and gives the cell where it begins.
func (v visitor) at(text string) (x, y int) {
	v.Helper()
	harness.Await(v.T, v.screen, text)
	shown, _ := v.screen.Text()
	for y, row := range strings.Split(shown, "\n") {
		if before, _, found := strings.Cut(row, text); found {
			return utf8.RuneCountInString(before), y
		}
	}
	v.Fatalf("%q went away:\n%s", text, shown)
	return 0, 0
}

// presses, moves and lets go of the left button.
func (v visitor) pointer(kind keys.MouseKind, x, y int) {
	v.Helper()
	if err := v.screen.Point(keys.Mouse{Kind: kind, X: x, Y: y, Button: keys.ButtonLeft}); err != nil {
		v.Fatal(err)
	}
}

// clickAt clicks so many times in a row.
func (v visitor) clickAt(x, y, times int) {
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

func (v visitor) drags(x, y, toX, toY int) {
	v.Helper()
	v.pointer(keys.MouseDown, x, y)
	v.pointer(keys.MouseMove, toX, toY)
	v.pointer(keys.MouseUp, toX, toY)
}

// shows waits until the screen matches.
func (v visitor) shows(expr string) {
	v.Helper()
	re := regexp.MustCompile("(?m)" + expr)
	if err := v.screen.WaitFor(re.MatchString); err != nil {
		v.Fatalf("waiting for %s: %v", expr, err)
	}
}

// copies waits until the person's clipboard holds what matches all of expr.
func (v visitor) copies(expr string) {
	v.Helper()
	re := regexp.MustCompile("(?s)^" + expr + "$")
	if err := v.screen.WaitFor(func(string) bool { return re.MatchString(v.screen.Clipboard()) }); err != nil {
		v.Fatalf("the clipboard holds %q, not %s: %v", v.screen.Clipboard(), expr, err)
	}
}

// What is pointed at is what the screen shows, in every size and theme: text to be
// copied, themes, layouts, borders and tabs. The same is done by keys.
func TestMouseAndKeysSelectChooseAndMove(t *testing.T) {
	t.Parallel()
	everywhere(t, func(v visitor) {
		v.selectText()
		v.selectWhileOthersCome()
		v.selectBeyondTheEdge()
		v.chooseTheme()
		v.chooseLayout()
		v.moveBorders()
		v.goThroughTabs()
	})
}

func (v visitor) selectText() {
	v.types("alpha bephata gapha", ":x=pha; clear; echo al$x be${x}ta ga$x; echo la${x}st", "enter")
	v.shows(`laphast *\n.*ready> *$`)
	x, y := v.at("alpha bephata")
	v.drags(x, y, x+len("alpha bephata")-1, y)
	v.copies("alpha bephata")
	v.clickAt(x+len("alpha bephata "), y, 2)
	v.copies("gapha")
	v.clickAt(x+2, y, 3)
	v.copies("alpha bephata gapha\n")
	v.types("line 3/", "ctrl+b", "[")
	v.types("match 1/1", "?", ":laphast", "enter")
	if err := v.screen.Press("v", "e", "y"); err != nil {
		v.Fatal(err)
	}
	v.copies("laphast")
}

// selectWhileOthersCome selects three lines of a program that prints faster than
// anybody keeps.
func (v visitor) selectWhileOthersCome() {
	v.types("ready>", ":clear", "enter")
	v.gone("laphast")
	x, y := v.at("ready>")
	v.types("1000", ":seq 100000001 999999999", "enter")
	v.shows(`(\d{9}.*\n.*){5}`)
	v.pointer(keys.MouseDown, x, y+2)
	shown, _ := v.screen.Text()
	if err := v.screen.WaitFor(func(s string) bool { return s != shown }); err != nil {
		v.Fatal(err)
	}
	v.pointer(keys.MouseMove, x+8, y+4)
	v.pointer(keys.MouseUp, x+8, y+4)
	v.copies(`\d{9}\n\d{9}\n\d{9}`)
	var a, b, c int
	if n, err := fmt.Sscan(v.screen.Clipboard(), &a, &b, &c); n != 3 || b != a+1 || c != b+1 {
		v.Errorf("copied %q: %v", v.screen.Clipboard(), err)
	}
	v.types("ready>", "ctrl+c")
}

func (v visitor) selectBeyondTheEdge() {
	v.types("row 300 of all", ":clear; x=al; i=1; while [ $i -le 300 ]; do echo row $i of ${x}l; i=$((i+1)); done", "enter")
	v.shows(`ready> *$`)
	x, y := v.at("row 300 of all")
	v.pointer(keys.MouseDown, x+2, y)
	v.pointer(keys.MouseMove, x, 0)
	v.shows(`row 200 of all`)
	v.pointer(keys.MouseUp, x, 0)
	v.copies(`(.*\n)?row 200 of all\n.*row 299 of all\nrow`)
	if err := v.screen.Press("q"); err != nil {
		v.Fatal(err)
	}
	v.shows(`row 300 of all`)
}

func (v visitor) chooseTheme() {
	v.finds("choose a theme", "ctrl+b", "::")
	v.clicks("choose a theme, with", "keep it")
	v.clicks("nord", `theme = "nord"`)
	v.finds("dracula", "ctrl+b", "T")
	v.types(`theme = "dracula"`, "enter")
}

func (v visitor) chooseLayout() {
	v.types("sh-2", "ctrl+b", "%")
	v.shows(`─ sh .*─ sh-2 .*\n.*│ready>`)
	v.finds("show a layout", "ctrl+b", "::")
	v.clicks("layout: a saved one", "main left")
	v.clicks("rows", "sh-2")
	v.shows(`─ sh .*─\n(?s:.*)\n.*─ sh-2 .*─$`)
	v.finds("columns", "ctrl+b", "space")
	v.types("sh-2", "enter")
	v.shows(`─ sh .*┬─ sh-2 `)
}

// finds presses keys that open a choice, types what is looked for, at once, and
// waits until that alone is offered.
func (v visitor) finds(what string, names ...string) {
	v.Helper()
	if err := v.screen.Press(append(names, ":"+what)...); err != nil {
		v.Fatal(err)
	}
	v.shows(`❯ ` + what + ` +1( of \d+)? `)
}

func (v visitor) moveBorders() {
	x, y := v.at("─ sh-2 ")
	v.drags(x-1, y+2, x-11, y+2)
	v.moved("─ sh-2 ", x-10, y)
	v.types("─ sh-2 ", "ctrl+b", "L")
	v.moved("─ sh-2 ", x-6, y)
}

// moved waits until a text begins at a cell.
func (v visitor) moved(text string, x, y int) {
	v.Helper()
	if err := v.screen.WaitFor(func(s string) bool {
		rows := strings.Split(s, "\n")
		before, _, found := strings.Cut(rows[min(y, len(rows)-1)], text)
		return found && utf8.RuneCountInString(before) == x
	}); err != nil {
		v.Fatalf("waiting for %q at %d,%d: %v", text, x, y, err)
	}
}

func (v visitor) goThroughTabs() {
	v.types("second-4", ":clear; echo second-$((2+2))", "enter")
	v.finds("a tab of its own", "ctrl+b", "::")
	v.clicks("the pane to a tab of its own", "2 running")
	v.gone("row 300 of all")
	v.clicks("● sh ", "row 300 of all")
	v.gone("second-4")
	v.clicks("● sh-2", "second-4")
	v.gone("row 300 of all")
	v.types("row 300 of all", "ctrl+b", "n")
	v.types("second-4", "ctrl+b", "p")
	v.finds("sh-2", "ctrl+b", "n", "ctrl+b", "m")
	v.types("second-4", "enter")
	v.shows(`row 300 of all`)
}

// gone waits until the screen does not show a text.
func (v visitor) gone(text string) {
	v.Helper()
	if err := v.screen.WaitFor(func(s string) bool { return !strings.Contains(s, text) }); err != nil {
		v.Fatalf("waiting for %q to go: %v", text, err)
	}
}
