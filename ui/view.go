package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
	"tandem/ui/layout"
	"tandem/ui/overlay"
)

// View gives the screen, to the painter first of all. Bubble Tea asks after
// every message; what has not changed is not drawn again.
func (m *model) View() tea.View {
	defer m.leaveOnPanic()
	if !m.dirty && !m.changed() {
		return m.drawn
	}
	m.dirty = false
	m.draw()
	if m.terminal != nil {
		m.terminal.Show(m.drawn, m.w, m.h, m.placedPicture())
	}
	return m.drawn
}

// changed reports whether a pane on the screen has something new to draw.
func (m *model) changed() (changed bool) {
	for _, l := range m.visible() {
		changed = l.Pane.Changed() || changed
	}
	return changed
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
		m.drawn.Content = m.drawTight()
		m.drawOver()
	case m.layout.tooSmall():
		m.drawn.Content = m.drawTooSmall()
	default:
		m.prepare()
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

// drawTight draws what there is room for on a small terminal.
func (m *model) drawTight() string {
	m.prepare()
	rows := m.tabs.Current.Focus.Rows
	if m.listFocused {
		rows = m.list.Draw(m.layout.tree.W, m.layout.tree.H, &m.look)
	}
	return strings.Join(append(slices.Clone(rows), m.statusBar()), "\n")
}

// drawLayers draws the screen and what lies over it.
func (m *model) drawLayers() {
	m.drawn.Content = m.drawScreen()
	m.drawOver()
}

func (m *model) drawOver() {
	if m.overlay == nil {
		m.drawn.Cursor = m.cursor()
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
	if !m.layout.tight || m.tabs.Current == nil {
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

// prepare lets every visible pane make its rows.
func (m *model) prepare() {
	focused := m.focused()
	for _, l := range m.visible() {
		l.Rows = l.Pane.Draw()
		l.Title = ""
		if !m.layout.bare {
			name, detail, folder := l.Pane.Title()
			heading := widget.Heading
			if folder {
				heading = widget.FolderHeading
			}
			l.Title = heading(name, detail, l.Rect.W, l.Pane == focused, &m.look)
			l.Title = l.Joined(l.Title, &m.look)
		}
	}
}

// drawScreen joins the rows of everything on the screen.
func (m *model) drawScreen() string {
	out := append(m.content[:0], m.topBar()...)
	body := m.layout.body
	side := m.drawSide()
	for y := body.Y; y < body.Y+body.H; y++ {
		out = append(out, '\n')
		out = m.appendBodyRow(out, side, y)
	}
	if m.layout.tips.H > 0 {
		out = append(append(out, '\n'), m.drawTips()...)
	}
	out = append(out, '\n')
	out = append(out, m.statusBar()...)
	m.content = out
	return string(out)
}

// side is what is drawn beside the terminals, or in their place.
type side struct {
	list []string // rows of the list's column
	page []string // rows of another view, or in place of the terminals if there are none
}

func (m *model) drawSide() (s side) {
	l := m.layout
	switch {
	case m.pane() != nil:
		s.page = m.pane().Draw()
		return s
	case m.zoomed:
		return s
	case l.list.W > 0:
		s.list = m.list.Draw(l.list.W, l.list.H, &m.look)
	default:
		s.list = []string{m.list.Strip(l.strip.W, &m.look)}
	}
	if m.tabs.Current == nil {
		s.page = m.drawNoSessions()
	}
	return s
}

func (m *model) appendBodyRow(out []byte, s side, y int) []byte {
	i := y - m.layout.body.Y
	switch {
	case m.view != viewSessions:
		return append(out, s.page[i]...)
	case m.zoomed:
		return append(out, m.tabs.Current.Focus.Rows[i]...)
	case m.layout.strip.Contains(0, y):
		return append(out, s.list[i]...)
	case m.layout.list.W > 0:
		out = append(out, s.list[i]...)
		title := m.tabs.Current == nil && i == 0 || m.tabs.Current != nil && m.tabs.Current.Root.TitleAt(y, true)
		out = append(out, m.look.Rule.Text(layout.Joint(i == 0, title, i == 0))...)
	}
	if m.tabs.Current == nil {
		return append(out, s.page[y-m.layout.tree.Y]...)
	}
	return m.tabs.Current.Root.AppendRow(out, y, &m.look)
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

// cursor is the program's cursor in the focused pane.
func (m *model) cursor() *tea.Cursor {
	if p := m.pane(); p != nil {
		return m.cursorIn(p)
	}
	p := m.focused()
	if p == nil {
		return nil
	}
	c := p.Cursor()
	if c != nil {
		r := m.area(m.tabs.Current.Focus)
		c.X, c.Y = c.X+r.X, c.Y+r.Y
	}
	return c
}

// mouseMode asks the terminal for motion only when the program wants it.
func (m *model) mouseMode() tea.MouseMode {
	if m.o.NoMouse {
		return tea.MouseModeNone
	}
	if p := m.focused(); p != nil && p.State().Mouse == keys.MouseMotion {
		return tea.MouseModeAllMotion
	}
	return tea.MouseModeCellMotion
}

func (m *model) windowTitle() string {
	p := m.focused()
	if p == nil {
		return "tandem"
	}
	name, _, _ := p.Title()
	if title := widget.Clean(p.State().Title); title != "" {
		name = title
	}
	return "tandem – " + widget.Clip(name, 120)
}
