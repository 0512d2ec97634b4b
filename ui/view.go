package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/themes"
)

// View implements tea.Model, and passes the frame to the painter. Bubble Tea calls it
// after every message, so an unchanged frame is not drawn again.
func (m *model) View() tea.View {
	defer m.leaveOnPanic()
	if changed := m.sessions.NeedsRedraw(); !m.dirty && !changed {
		return m.lastView
	}
	m.dirty = false
	m.drawFrame()
	if m.terminal != nil {
		m.terminal.Keyboard(m.keyboardFlags())
		m.terminal.Show(m.lastView, m.areas.w, m.areas.h, m.theme.background, m.picturePlacement(), env{m}.sessionPatches())
	}
	return m.lastView
}

// keyboardFlags returns the kitty keyboard flags set by the focused program.
func (m *model) keyboardFlags() uint8 {
	if p := m.sessions.focusedPane(); p != nil && m.view == viewSessions && m.dialog.open == nil {
		return p.Keyboard()
	}
	return 0
}

// drawFrame redraws the whole screen.
func (m *model) drawFrame() {
	m.lastView = tea.View{
		AltScreen:   true,
		MouseMode:   m.mouseMode(),
		ReportFocus: true,
		WindowTitle: m.windowTitle(),
		ProgressBar: m.progress(),
	}
	switch {
	case m.areas.w <= 0 || m.areas.h <= 0:
	case m.isTight() && m.dialog.fitsScreen():
		m.drawLayers()
	case m.areas.small:
		m.lastView.Content = m.drawTooSmall()
	default:
		m.files.Cover(false)
		m.drawLayers()
		// A terminal draws pictures over the text, so a covered one is drawn in half
		// blocks.
		if m.coversPicture() {
			m.files.Cover(true)
			m.drawLayers()
		}
	}
	if m.theme.look.Glyphs == themes.ASCIIGlyphs() {
		m.lastView.Content = themes.ASCII(m.lastView.Content)
	}
}

// fitsScreen reports whether the whole overlay, if any, fits the screen. Half a question
// must not be answered.
func (d *openDialog) fitsScreen() bool {
	if d.open == nil {
		return true
	}
	rows, w, _, _ := d.open.Draw(env{d.m}, d.m.areas.w, d.m.areas.h)
	return w+4 <= d.m.areas.w && len(rows)+2 < d.m.areas.h
}

// drawLayers draws the screen and the overlay on top.
func (m *model) drawLayers() {
	m.lastView.Content = m.drawScreen()
	m.drawOverlay()
}

func (m *model) drawOverlay() {
	if m.dialog.open != nil {
		m.dialog.drawDialog()
		return
	}
	m.lastView.Cursor = m.screenCursor(m.activeView())
	m.dialog.drawPrefixKeys()
}

// drawTooSmall draws the required size, in the longest wording that fits.
func (m *model) drawTooSmall() string {
	needs := fmt.Sprintf("needs %d×%d", minScreenWidth, minScreenHeight)
	long := fmt.Sprintf("terminal too small: %d×%d, %s", m.areas.w, m.areas.h, needs)
	back, room := m.backHint(), m.areas.h
	if back != "" {
		room--
	}
	var words []string
	for _, s := range []string{long, "too small: " + needs, needs} {
		if words = text.WrapWords(s, m.areas.w); len(words) <= room {
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
			rows[first+i] = text.Center(line, m.areas.w)
		}
	}
	return strings.Join(rows, "\n")
}

// backHint names the keys that lead from a view that does not fit to a pane that does. It
// is empty if the pane does not fit either.
func (m *model) backHint() string {
	if !m.areas.tight || m.sessions.tabs.Current == nil {
		return ""
	}
	ways := []string{m.o.Bindings.KeyOf(keymap.Cancel, keymap.ScopePicker)}
	if m.dialog.open == nil {
		ways = append(ways, m.o.Bindings.KeyOf(keymap.ViewSessions, keymap.ScopeGlobal))
	}
	ways = slices.DeleteFunc(ways, func(key string) bool { return key == "" })
	if len(ways) == 0 {
		return ""
	}
	return strings.Join(ways, " or ") + ": back"
}

