package sessions

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/kit/predict"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// appendRows appends the rows of the view, each with a newline.
func (d *display) appendRows(to []byte) []byte {
	edges := d.buildEdges()
	d.preparePanes(edges)
	if d.tight && d.tabs.Current != nil {
		if d.focus.inList {
			return joinRows(to, d.list.Draw())
		}
		return d.tabs.Current.Focus.AppendPane(to)
	}
	list, page := d.list.Draw(), []string(nil)
	if d.tabs.Current == nil {
		page = d.drawEmptyPage()
	}
	start := len(to)
	for y := range d.h {
		to = append(d.appendRow(to, list, page, y, edges), '\n')
	}
	if d.tabs.IsFloating() {
		return joinRows(to[:start], d.overlayFloat(strings.Split(strings.TrimSuffix(string(to[start:]), "\n"), "\n")))
	}
	return to
}

// setPictures sets how to draw the programs' pictures, and reports whether anything changed. Below
// pane numbers or a floating pane they are drawn as half blocks, because a terminal draws its own
// pictures over any text. With fewer than 256 colours there are no half blocks either.
func (d *display) setPictures(on graphics.Screen) (changed bool) {
	if d.tabs.IsFloating() || d.numbers != nil {
		on.Protocol = graphics.Blocks
	}
	if on.Protocol == graphics.Blocks && d.env.Colors() < 256 {
		on.Protocol = graphics.Off
	}
	changed = on != d.pictures
	d.pictures = on
	return changed
}

// patches returns the pictures in the visible panes, in the view's cells.
func (d *display) patches() graphics.Patches {
	p := graphics.Patches{On: d.pictures}
	for _, l := range d.visibleLeaves() {
		at := d.paneArea(l)
		for _, one := range d.panes.Pane(l.ID).Patches() {
			one.X, one.Y = one.X+at.X, one.Y+at.Y
			p.All = append(p.All, one)
		}
	}
	return p
}

func joinRows(to []byte, rows []string) []byte {
	for _, row := range rows {
		to = append(append(to, row...), '\n')
	}
	return to
}

// overlayFloat draws the floating pane over the rows of the view.
func (d *display) overlayFloat(rows []string) []string {
	look, float := d.env.Look(), d.tabs.Float
	focused := d.focus.pane() != nil
	heading := look.Heading("float", "", float.Root.Rect.W, focused)
	if float.Root.IsLeaf() {
		heading = d.paneHeading(float.Root, d.focus.pane())
	}
	layout.FrameRect(d.areas.tree).Overlay(rows, float.DrawFramed(heading, focused, look))
	return rows
}

// appendRow appends row y of the view: the row of the list, and beside it the row of the panes or
// of page, shown if there are no panes.
func (d *display) appendRow(out []byte, list, page []string, y int, edges layout.Edges) []byte {
	switch {
	case d.areas.strip.Contains(0, y):
		return append(out, list[y]...)
	case d.areas.list.W > 0:
		out = append(out, list[y]...)
		title := d.tabs.Current == nil && y == d.areas.tree.Y || d.tabs.Current != nil && d.tabs.BaseTab().Root.TitleAt(y, true)
		out = append(out, edges.DrawPiece(layout.JointPiece(y == 0, title, y == 0), d.areas.list.W, y)...)
	}
	if d.areas.tabs.H > 0 && y == d.areas.tabs.Y {
		return append(out, d.list.DrawTabBar(d.areas.tabs.W)...)
	}
	if d.tabs.Current == nil {
		return append(out, page[y-d.areas.tree.Y]...)
	}
	return d.tabs.BaseTab().Root.AppendRow(out, y, edges)
}

// preparePanes makes every visible pane draw its rows.
func (d *display) preparePanes(edges layout.Edges) {
	focused, look := d.focus.pane(), d.env.Look()
	for _, l := range d.visibleLeaves() {
		p := d.panes.Pane(l.ID)
		p.Pictures, p.Predict = d.pictures, predict.Modes()[d.env.Settings().Attach.Predict]
		l.Rows = d.numbers.DrawOver(l, p.Draw(), p == focused, look)
		// The frame shown last still uses the old ones.
		l.Cuts = make([][2]int, len(l.Rows))
		l.Title = ""
		if d.tight || d.paneArea(l) == l.Rect {
			continue
		}
		l.Title = l.TitleRow(d.paneHeading(l, focused), edges)
	}
}

// buildEdges returns the borders between the list and the panes, and between panes. The borders
// around the focused part are highlighted.
func (d *display) buildEdges() layout.Edges {
	e := layout.Edges{Look: d.env.Look()}
	switch {
	case d.focus.inList:
		e.Focus = d.areas.list
	case d.focus.pane() != nil && !d.tabs.IsFloating():
		e.Focus = d.tabs.Current.Focus.Rect
	}
	return e
}

// paneHeading draws the title row of a leaf.
func (d *display) paneHeading(l *layout.Node, focused *terminal.Pane) string {
	p := d.panes.Pane(l.ID)
	name, detail, folder := p.Title()
	heading := d.env.Look().Heading
	if folder {
		heading = d.env.Look().FolderHeading
	}
	return heading(name, detail, l.Rect.W, p == focused)
}

// cursor returns the cursor of the focused pane, in the view's cells.
func (d *display) cursor() *tea.Cursor {
	p := d.focus.pane()
	if p == nil || d.numbers != nil {
		return nil
	}
	c := p.Cursor()
	if c != nil {
		r := d.paneArea(d.tabs.Current.Focus)
		c.X, c.Y = c.X+r.X, c.Y+r.Y
	}
	return c
}

// emptyPage returns the page shown if there is no session.
func (d *display) emptyPage() *look.Page {
	switch {
	case !d.isOpen && d.env.News().Attempts > 0:
		return &look.Page{Title: "Connecting to the engine…"}
	case !d.isOpen:
		return &look.Page{}
	}
	hint := func(a keymap.Action, does string) keymap.Hint {
		return d.env.Bindings().Hint(a, does, keymap.ScopeSessions, keymap.ScopeProcesses, keymap.ScopeList, keymap.ScopeGlobal, "")
	}
	return &look.Page{
		Title: "No session is running",
		Lines: []string{cmp.Or(d.launcher.failure, "Everything that was started here has exited.")},
		Hints: []keymap.Hint{hint(keymap.SessionNew, "new shell"), hint(keymap.Prefix, "commands"), hint(keymap.Help, "keys"), hint(keymap.Quit, "detach")},
	}
}

// drawEmptyPage draws emptyPage where the panes would be. It has a title row if the list beside it
// has one.
func (d *display) drawEmptyPage() []string {
	w, h, look := d.areas.tree.W, d.areas.tree.H, d.env.Look()
	if d.areas.list.W == 0 {
		return d.emptyPage().Draw(w, h, look)
	}
	rule := look.Rule.Text(strings.Repeat("─", w))
	return append([]string{rule}, d.emptyPage().Draw(w, h-1, look)...)
}
