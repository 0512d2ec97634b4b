package ui

import (
	"image/color"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/engine/api"
	"tandem/engine/styled"
)

// displays are those that a session was told.
func (s *fakeSession) displays() []api.Display {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.display)
}

// tells has the terminal answer what it is like.
func (d *driver) tells(ground color.Color) {
	d.update(tea.BackgroundColorMsg{Color: ground})
	d.update(uv.UnknownOscEvent("\x1b]4;1;rgb:cd/00/00\a"))
	d.update(uv.CellSizeEvent{Width: 9, Height: 18})
	d.update(uv.PrimaryDeviceAttributesEvent{62})
}

func TestSessionsAreToldWhatThePersonsTerminalIsLike(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	if got := s.displays(); len(got) != 0 {
		t.Errorf("before it has answered: %+v", got)
	}
	d.tells(color.Black)
	want := api.Display{CellWidth: 9, CellHeight: 18, Colors: styled.Palette{Background: styled.ColorRGB}}
	want.Colors.Colors[1] = styled.ColorRGB | 0xCD0000
	d.until("the session is told", func() bool { return len(s.displays()) > 0 })
	if got := s.displays(); len(got) != 1 || got[0] != want {
		t.Fatalf("told %+v, want %+v", got, want)
	}
	d.tells(color.Black)
	if got := s.displays(); len(got) != 1 {
		t.Errorf("nothing has changed: %+v", got)
	}
	d.tells(color.White)
	want.Colors.Background = styled.ColorRGB | 0xFFFFFF
	if got := s.displays(); len(got) != 2 || got[1] != want {
		t.Errorf("another theme: %+v", got)
	}
	d.reachEngine(d.loseEngine())
	d.until("it is told again", func() bool { return len(d.nth(0).displays()) > 0 })
}

func TestProgramsHaveTheColoursOfAGroundThatIsPainted(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.tells(color.Black)
	d.update(settingsMsg{Theme: "light"})
	d.until("the session is told", func() bool { return len(s.displays()) > 0 })
	told := s.displays()
	if last := told[len(told)-1]; !last.Colors.Light() || last.Colors.Foreground == 0 || last.Colors.Colors[15] == 0 || last.CellWidth != 9 {
		t.Errorf("on a light ground programs have %+v", last)
	}
}
