package ui

import (
	"image"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/graphics"
	"tandem/ui/display"
	"tandem/ui/screen"
)

// seeTerminal learns from a message what the terminal is like and can show, after it was
// handled, and passes it on.
func (m *model) seeTerminal(msg tea.Msg) {
	switch screen.Learn(&m.display, msg) {
	case display.Changed:
		m.terminal.AskColors()
	case display.Told:
		if d, _ := m.display.Display(); d.Colors.Background == 0 {
			m.theme.setSilent()
		}
	}
	switch msg.(type) {
	case tea.WindowSizeMsg, zoomedOut:
		if m.terminal != nil {
			m.display.Measured(m.terminal.Cell())
		}
	}
	if m.files.SetScreen(m.display.Pictures(m.o.Pictures, m.theme.dark)) || m.sessions.pictures != (env{m}).SessionPictures() {
		m.dirty = true
	}
	if d, known := m.display.Display(); known {
		m.sessions.feeds.setDisplay(m.theme.ground.Over(d))
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

// SessionPictures is how the pictures of sessions are drawn now: in half blocks while
// something lies over the panes, and not at all with too few colours for these.
func (e env) SessionPictures() graphics.Screen {
	on, d := e.m.display.Pictures(e.m.o.Pictures, e.m.theme.dark), &e.m.dialog
	if v := e.m.sessions; d.open != nil || d.following() != nil || v.tabs.Floating() || v.steps.numbers != nil {
		on.Protocol = graphics.Blocks
	}
	if on.Protocol == graphics.Blocks && e.Colors() < 256 {
		on.Protocol = graphics.Off
	}
	return on
}

// patches are the pictures of the programs in the panes that were drawn last.
func (e env) patches() (p graphics.Patches) {
	v, body := e.m.sessions, e.m.areas.body
	p.On = v.pictures
	for _, l := range v.visible() {
		at := v.area(l)
		for _, one := range l.Pane.Patches() {
			one.X, one.Y = one.X+at.X+body.X, one.Y+at.Y+body.Y
			p.All = append(p.All, one)
		}
	}
	return p
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
