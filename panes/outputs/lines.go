package outputs

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/logtext"
	"tandem/panes/states"
)

// maxLines is how many lines of a search are kept.
const maxLines = 2000

// lines is the list of lines found, in groups of a heading and the lines below it. New lines are only
// added at the end, so that nothing moves while the user reads.
type lines struct {
	env panes.Env

	hits  []api.OutputHit
	rows  []row
	rowOf []int          // of each hit
	known map[place]bool // the hits
	marks map[place]bool
	re    *regexp.Regexp // the pattern of these lines
	full  bool           // there may be more lines

	cursor int // index in hits
	top    int // first visible row
	height int
	want   *place // the line to select once it is found; nil after the user has moved
}

// A row is a row of the list: a hit, or the heading above it.
type row struct {
	hit     int
	heading bool
}

// A place is a line of a log.
type place struct {
	id, stream string
	offset     int64
}

func placeOf(h *api.OutputHit) place { return place{h.ID, h.Stream, h.Offset} }

// reset drops all lines. With keep, the line under the cursor is selected again once it is found
// again.
func (l *lines) reset(re *regexp.Regexp, keep bool) {
	var want *place
	if h := l.selected(); keep && l.want != nil {
		want = l.want
	} else if keep && h != nil {
		at := placeOf(h)
		want = &at
	}
	*l = lines{env: l.env, height: l.height, re: re, want: want, known: map[place]bool{}, marks: map[place]bool{}}
}

// add adds lines below the others. It returns false once there are enough.
func (l *lines) add(hits []api.OutputHit) (more bool) {
	for _, h := range hits {
		at := placeOf(&h)
		if l.known[at] { // the engine may report a line twice
			continue
		}
		if l.full = len(l.hits) == maxLines; l.full {
			return false
		}
		n := len(l.hits)
		if n == 0 || !isSameGroup(&l.hits[n-1], &h) {
			l.rows = append(l.rows, row{n, true})
		}
		l.rowOf = append(l.rowOf, len(l.rows))
		l.rows = append(l.rows, row{hit: n})
		l.hits = append(l.hits, h)
		l.known[at] = true
		if l.want != nil && *l.want == at {
			l.cursor = n
		}
	}
	return true
}

// isSameGroup reports whether two lines were printed by the same run of a command, or process.
func isSameGroup(a, b *api.OutputHit) bool {
	return a.ID == b.ID && a.Stream == b.Stream && (a.Run == nil) == (b.Run == nil) && (a.Run == nil || a.Run.ID == b.Run.ID)
}

// selected returns the hit under the cursor; nil if there is none.
func (l *lines) selected() *api.OutputHit {
	if l.cursor >= len(l.hits) {
		return nil
	}
	return &l.hits[l.cursor]
}

// move moves the cursor by a number of lines.
func (l *lines) move(by int) {
	l.want = nil
	l.cursor = max(min(l.cursor+by, len(l.hits)-1), 0)
}

// chosen returns the marked lines in the order of the list or, if none is marked, the selected one.
func (l *lines) chosen() (hits []*api.OutputHit) {
	for i := range l.hits {
		if l.marks[placeOf(&l.hits[i])] {
			hits = append(hits, &l.hits[i])
		}
	}
	if h := l.selected(); len(hits) == 0 && h != nil {
		hits = append(hits, h)
	}
	return hits
}

func (l *lines) toggleMark() {
	if h := l.selected(); h != nil {
		if at := placeOf(h); l.marks[at] {
			delete(l.marks, at)
		} else {
			l.marks[at] = true
		}
		l.move(1)
	}
}

// hitAt returns the index of the hit drawn in row y, that of the first below a heading; -1 if there is
// none.
func (l *lines) hitAt(y int) int {
	if y < 0 || y >= l.height || l.top+y >= len(l.rows) {
		return -1
	}
	return l.rows[l.top+y].hit
}

// lineText returns a line as a terminal shows it, without control characters.
func lineText(h *api.OutputHit) string {
	line := logtext.ReadLine(h.Text, h.Kind == string(api.KindSession))
	return line.Plain()
}

