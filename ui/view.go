package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/overlay"
)

// View gives the screen, to the painter first of all. Bubble Tea asks after
// every message; what has not changed is not drawn again.
func (m *model) View() tea.View {
	defer m.leaveOnPanic()
	if changed := m.sessions.NeedsRedraw(); !m.dirty && !changed {
		return m.drawn
	}
	m.dirty = false
	m.draw()
	if m.terminal != nil {
		m.terminal.Keyboard(m.keyboard())
		m.terminal.Show(m.drawn, m.areas.w, m.areas.h, m.theme.ground, m.placedPicture(), env{m}.patches())
	}
	return m.drawn
}

// keyboard returns the kitty keyboard flags set by the focused program.
func (m *model) keyboard() uint8 {
	if p := m.sessions.focused(); p != nil && m.view == viewSessions && m.dialog.open == nil {
		return p.Keyboard()
	}
	return 0
}

// draw redraws the whole screen.
func (m *model) draw() {
	m.drawn = tea.View{
		AltScreen:   true,
		MouseMode:   m.mouseMode(),
		ReportFocus: true,
		WindowTitle: m.windowTitle(),
		ProgressBar: m.progress(),
	}
	switch {
	case m.areas.w <= 0 || m.areas.h <= 0:
	case m.tight() && m.dialog.fits():
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
	if m.theme.look.Glyphs == themes.ASCIIGlyphs() {
		m.drawn.Content = themes.ASCII(m.drawn.Content)
	}
}

// fits reports whether all of the overlay, if there is one, can be seen:
// nobody should answer a question that they cannot read.
func (d *dialog) fits() bool {
	if d.open == nil {
		return true
	}
	rows, w, _, _ := d.open.Draw(env{d.m}, d.m.areas.w, d.m.areas.h)
	return w+4 <= d.m.areas.w && len(rows)+2 < d.m.areas.h
}

// drawLayers draws the screen and what lies over it.
func (m *model) drawLayers() {
	m.drawn.Content = m.drawScreen()
	m.drawOver()
}

func (m *model) drawOver() {
	if m.dialog.open != nil {
		m.dialog.draw()
		return
	}
	m.drawn.Cursor = m.cursorIn(m.pane())
	m.dialog.drawFollowing()
}

// drawTooSmall says what is needed in as many words as there is room for.
func (m *model) drawTooSmall() string {
	needs := fmt.Sprintf("needs %d×%d", minScreenWidth, minScreenHeight)
	long := fmt.Sprintf("terminal too small: %d×%d, %s", m.areas.w, m.areas.h, needs)
	back, room := m.wayBack(), m.areas.h
	if back != "" {
		room--
	}
	var words []string
	for _, text := range []string{long, "too small: " + needs, needs} {
		if words = widget.WrapWords(text, m.areas.w); len(words) <= room {
			break
		}
	}
	if back != "" {
		words = append(words, back)
	}
	rows := make([]string, m.areas.h)
	first := max((m.areas.h-len(words))/2, 0)
	for i, line := range words {
		if first+i < m.areas.h {
			rows[first+i] = widget.Center(line, m.areas.w)
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
	ways := []string{first(m.o.Bindings.KeysOf(keymap.Cancel, keymap.ScopePicker))}
	if m.dialog.open == nil {
		ways = append(ways, first(m.o.Bindings.KeysOf(keymap.ViewSessions, keymap.ScopeGlobal)))
	}
	ways = slices.DeleteFunc(ways, func(key string) bool { return key == "" })
	if len(ways) == 0 {
		return ""
	}
	return strings.Join(ways, " or ") + ": back"
}

// leaveTooSmall is the cancel key in a view that there is no room for: it leads back
// to the terminal.
func (m *model) leaveTooSmall(k keys.Key) (left bool) {
	if !m.o.Bindings.Is(k, keymap.ScopePicker, keymap.Cancel) || k.Phase == keys.Release || m.dialog.open != nil || m.sessions.shown || m.wayBack() == "" {
		return false
	}
	m.setView(viewSessions)
	return true
}

func appendRows(to []byte, rows []string) []byte {
	for _, row := range rows {
		to = append(append(to, row...), '\n')
	}
	return to
}

// drawScreen joins the bars and the rows of the view; where there is little room
// it has but one bar.
func (m *model) drawScreen() string {
	if m.areas.zoomed {
		return m.zoom.drawScreen()
	}
	out := m.content[:0]
	if !m.areas.tight {
		out = append(append(out, m.topBar()...), '\n')
	}
	if p, ok := m.pane().(panes.Redrawer); ok {
		out = p.AppendRows(out)
	} else {
		out = appendRows(out, m.pane().Draw())
	}
	bar := newStatusBar(m)
	if m.areas.tips.H > 0 {
		out = append(append(out, bar.drawTips()...), '\n')
	}
	out = append(out, bar.draw()...)
	m.content = out
	return string(out)
}

func (d *dialog) draw() {
	screen := widget.Rect{X: 0, Y: 0, W: d.m.areas.w, H: d.m.areas.h}
	inside, w, x, y := d.open.Draw(env{d.m}, d.m.areas.w, d.m.areas.h)
	rows, at := box(inside, w, screen, &d.m.theme.look)
	if p, ok := d.open.(interface{ Low() bool }); ok && p.Low() {
		at.Y = max(d.m.areas.h-1-at.H, 0)
	}
	d.seen = d.open
	if p, ok := d.open.(interface{ Live() bool }); !ok || !p.Live() {
		d.dim()
	}
	d.lay(rows, at)
	if x >= 0 {
		d.m.drawn.Cursor = tea.NewCursor(at.X+2+x, at.Y+1+y)
		d.m.drawn.Cursor.Shape = tea.CursorBar
	}
}

// dim lets all recede but the status bar, which tells the keys of the dialog.
func (d *dialog) dim() {
	rows := strings.Split(d.m.drawn.Content, "\n")
	for y := range len(rows) - 1 {
		rows[y] = d.m.theme.look.Behind(rows[y])
	}
	d.m.drawn.Content = strings.Join(rows, "\n")
}

// lay puts a box on the screen.
func (d *dialog) lay(rows []string, at widget.Rect) {
	all := strings.Split(d.m.drawn.Content, "\n")
	d.at = at
	lay(all, rows, at)
	d.m.drawn.Content = strings.Join(all, "\n")
}

// following are the keys that may follow the prefix, once that has waited for one,
// in rows; nil for none, or without room for them.
func (d *dialog) following() []string {
	in := &d.m.input
	if d.open != nil || !in.resolver.Pending() || !in.wait.long || d.m.areas.small && !d.m.areas.tight {
		return nil
	}
	groups, w, h := d.followers()
	return overlay.Following(groups, w, h, &d.m.theme.look)
}

// followers are these keys, and the room that there is for them.
func (d *dialog) followers() (groups []keymap.Group, w, h int) {
	hidden := []keymap.Action{keymap.TipsHide}
	if d.m.tipsShown() {
		hidden = nil
	}
	return d.m.o.Bindings.Following(hidden...), d.m.areas.w - 4, d.m.areas.h - 3 - d.m.areas.tips.H
}

// clickFollowing does what the key does whose row was clicked.
func (d *dialog) clickFollowing(e keys.Mouse) tea.Cmd {
	groups, w, h := d.followers()
	a, ok := overlay.FollowingAt(groups, w, h, e.X-d.at.X-2, e.Y-d.at.Y-1)
	if !ok || !widget.LeftDown(e) {
		return nil
	}
	in := &d.m.input
	in.resolver.Cancel()
	d.m.dirty = true
	return in.action(a)()
}

// drawFollowing draws them over the status bar.
func (d *dialog) drawFollowing() {
	rows := d.following()
	if len(rows) == 0 {
		return
	}
	rows, at := box(rows, widget.Width(rows[0]), widget.Rect{W: d.m.areas.w, H: d.m.areas.h}, &d.m.theme.look)
	at.Y = d.m.areas.h - 1 - d.m.areas.tips.H - at.H
	d.lay(rows, at)
	if c := d.m.drawn.Cursor; c != nil && at.Contains(c.X, c.Y) {
		d.m.drawn.Cursor = nil
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
