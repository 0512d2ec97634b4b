package processes

import (
	"context"
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/processes/logview"
)

// A searchEnv is the dashboard as a search sees it.
type searchEnv interface {
	panes.Caller
	panes.Dialogs
	Bindings() keymap.Bindings
	Say(text string, bad bool) tea.Cmd
	ClearMessage()
}

// A search is the search in the shown log.
type search struct {
	env   searchEnv
	shown func() *logview.Log // the shown log; nil without one
	focus func()              // gives it the keyboard

	stop    context.CancelFunc // cancels the running search; nil without one
	pending *logview.Log       // log to search once it has lines
	line    *searchLine        // the open input line; nil without one
	pattern api.Pattern        // the last accepted pattern
}

// A searchLine is the open input line, with the view to return to.
type searchLine struct {
	dialog.Find
	log    *logview.Log
	origin logview.SavedView
}

// ask opens the input line and shows the nearest match as the user types: above the end while the
// log is followed, else below the first visible line.
func (s *search) ask() tea.Cmd {
	log := s.shown()
	if log == nil {
		return nil
	}
	s.focus()
	s.line = &searchLine{log: log, origin: log.SaveView()}
	s.line.Regexp, s.line.Exact = s.pattern.Regexp, s.pattern.Exact
	s.line.Changed, s.line.Done = s.searchTyped, s.closeLine
	s.env.Ask(s.line)
	return nil
}

// searchTyped searches for the typed pattern from the origin of the search.
func (s *search) searchTyped() tea.Cmd {
	l := s.line
	s.cancel()
	// The log may have been replaced while the line was open.
	if s.shown() != l.log {
		return nil
	}
	l.log.RestoreView(l.origin)
	if err := setPattern(l.log, l.Pattern()); err != nil {
		l.Problem = panes.ErrorText(err)
		return nil
	}
	if l.Pattern().Text == "" {
		return nil
	}
	return s.searchNext(l.log, l.origin.Following)
}

// closeLine stays at the match, or returns to the view before.
func (s *search) closeLine(accept bool) tea.Cmd {
	l := s.line
	s.line = nil
	switch {
	case s.shown() != l.log:
	case !accept:
		s.cancel()
		l.log.RestoreView(l.origin)
	// An empty pattern repeats the last search.
	case l.Pattern().Text == "":
		_ = setPattern(l.log, s.pattern)
		return s.searchNext(l.log, l.origin.Following)
	case l.Problem != "":
		return s.env.Say(l.Problem, true)
	default:
		s.pattern = l.Pattern()
	}
	return nil
}

// setPattern sets the pattern to search a log for; an empty one ends the search.
func setPattern(log *logview.Log, pattern api.Pattern) (err error) {
	var re *regexp.Regexp
	if pattern.Text != "" {
		re, err = pattern.Compile()
	}
	log.SetPattern(pattern.Text, re)
	return err
}

// nextMatch goes to the next match below or above, with the last pattern if none is set.
func (s *search) nextMatch(above bool) tea.Cmd {
	log := s.shown()
	if log == nil {
		return nil
	}
	if log.SearchText() == "" {
		if s.pattern.Text == "" {
			return s.ask()
		}
		_ = setPattern(log, s.pattern)
	}
	return s.searchNext(log, above)
}

// searchNext searches for another match, or waits for the log's first lines.
func (s *search) searchNext(log *logview.Log, above bool) tea.Cmd {
	s.cancel()
	if !log.Searchable() {
		s.pending = log
		return nil
	}
	find := log.SearchFunc(above)
	if find == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(s.env.Context())
	s.stop = cancel
	return panes.Ask(ctx, s.env, func(ctx context.Context, e panes.Engine) (logview.Result, error) {
		return find(ctx, e)
	}, func(f logview.Result, err error) tea.Cmd {
		if ctx.Err() != nil { // replaced by another search, or cancelled
			return nil
		}
		return s.showResult(log, f, err)
	})
}

func (s *search) cancel() {
	s.pending = nil
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// leave cancels a search or, if none is running, removes its highlights. It reports whether there
// was either.
func (s *search) leave() bool {
	if s.stop != nil || s.pending != nil {
		s.cancel()
		return true
	}
	log := s.shown()
	if log == nil || log.SearchText() == "" {
		return false
	}
	log.SetPattern("", nil)
	return true
}

// showResult shows a match, or says that there is none.
func (s *search) showResult(log *logview.Log, f logview.Result, err error) tea.Cmd {
	s.cancel()
	if err != nil {
		return s.env.Say(panes.ErrorText(err), true)
	}
	log.ShowMatch(f)
	if line := s.line; line != nil && s.env.Shows(line) {
		line.Tell(f.Match.Number, f.Match.Total)
		return nil
	}
	switch {
	case f.OK && f.Match.Wrapped:
		return s.env.Say("search wrapped", false)
	case f.OK:
		s.env.ClearMessage()
		return nil
	case log.Following() && !f.Ended:
		return s.env.Say("no match yet; new matches will be highlighted", false)
	}
	return s.env.Say("no match", false)
}

// coveredRows returns how many rows of the log the search line covers.
func (s *search) coveredRows() int {
	if line := s.line; line != nil && s.env.Shows(line) {
		return dialog.FindRows
	}
	return 0
}

// note returns the state of a running search; "" without one.
func (s *search) note() string {
	switch {
	case s.stop != nil:
		return "searching…" + s.env.Bindings().WithKey(" ", keymap.LogLeave, " ends it", keymap.ScopeLog)
	case s.pending != nil:
		return "waiting for output to search"
	}
	return ""
}
