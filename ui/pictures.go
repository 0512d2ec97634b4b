package ui

import (
	"image"

	tea "charm.land/bubbletea/v2"

	"tandem/ui/screen"
)

// seePictures learns from a message what the terminal can show, after it was
// handled, and passes it on.
func (m *model) seePictures(msg tea.Msg) {
	m.pictures.Learn(msg)
	switch msg.(type) {
	case tea.WindowSizeMsg, zoomedOut:
		if m.terminal != nil {
			m.pictures.Measured(m.terminal.Cell())
		}
	}
	if m.files.SetScreen(m.pictures.Screen(m.o.Pictures, m.theme.dark)) {
		m.dirty = true
	}
}

// placedPicture is the picture that the terminal is to draw, over the cells
// that were drawn last.
func (m *model) placedPicture() screen.Placed {
	picture, x, y := m.files.Picture()
	if picture == nil {
		return screen.Placed{}
	}
	return screen.Placed{Picture: picture, X: m.areas.body.X + x, Y: m.areas.body.Y + y}
}

// coversPicture reports whether the overlay, as it was drawn last, lies over the
// picture.
func (m *model) coversPicture() bool {
	p := m.placedPicture()
	if m.dialog.open == nil && m.dialog.following() == nil || p.Picture == nil {
		return false
	}
	at := image.Rect(p.X, p.Y, p.X+p.Picture.Cols, p.Y+p.Picture.Rows)
	o := m.dialog.at
	return at.Overlaps(image.Rect(o.X, o.Y, o.X+o.W, o.Y+o.H))
}
