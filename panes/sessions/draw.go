package sessions

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/kit/predict"
	"tandem/panes/kit/text"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// Draw implements panes.Pane and is never called: the dashboard calls AppendRows.
func (v *View) Draw() []string { return nil }

// AppendRows appends the rows of the view, each with a newline.
func (v *View) AppendRows(to []byte) []byte {
	edges := v.buildEdges()
	v.preparePanes(edges)
	if v.tight && v.Tabs.Current != nil {
		rows := v.Tabs.Current.Focus.Rows
		if v.listFocused {
			rows = v.List.Draw()
		}
		return appendRows(to, rows)
	}
	list, page := v.List.Draw(), []string(nil)
	if v.Tabs.Current == nil {
		page = v.drawEmptyPage()
	}
	start := len(to)
	for y := range v.h {
		to = append(v.appendRow(to, list, page, y, edges), '\n')
	}
	if v.Tabs.IsFloating() {
		return appendRows(to[:start], v.overlayFloat(strings.Split(strings.TrimSuffix(string(to[start:]), "\n"), "\n")))
	}
	return to
}

// SetPictures sets how to draw the programs' pictures, and reports whether that changed. Numbers
// and the floating pane need half blocks, as a terminal draws its own pictures over the text. With
// fewer than 256 colours half blocks are off.
func (v *View) SetPictures(on graphics.Screen) (changed bool) {
	if v.Tabs.IsFloating() || v.navigator.numbers != nil {
		on.Protocol = graphics.Blocks
	}
	if on.Protocol == graphics.Blocks && v.env.Colors() < 256 {
		on.Protocol = graphics.Off
	}
	changed = on != v.pictures
	v.pictures = on
	return changed
}

// Patches returns the pictures in the visible panes, in the view's cells.
func (v *View) Patches() graphics.Patches {
	p := graphics.Patches{On: v.pictures}
	for _, l := range v.visibleLeaves() {
		at := v.paneArea(l)
		for _, one := range l.Pane.Patches() {
			one.X, one.Y = one.X+at.X, one.Y+at.Y
			p.All = append(p.All, one)
		}
	}
	return p
}

func appendRows(to []byte, rows []string) []byte {
	for _, row := range rows {
		to = append(append(to, row...), '\n')
	}
	return to
}

// overlayFloat draws the floating pane over the rows of the view.
func (v *View) overlayFloat(rows []string) []string {
	look, float := v.env.Look(), v.Tabs.Float
	focused := v.FocusedPane() != nil
	heading := look.Heading("float", "", float.Root.Rect.W, focused)
	if float.Root.Pane != nil {
		heading = v.paneHeading(float.Root, v.FocusedPane())
	}
	layout.FrameRect(v.areas.tree).Overlay(rows, float.DrawFramed(heading, focused, look))
	return rows
}

// appendRow appends row y of the view: that of the list, and that of the panes or of the
// page in their place.
func (v *View) appendRow(out []byte, list, page []string, y int, edges layout.Edges) []byte {
	switch {
	case v.areas.strip.Contains(0, y):
		return append(out, list[y]...)
	case v.areas.list.W > 0:
		out = append(out, list[y]...)
		title := v.Tabs.Current == nil && y == v.areas.tree.Y || v.Tabs.Current != nil && v.Tabs.BaseTab().Root.TitleAt(y, true)
		out = append(out, edges.DrawPiece(layout.JointPiece(y == 0, title, y == 0), v.areas.list.W, y)...)
	}
	if v.areas.tabs.H > 0 && y == v.areas.tabs.Y {
		return append(out, v.List.DrawTabBar(v.areas.tabs.W)...)
	}
	if v.Tabs.Current == nil {
		return append(out, page[y-v.areas.tree.Y]...)
	}
	return v.Tabs.BaseTab().Root.AppendRow(out, y, edges)
}

// preparePanes has every visible pane draw its rows.
func (v *View) preparePanes(edges layout.Edges) {
	focused, look := v.FocusedPane(), v.env.Look()
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
func (v *View) buildEdges() layout.Edges {
	e := layout.Edges{Look: v.env.Look()}
	switch {
	case v.listFocused:
		e.Focus = v.areas.list
	case v.FocusedPane() != nil && !v.Tabs.IsFloating():
		e.Focus = v.Tabs.Current.Focus.Rect
	}
	return e
}

// paneHeading draws the title row of a leaf.
func (v *View) paneHeading(l *layout.Node, focused *terminal.Pane) string {
	name, detail, folder := l.Pane.Title()
	heading := v.env.Look().Heading
	if folder {
		heading = v.env.Look().FolderHeading
	}
	return heading(name, detail, l.Rect.W, l.Pane == focused)
}

// Cursor returns the cursor of the focused pane, in the view's cells.
func (v *View) Cursor() *tea.Cursor {
	p := v.FocusedPane()
	if p == nil || v.navigator.numbers != nil {
		return nil
	}
	c := p.Cursor()
	if c != nil {
		r := v.paneArea(v.Tabs.Current.Focus)
		c.X, c.Y = c.X+r.X, c.Y+r.Y
	}
	return c
}

// WantsMotion reports whether the focused program asked for mouse motion without a button.
func (v *View) WantsMotion() bool {
	p := v.FocusedPane()
	return p != nil && p.State().Mouse == keys.MouseMotion
}

// Title returns the title for the terminal's window.
func (v *View) Title() string {
	p := v.FocusedPane()
	if p == nil {
		return ""
	}
	if title := text.Clean(p.State().Title); title != "" {
		return title
	}
	name, _, _ := p.Title()
	return name
}

// emptyPage returns the page shown without a session.
func (v *View) emptyPage() *look.Page {
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
func (v *View) drawEmptyPage() []string {
	w, h, look := v.areas.tree.W, v.areas.tree.H, v.env.Look()
	if v.areas.list.W == 0 {
		return v.emptyPage().Draw(w, h, look)
	}
	rule := look.Rule.Text(strings.Repeat("─", w))
	return append([]string{rule}, v.emptyPage().Draw(w, h-1, look)...)
}
