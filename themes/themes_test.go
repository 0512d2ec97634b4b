package themes

import (
	"image/color"
	"math"
	"reflect"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// luminance returns the relative luminance of WCAG 2.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	channel := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(r) + 0.7152*channel(g) + 0.0722*channel(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestColoursHaveEnoughContrast(t *testing.T) {
	grounds := map[bool][]string{
		true:  {"#000000", "#16181d", "#1e1e2e", "#282c34"},
		false: {"#ffffff", "#fdf6e3", "#eff1f5"},
	}
	for _, name := range Names() {
		theme, err := ByName(name, true)
		if err != nil {
			t.Fatal(err)
		}
		if theme.Own {
			continue // its colours are the person's
		} // the colours are the user's
		p := theme.Palette
		texts := map[string]color.Color{
			"text": p.Text, "muted": p.Muted, "faint": p.Faint, "accent": p.Accent, "success": p.Success,
			"warning": p.Warning, "danger": p.Danger, "info": p.Info,
		}
		made := []color.Color{theme.Background}
		if name == "dark" || name == "light" { // these must work on other backgrounds too
			for _, hex := range grounds[theme.Dark] {
				made = append(made, lipgloss.Color(hex))
			}
		}
		for _, ground := range made {
			for role, c := range texts {
				if got := contrast(c, ground); got < 4.5 {
					t.Errorf("%s: %s on %v has contrast %.2f, want 4.5", name, role, ground, got)
				}
			}
		}
		delete(texts, "faint")
		texts["bar text"], texts["bar muted"] = p.BarText, p.BarMuted
		for role, c := range texts {
			if got := contrast(c, p.Bar); got < 4.5 {
				t.Errorf("%s: %s on the bar has contrast %.2f, want 4.5", name, role, got)
			}
		}
		if got := contrast(p.SelectionText, p.Selection); got < 7 {
			t.Errorf("%s: a selected row has contrast %.2f, want 7", name, got)
		}
		for _, state := range []string{"success", "warning", "danger"} { // which keep their colours there
			if got := contrast(texts[state], p.Selection); got < 3 {
				t.Errorf("%s: %s on a selected row has contrast %.2f, want 3", name, state, got)
			}
		}
		if got := contrast(p.Accent, p.Border); got < 1.8 {
			t.Errorf("%s: the focused border has contrast %.2f against another, want 1.8", name, got)
		}
	}
}

func TestBackgroundSelectsTheme(t *testing.T) {
	if got := ForBackground(true); got.Name != "dark" || !got.Dark {
		t.Errorf("a dark background gets %q", got.Name)
	}
	if got := ForBackground(false); got.Name != "light" || got.Dark {
		t.Errorf("a light background gets %q", got.Name)
	}
	if _, err := ByName("sepia", true); err == nil {
		t.Error("an unknown theme is found")
	}
}

func TestThemesSetEveryColour(t *testing.T) {
	for _, name := range Names() {
		theme, _ := ByName(name, true)
		v := reflect.ValueOf(theme.Palette)
		for i := range v.NumField() {
			if v.Field(i).IsNil() {
				t.Errorf("%s: %s has no colour", name, v.Type().Field(i).Name)
			}
		}
		for i, c := range theme.ANSI {
			if c == nil {
				t.Errorf("%s: ANSI colour %d is missing", name, i)
			}
		}
	}
}

func TestReverseVideoMarksOnlyEmphasizedStyles(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.ASCII, colorprofile.ANSI} {
		s := ForBackground(true).Styles(profile)
		if !s.Selection.GetReverse() || !s.BarActive.GetReverse() || !s.BarChip.GetReverse() {
			t.Errorf("%s: selection, view or chips are not in reverse video", profile)
		}
		for _, bar := range []lipgloss.Style{s.Bar, s.BarMuted, s.BarKey, s.BarSuccess, s.BarWarning, s.BarDanger} {
			if bar.GetReverse() {
				t.Errorf("%s: a bar is a block of reverse video", profile)
			}
		}
	}
	if s := terminalTheme(true).Styles(colorprofile.TrueColor); !s.Selection.GetReverse() {
		t.Error("the terminal's own colours have no ground for a selection")
	}
	if s := ForBackground(true).Styles(colorprofile.TrueColor); s.Selection.GetReverse() {
		t.Error("the selection is reversed on a terminal of many colours")
	}
}

