package dialog

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
)

// sampleOverlays returns one overlay of each kind, with some content.
func sampleOverlays(folder string, help []keymap.HelpSection) map[string]Overlay {
	then := func(string) tea.Cmd { return nil }
	words := []string{"web-1", "web-2", "漢字", "e\u0301\u200d", "a name of many words that does not fit in any line of the dialog, however wide"}
	var choices []list.Choice
	var names []api.NameCount
	for i, w := range words {
		choices = append(choices, list.Choice{Text: w, Detail: w, Number: i})
		names = append(names, api.NameCount{Name: w, Count: 1 << (7 * i)})
	}
	picker := &Picker{Title: "Choose", Verb: func(list.Choice) string { return "take it" }, Pick: func(list.Choice) tea.Cmd { return nil }}
	picker.List.Set(choices)
	picker.Drop = func(c list.Choice) ([]list.Choice, tea.Cmd) { return choices[:c.Number], nil }
	paths := NewPrompt("Save as", folder+"/", then).SuggestPaths(folder, folder)
	paths.Note = strings.Join(words, " ")
	request := api.Request{ID: "1", Tool: "local_shell_exec", Command: strings.Join(words, "\n"), Paths: words, Actor: "agent"}
	return map[string]Overlay{
		"prompt": NewPrompt("Name", "", then), "words": NewPrompt(words[4], "web", then).SuggestWords(words), "paths": paths,
		"filter": NewFilter("Show", words[4], "", then).SuggestWords(words),
		"picker": picker,
		"find":   newFindOf("text"),
		"help":   &Help{Sections: help, Prefix: "ctrl+b"},
		"asks":   &Question{Title: words[4], Lines: words, Yes: "end it", Then: func() tea.Cmd { return nil }},
		"answers": &Question{Title: "Replace it?", Lines: words, Replies: []Reply{
			{"r", "replace", func() tea.Cmd { return nil }}, {"s", words[4], func() tea.Cmd { return nil }}}},
		"counts": &Counts{Title: "Statistics", Lists: []CountList{{"Commands", names}, {"Folders", nil}}},
		"approval": &Approval{Requests: func() []api.Request { return []api.Request{request} }, Answer: func(api.RequestAnswerInput) tea.Cmd { return nil },
			Refuse: func(string) tea.Cmd { return nil }},
	}
}

// With any input and at any size, an overlay that fits the screen draws rows of the
// reported width, with the cursor inside.
func TestOverlaysSurviveAnyKeyAtAnySize(t *testing.T) {
	folder, programs := t.TempDir(), t.TempDir()
	t.Setenv("PATH", programs)
	for _, name := range []string{"we", "web-1", "e1", "漢字"} {
		if err := os.WriteFile(filepath.Join(programs, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	codes := []rune{tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd, tea.KeyPgUp, tea.KeyPgDown, tea.KeyTab, tea.KeyBackspace, tea.KeyDelete, tea.KeyEnter}
	letters := []rune("we-1 /~.漢é\u0301\u200d\x1b\t?rsy")
	help := bindings.Help(keymap.ScopeGlobal, keymap.ScopePrefix)
	for name := range sampleOverlays(folder, help) {
		t.Run(name, func(t *testing.T) {
			seed.Check(t, func(t *rapid.T) {
				h, o := &host{}, sampleOverlays(folder, help)[name]
				for range rapid.IntRange(1, 30).Draw(t, "steps") {
					w, height := rapid.IntRange(1, 130).Draw(t, "columns"), rapid.IntRange(1, 40).Draw(t, "rows")
					switch rapid.IntRange(0, 5).Draw(t, "step") {
					case 0, 1:
						runLookup(o.Type(h, tea.KeyPressMsg{Code: rapid.SampledFrom(codes).Draw(t, "key"), Mod: rapid.SampledFrom([]tea.KeyMod{0, 0, tea.ModShift, tea.ModCtrl, tea.ModAlt}).Draw(t, "modifier")}))
					case 2:
						r := rapid.SampledFrom(letters).Draw(t, "letter")
						runLookup(o.Type(h, tea.KeyPressMsg{Code: r, Text: string(r)}))
					case 3:
						runLookup(o.Paste(h, rapid.StringN(0, 20, 60).Draw(t, "paste")))
					case 4:
						runLookup(o.Do(h, rapid.SampledFrom(actionsOf(o)).Draw(t, "action")))
					case 5:
						if mouse := o.Traits().Mouse; mouse != nil {
							runLookup(mouse(h, keys.Mouse{X: rapid.IntRange(0, w).Draw(t, "x"), Y: rapid.IntRange(0, height).Draw(t, "y"),
								Button: rapid.SampledFrom([]keys.Button{keys.ButtonLeft, keys.WheelUp, keys.WheelDown}).Draw(t, "button"), Kind: keys.MouseDown}))
						}
					}
					if why := checkDrawing(o, h, w, height); why != "" {
						t.Fatalf("at %d×%d %s", w, height, why)
					}
				}
			})
		})
	}
}

// actionsOf returns the actions bound in an overlay's scopes.
func actionsOf(o Overlay) (all []keymap.Action) {
	for _, a := range []keymap.Action{
		keymap.Accept, keymap.Cancel, keymap.Close, keymap.HelpDown, keymap.HelpFirst,
		keymap.HelpLast, keymap.HelpSearch, keymap.HelpUp, keymap.PickerDown, keymap.PickerPageDown, keymap.PickerPageUp, keymap.PickerUp,
		keymap.RequestAllow, keymap.RequestAlways, keymap.RequestDeny, keymap.RequestNext,
	} {
		if slices.ContainsFunc(o.Scopes(), func(s keymap.Scope) bool { return bindings.KeyOf(a, s) != "" }) {
			all = append(all, a)
		}
	}
	return all
}

// checkDrawing returns an error in an overlay's frame; "" if it is correct.
func checkDrawing(o Overlay, h Host, w, height int) string {
	rows, width, x, y := o.Draw(h, w, height)
	o.Hints(h)
	if w < 40 || width+4 > w || len(rows)+2 >= height {
		return "" // the dashboard then reports that the screen is too small
	}
	for _, row := range rows {
		if got := text.Width(ansi.Strip(row)); got != width {
			return fmt.Sprintf("%q takes %d cells of %d", row, got, width)
		}
	}
	if x >= 0 && (y < 0 || y >= len(rows) || x > width) {
		return fmt.Sprintf("the cursor is at %d, %d of %d×%d", x, y, width, len(rows))
	}
	return ""
}

// newFindOf returns a search line that searches nothing.
func newFindOf(last string) *Find {
	f := NewFind(&api.Pattern{Text: last})
	f.Search, f.Restore = func(*regexp.Regexp) tea.Cmd { return nil }, func() {}
	f.Repeat, f.Say = func() tea.Cmd { return nil }, func(string, bool) tea.Cmd { return nil }
	return f
}
