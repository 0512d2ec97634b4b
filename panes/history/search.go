package history

import (
	"regexp"

	"tandem/panes/kit/look"
	"tandem/panes/logtext"
)

// An outputSearch is a search in the output of a Detail.
type outputSearch struct {
	re      *regexp.Regexp // nil for none
	lines   []int          // matching lines
	current int            // index in lines of the last match
	serial  int            // counts changes, to invalidate drawn rows
}

// A savedView is a position in an output to return to.
type savedView struct {
	of       runID
	top      int
	scrolled bool
	search   outputSearch
}

// SaveView returns the current position.
func (d *Detail) SaveView() savedView {
	return savedView{runIDOf(&d.row), d.view.YOffset(), d.scrolled, d.search}
}

// RestoreView returns to a saved position, unless the output of another run is shown by now.
func (d *Detail) RestoreView(to savedView) {
	if to.of != runIDOf(&d.row) {
		return
	}
	// Rows drawn with the present pattern must be drawn again.
	to.search.serial = d.search.serial + 1
	d.search, d.scrolled = to.search, to.scrolled
	d.view.SetYOffset(to.top)
}

// SetPattern sets the pattern and shows the nearest match: the last one or, if the user has
// scrolled, the first below the top of the view.
func (d *Detail) SetPattern(re *regexp.Regexp) {
	d.search = outputSearch{re: re, serial: d.search.serial + 1}
	if d.search.lines = d.matchingLines(re); len(d.search.lines) == 0 {
		return
	}
	if !d.scrolled {
		d.search.current = len(d.search.lines) - 1
	} else {
		for i, line := range d.search.lines {
			if line < len(d.firstRows) && d.firstRows[line] >= d.view.YOffset() {
				d.search.current = i
				break
			}
		}
	}
	d.showMatch()
}

func (d *Detail) matchingLines(re *regexp.Regexp) (lines []int) {
	for i := range d.output {
		if re != nil && re.MatchString(d.output[i].Plain()) {
			lines = append(lines, i)
		}
	}
	return lines
}

// StepMatch goes to the next match, or to the previous one if back is set, wrapping around.
func (d *Detail) StepMatch(back bool) {
	n := len(d.search.lines)
	if n == 0 {
		return
	}
	by := 1
	if back {
		by = n - 1
	}
	d.search.current = (d.search.current + by) % n
	d.search.serial++
	d.showMatch()
}

// showMatch scrolls the current match into view.
func (d *Detail) showMatch() {
	line := d.search.lines[d.search.current]
	if line >= len(d.firstRows) { // not drawn yet
		return
	}
	row, h := d.firstRows[line], max(d.view.Height(), 1)
	if top := d.view.YOffset(); row < top || row >= top+h {
		d.view.SetYOffset(max(row-h/3, 0))
	}
	d.scrolled = !d.view.AtBottom()
}

// MatchNumber returns the number of the current match, counted from 1, and the number of all
// matches.
func (d *Detail) MatchNumber() (number, total int) {
	if total = len(d.search.lines); total > 0 {
		number = d.search.current + 1
	}
	return number, total
}

// textMarks returns the matching parts of a line.
func (d *Detail) textMarks(line int, look *look.Look) []logtext.TextMark {
	ink := look.Found
	if len(d.search.lines) > 0 && d.search.lines[d.search.current] == line {
		ink = look.FoundHere
	}
	return d.output[line].MatchMarks(d.search.re, ink)
}
