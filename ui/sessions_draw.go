package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/predict"
	"tandem/panes/kit/text"
	"tandem/panes/terminal"
	"tandem/ui/layout"
)

// Draw implements panes.Pane and is never called: the dashboard calls AppendRows.
func (v *sessionsView) Draw() []string { return nil }

// AppendRows appends the rows of the view, each with a newline.
func (v *sessionsView) AppendRows(to []byte) []byte {
	v.pictures = v.env.SessionPictures()
	edges := v.buildEdges()
	v.preparePanes(edges)
	if v.tight && v.tabs.Current != nil {
		rows := v.tabs.Current.Focus.Rows
		if v.listFocused {
			rows = v.list.Draw()
		}
		return appendRows(to, rows)
	}
	list, page := v.list.Draw(), []string(nil)
	if v.tabs.Current == nil {
		page = v.drawEmptyPage()
	}
	start := len(to)
	for y := range v.h {
		to = append(v.appendRow(to, list, page, y, edges), '\n')
	}
	if v.tabs.IsFloating() {
		return appendRows(to[:start], v.overlayFloat(strings.Split(strings.TrimSuffix(string(to[start:]), "\n"), "\n")))
	}
	return to
}

// overlayFloat draws the floating pane over the rows of the view.
func (v *sessionsView) overlayFloat(rows []string) []string {
	look, float := v.env.Look(), v.tabs.Float
	focused := v.focusedPane() != nil
	heading := look.Heading("float", "", float.Root.Rect.W, focused)
	if float.Root.Pane != nil {
		heading = v.paneHeading(float.Root, v.focusedPane())
	}
	layout.FrameRect(v.areas.tree).Overlay(rows, float.DrawFramed(heading, focused, look))
	return rows
}

// appendRow appends row y of the view: that of the list, and that of the panes or of the
// page in their place.
func (v *sessionsView) appendRow(out []byte, list, page []string, y int, edges layout.Edges) []byte {
	switch {
	case v.areas.strip.Contains(0, y):
		return append(out, list[y]...)
	case v.areas.list.W > 0:
		out = append(out, list[y]...)
		title := v.tabs.Current == nil && y == v.areas.tree.Y || v.tabs.Current != nil && v.tabs.BaseTab().Root.TitleAt(y, true)
		out = append(out, edges.DrawPiece(layout.JointPiece(y == 0, title, y == 0), v.areas.list.W, y)...)
	}
	if v.areas.tabs.H > 0 && y == v.areas.tabs.Y {
		return append(out, v.list.DrawTabBar(v.areas.tabs.W)...)
	}
	if v.tabs.Current == nil {
		return append(out, page[y-v.areas.tree.Y]...)
	}
	return v.tabs.BaseTab().Root.AppendRow(out, y, edges)
}

// preparePanes has every visible pane draw its rows.
func (v *sessionsView) preparePanes(edges layout.Edges) {
	focused, look := v.focusedPane(), v.env.Look()
	for _, l := range v.visibleLeaves() {
		l.Pane.Pictures, l.Pane.Predict = v.pictures, predict.Modes()[v.env.Settings().Attach.Predict]
		l.Rows = v.navigator.numbers.DrawOver(l, l.Pane.Draw(), l.Pane == focused, look)
		l.Title = ""
		if v.tight || v.paneArea(l) == l.Rect {
			continue
		}
		l.Title = l.TitleRow(v.paneHeading(l, focused), edges)
	}
}

// buildEdges returns the borders between the list and the panes, and between the panes.
// Those around the focused part are highlighted.
func (v *sessionsView) buildEdges() layout.Edges {
	e := layout.Edges{Look: v.env.Look()}
	switch {
	case v.listFocused:
		e.Focus = v.areas.list
	case v.focusedPane() != nil && !v.tabs.IsFloating():
		e.Focus = v.tabs.Current.Focus.Rect
	}
	return e
}

// paneHeading draws the title row of a leaf.
func (v *sessionsView) paneHeading(l *layout.Node, focused *terminal.Pane) string {
	name, detail, folder := l.Pane.Title()
	heading := v.env.Look().Heading
	if folder {
		heading = v.env.Look().FolderHeading
	}
	return heading(name, detail, l.Rect.W, l.Pane == focused)
}

// Cursor returns the cursor of the focused pane, in the view's cells.
func (v *sessionsView) Cursor() *tea.Cursor {
	p := v.focusedPane()
	if p == nil || v.navigator.numbers != nil {
		return nil
	}
	c := p.Cursor()
	if c != nil {
		r := v.paneArea(v.tabs.Current.Focus)
		c.X, c.Y = c.X+r.X, c.Y+r.Y
	}
	return c
}

// WantsMotion reports whether the focused program asked for mouse motion without a button.
func (v *sessionsView) WantsMotion() bool {
	p := v.focusedPane()
	return p != nil && p.State().Mouse == keys.MouseMotion
}

// Title returns the title for the terminal's window.
func (v *sessionsView) Title() string {
	p := v.focusedPane()
	if p == nil {
		return ""
	}
	if title := text.Clean(p.State().Title); title != "" {
		return title
	}
	name, _, _ := p.Title()
	return name
}

// progress returns the progress reported by the focused program; nil without a report.
func (m *model) progress() *tea.ProgressBar {
	v := m.sessions
	if v.tabs.Current == nil {
		return nil
	}
	known, ok := v.env.News().Process(v.tabs.Current.Focus.Pane.ID)
	if !ok || known.Terminal == nil {
		return nil
	}
	state := tea.ProgressBarNone
	switch known.Terminal.Progress.State {
	case "normal":
		state = tea.ProgressBarDefault
	case "error":
		state = tea.ProgressBarError
	case "busy":
		state = tea.ProgressBarIndeterminate
	case "paused":
		state = tea.ProgressBarWarning
	default:
		return nil
	}
	return tea.NewProgressBar(state, known.Terminal.Progress.Percent)
}

// emptyPage returns the page shown without a session.
func (v *sessionsView) emptyPage() *look.Page {
	switch {
	case !v.isOpen && v.env.News().Attempts > 0:
		return &look.Page{Title: "Connecting to the engine…"}
	case !v.isOpen:
		return &look.Page{}
	}
	hint := func(a keymap.Action, does string) keymap.Hint {
		return v.env.Bindings().Hint(a, does, keymap.ScopeSessions, keymap.ScopeProcesses, keymap.ScopeList, keymap.ScopeGlobal, "")
	}
	return &look.Page{
		Title: "No session is running",
		Lines: []string{"Everything that was started here has exited."},
		Hints: []keymap.Hint{hint(keymap.SessionNew, "new shell"), hint(keymap.Prefix, "commands"), hint(keymap.Help, "keys"), hint(keymap.Quit, "detach")},
	}
}

// drawEmptyPage draws that page in place of the panes. It has a title row if the list
// beside it has one.
func (v *sessionsView) drawEmptyPage() []string {
	w, h, look := v.areas.tree.W, v.areas.tree.H, v.env.Look()
	if v.areas.list.W == 0 {
		return v.emptyPage().Draw(w, h, look)
	}
	rule := look.Rule.Text(strings.Repeat("─", w))
	return append([]string{rule}, v.emptyPage().Draw(w, h-1, look)...)
}
