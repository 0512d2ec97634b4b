package dialog

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
)

func TestHostileCommandIsShownSafely(t *testing.T) {
	r := api.Request{ID: "r1", Tool: "exec", Command: "echo \x1b[2Jhidden\u202e" + strings.Repeat(" x", 60) + "\n› rm -rf /\t\u3164\u00a0\u2028"}
	want := []string{
		`› echo \u{1b}[2Jhidden\u{202e} x x x x x`, "   x x x x x x x x x x x x x x x x x x x", "   x x x x x x x x x x x x x x x x x x x",
		"   x x x x x x x x x x x x x x x x x", `› › rm -rf /\u{9}\u{3164}\u{a0}\u{2028}`,
	}
	lines := requestLines(r, 40)
	if !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > 40 {
			t.Errorf("%q", l)
		}
	}
}
