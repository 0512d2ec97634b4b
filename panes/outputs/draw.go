package outputs

import (
	"strings"
	"time"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A layout has the rectangles of the dialog's parts, in cells inside its frame. A part without room is
// empty.
type layout struct {
	lines, output look.Rect // with their headings above
	beside        bool      // the output is beside the lines
}

// Minimum sizes of a dialog with the output below the lines, and beside them.
const (
	minBelowHeight = 14
	minBesideWidth = 130
	// frameRows and frameCells are taken by the frame and the rest of the screen.
	frameRows  = 3
	frameCells = 4
	headRows   = 2 // the pattern, and the heading of the lines
)

// arrange divides w×h cells. If there is no room for both, the lines or the output take all of it.
func (s *Search) arrange(w, h int) (p layout) {
	p.lines = look.Rect{Y: headRows, W: w, H: h - headRows}
	switch {
	case w >= minBesideWidth:
		p.beside = true
		p.lines.W = w * 9 / 20
		p.output = look.Rect{X: p.lines.W + 2, Y: headRows, W: w - p.lines.W - 2, H: p.lines.H}
	case h >= minBelowHeight:
		p.lines.H = (h - headRows) * 2 / 5
		p.output = look.Rect{Y: headRows + p.lines.H + 1, W: w, H: h - headRows - p.lines.H - 1}
	case s.focus == onOutput:
		p.lines, p.output = look.Rect{Y: headRows}, p.lines
	}
	return p
}

func (s *Search) Draw(h dialog.Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width, height = max(w-frameCells, 1), max(height-frameRows, headRows+1)
	s.w, s.h = width, height
	s.output.focused = s.focus == onOutput
	s.parts = s.arrange(width, height)
	p := s.parts
	pattern, x := s.drawPattern(width, look)
	if s.focus != onPattern {
		x = -1
	}
	rows = append(rows, pattern)
	hit := s.lines.selected()
	if hit == nil {
		s.parts.output.H = 0
		rows = append(rows, s.drawHeading(width, look))
		return append(rows, s.emptyPage(width).Draw(width, height-headRows, look)...), width, x, 0
	}
	s.output.show(hit, s.lines.re)
	output := s.output.draw(hit, s.lines.command(hit), p, look)
	if p.lines.H == 0 {
		return append(rows, output...), width, x, 0
	}
	rows = append(rows, s.drawHeading(p.lines.W, look))
	rows = append(rows, s.lines.draw(p.lines.W, p.lines.H, s.focus == onLines, time.Now(), look)...)
	switch {
	case p.output.H == 0:
		return rows, width, x, 0
	case !p.beside:
		return append(rows, output...), width, x, 0
	}
	for i, row := range output {
		rows[p.lines.Y-1+i] += row
	}
	return rows, width, x, 0
}

// drawPattern draws the pattern, and on the right how much was found and is left to search. x is the
// column of the cursor.
func (s *Search) drawPattern(w int, look *look.Look) (row string, x int) {
	label := "/ "
	if s.exact {
		label = "case " + label
	}
	if s.regexp {
		label = "regexp " + label
	}
	ink := look.Key
	if s.focus == onPattern {
		ink = look.Title
	}
	at, note := text.Width(label), ""
	for _, note = range s.counts() {
		if text.Width(note) <= w/2 {
			break
		}
	}
	room := max(w-at-text.Width(note)-2, 4)
	line, x := s.field.Draw(room)
	words := look.Text.Text(line)
	switch {
	case s.field.Text() == "":
		words = look.Faint.Text(text.Fit("search all output", room))
	case s.chosen:
		words = look.Selected.Text(text.Cut(line, x, "")) + text.Spaces(room-x)
	}
	row = ink.Text(label) + words + look.Dim.Text(text.PadLeft(note, w-at-room))
	return text.Pad(text.Cut(row, w, ""), w), at + x
}

// counts returns how much was found and is left, from the longest form to the shortest.
func (s *Search) counts() []string {
	n, left := len(s.lines.hits), s.finder.left()
	switch count := text.Count(n, "line"); {
	case s.lines.re == nil:
		return []string{""}
	case s.lines.full:
		return []string{"the newest " + count, text.Thousands(n) + "+"}
	case s.finder.answered && s.finder.isRunning() && left != "":
		return []string{count + ", searching, " + left, text.Thousands(n) + ", " + left, text.Thousands(n) + "…"}
	default:
		return []string{count, text.Thousands(n)}
	}
}

// drawHeading draws the row below the pattern: a mistake in the pattern, or the position in the list
// and what could not be searched.
func (s *Search) drawHeading(w int, look *look.Look) string {
	if err := s.problem(); err != nil {
		return look.Bad.Text(text.Fit(text.Clean(panes.ErrorText(err)), w))
	}
	var parts []string
	if n := len(s.lines.hits); n > 0 {
		parts = append(parts, text.Thousands(s.lines.cursor+1)+"/"+text.Thousands(n))
	}
	if n := len(s.lines.marks); n > 0 {
		parts = append(parts, text.Itoa(n)+" marked")
	}
	if missing := s.finder.missing(); missing != "" && s.field.Text() != "" {
		parts = append(parts, missing)
	}
	return look.Heading("lines", strings.Join(parts, ", "), w, s.focus == onLines)
}

// emptyPage returns the page shown in place of lines.
func (s *Search) emptyPage(w int) *look.Page {
	page := &look.Page{}
	var about []string
	switch {
	case s.lines.re != nil && s.finder.isRunning():
		page.Title = "Searching…"
	case s.lines.re != nil:
		page.Title = "No line found"
		if toggle := s.o.Env.Bindings().OwnKeys(keymap.ScopeOutputs, "", "alt+r").Key; !s.regexp && toggle != "" {
			about = []string{"The pattern is plain text; " + toggle + " makes it a regular expression."}
		}
	case len(s.o.Env.News().Processes) == 0:
		page.Title = "Nothing has been printed yet"
		about = []string{"What sessions and processes print can be searched here."}
	default:
		page.Title = "Search all output"
		about = []string{"Finds what any session or process has printed, running or not, the newest first.",
			"", "connection refused", "panic: name:web* is:failed", "timeout since:2h actor:agent", "", "Limit it with " + filterWords + "."}
	}
	for _, line := range about {
		page.Lines = append(page.Lines, text.WrapWords(line, max(w-2, 1))...)
	}
	return page
}

// Hints returns the next useful keys.
func (s *Search) Hints(h dialog.Host) []keymap.Hint {
	b := h.Bindings()
	hint := func(a keymap.Action, does string) keymap.Hint { return b.Hint(a, does, keymap.ScopeLines) }
	end := []keymap.Hint{hint(keymap.Help, "keys"), hint(keymap.LinesBack, "back")}
	switch s.focus {
	case onLines:
		return append([]keymap.Hint{hint(keymap.Open, "open"), hint(keymap.LinesInsert, "insert at the prompt"), hint(keymap.LinesCopy, "copy"),
			hint(keymap.LinesOutput, "output"), hint(keymap.Mark, "mark"), hint(keymap.LinesPattern, "pattern")}, end...)
	case onOutput:
		return append([]keymap.Hint{b.PairHint(keymap.MoveUp, keymap.MoveDown, "scroll", keymap.ScopeLines), hint(keymap.Open, "open"),
			hint(keymap.LogWrap, "wrap"), hint(keymap.LinesOutput, "lines")}, end...)
	}
	regexp, exact := "regexp", "match case"
	if s.regexp {
		regexp = "plain text"
	}
	if s.exact {
		exact = "any case"
	}
	hints := []keymap.Hint{b.OwnKeys(keymap.ScopeOutputs, regexp, "alt+r"), b.OwnKeys(keymap.ScopeOutputs, exact, "alt+c"),
		b.Hint(keymap.OutputsLeave, "close", keymap.ScopeOutputs)}
	if len(s.lines.hits) > 0 {
		hints = append([]keymap.Hint{b.Hint(keymap.LinesFocus, "lines", keymap.ScopeOutputs)}, hints...)
	}
	return hints
}

var _ dialog.Overlay = (*Search)(nil)
