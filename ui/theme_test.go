package ui

import (
	"image/color"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/themes"
)

func TestThemeFollowsTerminalBackground(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 36)
	d.waitText("$ ")
	dark := d.m.theme.look
	d.update(tea.BackgroundColorMsg{Color: color.White})
	light := d.m.theme.look
	if light == dark {
		t.Fatal("a white background changes nothing")
	}
	d.update(uv.DarkColorSchemeEvent{})
	if d.m.theme.look != dark {
		t.Error("the theme does not go back with the terminal's")
	}
	d.m.o.Theme = "dark"
	d.update(tea.BackgroundColorMsg{Color: color.White})
	if d.m.theme.look != dark {
		t.Error("the named theme gives way to the terminal's background")
	}
}

func TestPickerNotesThemesThatPaintTheirBackground(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 40)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "T")
	d.waitText("made for light terminals")
	d.waitNoText("paints its own")
	d.pressKeys("esc")
	d.update(tea.BackgroundColorMsg{Color: color.White})
	d.pressKeys("ctrl+b", "T")
	d.waitText("made for dark terminals, paints its own background")
}

func TestChangedSettingsKeepPendingPrefix(t *testing.T) {
	e := newFakeEngine()
	first := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 40)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b")
	d.changeSettings(func(s *Settings) { s.Theme = "nord" })
	d.pressKeys("%")
	d.waitText("$ ")
	d.waitStarted(2)
	if got := first.typedText(); got != "" {
		t.Errorf("%q went to the program", got)
	}
}

func TestLastOfSeveralChosenThemesWins(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 40)
	d.m.o.KeepTheme = func(string) (string, error) { return "/config.toml", nil }
	d.waitText("$ ")
	for _, name := range []string{"nord", "dracula"} {
		d.pressKeys("ctrl+b", "T", "'"+name, "enter")
		d.waitText(name)
	}
	last := d.m.theme.look
	d.changeSettings(func(s *Settings) { s.Theme = "nord" })
	if d.m.theme.look != last {
		t.Error("the file that is read late undoes what was chosen since")
	}
	d.changeSettings(func(s *Settings) { s.Theme = "dracula" })
	if d.m.theme.look != last || d.m.theme.picked != "" {
		t.Error("what was chosen is not what the settings say")
	}
	d.changeSettings(func(s *Settings) { s.Theme = "nord" })
	if d.m.theme.look == last {
		t.Error("a change of the file changes nothing")
	}
}

func TestThemePaintsBackgroundIfWantedOrUnreadable(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 40)
	d.waitText("$ ")
	ground := func() color.Color {
		if d.m.theme.background == nil {
			return nil
		}
		return d.m.theme.background.Back
	}
	light := themes.ForBackground(false)
	d.changeSettings(func(s *Settings) { s.Theme = "light" })
	if ground() != nil {
		t.Error("a background is painted before the terminal has told its own")
	}
	d.update(tea.BackgroundColorMsg{Color: color.Black})
	if ground() != light.Background {
		t.Errorf("a light theme on a dark terminal is on %v", ground())
	}
	d.update(tea.BackgroundColorMsg{Color: color.White})
	if ground() != nil {
		t.Error("a light theme is painted on a light terminal")
	}
	d.changeSettings(func(s *Settings) { s.Theme, s.Background = "light", true })
	if ground() != light.Background {
		t.Errorf("background = true paints %v", ground())
	}
	d.changeSettings(func(s *Settings) { s.Theme, s.Background = "terminal", true })
	if ground() != nil {
		t.Error("the terminal's own colours have another background")
	}
}

func TestSixteenColourThemeFollowsTerminalBackground(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 40)
	d.waitText("$ ")
	d.m.theme.setProfile(colorprofile.ANSI)
	for _, dark := range []bool{true, false} {
		d.m.theme.setDark(dark)
		d.changeSettings(func(s *Settings) { s.Theme = "auto" })
		own := d.m.theme.look.Text
		for _, name := range []string{"light", "dark", "nord"} {
			d.changeSettings(func(s *Settings) { s.Theme, s.Background = name, true })
			if got := d.m.theme.look.Text; got != own || d.m.theme.background != nil {
				t.Errorf("dark %v: the text of %s is %q, that of the terminal's theme %q", dark, name, got, own)
			}
		}
	}
}

func TestUnknownBackgroundSelectsNeutralTheme(t *testing.T) {
	for name, c := range map[string]struct {
		theme   string
		told    bool
		neutral bool
	}{
		"silent":              {"auto", false, true},
		"chosen theme":        {"nord", false, false},
		"reported background": {"auto", true, false},
	} {
		d := drive(t, newFakeEngine(), 100, 30)
		d.m.o.Theme = c.theme
		d.m.theme.setProfile(colorprofile.TrueColor)
		if c.told {
			d.m.theme.setDark(true)
		}
		d.m.learnTerminal(uv.PrimaryDeviceAttributesEvent{62, 22})
		text, muted := d.m.theme.look.Text.Text("x"), d.m.theme.look.Dim.Text("x")
		if neutral := text == "x" && strings.Contains(muted, "\x1b[2m"); neutral != c.neutral {
			t.Errorf("%s: text is %q and muted text %q", name, text, muted)
		}
		d.m.theme.setDark(false)
		if text := d.m.theme.look.Text.Text("x"); text == "x" {
			t.Errorf("%s: after a late report, text is %q", name, text)
		}
	}
}
