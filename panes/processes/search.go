package processes

import (
	"context"
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
)

// A logSearch is the search in the shown log.
type logSearch struct {
	cancel  context.CancelFunc // cancels the running search; nil without one
	pending *Log               // log to search once it has lines
	line    *dialog.Find       // the open input line; nil without one
	pattern api.Pattern        // the last accepted pattern
}

// anyLog returns the shown log, merged or not; nil without one.
func (p *Pane) anyLog() *Log {
	if p.merged != nil {
		return p.merged
	}
	return p.shownLog()
}

// askSearch opens the search line and shows the nearest match as the user types: above the end
// while the log is followed, else below the first visible line.
func (p *Pane) askSearch() tea.Cmd {
	log := p.anyLog()
	if log == nil {
		return nil
	}
	p.logFocused = true
	origin := log.SaveView()
	above := origin.follow
	f := &dialog.Find{Regexp: p.search.pattern.Regexp, Exact: p.search.pattern.Exact}
	begin := func() (tea.Cmd, error) {
		p.cancelSearch()
		// The log may have been replaced while the line was open.
		if p.anyLog() != log {
			return nil, nil
		}
		log.RestoreView(origin)
		re, err := compilePattern(f.Pattern())
		log.SetPattern(f.Pattern().Text, re)
		if re == nil {
			return nil, err
		}
		return p.searchNext(log, above), nil
	}
	f.Changed = func() tea.Cmd {
		cmd, err := begin()
		if err != nil {
			f.Problem = panes.ErrorText(err)
		}
		return cmd
	}
	f.Done = func(accept bool) tea.Cmd {
		p.search.line = nil
		switch {
		case p.anyLog() != log:
			return nil
		case !accept:
			p.cancelSearch()
			log.RestoreView(origin)
		// An empty pattern repeats the last search.
		case f.Pattern().Text == "":
			re, _ := compilePattern(p.search.pattern)
			log.SetPattern(p.search.pattern.Text, re)
			return p.searchNext(log, above)
		case f.Problem != "":
			return p.env.Say(f.Problem, true)
		default:
			p.search.pattern = f.Pattern()
		}
		return nil
	}
	p.search.line = f
	p.env.Ask(f)
	return nil
}

// compilePattern returns a pattern as a regular expression; nil for an empty one.
func compilePattern(pattern api.Pattern) (*regexp.Regexp, error) {
	if pattern.Text == "" {
		return nil, nil
	}
	return pattern.Compile()
}

// nextMatch goes to the next match below or above, with the last pattern if none is set.
func (p *Pane) nextMatch(above bool) tea.Cmd {
	log := p.anyLog()
	if log == nil {
		return nil
	}
	if log.SearchText() == "" {
		if p.search.pattern.Text == "" {
			return p.askSearch()
		}
		re, _ := compilePattern(p.search.pattern)
		log.SetPattern(p.search.pattern.Text, re)
	}
	return p.searchNext(log, above)
}

// searchNext searches for another match, or waits for the log's first lines.
func (p *Pane) searchNext(log *Log, above bool) tea.Cmd {
	p.cancelSearch()
	if !log.Searchable() {
		p.search.pending = log
		return nil
	}
	search := log.SearchFunc(above)
	if search == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(p.env.Context())
	p.search.cancel = cancel
	return panes.Ask(ctx, p.env, func(ctx context.Context, e panes.Engine) (searchResult, error) {
		return search(ctx, e)
	}, func(f searchResult, err error) tea.Cmd {
		if ctx.Err() != nil { // replaced by another search, or cancelled
			return nil
		}
		return p.showSearchResult(log, f, err)
	})
}

func (p *Pane) cancelSearch() {
	p.search.pending = nil
	if p.search.cancel != nil {
		p.search.cancel()
		p.search.cancel = nil
	}
}

// showSearchResult shows a match, or says that there is none.
func (p *Pane) showSearchResult(log *Log, f searchResult, err error) tea.Cmd {
	p.cancelSearch()
	if err != nil {
		return p.env.Say(panes.ErrorText(err), true)
	}
	log.ShowMatch(f)
	if line := p.search.line; line != nil && p.env.Shows(line) {
		line.Tell(f.match.Number, f.match.Total)
		return nil
	}
	switch {
	case f.ok && f.match.Wrapped:
		return p.env.Say("search wrapped", false)
	case f.ok:
		p.env.ClearMessage()
		return nil
	case log.Following() && !f.ended:
		return p.env.Say("no match yet; new matches will be highlighted", false)
	}
	return p.env.Say("no match", false)
}

// searchRows returns how many rows of the log the search line covers.
func (p *Pane) searchRows() int {
	if line := p.search.line; line != nil && p.env.Shows(line) {
		return dialog.FindRows
	}
	return 0
}
