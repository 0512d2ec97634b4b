package widget

import (
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"
)

// presses are keys of a line editor by their names.
func presses() map[string]tea.KeyPressMsg {
	return map[string]tea.KeyPressMsg{
		"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
		"alt+b": {Code: 'b', Mod: tea.ModAlt}, "alt+f": {Code: 'f', Mod: tea.ModAlt}, "alt+d": {Code: 'd', Mod: tea.ModAlt},
		"ctrl+left": {Code: tea.KeyLeft, Mod: tea.ModCtrl}, "ctrl+right": {Code: tea.KeyRight, Mod: tea.ModCtrl},
		"ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl},
		"ctrl+v": {Code: 'v', Mod: tea.ModCtrl}, "up": {Code: tea.KeyUp}, "tab": {Code: tea.KeyTab},
	}
}

func TestAFieldIsEditedByWords(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"make all tests", "alt+b alt+b alt+d", "make | tests"},
		{"make all tests", "ctrl+left ctrl+w", "make |tests"},
		{"make all tests", "home ctrl+right ctrl+right ctrl+k", "make all|"},
		{"make all", "home alt+f alt+d", "make|"},
		{"make all", "ctrl+u", "|"},
		{"x", "home alt+d", "|"}, // textinput alone looks behind the end
		{"漢字 x", "left alt+d", "漢字 |"},
	} {
		var f Field
		f.Set(c.text)
		for _, name := range strings.Fields(c.keys) {
			f.Type(presses()[name])
		}
		before, after := f.halves()
		if got := before + "|" + after; got != c.want {
			t.Errorf("%q after %s is %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestAFieldMovesAndDeletesWholeCharacters(t *testing.T) {
	for _, cluster := range []string{"e\u0301", "👨\u200d👩\u200d👧", "🇩🇪", "漢", "\uFFFD"} {
		var f Field
		f.Set("a" + cluster + "b")
		f.Type(presses()["left"])
		f.Type(presses()["left"])
		if _, x := f.Draw(20); x != 1 {
			t.Errorf("before %q the cursor is in column %d", cluster, x)
		}
		f.Type(presses()["delete"])
		if got := f.Text(); got != "ab" {
			t.Errorf("%q deleted leaves %q", cluster, got)
		}
		f.Paste(cluster)
		if _, x := f.Draw(20); x != 1+Width(cluster) {
			t.Errorf("behind %q the cursor is in column %d", cluster, x)
		}
		f.Type(presses()["backspace"])
		if got := f.Text(); got != "ab" {
			t.Errorf("%q taken back leaves %q", cluster, got)
		}
	}
}

// TestNothingInAFieldReachesTheTerminalRaw types and pastes what could.
func TestNothingInAFieldReachesTheTerminalRaw(t *testing.T) {
	var names []string
	for name := range presses() {
		names = append(names, name)
	}
	text := rapid.SampledFrom([]string{"a", " ", "\t", "\n", "\x1b[31m", "\u202e", "\u009b2J", "\xff", "漢", "e\u0301", "👨\u200d👩", "\uFFFD", "\u0301"})
	rapid.Check(t, func(t *rapid.T) {
		var f Field
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				f.Type(presses()[rapid.SampledFrom(names).Draw(t, "key")])
			case 1:
				f.Type(tea.KeyPressMsg{Code: tea.KeyExtended, Text: text.Draw(t, "typed")})
			case 2:
				f.Paste(text.Draw(t, "pasted"))
			}
			w := rapid.IntRange(1, 12).Draw(t, "width")
			line, x := f.Draw(w)
			if Width(line) != w || x < 0 || x >= w {
				t.Fatalf("%q is %d cells of %d, with the cursor in column %d", line, Width(line), w, x)
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
				t.Fatalf("%q is shown", line)
			}
		}
	})
}
