package panes

import "tandem/panes/widget"

// FleetTabRows returns the height of the row drawn by DrawFleetTabs: 0 without a fleet of many
// machines.
func FleetTabRows(env Env) int {
	if env.News().Fleet == nil {
		return 0
	}
	return 1
}

// DrawFleetTabs draws the choice between the tables of a view, here and fleet, with a summary
// of each and a hint.
func DrawFleetTabs(env Env, fleetShown bool, here, fleet, hint string, w int) string {
	look := env.Look()
	inks := [2]widget.Ink{look.Chip, look.Dim}
	if fleetShown {
		inks[0], inks[1] = inks[1], inks[0]
	}
	r := widget.Row{}
	r.Add(" ", "")
	r.Add(" "+here+" ", inks[0])
	r.Add(" ", "")
	r.Add(widget.Clip(" "+fleet+" ", max(w-r.Cells, 0)), inks[1])
	if room := w - r.Cells - 2; hint != "" && room > 8 {
		hint = widget.Clip(hint, room)
		r.Add(widget.Spaces(w-r.Cells-widget.Width(hint)-1), "")
		r.Add(hint, look.Dim)
	}
	r.Add(widget.Spaces(w-r.Cells), "")
	return r.Text.String()
}

// A Count is a number of machines or processes in a state.
type Count struct {
	N    int
	What string
}

// WithCounts returns a text followed by the counts above 0.
func WithCounts(text string, counts ...Count) string {
	for _, c := range counts {
		if c.N > 0 {
			text += ", " + widget.Thousands(c.N) + " " + c.What
		}
	}
	return text
}
