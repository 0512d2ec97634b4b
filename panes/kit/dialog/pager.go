package dialog

import (
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
)

// A pager shows a part of its rows. Its viewport only computes the position. The pager draws the
// rows itself, because the viewport measures text by other rules than the rest of the screen.
type pager struct {
	view viewport.Model
	rows []string
}

// setRows sets the rows and the maximum number of visible ones.
func (p *pager) setRows(rows []string, height int) {
	if p.view.Height() == 0 {
		p.view = viewport.New()
	}
	p.rows = rows
	p.view.SetHeight(height)
	p.view.SetContentLines(rows)
}

// visibleRows returns the visible rows.
func (p *pager) visibleRows() []string {
	first := p.view.YOffset()
	return p.rows[first:min(first+p.view.Height(), len(p.rows))]
}

// firstVisible returns the index of the first visible row.
func (p *pager) firstVisible() int { return p.view.YOffset() }

// isComplete reports whether all rows are visible.
func (p *pager) isComplete() bool { return p.view.Height() >= len(p.rows) }

// scrollBy scrolls if action a is one that scrolls. Otherwise it returns false.
func (p *pager) scrollBy(a keymap.Action) bool {
	switch a {
	case keymap.HelpDown:
		p.view.ScrollDown(1)
	case keymap.HelpUp:
		p.view.ScrollUp(1)
	case keymap.HelpPageDown:
		p.view.PageDown()
	case keymap.HelpPageUp:
		p.view.PageUp()
	case keymap.HelpFirst:
		p.view.GotoTop()
	case keymap.HelpLast:
		p.view.GotoBottom()
	default:
		return false
	}
	return true
}

// handleMouse scrolls with the wheel.
func (p *pager) handleMouse(_ Host, e keys.Mouse) tea.Cmd {
	switch e.Button {
	case keys.WheelDown:
		p.view.ScrollDown(wheelStep)
	case keys.WheelUp:
		p.view.ScrollUp(wheelStep)
	}
	return nil
}

// wheelStep is the number of rows per step of the wheel.
const wheelStep = 3
