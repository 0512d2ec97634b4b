package screen

import (
	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/panes/kit/graphics"
	"tandem/ui/display"
)

// RecordReport records what a message reports about the terminal, and returns what follows from it.
// Other messages have no effect.
func RecordReport(t *display.Terminal, msg tea.Msg) display.Effect {
	switch msg := msg.(type) {
	case tea.ForegroundColorMsg:
		t.SetForeground(msg.Color)
	case tea.BackgroundColorMsg:
		t.SetBackground(msg.Color)
	case tea.CursorColorMsg:
		t.SetCursor(msg.Color)
	case uv.UnknownOscEvent:
		return t.HandleAnswer([]byte(msg))
	case uv.KittyGraphicsEvent:
		if msg.Options.ID == graphics.QueryID && string(msg.Payload) == "OK" {
			t.SetKitty()
		}
	case uv.CellSizeEvent:
		t.SetCellSize(msg.Width, msg.Height)
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		return t.NoteScheme()
	case uv.PrimaryDeviceAttributesEvent:
		return t.SetAttributes(msg)
	}
	return display.NoEffect
}
