package dashboard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"tandem/tests/harness"
	"testing"
)

// A visitor goes through a dashboard.
type visitor struct {
	*testing.T
	screen *harness.Terminal
}

// types presses keys and waits for what they bring to the screen.
func (v visitor) types(want string, names ...string) {
	v.Helper()
	if err := v.screen.Press(names...); err != nil {
		v.Fatal(err)
	}
	harness.Await(v.T, v.screen, want)
}

// clicks presses the left button on a text that the screen shows, and waits.
func (v visitor) clicks(text, want string) {
	v.Helper()
	harness.Await(v.T, v.screen, text)
	shown, _ := v.screen.Text()
	for y, row := range strings.Split(shown, "\n") {
		before, _, found := strings.Cut(row, text)
		if !found {
			continue
		}
		x := len([]rune(before))
		fmt.Fprintf(v.screen, "\x1b[<0;%d;%dM\x1b[<0;%[1]d;%[2]dm", x+1, y+1)
		harness.Await(v.T, v.screen, want)
		return
	}
	v.Fatalf("%q is not shown:\n%s", text, shown)
}

// Every place is reached by keys alone and by the mouse alone.
func TestEveryPlaceIsReachedByKeysAndByMouse(t *testing.T) {
	t.Parallel()
	everywhere(t, func(v visitor) {
		v.byKeys()
		v.byMouse()
	})
}

// everywhere runs a test in a small terminal and in a large one. What lies
// between, and other themes, are a matter of the packages that draw.
func everywhere(t *testing.T, test func(visitor)) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			test(visit(t, size[0], size[1]))
		})
	}
}

// visit opens a dashboard in a folder with a file.
func visit(t *testing.T, cols, rows int) visitor {
	t.Helper()
	env, dir := harness.Stage(t)
	if err := harness.HideTips(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "letter.txt"), []byte("dear reader\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	screen, err := harness.StartTerminal(cols, rows, env, folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Close)
	v := visitor{t, screen}
	harness.Await(t, screen, "ready>")
	v.types("seen-42", ":echo seen-$((40+2))", "enter")
	return v
}

func (v visitor) byKeys() {
	v.types("Start a process", "alt+2", "n")
	v.types("started echo", ":sh -c 'echo one; echo needle; exec sleep 1000'", "enter")
	v.types("echo seen-", "alt+3")
	v.types("1 found", "/", ":seen", "enter")
	v.types("letter.txt", "alt+4")
	v.types("dear reader", "g")
	v.types("Find anything", "ctrl+b", "::")
	v.types("Keys", "esc", "ctrl+b", "?")
	v.types("seen-42", "esc", "alt+1")
	v.types("line ", "ctrl+b", "[")
	v.types("3 running", "q", "ctrl+b", "%")
	if err := v.screen.WaitFor(func(s string) bool { return strings.Count(s, "ready>") == 3 }); err != nil {
		v.Fatalf("waiting for the prompt beside: %v", err)
	}
	v.types("Kill session", "ctrl+b", "x")
	v.types("2 running", "y")
}

func (v visitor) byMouse() {
	v.clicks("2 Processes", "cpu%")
	v.clicks("3 History", "exit")
	v.clicks("4 Files", "letter.txt")
	v.clicks("letter.txt", "dear reader")
	v.clicks("1 Sessions", "seen-42")
	v.types("1 of ", "ctrl+b", "::", ":split beside")
	v.clicks("a new session beside", "3 running")
}
