package overlay

import (
	"charm.land/bubbles/v2/viewport"

	"tandem/keys"
	"tandem/keys/keymap"
)

// A pager shows a part of a few rows. A viewport knows which; the rows are ours,
// because they are measured as everything else on the screen.
type pager struct {
	view viewport.Model
	rows []string
}

// show takes rows, of which height are in sight at most.
func (p *pager) show(rows []string, height int) {
	if p.view.Height() == 0 {
		p.view = viewport.New()
	}
	p.rows = rows
	p.view.SetHeight(height)
	p.view.SetContentLines(rows)
}

// inSight are the rows that are.
func (p *pager) inSight() []string {
	first := p.view.YOffset()
	return p.rows[first:min(first+p.view.Height(), len(p.rows))]
}

// top is the first row in sight, from 0.
func (p *pager) top() int { return p.view.YOffset() }

// all reports whether no row is out of sight.
func (p *pager) all() bool { return p.view.Height() >= len(p.rows) }

// do moves what is in sight, and reports whether the action is for that.
func (p *pager) do(a keymap.Action) bool {
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

// wheel moves what is in sight by the mouse's wheel.
func (p *pager) wheel(e keys.Mouse) {
	switch e.Button {
	case keys.WheelDown:
		p.view.ScrollDown(wheelStep)
	case keys.WheelUp:
		p.view.ScrollUp(wheelStep)
	}
}

// wheelStep is how many rows the wheel moves.
const wheelStep = 3
