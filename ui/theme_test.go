package ui

import (
	"image/color"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
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

func TestThemeForTheOtherBackgroundSaysThatItIsHardToRead(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 40)
	d.shows("one$ ")
	d.m.theme.show()
	d.shows("made for light terminals")
	d.lacks("hard to read")
	d.press("esc")
	d.update(tea.BackgroundColorMsg{Color: color.White})
	d.m.theme.show()
	d.shows("made for dark terminals, hard to read on this one")
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
