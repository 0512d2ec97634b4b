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

func TestThemeFollowsTheTerminalsBackground(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 36)
	d.shows("$ ")
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

func TestThemeForTheOtherBackgroundSaysThatItPaintsItsOwn(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 40)
	d.shows("one$ ")
	d.m.theme.show()
	d.shows("made for light terminals")
	d.lacks("paints its own")
	d.press("esc")
	d.update(tea.BackgroundColorMsg{Color: color.White})
	d.m.theme.show()
	d.shows("made for dark terminals, paints its own background")
}

func TestAChangeOfTheSettingsForgetsNoPrefixThatWaits(t *testing.T) {
	e := newFakeEngine()
	first := e.add("first", "one$ ")
	d := drive(t, e, 120, 40)
	d.shows("one$ ")
	d.press("ctrl+b")
	d.update(settingsMsg{Theme: "nord"})
	d.press("%")
	d.shows("$ ")
	d.hasStarted(2)
	if got := first.input(); got != "" {
		t.Errorf("%q went to the program", got)
	}
}

func TestThemesThatAreChosenOneAfterTheOtherEndWithTheLast(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 40)
	d.m.o.KeepTheme = func(string) (string, error) { return "/config.toml", nil }
	d.shows("$ ")
	for _, name := range []string{"nord", "dracula"} {
		d.press("ctrl+b", "T", "'"+name, "enter")
		d.shows(name)
	}
	last := d.m.theme.look
	d.update(settingsMsg{Theme: "nord"})
	if d.m.theme.look != last {
		t.Error("the file that is read late undoes what was chosen since")
	}
	d.update(settingsMsg{Theme: "dracula"})
	if d.m.theme.look != last || d.m.theme.picked != "" {
		t.Error("what was chosen is not what the settings say")
	}
	d.update(settingsMsg{Theme: "nord"})
	if d.m.theme.look == last {
		t.Error("a change of the file changes nothing")
	}
}

func TestAThemeIsPaintedOnTheOtherBackgroundAndWhereThatIsWanted(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 40)
	d.shows("$ ")
	ground := func() color.Color {
		if d.m.theme.ground == nil {
			return nil
		}
		return d.m.theme.ground.Back
	}
	light := themes.Light()
	d.update(settingsMsg{Theme: "light"})
	if ground() != nil {
		t.Error("a background is painted before the terminal has told its own")
	}
	d.update(tea.BackgroundColorMsg{Color: color.Black})
	if ground() != light.Ground {
		t.Errorf("a light theme on a dark terminal is on %v", ground())
	}
	d.update(tea.BackgroundColorMsg{Color: color.White})
	if ground() != nil {
		t.Error("a light theme is painted on a light terminal")
	}
	d.update(settingsMsg{Theme: "light", Background: true})
	if ground() != light.Ground {
		t.Errorf("background = true paints %v", ground())
	}
	d.update(settingsMsg{Theme: "terminal", Background: true})
	if ground() != nil {
		t.Error("the terminal's own colours have another background")
	}
}

func TestAThemeOfSixteenColoursGoesByTheTerminalsBackground(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 40)
	d.shows("$ ")
	d.m.theme.setProfile(colorprofile.ANSI)
	for _, dark := range []bool{true, false} {
		d.m.theme.setDark(dark)
		d.update(settingsMsg{Theme: "auto"})
		own := d.m.theme.look.Text
		for _, name := range []string{"light", "dark", "nord"} {
			d.update(settingsMsg{Theme: name, Background: true})
			if got := d.m.theme.look.Text; got != own || d.m.theme.ground != nil {
				t.Errorf("dark %v: the text of %s is %q, that of the terminal's theme %q", dark, name, got, own)
			}
		}
	}
}

func TestAPaintedTerminalIsNotHandedToTheSessionThatIsZoomed(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 40)
	d.shows("one$ ")
	d.press("ctrl+b", "z")
	d.until("the session could have the terminal", func() bool { return d.m.zoom.idle() != nil })
	d.m.o.Background = true
	d.m.theme.apply()
	if d.m.zoom.idle() != nil {
		t.Error("the session would show without the background")
	}
}

func TestUnknownBackgroundSelectsTheNeutralTheme(t *testing.T) {
	for name, c := range map[string]struct {
		theme   string
		told    bool
		neutral bool
	}{
		"silent":              {"", false, true},
		"auto":                {"auto", false, true},
		"chosen theme":        {"nord", false, false},
		"reported background": {"", true, false},
	} {
		d := drive(t, newFakeEngine(), 100, 30)
		d.m.o.Theme = c.theme
		d.m.theme.setProfile(colorprofile.TrueColor)
		if c.told {
			d.m.theme.setDark(true)
		}
		d.m.seeTerminal(uv.PrimaryDeviceAttributesEvent{62, 22})
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
