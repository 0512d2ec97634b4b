package field

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"tandem/panes/kit/text"
	"tandem/tests/seed"
)

// presses maps names to keys of a line editor.
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

func TestFieldEditsByWord(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"make all tests", "alt+b alt+b alt+d", "make | tests"},
		{"make all tests", "ctrl+left ctrl+w", "make |tests"},
		{"make all tests", "home ctrl+right ctrl+right ctrl+k", "make all|"},
		{"make all", "home alt+f alt+d", "make|"},
		{"make all", "ctrl+u", "|"},
		{"x", "home alt+d", "|"}, // textinput alone looks past the end
		{"漢字 x", "left alt+d", "漢字 |"},
	} {
		var f Field
		f.Set(c.text)
		for _, name := range strings.Fields(c.keys) {
			f.Type(presses()[name])
		}
		before, after := f.splitAtCursor()
		if got := before + "|" + after; got != c.want {
			t.Errorf("%q after %s is %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestFieldMovesByWholeCharacters(t *testing.T) {
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
		if _, x := f.Draw(20); x != 1+text.Width(cluster) {
			t.Errorf("behind %q the cursor is in column %d", cluster, x)
		}
		f.Type(presses()["backspace"])
		if got := f.Text(); got != "ab" {
			t.Errorf("%q taken back leaves %q", cluster, got)
		}
	}
}

func TestFieldDrawsNoRawControls(t *testing.T) {
	var names []string
	for name := range presses() {
		names = append(names, name)
	}
	s := rapid.SampledFrom([]string{"a", " ", "\t", "\n", "\x1b[31m", "\u202e", "\u009b2J", "\xff", "漢", "e\u0301", "👨\u200d👩", "\uFFFD", "\u0301"})
	seed.Check(t, func(t *rapid.T) {
		var f Field
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				f.Type(presses()[rapid.SampledFrom(names).Draw(t, "key")])
			case 1:
				f.Type(tea.KeyPressMsg{Code: tea.KeyExtended, Text: s.Draw(t, "typed")})
			case 2:
				f.Paste(s.Draw(t, "pasted"))
			}
			w := rapid.IntRange(1, 12).Draw(t, "width")
			line, x := f.Draw(w)
			if text.Width(line) != w || x < 0 || x >= w {
				t.Fatalf("%q is %d cells of %d, with the cursor in column %d", line, text.Width(line), w, x)
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
				t.Fatalf("%q is shown", line)
			}
		}
	})
}

func TestAreaGrowsWithItsLines(t *testing.T) {
	var a Area
	a.Set("make all\ncd 漢字\nx")
	rows, x, y := a.Draw(10)
	if got := strings.Join(rows, "|"); got != "make all  |cd 漢字   |x         " || x != 1 || y != 2 {
		t.Errorf("drawn is %q with the cursor at %d,%d", got, x, y)
	}
	a.Up()
	a.Type(presses()["end"])
	a.Type(presses()["ctrl+w"])
	a.Type(tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModAlt})
	a.Paste("two words\r\nthree\n")
	if got := a.Text(); got != "make all\ncd \ntwo words\nthree\nx" {
		t.Errorf("the text is %q", got)
	}
	if a.Down(); a.Down() {
		t.Error("there is a row below the last one")
	}
	if rows, _, y := a.Draw(10); len(rows) != maxAreaRows || y != maxAreaRows-1 {
		t.Errorf("%d rows, with the cursor in row %d", len(rows), y)
	}
	a.Set("one two three four")
	if rows, _, _ := a.Draw(12); len(rows) != 2 {
		t.Errorf("a long line is drawn as %q", rows)
	}
}

func TestAreaDrawsNoRawControls(t *testing.T) {
	var names []string
	for name := range presses() {
		names = append(names, name)
	}
	slices.Sort(names) // so that a failure is reproducible
	s := rapid.SampledFrom([]string{"a", " ", "\t", "a\nb", "\x1b[31m", "\u202e", "\u009b2J", "\xff", "漢", "e\u0301", "👨\u200d👩", "\uFFFD", "\u0301"})
	seed.Check(t, func(t *rapid.T) {
		var a Area
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				a.Type(presses()[rapid.SampledFrom(names).Draw(t, "key")])
			case 1:
				a.Type(tea.KeyPressMsg{Code: tea.KeyExtended, Text: s.Draw(t, "typed")})
			case 2:
				a.Paste(s.Draw(t, "pasted"))
			case 3:
				a.Up()
			case 4:
				a.Down()
			}
			w := rapid.IntRange(4, 12).Draw(t, "width")
			rows, x, y := a.Draw(w)
			if x < 0 || x >= w || y < 0 || y >= len(rows) || len(rows) > maxAreaRows {
				t.Fatalf("the cursor is at %d,%d of %d rows of %d cells", x, y, len(rows), w)
			}
			for _, row := range rows {
				if text.Width(row) != w || strings.ContainsFunc(row, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
					t.Fatalf("%q is shown in %d cells", row, w)
				}
			}
		}
	})
}
