package ui

import (
	"image"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/graphics"
	"tandem/ui/display"
	"tandem/ui/screen"
)

// learnTerminal records what a message reveals about the terminal, and applies it to
// pictures, the theme and sessions. It runs after the message was handled.
func (m *model) learnTerminal(msg tea.Msg) {
	switch screen.RecordReport(&m.display, msg) {
	case display.ColorsChanged:
		m.terminal.AskColors()
	case display.DisplayUpdated:
		if d, _ := m.display.Display(); d.Colors.Background == 0 {
			m.theme.setSilent()
		}
	}
	if _, resized := msg.(tea.WindowSizeMsg); resized && m.terminal != nil {
		m.display.SetMeasuredCell(m.terminal.Cell())
	}
	if m.files.SetScreen(m.display.PictureScreen(m.o.Pictures, m.theme.dark)) || m.views.action() == keymap.ViewSessions && m.sessions.SetPictures(m.env.sessionPictures()) {
		m.frame.redraw()
	}
	if d, known := m.display.Display(); known {
		m.sessions.SetDisplay(m.theme.background.ApplyTo(d))
	}
}

// picturePlacement returns the picture of the Files view and its position, for the
// terminal to draw over the cells.
func (m *model) picturePlacement() screen.Placement {
	picture, x, y := m.files.Picture()
	if picture == nil {
		return screen.Placement{}
	}
	return screen.Placement{Picture: picture, X: m.areas.body.X + x, Y: m.areas.body.Y + y}
}

// sessionPictures returns how to draw pictures of sessions. An overlay needs half blocks,
// as a terminal draws its own pictures over the text.
func (e env) sessionPictures() graphics.Screen {
	on := e.m.display.PictureScreen(e.m.o.Pictures, e.m.theme.dark)
	if e.m.dialog.open != nil || e.m.keyboard.prefix.rows() != nil {
		on.Protocol = graphics.Blocks
	}
	return on
}

// sessionPatches returns the pictures in the visible panes, in screen coordinates.
func (e env) sessionPatches() graphics.Patches {
	p, body := e.m.sessions.Patches(), e.m.areas.body
	for i := range p.All {
		p.All[i].X += body.X
		p.All[i].Y += body.Y
	}
	return p
}

// coversPicture reports whether the overlay drawn last overlaps the picture.
func (m *model) coversPicture() bool {
	p := m.picturePlacement()
	if m.dialog.open == nil && m.keyboard.prefix.rows() == nil || p.Picture == nil {
		return false
	}
	at := image.Rect(p.X, p.Y, p.X+p.Picture.Cols, p.Y+p.Picture.Rows)
	o := m.frame.box
	return at.Overlaps(image.Rect(o.X, o.Y, o.X+o.W, o.Y+o.H))
}
