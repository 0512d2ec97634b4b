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
	"tandem/ui/screen"
)

// A frame is the screen as it was drawn last.
type frame struct {
	view    tea.View
	box     look.Rect // the overlay, or the list of keys after the prefix
	dirty   bool      // it must be drawn again
	altered bool      // the view's rows were changed after it was drawn
	content []byte    // reused for each frame
}

func (f *frame) redraw() { f.dirty = true }

// redrawFor schedules a redraw after input to a pane, unless the pane tracks changes itself.
func (f *frame) redrawFor(p panes.Pane) {
	if _, ok := p.(panes.Redrawer); !ok {
		f.redraw()
	}
}

// dim dims all rows but the status bar, which shows the dialog's keys.
func (f *frame) dim(style *look.Look) {
	rows := strings.Split(f.view.Content, "\n")
	for y := range len(rows) - 1 {
		rows[y] = style.Behind(rows[y])
	}
	f.alter(strings.Join(rows, "\n"))
}

// alter replaces the drawn rows.
func (f *frame) alter(content string) { f.view.Content, f.altered = content, true }

// maxSliver is the maximum number of columns or rows beside a box that are left blank: they would show
// halves of words.
const maxSliver = 3

// drawBox draws a box over a screen of w columns, above the status bar, and records its position.
func (f *frame) drawBox(rows []string, at look.Rect, w int) {
	all := strings.Split(f.view.Content, "\n")
	f.box = at
	around := at
	if at.X <= maxSliver {
		around.X, around.W = 0, w
	}
	if at.Y <= maxSliver {
		around.Y, around.H = 0, max(len(all)-1, at.Y+at.H)
	}
	if around != at {
		around.Overlay(all, text.PadRows(nil, around.W, around.H))
	}
	at.Overlay(all, rows)
	f.alter(strings.Join(all, "\n"))
}

// View implements tea.Model, and passes the frame to the painter. Bubble Tea calls it
// after every message, so an unchanged frame is not drawn again.
func (m *model) View() tea.View {
	defer m.leaveOnPanic()
	if changed := m.sessions.NeedsRedraw(); !m.frame.dirty && !changed {
		return m.frame.view
	}
	m.frame.dirty = false
	m.drawFrame()
	if m.terminal != nil {
		m.terminal.Keyboard(m.keyboardFlags())
		m.showFrame()
	}
	return m.frame.view
}

// showFrame passes the frame to the painter. From then on, panes that show only their programs'
// screens may change their part of the frame themselves.
func (m *model) showFrame() {
	leaves := m.sessions.LiveLeaves()
	if m.views.action() != keymap.ViewSessions || m.frame.altered {
		leaves = nil
	}
	regions := make([]*screen.Region, len(leaves))
	for i, l := range leaves {
		at := m.sessions.PaneArea(l)
		regions[i] = &screen.Region{X: m.areas.body.X + at.X, Y: m.areas.body.Y + at.Y, Cuts: l.Cuts, HasCursor: m.sessions.Panes.Pane(l.ID) == m.sessions.FocusedPane()}
	}
	m.terminal.Show(m.frame.view, m.areas.w, m.areas.h, m.theme.background, m.picturePlacement(), m.env.sessionPatches(), regions...)
	for i, l := range leaves {
		m.sessions.Panes.Pane(l.ID).Feed.Screen.DrawIn(regions[i])
	}
}

// keyboardFlags returns the kitty keyboard flags set by the focused program.
func (m *model) keyboardFlags() uint8 {
	if p := m.sessions.FocusedPane(); p != nil && m.views.action() == keymap.ViewSessions && m.dialog.open == nil {
		return p.Keyboard()
	}
	return 0
}

