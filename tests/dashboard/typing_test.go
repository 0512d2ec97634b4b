package dashboard

import (
	"os"
	"path/filepath"
	"strings"
	"tandem/tests/harness"
	"testing"
)

// typeInto makes the dashboard's shell copy its input to a file while send types, and compares the
// file with want.
func typeInto(t *testing.T, want string, send func(*harness.Terminal) error) {
	env, dir := harness.Stage(t)
	screen := harness.OpenDashboard(t, 120, 36, env, dir)
	target := filepath.Join(dir, "typed")
	if err := screen.Press(":stty -echo; cat > typed; echo closed-$((1+1))", "enter"); err != nil {
		t.Fatal(err)
	}
	if err := screen.Press(":first", "enter"); err != nil {
		t.Fatal(err)
	}
	if err := send(screen); err != nil {
		t.Fatal(err)
	}
	if err := screen.Press("ctrl+d"); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, screen, "closed-2")
	got, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if want = "first\n" + want; string(got) != want {
		t.Errorf("%d bytes typed, %d arrived; first difference at %d", len(want), len(got), firstDifference(want, string(got)))
	}
}

func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func TestFastTypingArrivesCompleteAndInOrder(t *testing.T) {
	t.Parallel()
	want := harness.MakeLines(10_000)
	typeInto(t, want, func(screen *harness.Terminal) error {
		_, err := screen.Write([]byte(strings.ReplaceAll(want, "\n", "\r")))
		return err
	})
}

func TestMegabytePasteArrivesComplete(t *testing.T) {
	t.Parallel()
	want := harness.MakeLines(1 << 20)
	typeInto(t, want, func(screen *harness.Terminal) error { return screen.Paste(want) })
}
