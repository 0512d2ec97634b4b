package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/layout"
)

// Draw is not called: rows are appended to the screen.
func (v *sessionsView) Draw() []string { return nil }

// AppendRows appends the rows of the view, each with a newline.
func (v *sessionsView) AppendRows(to []byte) []byte {
	v.pictures = v.env.SessionPictures()
	edges := v.edges()
	v.prepare(edges)
	if v.tight && v.tabs.Current != nil {
		rows := v.tabs.Current.Focus.Rows
		if v.listFocused {
			rows = v.list.Draw()
		}
		return appendRows(to, rows)
	}
	list, page := v.list.Draw(), []string(nil)
	if v.tabs.Current == nil {
		page = v.drawNoSessions()
	}
	start := len(to)
	for y := range v.h {
		to = append(v.appendRow(to, list, page, y, edges), '\n')
	}
	if v.tabs.Floating() {
		return appendRows(to[:start], v.withFloat(strings.Split(strings.TrimSuffix(string(to[start:]), "\n"), "\n")))
	}
	return to
}

// withFloat lays the floating pane over the rows of the view.
func (v *sessionsView) withFloat(rows []string) []string {
	look, float := v.env.Look(), v.tabs.Float
	focused := v.focused() != nil
	heading := widget.Heading("float", "", float.Root.Rect.W, focused, look)
	if float.Root.Pane != nil {
		heading = v.heading(float.Root, v.focused())
	}
	lay(rows, float.Framed(heading, focused, look), layout.Frame(v.areas.tree))
	return rows
}

// appendRow appends row y of the view, of the list's rows and the terminals, or of
// the page in their place.
func (v *sessionsView) appendRow(out []byte, list, page []string, y int, edges layout.Edges) []byte {
	switch {
	case v.areas.strip.Contains(0, y):
		return append(out, list[y]...)
	case v.areas.list.W > 0:
		out = append(out, list[y]...)
		title := v.tabs.Current == nil && y == v.areas.tree.Y || v.tabs.Current != nil && v.tabs.Base().Root.TitleAt(y, true)
		out = append(out, edges.Text(layout.Joint(y == 0, title, y == 0), v.areas.list.W, y)...)
	}
	if v.areas.tabs.H > 0 && y == v.areas.tabs.Y {
		return append(out, v.list.TabBar(v.areas.tabs.W)...)
	}
	if v.tabs.Current == nil {
		return append(out, page[y-v.areas.tree.Y]...)
	}
	return v.tabs.Base().Root.AppendRow(out, y, edges)
}

// prepare lets every visible pane make its rows.
func (v *sessionsView) prepare(edges layout.Edges) {
	focused, look := v.focused(), v.env.Look()
	for _, l := range v.visible() {
		l.Pane.Pictures, l.Pane.Predict = v.pictures, v.env.Predict()
		l.Rows = v.steps.numbers.Over(l, l.Pane.Draw(), l.Pane == focused, look)
		l.Title = ""
		if v.tight || v.area(l) == l.Rect {
			continue
		}
		l.Title = l.Joined(v.heading(l, focused), edges)
	}
}

// edges are the borders between the list and the panes, and between those that fill
// the view.
func (v *sessionsView) edges() layout.Edges {
	e := layout.Edges{Look: v.env.Look()}
	switch {
	case v.listFocused:
		e.Focus = v.areas.list
	case v.focused() != nil && !v.tabs.Floating():
		e.Focus = v.tabs.Current.Focus.Rect
	}
	return e
}

// heading is the title of a leaf.
func (v *sessionsView) heading(l *layout.Node, focused *terminal.Pane) string {
	name, detail, folder := l.Pane.Title()
	heading := widget.Heading
	if folder {
		heading = widget.FolderHeading
	}
	return heading(name, detail, l.Rect.W, l.Pane == focused, v.env.Look())
}

// Cursor is that of the terminal that has the keyboard.
func (v *sessionsView) Cursor() *tea.Cursor {
	p := v.focused()
	if p == nil || v.steps.numbers != nil {
		return nil
	}
	c := p.Cursor()
	if c != nil {
		r := v.area(v.tabs.Current.Focus)
		c.X, c.Y = c.X+r.X, c.Y+r.Y
	}
	return c
}

// WantsMotion reports whether the program that has the keyboard is told of all
// that the mouse does.
func (v *sessionsView) WantsMotion() bool {
	p := v.focused()
	return p != nil && p.State().Mouse == keys.MouseMotion
}

// Title is what the terminal's window may be called.
func (v *sessionsView) Title() string {
	p := v.focused()
	if p == nil {
		return ""
	}
	if title := widget.Clean(p.State().Title); title != "" {
		return title
	}
	name, _, _ := p.Title()
	return name
}

// progress is how far the program in front says it is; nil if it says nothing.
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

// noSessions is the view without any.
func (v *sessionsView) noSessions() *widget.Page {
	switch {
	case !v.opened && v.env.News().Attempts > 0:
		return &widget.Page{Title: "Connecting to the engine…"}
	case !v.opened:
		return &widget.Page{}
	}
	hint := func(a keymap.Action, does string) panes.Hint {
		return panes.HintFor(v.env.Bindings(), a, does, keymap.ScopeSessions, keymap.ScopeProcesses, keymap.ScopeList, keymap.ScopeGlobal, "")
	}
	return &widget.Page{
		Title: "No session is running",
		Lines: []string{"Everything that was started here has exited."},
		Hints: []panes.Hint{hint(keymap.SessionNew, "new shell"), hint(keymap.Prefix, "commands"), hint(keymap.Help, "keys"), hint(keymap.Quit, "detach")},
	}
}

// drawNoSessions is that page in place of the terminals, under a title row
// where the list beside it has one.
func (v *sessionsView) drawNoSessions() []string {
	w, h, look := v.areas.tree.W, v.areas.tree.H, v.env.Look()
	if v.areas.list.W == 0 {
		return v.noSessions().Draw(w, h, look)
	}
	rule := look.Rule.Text(strings.Repeat("─", w))
	return append([]string{rule}, v.noSessions().Draw(w, h-1, look)...)
}