// draw draws the visible rows.
func (l *lines) draw(w, h int, focused bool, now time.Time, look *look.Look) []string {
	total := len(l.rows)
	if l.full {
		total++
	}
	if l.height = h; len(l.hits) > 0 {
		at := l.rowOf[l.cursor]
		l.top = list.Follow(l.top, at, total, h)
		if l.rows[at-1].heading && h > 1 { // the heading stays visible
			l.top = min(l.top, at-1)
		}
		if l.full && l.cursor == len(l.hits)-1 {
			l.top = list.Follow(l.top, total-1, total, h)
		}
	}
	out := make([]string, 0, h)
	for i := l.top; i < l.top+h && i < total; i++ {
		switch {
		case i == len(l.rows):
			out = append(out, look.Dim.Text(text.Fit("  the newest "+text.Thousands(maxLines)+" lines; narrow the pattern", w)))
		case l.rows[i].heading:
			out = append(out, l.drawHeading(&l.hits[l.rows[i].hit], w, now, look))
		default:
			out = append(out, l.drawLine(l.rows[i].hit, w, focused, look))
		}
	}
	out = text.PadRows(out, w, h)
	list.Scrollbar(out, w, l.top, total, look)
	return out
}

// drawLine draws a line, cut so that a match is visible.
func (l *lines) drawLine(n, w int, focused bool, look *look.Look) string {
	h := &l.hits[n]
	here, mark, ink := " ", " ", look.Text
	if n == l.cursor {
		here, ink = look.Glyphs.Selected, look.Current
	}
	if l.marks[placeOf(h)] {
		mark = look.Glyphs.Attached
	}
	r := list.Row{Plain: n == l.cursor && focused}
	r.Add(here, look.Accent)
	r.Add(mark+" ", look.Warn)
	line := strings.TrimSpace(lineText(h))
	list.MarkText(line, matchedRunes(l.re, line), look).Draw(&r, w-r.Cells-1, ink, look.Match, look)
	return r.Finish(w, look)
}

// matchedRunes returns the indexes of the matching code points.
func matchedRunes(re *regexp.Regexp, line string) (matched []int) {
	at, n := 0, 0
	for _, m := range re.FindAllStringIndex(line, 100) {
		n += utf8.RuneCountInString(line[at:m[0]])
		for range line[m[0]:m[1]] {
			matched = append(matched, n)
			n++
		}
		at = m[1]
	}
	return matched
}

// drawHeading draws what printed the lines below: its outcome, name and command, who started it, and
// when the first of the lines was written.
func (l *lines) drawHeading(h *api.OutputHit, w int, now time.Time, look *look.Look) string {
	sign, status, ink := l.outcome(h, look)
	when := units.Ago(now.Sub(h.Time))
	if h.Rough {
		when = "~" + when
	}
	who := states.WhoFrom(h.Actor, h.From)
	if h.Run != nil {
		who = states.WhoFrom(h.Run.Actor, h.Run.From)
	}
	if w >= 56 {
		when = text.Clip(who, 24) + "  " + when
	}
	r := list.Row{}
	r.Add(sign+" ", ink)
	room := w - text.Width(when) - 5
	r.Add(text.Clip(fullName(h), max(room*2/3, 4)), look.Strong)
	if status != "" {
		r.Add(" "+status, ink)
	}
	if command := l.command(h); room-r.Cells > 8 {
		r.Add("  "+text.Clip(strings.Join(strings.Fields(text.CleanText(command)), " "), room-r.Cells), look.Dim)
	}
	r.Add(text.Spaces(w-r.Cells-text.Width(when)-1)+when+" ", look.Dim)
	return r.Finish(w, look)
}

// outcome returns how the command or process behind a line has ended.
func (l *lines) outcome(h *api.OutputHit, look *look.Look) (sign, status string, ink look.Ink) {
	p, known := l.env.News().Process(h.ID)
	running := known && !p.State.Ended() || !known && !h.State.Ended()
	c := api.Command{ExitCode: h.ExitCode, ExitSignal: h.ExitSignal, Stopped: h.State == api.StateStopped}
	if h.Run != nil {
		c, running = *h.Run, running && h.Run.DurationMS < 0
	}
	sign, status, ink = states.CommandStatus(&c, running, look)
	if status != "" && !c.Stopped && c.ExitSignal == "" {
		status = "exit " + status
	}
	return sign, status, ink
}

// command returns the command line behind a line; "" if it is unknown.
func (l *lines) command(h *api.OutputHit) string {
	if h.Run != nil {
		return h.Run.Command
	}
	p, _ := l.env.News().Process(h.ID)
	return p.Command
}

// fullName returns the name of the session or process of a line, with its machine if that is not this
// one.
func fullName(h *api.OutputHit) string {
	machine, _ := api.MachineOf(h.ID)
	name := api.OnMachine(machine, text.Clean(h.Name))
	if h.Stream == "stderr" {
		name += " (stderr)"
	}
	return name
}