func TestEveryStateHasUniqueGlyphOfOneCell(t *testing.T) {
	for _, g := range []Glyphs{UnicodeGlyphs(), ASCIIGlyphs()} {
		seen := map[string]string{}
		for _, state := range []string{"waiting", "starting", "running", "backoff", "stopping", "stopped", "exited", "failed", "?"} {
			glyph := g.State(state)
			if other, ok := seen[glyph]; ok {
				t.Errorf("%s and %s share the glyph %s", state, other, glyph)
			}
			seen[glyph] = state
		}
		for _, glyph := range allOf(g) {
			if w := ansi.StringWidth(glyph); w != 1 {
				t.Errorf("%q is %d cells wide", glyph, w)
			}
		}
	}
	for _, glyph := range allOf(ASCIIGlyphs()) {
		if glyph[0] >= 0x80 {
			t.Errorf("%q is not ASCII", glyph)
		}
	}
}

// allOf returns all glyphs.
func allOf(g Glyphs) []string {
	all := g.Levels[:]
	v := reflect.ValueOf(g)
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.String {
			all = append(all, v.Field(i).String())
		}
	}
	return all
}

func TestUTF8FollowsLocale(t *testing.T) {
	cases := []struct {
		environ []string
		want    bool
	}{
		{[]string{"LANG=en_US.UTF-8"}, true},
		{[]string{"LANG=C.utf8"}, true},
		{[]string{"LANG=en_US.UTF-8", "LC_ALL=C"}, false},
		{[]string{"LC_CTYPE=C.UTF-8", "LC_ALL="}, true},
		{[]string{"LANG=en_US.UTF-8", "TERM=linux"}, false},
		{[]string{"LANG=de_DE.ISO-8859-1"}, false},
		{nil, true},
	}
	for _, c := range cases {
		if got := UTF8(c.environ); got != c.want {
			t.Errorf("UTF8(%v) = %v, want %v", c.environ, got, c.want)
		}
	}
}

func TestDangerIsRedInEveryTheme(t *testing.T) {
	for _, name := range Names() {
		for _, dark := range []bool{true, false} {
			for _, profile := range []colorprofile.Profile{colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor} {
				theme, _ := ByName(name, dark)
				p := theme.palette(profile)
				r, g, b, _ := profile.Convert(p.Danger).RGBA()
				if r>>8 < max(g, b)>>8+0x20 {
					t.Errorf("%s with %s: danger is %02x%02x%02x", name, profile, r>>8, g>>8, b>>8)
				}
			}
		}
	}
}

func TestBackgroundsAreGreyWith256Colours(t *testing.T) {
	for _, name := range Names() {
		theme, _ := ByName(name, true)
		if theme.Own {
			continue // backgrounds are replaced by reverse video
		}
		p := theme.palette(colorprofile.ANSI256)
		for _, c := range []color.Color{p.Bar, p.Selection, p.Border} {
			if r, g, b, _ := c.RGBA(); r != g || g != b {
				t.Errorf("%s: %v is no grey", name, c)
			}
		}
		for role, pair := range map[string][2]color.Color{
			"bar text": {p.BarText, p.Bar}, "bar muted": {p.BarMuted, p.Bar}, "selection": {p.SelectionText, p.Selection},
		} {
			if got := contrast(pair[0], pair[1]); got < 4.5 {
				t.Errorf("%s: %s has contrast %.2f, want 4.5", name, role, got)
			}
		}
	}
}
