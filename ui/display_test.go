package ui

import (
	"image/color"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
)

// listDisplays returns the terminal properties reported to a session.
func (s *fakeSession) listDisplays() []api.Display {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.display)
}

// reportColors makes the terminal report its properties, with the given background.
func (d *driver) reportColors(ground color.Color) {
	d.update(tea.BackgroundColorMsg{Color: ground})
	d.update(uv.UnknownOscEvent("\x1b]4;1;rgb:cd/00/00\a"))
	d.update(uv.CellSizeEvent{Width: 9, Height: 18})
	d.update(uv.PrimaryDeviceAttributesEvent{62})
}

func TestSessionsLearnPropertiesOfUsersTerminal(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	if got := s.listDisplays(); len(got) != 0 {
		t.Errorf("before it has answered: %+v", got)
	}
	d.reportColors(color.Black)
	want := api.Display{CellWidth: 9, CellHeight: 18, Colors: styled.Palette{Background: styled.ColorRGB}}
	want.Colors.Colors[1] = styled.ColorRGB | 0xCD0000
	d.waitUntil("the session is told", func() bool { return len(s.listDisplays()) > 0 })
	if got := s.listDisplays(); len(got) != 1 || got[0] != want {
		t.Fatalf("told %+v, want %+v", got, want)
	}
	d.reportColors(color.Black)
	if got := s.listDisplays(); len(got) != 1 {
		t.Errorf("nothing has changed: %+v", got)
	}
	d.reportColors(color.White)
	want.Colors.Background = styled.ColorRGB | 0xFFFFFF
	if got := s.listDisplays(); len(got) != 2 || got[1] != want {
		t.Errorf("another theme: %+v", got)
	}
	d.restoreEngine(d.loseEngine())
	d.waitUntil("it is told again", func() bool { return len(d.nthSession(0).listDisplays()) > 0 })
}

func TestProgramsLearnColoursOfPaintedBackground(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.reportColors(color.Black)
	d.changeSettings(func(s *Settings) { s.Theme = "light" })
	d.waitUntil("the session is told", func() bool { return len(s.listDisplays()) > 0 })
	told := s.listDisplays()
	if last := told[len(told)-1]; !last.Colors.Light() || last.Colors.Foreground == 0 || last.Colors.Colors[15] == 0 || last.CellWidth != 9 {
		t.Errorf("on a light ground programs have %+v", last)
	}
}
