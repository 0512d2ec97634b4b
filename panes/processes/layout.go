package processes

import "tandem/panes/kit/look"

// Minimum heights of the view's parts, with their headings.
const (
	minTableHeight = 3
	minLogHeight   = 4
	// minChartsHeight is the minimum height of a view that shows charts by default.
	minChartsHeight = 40
)

// An arrangement divides the view into a table above a log.
type arrangement struct {
	contents func() contents

	w, h        int
	logFocused  bool  // the log has the keyboard
	zoomed      bool  // the focused part fills the view
	tableHeight int   // as set by the user; 0 for automatic
	charts      *bool // whether charts are shown; nil: if the view is tall enough
}

// contents describes the parts among which an arrangement divides the view's rows.
type contents struct {
	tableRows int      // without the heading
	covered   int      // rows at the bottom covered by the search line
	process   bool     // the log of one process is below the table
	charts    int      // rows of its charts; 0 for none
	reason    []string // why it failed
}

// A layout has the rectangles of the view's parts. A part that does not fit has a height of 0.
type layout struct{ table, charts, heading, reason, log look.Rect }

func (a *arrangement) layout() (all layout) {
	c := a.contents()
	all.table = look.Rect{W: a.w, H: a.rowsOfTable(c)}
	y, rest := all.table.H, a.h-all.table.H
	if rest == 0 {
		return all
	}
	place := func(h int) look.Rect {
		part := look.Rect{Y: y, W: a.w, H: h}
		y, rest = y+h, rest-h
		return part
	}
	if a.wantsCharts(c) && rest-1-c.charts-c.covered >= minLogHeight {
		all.charts = place(c.charts)
	}
	all.heading = place(1)
	all.reason = place(min(len(c.reason), max(rest-c.covered-minLogHeight, 0)))
	all.log = place(max(rest-c.covered, 0))
	return all
}

// rowsOfTable returns the height of the table.
func (a *arrangement) rowsOfTable(c contents) int {
	switch {
	case a.zoomed && a.logFocused:
		return 0
	case a.zoomed:
		return a.h
	}
	rows := min(max(c.tableRows+1, minTableHeight+1), a.h*9/20)
	if a.tableHeight > 0 {
		rows = a.tableHeight
	}
	// The search line must not hide the last lines of the log.
	return max(min(rows, a.h-minLogHeight-c.covered), minTableHeight)
}

// wantsCharts reports whether to show the charts of the process if they fit.
func (a *arrangement) wantsCharts(c contents) bool {
	switch {
	case !c.process || c.charts == 0 || a.zoomed:
		return false
	case a.charts != nil:
		return *a.charts
	}
	return a.h >= minChartsHeight
}

func (a *arrangement) toggleCharts() {
	show := !a.wantsCharts(a.contents())
	a.charts = &show
}

// pageRows returns the height of a page of the table.
func (a *arrangement) pageRows() int { return max(a.layout().table.H-2, 1) }

func (a *arrangement) resizeTable(by int) {
	if !a.zoomed {
		a.setTableHeight(a.layout().table.H + by)
	}
}

func (a *arrangement) setTableHeight(h int) {
	a.tableHeight = max(min(h, a.h-minLogHeight), minTableHeight)
}
