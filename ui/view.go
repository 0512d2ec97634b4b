package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// View gives the screen, to the painter first of all. Bubble Tea asks after
// every message; what has not changed is not drawn again.
func (m *model) View() tea.View {
	defer m.leaveOnPanic()
	if changed := m.sessions.Changed(); !m.dirty && !changed {
		return m.drawn
	}
	m.dirty = false
	m.draw()
	if m.terminal != nil {
		m.terminal.Show(m.drawn, m.w, m.h, m.placedPicture())
	}
	return m.drawn
}

// draw makes the whole screen anew.
func (m *model) draw() {
	m.drawn = tea.View{
		AltScreen:   true,
		MouseMode:   m.mouseMode(),
		ReportFocus: true,
		WindowTitle: m.windowTitle(),
	}
	switch {
	case m.w <= 0 || m.h <= 0:
	case m.tight() && m.overlayFits():
		m.drawLayers()
	case m.areas.small:
		m.drawn.Content = m.drawTooSmall()
	default:
		m.files.Cover(false)
		m.drawLayers()
		if m.coversPicture() { // it is drawn in half blocks meanwhile
			m.files.Cover(true)
			m.drawLayers()
		}
	}
}

// overlayFits reports whether all of the overlay, if there is one, can be seen:
// nobody should answer a question that they cannot read.
func (m *model) overlayFits() bool {
	if m.overlay == nil {
		return true
	}
	rows, w, _, _ := m.overlay.Draw(m, m.w, m.h)
	return w+4 <= m.w && len(rows)+2 <= m.h
}

// drawLayers draws the screen and what lies over it.
func (m *model) drawLayers() {
	m.drawn.Content = m.drawScreen()
	m.drawOver()
}

func (m *model) drawOver() {
	if m.overlay == nil {
		m.drawn.Cursor = m.cursorIn(m.pane())
	} else {
		m.drawOverlay()
	}
}

// drawTooSmall says what is needed in as many words as there is room for.
func (m *model) drawTooSmall() string {
	needs := fmt.Sprintf("needs %d×%d", minScreenWidth, minScreenHeight)
	long := fmt.Sprintf("terminal too small: %d×%d, %s", m.w, m.h, needs)
	back, room := m.wayBack(), m.h
	if back != "" {
		room--
	}
	var words []string
	for _, text := range []string{long, "too small: " + needs, needs} {
		if words = overlay.Wrap(text, m.w); len(words) <= room {
			break
		}
	}
	if back != "" {
		words = append(words, back)
	}
	rows := make([]string, m.h)
	first := max((m.h-len(words))/2, 0)
	for i, line := range words {
		if first+i < m.h {
			rows[first+i] = widget.Center(line, m.w)
		}
	}
	return strings.Join(rows, "\n")
}

// wayBack says which keys lead from what has no room to the terminal, which has;
// "" if it has none either.
func (m *model) wayBack() string {
	if !m.areas.tight || m.sessions.tabs.Current == nil {
		return ""
	}
	text := "esc: back"
	if key := first(m.o.Bindings.KeysOf(keymap.ViewSessions, keymap.ScopeGlobal)); key != "" && m.overlay == nil {
		text = "esc or " + key + ": back"
	}
	return text
}

// leaveTooSmall is esc in a view that there is no room for: it leads back to the
// terminal.
func (m *model) leaveTooSmall(k keys.Key) (left bool) {
	if k.Code != keys.Escape || k.Mods != 0 || k.Phase == keys.Release || m.overlay != nil || m.view == viewSessions || m.wayBack() == "" {
		return false
	}
	m.setView(viewSessions)
	return true
}

// drawScreen joins the bars and the rows of the view; where there is little room
// it has but one bar.
func (m *model) drawScreen() string {
	out := m.content[:0]
	if !m.areas.tight {
		out = append(append(out, m.topBar()...), '\n')
	}
	for _, row := range m.pane().Draw() {
		out = append(append(out, row...), '\n')
	}
	if m.areas.tips.H > 0 {
		out = append(append(out, m.drawTips()...), '\n')
	}
	out = append(out, m.statusBar()...)
	m.content = out
	return string(out)
}

func (m *model) drawOverlay() {
	screen := widget.Rect{X: 0, Y: 0, W: m.w, H: m.h}
	inside, w, x, y := m.overlay.Draw(m, m.w, m.h)
	rows, at := box(inside, w, screen, &m.look)
	if p, ok := m.overlay.(interface{ Low() bool }); ok && p.Low() {
		at.Y = max(m.h-1-at.H, 0)
	}
	all := strings.Split(m.drawn.Content, "\n")
	m.overlayAt, m.overlaySeen = at, m.overlay
	lay(all, rows, at)
	m.drawn.Content = strings.Join(all, "\n")
	if x >= 0 {
		m.drawn.Cursor = tea.NewCursor(at.X+2+x, at.Y+1+y)
		m.drawn.Cursor.Shape = tea.CursorBar
	}
}

// mouseMode asks the terminal for motion only when the program wants it.
func (m *model) mouseMode() tea.MouseMode {
	if m.o.NoMouse {
		return tea.MouseModeNone
	}
	if m.sessions.WantsMotion() {
		return tea.MouseModeAllMotion
	}
	return tea.MouseModeCellMotion
}

func (m *model) windowTitle() string {
	title := m.sessions.Title()
	if title == "" {
		return "tandem"
	}
	return "tandem – " + widget.Clip(title, 120)
}