// leaveTooSmall handles the cancel key in a view that does not fit: it returns to the
// pane.
func (m *model) leaveTooSmall(k keys.Key) (left bool) {
	if !m.o.Bindings.Is(k, keymap.ScopePicker, keymap.Cancel) || k.Phase == keys.Release || m.dialog.open != nil || m.sessions.shown || m.backHint() == "" {
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

// drawScreen joins the bars and the rows of the view. A tight screen has only the status
// bar.
func (m *model) drawScreen() string {
	if m.areas.zoomed {
		return m.zoom.drawScreen()
	}
	out := m.content[:0]
	if !m.areas.tight {
		out = append(append(out, m.drawTopBar()...), '\n')
	}
	if p, ok := m.activeView().(panes.Redrawer); ok {
		out = p.AppendRows(out)
	} else {
		out = appendRows(out, m.activeView().Draw())
	}
	bar := newStatusBar(m)
	if m.areas.tips.H > 0 {
		out = append(append(out, bar.drawTips()...), '\n')
	}
	out = append(out, bar.draw()...)
	m.content = out
	return string(out)
}

func (d *openDialog) drawDialog() {
	screen := look.Rect{X: 0, Y: 0, W: d.m.areas.w, H: d.m.areas.h}
	inside, w, x, y := d.open.Draw(env{d.m}, d.m.areas.w, d.m.areas.h)
	rows, at := dialog.DrawBox(inside, w, screen, &d.m.theme.look)
	traits := d.open.Traits()
	if traits.Low {
		at.Y = max(d.m.areas.h-1-at.H, 0)
	}
	d.seen = d.open
	if !traits.Live {
		d.dimScreen()
	}
	d.overlayBox(rows, at)
	if x >= 0 {
		d.m.lastView.Cursor = tea.NewCursor(at.X+2+x, at.Y+1+y)
		d.m.lastView.Cursor.Shape = tea.CursorBar
	}
}

// dimScreen dims all rows but the status bar, which shows the dialog's keys.
func (d *openDialog) dimScreen() {
	rows := strings.Split(d.m.lastView.Content, "\n")
	for y := range len(rows) - 1 {
		rows[y] = d.m.theme.look.Behind(rows[y])
	}
	d.m.lastView.Content = strings.Join(rows, "\n")
}

// overlayBox draws a box over the screen and records its position.
func (d *openDialog) overlayBox(rows []string, at look.Rect) {
	all := strings.Split(d.m.lastView.Content, "\n")
	d.at = at
	at.Overlay(all, rows)
	d.m.lastView.Content = strings.Join(all, "\n")
}

// prefixRows lists the keys that may follow a waiting prefix; nil if it has not waited
// long enough or the rows do not fit.
func (d *openDialog) prefixRows() []string {
	in := &d.m.input
	if d.open != nil || !in.resolver.Pending() || !in.wait.long || d.m.areas.small && !d.m.areas.tight {
		return nil
	}
	groups, w, h := d.prefixKeys()
	return dialog.DrawPrefixKeys(groups, w, h, &d.m.theme.look)
}

// prefixKeys returns these keys, and the size available for them.
func (d *openDialog) prefixKeys() (groups []keymap.Group, w, h int) {
	hidden := []keymap.Action{keymap.TipsHide}
	if d.m.showsTips() {
		hidden = nil
	}
	return d.m.o.Bindings.Following(hidden...), d.m.areas.w - 4, d.m.areas.h - 3 - d.m.areas.tips.H
}

// clickPrefixRow runs the action of the clicked row.
func (d *openDialog) clickPrefixRow(e keys.Mouse) tea.Cmd {
	groups, w, h := d.prefixKeys()
	a, ok := dialog.PrefixKeyAt(groups, w, h, e.X-d.at.X-2, e.Y-d.at.Y-1)
	if !ok || !e.IsLeftDown() {
		return nil
	}
	in := &d.m.input
	in.resolver.Cancel()
	d.m.dirty = true
	return in.findAction(a)()
}

// drawPrefixKeys draws the list of keys above the status bar.
func (d *openDialog) drawPrefixKeys() {
	rows := d.prefixRows()
	if len(rows) == 0 {
		return
	}
	rows, at := dialog.DrawBox(rows, text.Width(rows[0]), look.Rect{W: d.m.areas.w, H: d.m.areas.h}, &d.m.theme.look)
	at.Y = d.m.areas.h - 1 - d.m.areas.tips.H - at.H
	d.overlayBox(rows, at)
	if c := d.m.lastView.Cursor; c != nil && at.Contains(c.X, c.Y) {
		d.m.lastView.Cursor = nil
	}
}

// mouseMode requests motion without a button only if the focused program wants it, as it
// causes many events.
func (m *model) mouseMode() tea.MouseMode {
	if !m.o.Mouse {
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
	return "tandem – " + text.Clip(title, 120)
}
