package dialog

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

func prefixKeysText(w, h int, b keymap.Bindings) []string {
	return strings.Split(ansi.Strip(strings.Join(DrawPrefixKeys(b.Following(anyAction), w, h, &look.Look{}), "\n")), "\n")
}

func TestAllPrefixKeysFitOrdinaryTerminal(t *testing.T) {
	for _, preset := range keymap.Presets() {
		b, err := keymap.DefaultBindings().Preset(preset, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := prefixKeysText(80-4, 24-3, b)
		text := strings.Join(rows, "\n")
		for _, g := range b.Following(anyAction) {
			if !strings.Contains(text, g.Title) {
				t.Errorf("%s: %s is missing", preset, g.Title)
			}
			for _, r := range g.Rows {
				if !strings.Contains(text, r.Does) {
					t.Errorf("%s: %q is missing or cut", preset, r.Does)
				}
			}
		}
	}
}

func TestPrefixKeyGroupsAreNotSplitIfColumnsSuffice(t *testing.T) {
	rows := prefixKeysText(76, 21, keymap.DefaultBindings())
	if len(rows) > 15 || !strings.HasPrefix(rows[0], "Sessions ") || !strings.Contains(rows[0], " Panes ") || !strings.Contains(rows[0], " Layout ") {
		t.Errorf("they are\n%s", strings.Join(rows, "\n"))
	}
}

func TestPrefixKeysStayWithinScreen(t *testing.T) {
	for w := 0; w < 120; w += 7 {
		for h := 0; h < 30; h += 3 {
			rows := DrawPrefixKeys(keymap.DefaultBindings().Following(anyAction), w, h, &look.Look{})
			if len(rows) > h {
				t.Fatalf("in %d×%d there are %d rows", w, h, len(rows))
			}
			for _, row := range rows {
				if text.Width(row) > w || text.Width(row) != text.Width(rows[0]) {
					t.Fatalf("in %d×%d a row has %d cells, and the first %d", w, h, text.Width(row), text.Width(rows[0]))
				}
			}
			if len(rows) > 0 && !strings.Contains(ansi.Strip(strings.Join(rows, "")), "new") {
				t.Fatalf("in %d×%d the first keys are left out: %q", w, h, rows)
			}
		}
	}
	if DrawPrefixKeys(keymap.DefaultBindings().Following(anyAction), 10, 3, &look.Look{}) != nil {
		t.Error("there are rows without room for any")
	}
	low := prefixKeysText(56, 8, keymap.DefaultBindings())
	if !slices.ContainsFunc(low, func(row string) bool { return strings.Contains(row, "all keys") }) {
		t.Errorf("nothing leads to the keys that are left out:\n%s", strings.Join(low, "\n"))
	}
}

func anyAction(keymap.Action) bool { return true }
