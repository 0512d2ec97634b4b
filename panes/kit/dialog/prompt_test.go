package dialog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/themes"
)

// A host has the default keys and no colours.
type host struct{ closed bool }

var bindings = keymap.DefaultBindings()

func (h *host) Close()                    { h.closed = true }
func (h *host) Bindings() keymap.Bindings { return bindings }
func (h *host) Look() *look.Look          { return &look.Look{Glyphs: themes.UnicodeGlyphs()} }
func (h *host) Spinner() string           { return "" }

// runLookup runs a dialog's lookup and applies its answer, as the dashboard does.
func runLookup(cmd tea.Cmd) {
	if cmd != nil {
		if a, ok := cmd().(Answer); ok {
			a.Do()
		}
	}
}

func typeText(o Overlay, h Host, text string) {
	for _, r := range text {
		runLookup(o.Type(h, tea.KeyPressMsg{Code: r, Text: string(r)}))
	}
}

func TestTabOrRightAcceptsSuggestedWord(t *testing.T) {
	words := []string{"web-1", "web-2", "db"}
	for keys, want := range map[string][]rune{"x web-": {tea.KeyTab}, "x web-1": {tea.KeyTab, tea.KeyTab}, "x web-2": {tea.KeyDown, tea.KeyRight}} {
		h, got := &host{}, ""
		p := NewFilter("Show", "", "", func(text string) tea.Cmd { got = text; return nil }).SuggestWords(words)
		typeText(p, h, "x w")
		rows, _, _, _ := p.Draw(h, 60, 24)
		if !strings.Contains(rows[0], "x web-1") {
			t.Errorf("no word is suggested: %q", rows)
		}
		for _, code := range want {
			p.Type(h, tea.KeyPressMsg{Code: code})
		}
		if got != keys {
			t.Errorf("%q follows, not %q", got, keys)
		}
	}
}

func TestUpSelectsNothingWithoutSuggestions(t *testing.T) {
	then := func(string) tea.Cmd { return nil }
	for name, p := range map[string]*Prompt{
		"prompt": NewPrompt("Name", "", then), "words": NewPrompt("Name", "", then).SuggestWords([]string{"work"}), "filter": NewFilter("Show", "", "", then),
	} {
		h := &host{}
		for _, code := range []rune{tea.KeyUp, tea.KeyDown, tea.KeyUp} {
			p.Type(h, tea.KeyPressMsg{Code: code})
		}
		rows, _, _, _ := p.Draw(h, 60, 24)
		typeText(p, h, "wor")
		p.Type(h, tea.KeyPressMsg{Code: tea.KeyTab})
		if got := p.Field.Text(); got != "wor" && (name != "words" || got != "work") {
			t.Errorf("%s: %q after a tab, drawn before as %q", name, got, rows)
		}
	}
}

func TestEnterAcceptsTypedTextUnlessSuggestionIsSelected(t *testing.T) {
	for _, choose := range []bool{false, true} {
		h, got := &host{}, ""
		p := NewPrompt("Name", "", func(text string) tea.Cmd { got = text; return nil }).SuggestWords([]string{"work", "world"})
		typeText(p, h, "wor")
		want := "wor"
		if choose {
			p.Type(h, tea.KeyPressMsg{Code: tea.KeyDown})
			want = "world"
		}
		p.Do(h, keymap.Accept)
		if got != want {
			t.Errorf("%q is taken, not %q", got, want)
		}
	}
}

func TestEmptyLineClosesPromptAndClearsFilter(t *testing.T) {
	h, calls := &host{}, 0
	then := func(string) tea.Cmd { calls++; return nil }
	if NewPrompt("Name", " ", then).Do(h, keymap.Accept); calls != 0 || !h.closed {
		t.Errorf("an empty line is passed on %d times, closed %v", calls, h.closed)
	}
	if NewFilter("Show", "", "", then).Do(h, keymap.Accept); calls != 1 {
		t.Errorf("an empty filter is passed on %d times", calls)
	}
}

func TestSavePromptSuggestsPaths(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "logs", "web"), 0o700); err != nil {
		t.Fatal(err)
	}
	h, p := &host{}, NewPrompt("Save to", "", nil).SuggestPaths(filepath.Join(home, "logs"), home)
	typeText(p, h, "~/l")
	runLookup(p.Type(h, tea.KeyPressMsg{Code: tea.KeyTab}))
	if got := p.Field.Text(); got != "~/logs/" {
		t.Errorf("below home it becomes %q", got)
	}
	p.Field.Set("")
	typeText(p, h, "w")
	runLookup(p.Type(h, tea.KeyPressMsg{Code: tea.KeyRight}))
	if got := p.Field.Text(); got != "web/" {
		t.Errorf("below the present folder it becomes %q", got)
	}
}

func TestPromptShowsErrorInFullUntilItsTextIsEdited(t *testing.T) {
	h, p := &host{}, NewPrompt("Name", "", nil)
	typeText(p, h, "wor")
	why := "make folder: " + strings.Repeat("a long reason ", 20) + "end"
	p.Fail(why)
	rows, _, _, y := p.Draw(h, 80, 24)
	shown := strings.Join(strings.Fields(strings.Join(rows, " ")), " ")
	if !strings.Contains(shown, why) || !strings.Contains(rows[y], "wor") {
		t.Errorf("drawn, with the cursor in row %d: %q", y, rows)
	}
	if rows, _, _, _ := p.Draw(h, 80, 9); len(rows)+2 > 9 {
		t.Errorf("%d rows on a low screen", len(rows))
	}
	typeText(p, h, "k")
	if rows, _, _, _ := p.Draw(h, 80, 24); strings.Contains(strings.Join(rows, ""), "reason") {
		t.Errorf("drawn after a key: %q", rows)
	}
}

// Dialogs must not cut their sentences, even on 80 columns: the end often says what keeps running
// and what is lost.
func TestDialogsWrapTheirSentences(t *testing.T) {
	const sentence = "Kills its shell and everything in it. Daemons started from the shell keep running."
	prompt, filter := NewPrompt(sentence, "", nil), NewFilter("Show", sentence, "", nil)
	prompt.Note = sentence
	for want, o := range map[int]Overlay{
		3: &Question{Title: sentence, Lines: []string{sentence, "short", sentence}, Yes: "kill it"},
		2: prompt,
		1: filter,
	} {
		for w := 40; w < 120; w++ {
			rows, _, _, _ := o.Draw(&host{}, w, 40)
			all := strings.Join(strings.Fields(ansi.Strip(strings.Join(rows, " "))), " ")
			if strings.Contains(all, "…") || strings.Count(all, "keep running.") < want {
				t.Fatalf("%T in %d cells: %q", o, w, all)
			}
		}
	}
}
