package dashboard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"tandem/tests/harness"
	"testing"
)

// A user drives a dashboard.
type user struct {
	*testing.T
	screen *harness.Terminal
}

// typeKeys presses keys and waits until the screen matches want.
func (v user) typeKeys(want string, names ...string) {
	v.Helper()
	if err := v.screen.Press(names...); err != nil {
		v.Fatal(err)
	}
	harness.Await(v.T, v.screen, want)
}

// click presses the left button on a text shown on the screen, and waits for want.
func (v user) click(text, want string) {
	v.Helper()
	x, y := v.findText(text)
	v.clickAt(x, y, 1)
	harness.Await(v.T, v.screen, want)
}

// Every view and dialog is reachable by keys alone and by mouse alone.
func TestEveryViewIsReachedByKeysAndByMouse(t *testing.T) {
	t.Parallel()
	forEachSize(t, func(v user) {
		v.visitByKeys()
		v.visitByMouse()
	})
}

// forEachSize runs a test in a small and in a large terminal. Sizes between, and other themes,
// are tested by the packages that draw.
func forEachSize(t *testing.T, test func(user)) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			test(openDashboard(t, size[0], size[1]))
		})
	}
}

// openDashboard opens a dashboard in a folder with one file.
func openDashboard(t *testing.T, cols, rows int) user {
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
	v := user{t, screen}
	harness.Await(t, screen, "ready>")
	v.typeKeys("seen-42", ":echo seen-$((40+2))", "enter")
	return v
}

func (v user) visitByKeys() {
	v.typeKeys("Start a process", "alt+2", "n")
	harness.Press(v.T, v.screen, ":sh -c 'echo one; echo needle; exec sleep 1000'", "enter")
	harness.AwaitNotice(v.T, v.screen, "started echo")
	v.typeKeys("echo seen-", "alt+3")
	v.typeKeys("1 found", "/", ":seen", "enter")
	harness.Await(v.T, v.screen, "seen-42") // only in the command's output
	v.typeKeys("letter.txt", "alt+4")
	v.typeKeys("dear reader", "g")
	v.typeKeys("Find anything", "ctrl+b", "::")
	v.typeKeys("Keys", "esc", "ctrl+b", "?")
	v.typeKeys("seen-42", "esc", "alt+1")
	v.typeKeys("line ", "ctrl+b", "[")
	v.typeKeys("3 running", "q", "ctrl+b", "%")
	if err := v.screen.WaitFor(func(s string) bool { return strings.Count(s, "ready>") == 3 }); err != nil {
		v.Fatalf("waiting for the prompt beside: %v", err)
	}
	v.typeKeys("Kill session", "ctrl+b", "x")
	v.typeKeys("2 running", "y")
}

func (v user) visitByMouse() {
	v.click("2 Processes", "cpu%")
	v.click("3 History", "exit")
	v.click("4 Files", "letter.txt")
	v.click("letter.txt", "dear reader")
	v.click("1 Sessions", "seen-42")
	v.typeKeys("1 of ", "ctrl+b", "::", ":split beside")
	v.click("a new session beside", "3 running")
}
