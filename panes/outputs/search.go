// Package outputs searches the output of all sessions and processes. It is a dialog with a pattern, the
// lines found while the user types, and the log around the selected line.
package outputs

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/field"
	"tandem/panes/kit/list"
)

// Options are the dependencies of a Search.
type Options struct {
	Env      panes.Env
	ShowLine func(Line) tea.Cmd // shows a line in the scrollback of its running session
	ShowLog  func(Line) tea.Cmd // shows a line in its log
}

// A Line is a line to show.
type Line struct {
	ID, Stream string
	Offset     int64       // in the log
	Pattern    api.Pattern // marked in the text around it

	// Text matches the line in a session's scrollback, where it is the Nth such line from the end,
	// counted from 1.
	Text api.Pattern
	Nth  int
}

// A focus is the part of the dialog that has the keyboard.
type focus int

const (
	onPattern focus = iota
	onLines
	onOutput
)

// A Search is the dialog. It keeps its pattern and its lines while it is closed.
type Search struct {
	o Options

	field   field.Field
	regexp  bool // the pattern is a regular expression
	exact   bool // case matters even if the pattern has no capitals
	invalid error
	again   bool // the search repeats the last one
	chosen  bool // the pattern is selected: text replaces it
	finder  finder
	lines   lines
	output  output
	focus   focus
	w, h    int    // inside the frame, as drawn last
	parts   layout // for this size
	click   list.Click
	engine  int // the number of connections when the search began
}

// New returns a search without a pattern.
func New(o Options) *Search {
	return &Search{o: o, finder: finder{env: o.Env}, lines: lines{env: o.Env}, output: output{env: o.Env}}
}

// Show opens the dialog with the last pattern selected. It searches again, because there may be new
// output.
func (s *Search) Show() tea.Cmd {
	s.focus = onPattern
	s.restart()
	s.again, s.chosen = true, s.field.Text() != ""
	s.o.Env.Ask(s)
	return nil
}

// restart searches for the pattern as it is now. The lines found before stay until there is an answer.
func (s *Search) restart() {
	s.engine = s.o.Env.News().Snapshots
	q, err := parseQuery(s.field.Text(), s.regexp, s.exact, s.o.Env.News(), time.Now())
	switch s.invalid, s.again = err, false; {
	case err != nil:
		s.finder.stop()
	case q.re == nil:
		s.finder.start(query{})
		s.lines = lines{env: s.o.Env}
	default:
		s.finder.start(q)
	}
}

// Fetch makes the next calls. The dashboard calls it after every message while the dialog is open.
func (s *Search) Fetch() tea.Cmd {
	if s.engine != s.o.Env.News().Snapshots { // another engine may have overwritten text
		s.restart()
		s.again = true
	}
	cmd := s.finder.fetch(func(hits []api.OutputHit) (more bool) {
		if s.lines.re != s.finder.query.re { // the first answer
			s.lines.reset(s.finder.query.re, s.again)
		}
		return s.lines.add(hits)
	})
	hit, area := s.lines.selected(), s.arrange(s.w, s.h).output
	if hit == nil || area.H <= 0 {
		return cmd
	}
	s.output.w, s.output.h = area.W, area.H
	s.output.show(hit, s.lines.re)
	return tea.Batch(cmd, s.output.fetch())
}

func (s *Search) Scopes() []keymap.Scope {
	if s.focus == onPattern {
		return []keymap.Scope{keymap.ScopeOutputs}
	}
	return []keymap.Scope{keymap.ScopeLines}
}

func (s *Search) Do(h dialog.Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.LinesFocus:
		return s.focusLines()
	case keymap.OutputsLeave, keymap.LinesClose:
		s.close(h)
	case keymap.LinesBack:
		s.goBack()
	case keymap.LinesPattern:
		s.focus = onPattern
	case keymap.LinesOutput:
		if s.focus = onOutput; s.output.focused {
			s.focus = onLines
		}
	case keymap.Open:
		return s.open(h)
	case keymap.LinesInsert:
		return s.insertCommand()
	case keymap.LinesCopy:
		return s.copyLines()
	case keymap.Mark:
		if s.focus == onLines {
			s.lines.toggleMark()
		}
	default:
		s.scroll(a)
	}
	s.output.focused = s.focus == onOutput
	return nil
}

