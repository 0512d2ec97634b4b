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
	dark := d.m.look
	d.update(tea.BackgroundColorMsg{Color: color.White})
	light := d.m.look
	if light == dark {
		t.Fatal("a white background changes nothing")
	}
	d.update(uv.DarkColorSchemeEvent{})
	if d.m.look != dark {
		t.Error("the theme does not go back with the terminal's")
	}
	d.m.o.Theme = "dark"
	d.update(tea.BackgroundColorMsg{Color: color.White})
	if d.m.look != dark {
		t.Error("the named theme gives way to the terminal's background")
	}
}

func TestThemeForTheOtherBackgroundSaysThatItIsHardToRead(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 40)
	d.shows("one$ ")
	d.m.showThemes()
	d.shows("made for light terminals")
	d.lacks("hard to read")
	d.press("esc")
	d.update(tea.BackgroundColorMsg{Color: color.White})
	d.m.showThemes()
	d.shows("made for dark terminals, hard to read on this one")
}
