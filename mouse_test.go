package main

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/keys"
)

// mouse NAME [shift+]click|drag X Y [X Y] presses the left button at a cell,
// from 0, and lets it go there or at another; mouse NAME wheel X Y turns the wheel up.
func scriptMouse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 && len(args) != 6 {
		ts.Fatalf("usage: mouse NAME [shift+]click X Y | drag X Y X Y | wheel X Y")
	}
	var at []int
	for _, arg := range args[2:] {
		n, err := strconv.Atoi(arg)
		ts.Check(err)
		at = append(at, n)
	}
	if args[1] == "wheel" {
		_, err := fmt.Fprintf(scriptTerminal(ts, args[0]), "\x1b[<64;%d;%dM", at[0]+1, at[1]+1)
		ts.Check(err)
		return
	}
	e := keys.Mouse{X: at[0], Y: at[1], Button: keys.ButtonLeft}
	if args[1] == "shift+click" || args[1] == "shift+drag" {
		e.Mods = keys.Shift
	}
	events := []keys.Mouse{e}
	if len(at) == 4 {
		e.X, e.Y, e.Kind = at[2], at[3], keys.MouseMove
		events = append(events, e)
	}
	e.Kind = keys.MouseUp
	t := scriptTerminal(ts, args[0])
	for _, e := range append(events, e) {
		_, err := fmt.Fprintf(t, "\x1b[<%d;%d;%d%c", sgrButton(e), e.X+1, e.Y+1, "Mm"[map[bool]int{true: 1}[e.Kind == keys.MouseUp]])
		ts.Check(err)
	}
}

// sgrButton is the number of the left button in SGR reports.
func sgrButton(e keys.Mouse) (n int) {
	if e.Kind == keys.MouseMove {
		n += 32
	}
	if e.Mods&keys.Shift != 0 {
		n += 4
	}
	return n
}

// clipboard NAME REGEXP waits until what a terminal's program has put on the
// clipboard matches.
func scriptClipboard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: clipboard NAME REGEXP")
	}
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	t := scriptTerminal(ts, args[0])
	if err := t.waitFor(func(string) bool { return re.MatchString(t.clipboard()) }); err != nil {
		ts.Fatalf("the clipboard holds %q: %v", t.clipboard(), err)
	}
}