// scroll moves the cursor, or scrolls the output if that has the keyboard.
func (s *Search) scroll(a keymap.Action) {
	log := s.output.log
	switch inOutput := s.focus == onOutput && log != nil; a {
	case keymap.MoveDown:
		s.moveBy(1)
	case keymap.MoveUp:
		s.moveBy(-1)
	case keymap.MovePageDown:
		s.moveBy(s.pageRows())
	case keymap.MovePageUp:
		s.moveBy(-s.pageRows())
	case keymap.MoveFirst:
		if inOutput {
			log.ScrollToStart()
			return
		}
		s.lines.move(-panes.AllRows)
	case keymap.MoveLast:
		if inOutput {
			log.ScrollToEnd()
			return
		}
		s.lines.move(panes.AllRows)
	case keymap.LogWrap:
		if log != nil {
			log.ToggleWrap()
		}
	case keymap.LogLeft, keymap.LogRight:
		if log != nil {
			log.ScrollSideways(map[keymap.Action]int{keymap.LogLeft: -1, keymap.LogRight: 1}[a])
		}
	}
}

func (s *Search) moveBy(rows int) {
	if s.focus == onOutput && s.output.log != nil {
		s.output.log.Scroll(rows)
		return
	}
	s.lines.move(rows)
}

func (s *Search) pageRows() int {
	if s.focus == onOutput {
		return max(s.output.h-1, 1)
	}
	return max(s.lines.height-1, 1)
}

// focusLines gives the keyboard to the lines, once the search has an answer.
func (s *Search) focusLines() tea.Cmd {
	shown := func() bool { return s.o.Env.Shows(s) }
	return s.o.Env.Await(panes.Pending{
		Ready: func() bool { return s.finder.isSettled() || !shown() },
		Then: func() tea.Cmd {
			s.chosen = false
			if shown() && len(s.lines.hits) > 0 && s.problem() == nil {
				s.focus = onLines
			}
			return nil
		},
	})
}

// goBack goes back one step: from the output to the lines, from there to the pattern. It removes marks
// first.
func (s *Search) goBack() {
	switch {
	case s.focus == onOutput:
		s.focus = onLines
	case len(s.lines.marks) > 0:
		clear(s.lines.marks)
	default:
		s.focus = onPattern
	}
}

func (s *Search) close(h dialog.Host) {
	s.finder.stop()
	h.Close()
}

// problem returns why the pattern cannot be searched for; nil if it can.
func (s *Search) problem() error {
	if s.invalid != nil {
		return s.invalid
	}
	return s.finder.problem
}

// Type edits the pattern.
func (s *Search) Type(_ dialog.Host, k tea.KeyPressMsg) tea.Cmd {
	if s.focus != onPattern {
		return nil
	}
	before := s.field.Text()
	switch {
	case k.Keystroke() == "alt+r":
		s.regexp = !s.regexp
	case k.Keystroke() == "alt+c":
		s.exact = !s.exact
	default:
		s.replaceChosen(k.Text != "")
		if s.field.Type(k); s.field.Text() == before {
			return nil
		}
	}
	s.restart()
	return nil
}

func (s *Search) Paste(_ dialog.Host, text string) tea.Cmd {
	if s.focus == onPattern {
		s.replaceChosen(true)
		s.field.Paste(text)
		s.restart()
	}
	return nil
}

// replaceChosen removes the pattern if it is selected and text follows. It is no longer selected then.
func (s *Search) replaceChosen(byText bool) {
	if s.chosen && byText {
		s.field.Set("")
	}
	s.chosen = false
}

func (s *Search) Traits() dialog.Traits { return dialog.Traits{Mouse: s.Mouse, Dismiss: s.close} }

func (s *Search) Mouse(h dialog.Host, e keys.Mouse) tea.Cmd {
	p := s.parts
	inOutput := p.output.Contains(e.X, e.Y) && s.output.log != nil
	switch {
	case e.IsWheel() && inOutput:
		s.output.log.Scroll(list.WheelRows(e))
	case e.IsWheel():
		s.lines.move(list.WheelRows(e))
	case !e.IsLeftDown():
	case e.Y < p.lines.Y-1:
		s.focus = onPattern
	case inOutput:
		s.focus = onOutput
	case p.lines.Contains(e.X, e.Y):
		if n := s.lines.hitAt(e.Y - p.lines.Y); n >= 0 {
			s.focus = onLines
			s.lines.move(n - s.lines.cursor)
			if s.click.Again(n) {
				return s.open(h)
			}
		}
	}
	s.output.focused = s.focus == onOutput
	return nil
}
