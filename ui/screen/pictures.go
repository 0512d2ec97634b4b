package screen

import (
	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/panes/graphics"
	"tandem/ui/display"
)

// Learn takes in what the terminal tells of itself; other messages mean nothing.
func Learn(t *display.Terminal, msg tea.Msg) display.News {
	switch msg := msg.(type) {
	case tea.ForegroundColorMsg:
		t.Foreground(msg.Color)
	case tea.BackgroundColorMsg:
		t.Background(msg.Color)
	case tea.CursorColorMsg:
		t.Cursor(msg.Color)
	case uv.UnknownOscEvent:
		return t.Answer([]byte(msg))
	case uv.KittyGraphicsEvent:
		if msg.Options.ID == graphics.QueryID && string(msg.Payload) == "OK" {
			t.Kitty()
		}
	case uv.CellSizeEvent:
		t.CellSize(msg.Width, msg.Height)
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		return t.Scheme()
	case uv.PrimaryDeviceAttributesEvent:
		return t.Attributes(msg)
	}
	return display.Nothing
}
