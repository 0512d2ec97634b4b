package history

import (
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// An outputSearch is what is searched for in the output of a Detail.
type outputSearch struct {
	re     *regexp.Regexp // nil for nothing
	lines  []int          // that match
	at     int            // which of these was found last
	serial int            // counts what is marked, for what is drawn of it
}

// A detailPosition is where an output is looked at.
type detailPosition struct {
	of       run
	top      int
	scrolled bool
	search   outputSearch
}

// Position is where the output is looked at now.
func (d *Detail) Position() detailPosition {
	return detailPosition{runOf(&d.row), d.view.YOffset(), d.scrolled, d.search}
}

// Return goes back to a position, unless the output is another one by now.
func (d *Detail) Return(to detailPosition) {
	if to.of != runOf(&d.row) {
		return
	}
	to.search.serial = d.search.serial + 1
	d.search, d.scrolled = to.search, to.scrolled
	d.view.SetYOffset(to.top)
}

// Search looks for the match nearest to what is seen, above its end or below the
// first row of an output that was scrolled.
func (d *Detail) Search(re *regexp.Regexp) {
	d.search = outputSearch{re: re, serial: d.search.serial + 1}
	if d.search.lines = d.matching(re); len(d.search.lines) == 0 {
		return
	}
	if !d.scrolled {
		d.search.at = len(d.search.lines) - 1
	} else {
		for i, line := range d.search.lines {
			if line < len(d.firstRows) && d.firstRows[line] >= d.view.YOffset() {
				d.search.at = i
				break
			}
		}
	}
	d.showMatch()
}

// matching are the lines that match.
func (d *Detail) matching(re *regexp.Regexp) (lines []int) {
	for i := range d.output {
		if re != nil && re.MatchString(d.output[i].Plain()) {
			lines = append(lines, i)
		}
	}
	return lines
}

// Step goes to the next match, or to the one before, around the end.
func (d *Detail) Step(back bool) {
	n := len(d.search.lines)
	if n == 0 {
		return
	}
	by := 1
	if back {
		by = n - 1
	}
	d.search.at = (d.search.at + by) % n
	d.search.serial++
	d.showMatch()
}

// showMatch has the match that was found last in sight.
func (d *Detail) showMatch() {
	line := d.search.lines[d.search.at]
	if line >= len(d.firstRows) { // it was not drawn yet
		return
	}
	row, h := d.firstRows[line], max(d.view.Height(), 1)
	if top := d.view.YOffset(); row < top || row >= top+h {
		d.view.SetYOffset(max(row-h/3, 0))
	}
	d.scrolled = !d.view.AtBottom()
}

// Matches is which match was found last, from 1, and how many there are.
func (d *Detail) Matches() (number, total int) {
	if total = len(d.search.lines); total > 0 {
		number = d.search.at + 1
	}
	return number, total
}

// marks are the parts of a line that match.
func (d *Detail) marks(line int, look *widget.Look) (marks []widget.TextMark) {
	if d.search.re == nil {
		return nil
	}
	ink := look.Found
	if len(d.search.lines) > 0 && d.search.lines[d.search.at] == line {
		ink = look.FoundHere
	}
	for _, at := range d.search.re.FindAllStringIndex(d.output[line].Plain(), 100) {
		marks = append(marks, widget.TextMark{From: at[0], To: at[1], Ink: ink, Always: true})
	}
	return marks
}

// askOutput asks what to look for in the output of the command under the cursor, and
// shows it while it is typed.
func (p *Pane) askOutput() tea.Cmd {
	d := &p.detail
	if len(d.output) == 0 {
		return p.env.Say("no output to search", false)
	}
	origin := d.Position()
	f := &overlay.Find{Regexp: p.sought.Regexp, Exact: p.sought.Exact}
	f.Changed = func() tea.Cmd {
		d.Return(origin)
		if err := p.searchOutput(f.Pattern()); err != nil {
			f.Problem = panes.ErrorText(err)
		} else if f.Pattern().Text != "" {
			f.Tell(d.Matches())
		}
		return nil
	}
	f.Done = func(accept bool) tea.Cmd {
		p.line = nil
		switch {
		case !accept:
			d.Return(origin)
		case f.Pattern().Text == "":
			return p.nextMatch(false)
		default:
			p.sought = f.Pattern()
			if f.Problem != "" {
				return p.env.Say(f.Problem, true)
			}
		}
		return nil
	}
	p.line = f
	p.env.Ask(f)
	return nil
}

func (p *Pane) searchOutput(pattern api.Pattern) error {
	if pattern.Text == "" {
		p.detail.Search(nil)
		return nil
	}
	re, err := pattern.Compile()
	p.detail.Search(re)
	return err
}

// nextMatch goes to another match in the output of what was looked for last, or asks
// what to look for.
func (p *Pane) nextMatch(back bool) tea.Cmd {
	switch {
	case p.sought.Text == "":
		return p.askOutput()
	case p.detail.search.re == nil:
		if err := p.searchOutput(p.sought); err != nil {
			return p.env.Say(panes.ErrorText(err), true)
		}
	default:
		p.detail.Step(back)
	}
	if _, total := p.detail.Matches(); total == 0 {
		return p.env.Say("no match", false)
	}
	return nil
}

// covered is how many rows the line covers in which is typed what to look for.
func (p *Pane) covered() int {
	if p.line != nil && p.env.Shows(p.line) {
		return overlay.FindRows
	}
	return 0
}
