package dialog

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A bareHost shows overlays without colours.
type bareHost struct{ look look.Look }

func (*bareHost) Close()                    {}
func (*bareHost) Bindings() keymap.Bindings { return keymap.DefaultBindings() }
func (h *bareHost) Look() *look.Look        { return &h.look }
func (*bareHost) Spinner() string           { return "" }

func helpText(u *Help, w, h int) string {
	rows, _, _, _ := u.Draw(&bareHost{}, w, h)
	return ansi.Strip(strings.Join(rows, "\n"))
}

func terminalHelp() *Help {
	return &Help{Prefix: "ctrl+b", Sections: keymap.DefaultBindings().Help(keymap.ScopePrefix, keymap.ScopeTerminal, keymap.ScopeGlobal)}
}

func TestWideHelpShowsGroupsInTwoColumns(t *testing.T) {
	wide := helpText(terminalHelp(), 200, 60)
	for _, title := range []string{"After ctrl+b: Sessions", "After ctrl+b: Panes", "After ctrl+b: Layout", "After ctrl+b: Tandem", "Everywhere"} {
		if strings.Count(wide, title) != 1 {
			t.Errorf("%q is there %d times", title, strings.Count(wide, title))
		}
	}
	if !strings.Contains(wide, "start a session ") || !strings.Contains(strings.Split(wide, "\n")[2], "After ctrl+b: Layout") {
		t.Errorf("there are no two columns of the same height:\n%s", wide)
	}
	if narrow := helpText(terminalHelp(), 80, 60); strings.Contains(strings.Split(narrow, "\n")[2], "Layout") {
		t.Errorf("80 columns have two of help:\n%s", narrow)
	}
}

func TestHelpShowsCompleteTextAtEverySize(t *testing.T) {
	for _, w := range []int{60, 80, 112, 120, 140, 200} {
		u := terminalHelp()
		rows := strings.Split(helpText(u, w, 400), "\n")
		for _, row := range rows {
			if text.Width(row) != text.Width(rows[0]) || text.Width(row) > w-4 {
				t.Fatalf("at %d columns a row has %d cells, the first %d", w, text.Width(row), text.Width(rows[0]))
			}
		}
		text := strings.Join(rows, " ")
		for _, s := range u.Sections {
			for _, r := range s.Rows {
				for _, word := range strings.Fields(r.Help) {
					if !strings.Contains(text, word) {
						t.Errorf("at %d columns %q of %q is missing", w, word, r.Help)
					}
				}
			}
		}
	}
}

func TestHelpSearchKeepsMatchingGroups(t *testing.T) {
	u := terminalHelp()
	u.Do(&bareHost{}, keymap.HelpSearch)
	u.Paste(&bareHost{}, "border left")
	text := helpText(u, 200, 60)
	if !strings.Contains(text, "After ctrl+b: Layout") || !strings.Contains(text, "border to the left") ||
		strings.Contains(text, "Sessions") || strings.Contains(text, "border down") {
		t.Errorf("the search left\n%s", text)
	}
}

func TestHelpSearchCountsAndHighlightsMatches(t *testing.T) {
	u, h := terminalHelp(), &bareHost{}
	h.look.Found = "\x1b[7m"
	rows, _, _, _ := u.Draw(h, 120, 36)
	before := len(rows)
	u.Do(h, keymap.HelpSearch)
	u.Paste(h, "zoom")
	rows, width, _, _ := u.Draw(h, 120, 36)
	all := 0
	for _, s := range u.Sections {
		all += len(s.Rows)
	}
	if head := ansi.Strip(rows[0]); !strings.HasPrefix(head, "/ zoom") || !strings.HasSuffix(head, "/"+text.Itoa(all)) || text.Width(head) != width {
		t.Errorf("the head is %q", head)
	}
	if len(rows) != before {
		t.Errorf("the box had %d rows and has %d", before, len(rows))
	}
	if !strings.Contains(strings.Join(rows, "\n"), "\x1b[7mzoom\x1b[m") {
		t.Errorf("the match is not marked:\n%q", rows)
	}
}
