package panes

import (
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// FleetTabRows returns the height of the row drawn by DrawFleetTabs: 0 without a fleet of many
// machines.
func FleetTabRows(n *News) int {
	if n.Fleet == nil {
		return 0
	}
	return 1
}

// DrawFleetTabs draws the choice between the tables of a view, here and fleet, with a summary
// of each and a hint.
func DrawFleetTabs(style *look.Look, fleetShown bool, here, fleet, hint string, w int) string {
	inks := [2]look.Ink{style.Chip, style.Dim}
	if fleetShown {
		inks[0], inks[1] = inks[1], inks[0]
	}
	r := list.Row{}
	r.Add(" ", "")
	r.Add(" "+here+" ", inks[0])
	r.Add(" ", "")
	r.Add(text.Clip(" "+fleet+" ", max(w-r.Cells, 0)), inks[1])
	if room := w - r.Cells - 2; hint != "" && room > 8 {
		hint = text.Clip(hint, room)
		r.Add(text.Spaces(w-r.Cells-text.Width(hint)-1), "")
		r.Add(hint, style.Dim)
	}
	return r.Finish(w, style)
}

// A Count is a number of machines or processes in a state.
type Count struct {
	N    int
	What string
}

// WithCounts returns a text followed by the counts above 0.
func WithCounts(s string, counts ...Count) string {
	for _, c := range counts {
		if c.N > 0 {
			s += ", " + text.Thousands(c.N) + " " + c.What
		}
	}
	return s
}
