package attach

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/google/go-cmp/cmp"
)

func TestPanicRestoresTerminalMadeRawByCaller(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	cooked, err := term.MakeRaw(p.slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := newTerminal(p.slave, p.slave, true)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.close()
	terminal.cooked = cooked
	if err := terminal.enterScreen(); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		defer terminal.restoreOnPanic()
		panic("stumbled")
	}()
	if diff := cmp.Diff(p.before, p.termios()); diff != "" {
		t.Errorf("the terminal's settings are not as before: %s", diff)
	}
	p.waitOutput("\x1b[?1049l")
	if n := strings.Count(p.screenText(), "\x1b[?1049l"); n != 1 {
		t.Errorf("the alternate screen is left %d times", n)
	}
}