// progress returns the progress reported by the focused program; nil without a report.
func (m *model) progress() *tea.ProgressBar {
	p := m.sessions.CurrentPane()
	if p == nil {
		return nil
	}
	known, ok := m.news.Process(p.ID)
	if !ok || known.Terminal == nil {
		return nil
	}
	state, ok := map[string]tea.ProgressBarState{
		"normal": tea.ProgressBarDefault,
		"error":  tea.ProgressBarError,
		"busy":   tea.ProgressBarIndeterminate,
		"paused": tea.ProgressBarWarning,
	}[known.Terminal.Progress.State]
	if !ok {
		return nil
	}
	return tea.NewProgressBar(state, known.Terminal.Progress.Percent)
}

// drawFrame redraws the whole screen.
func (m *model) drawFrame() {
	if m.views.action() == keymap.ViewSessions {
		m.sessions.SetPictures(m.env.sessionPictures())
	}
	m.frame.altered = false
	m.frame.view = tea.View{
		AltScreen:   true,
		MouseMode:   m.mouseMode(),
		ReportFocus: true,
		WindowTitle: m.windowTitle(),
		ProgressBar: m.progress(),
	}
	switch {
	case m.areas.w <= 0 || m.areas.h <= 0:
	case m.isTight() && m.dialog.fitsScreen(m.areas.w, m.areas.h):
		m.drawLayers()
	case m.areas.isSmall():
		m.frame.alter(m.drawTooSmall())
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
		m.frame.alter(themes.ASCII(m.frame.view.Content))
	}
}

// drawLayers draws the screen and the overlay on top.
func (m *model) drawLayers() {
	m.frame.view.Content = m.drawScreen()
	if m.dialog.open != nil {
		m.dialog.draw(m.areas.w, m.areas.h)
		return
	}
	m.frame.view.Cursor = m.screenCursor(m.views.pane())
	m.keyboard.prefix.draw()
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

// backHint names the keys that switch from a view that does not fit to a pane that does. The hint
// is empty if the pane does not fit either.
func (m *model) backHint() string {
	if !m.areas.showsOnePane() || m.sessions.CurrentPane() == nil {
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
	if !m.o.Bindings.Is(k, keymap.ScopePicker, keymap.Cancel) || k.Phase == keys.Release || m.dialog.open != nil || m.views.action() == keymap.ViewSessions || m.backHint() == "" {
		return false
	}
	m.setView(keymap.ViewSessions)
	return true
}

// drawScreen joins the bars and the rows of the view. A tight screen has only the status
// bar.
func (m *model) drawScreen() string {
	if m.areas.mode == modeZoomed {
		return m.drawZoomed()
	}
	out := m.frame.content[:0]
	if !m.areas.showsOnePane() {
		out = append(append(out, m.top.draw()...), '\n')
	}
	if p, ok := m.views.pane().(panes.Redrawer); ok {
		out = p.AppendRows(out)
	} else {
		for _, row := range m.views.pane().Draw() {
			out = append(append(out, row...), '\n')
		}
	}
	bar, hints := m.drawStatusBar()
	if m.areas.tips.H > 0 {
		out = append(append(out, dialog.DrawTips(m.o.Bindings, hints, m.areas.w, &m.theme.look)...), '\n')
	}
	out = append(out, bar...)
	m.frame.content = out
	return string(out)
}

// hasMessage reports whether something must be shown beside a zoomed session.
func (m *model) hasMessage() bool {
	return m.keyboard.resolver.Pending() || m.notices.toast.text != "" || (m.input.isHeld() && m.input.queue.Len() > 0) || (m.sessions.IsOpen() && !m.news.Connected)
}

// drawZoomed draws the session of a zoomed pane. A message covers its last row, or its first row
// while the cursor is in the last. While a dialog is open, the message is always in the last row.
func (m *model) drawZoomed() string {
	f := &m.frame
	f.content = m.sessions.AppendRows(f.content[:0])
	text := strings.TrimSuffix(string(f.content), "\n")
	if !m.hasMessage() && m.dialog.open == nil {
		return text
	}
	rows := strings.Split(text, "\n")
	at := len(rows) - 1
	if c := m.sessions.Cursor(); c != nil && c.Y == at && m.dialog.open == nil {
		at = 0
	}
	rows[at], _ = m.drawStatusBar()
	f.altered = true
	return strings.Join(rows, "\n")
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
