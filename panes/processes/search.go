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

// A search searches the log on the screen.
type search struct {
	env   panes.Env
	shown func() *logview.Log // the shown log; nil without one
	focus func()              // gives it the keyboard

	stop    context.CancelFunc // cancels the running search; nil without one
	pending *logview.Log       // log to search once it has lines
	line    *dialog.Find       // the input line; opened last
	pattern api.Pattern        // the last accepted pattern
}

// ask opens the search line and shows the nearest match while the user types. If the log follows
// its end, that is the last match; otherwise it is the first below the first visible line.
func (s *search) ask() tea.Cmd {
	log := s.shown()
	if log == nil {
		return nil
	}
	s.focus()
	origin := log.SaveView()
	// The log may be replaced while the line is open.
	same := func() bool { return s.shown() == log }
	f := dialog.NewFind(&s.pattern)
	f.Restore = func() {
		if s.cancel(); same() {
			log.RestoreView(origin)
		}
	}
	f.Search = func(re *regexp.Regexp) tea.Cmd {
		if !same() {
			return nil
		}
		if log.SetPattern(f.Pattern().Text, re); re == nil {
			return nil
		}
		return s.searchNext(log, origin.Following)
	}
	f.Repeat = func() tea.Cmd {
		if !same() {
			return nil
		}
		s.setPattern(log)
		return s.searchNext(log, origin.Following)
	}
	f.Say = s.env.Say
	s.line = f
	s.env.Ask(f)
	return nil
}

// setPattern makes the last accepted pattern the pattern of a log. The pattern is known to be
// valid.
func (s *search) setPattern(log *logview.Log) {
	var re *regexp.Regexp
	if s.pattern.Text != "" {
		re, _ = s.pattern.Compile()
	}
	log.SetPattern(s.pattern.Text, re)
}

// nextMatch goes to the next match below, or above. If the log has no pattern, it uses the last
// accepted one or, if there is none, asks for a pattern.
func (s *search) nextMatch(above bool) tea.Cmd {
	log := s.shown()
	if log == nil {
		return nil
	}
	if log.SearchText() == "" {
		if s.pattern.Text == "" {
			return s.ask()
		}
		s.setPattern(log)
	}
	return s.searchNext(log, above)
}

// searchNext searches for another match. If the log has no lines yet, the search starts when they
// arrive.
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
	return panes.Call(ctx, s.env, func(ctx context.Context, e panes.Engine) (logview.Result, error) {
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

// leave cancels the running search or, if there is none, removes the highlights of the last one. It
// returns false if there was nothing to do.
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

// showResult shows the match that a search has found, or reports that there is none.
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

// note describes the running search; "" if there is none.
func (s *search) note() string {
	switch {
	case s.stop != nil:
		return "searching…" + s.env.Bindings().WithKey(" ", keymap.LogLeave, " ends it", keymap.ScopeLog)
	case s.pending != nil:
		return "waiting for output to search"
	}
	return ""
}
