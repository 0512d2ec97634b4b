package processes

import (
	"context"
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/ui/overlay"
)

// A logSearch is the search in the log that is shown.
type logSearch struct {
	stop    context.CancelFunc // ends the one under way; nil without one
	pending *Log               // to be searched as soon as there is something in it
	line    *overlay.Find      // in which is typed what to look for
	pattern api.Pattern        // that was looked for last
}

// anyLog is the log that is shown, which may be a merged one; nil without one.
func (p *Pane) anyLog() *Log {
	if p.merged != nil {
		return p.merged
	}
	return p.shownLog()
}

// askSearch asks what to look for in the log, and shows the nearest match while it is
// typed: above the end while that is followed, else below the first line seen.
func (p *Pane) askSearch() tea.Cmd {
	log := p.anyLog()
	if log == nil {
		return nil
	}
	p.onLog = true
	origin := log.Position()
	above := origin.follow
	f := &overlay.Find{Regexp: p.search.pattern.Regexp, Exact: p.search.pattern.Exact}
	begin := func() (tea.Cmd, error) {
		p.endSearch()
		if p.anyLog() != log { // its process was forgotten meanwhile
			return nil, nil
		}
		log.Return(origin)
		re, err := compiled(f.Pattern())
		log.Search(f.Pattern().Text, re)
		if re == nil {
			return nil, err
		}
		return p.seek(log, above), nil
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
			p.endSearch()
			log.Return(origin)
		case f.Pattern().Text == "":
			re, _ := compiled(p.search.pattern)
			log.Search(p.search.pattern.Text, re)
			return p.seek(log, above)
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

// compiled is a pattern as a regular expression; nil for an empty one.
func compiled(pattern api.Pattern) (*regexp.Regexp, error) {
	if pattern.Text == "" {
		return nil, nil
	}
	return pattern.Compile()
}

// nextMatch goes to the next match below, or above.
func (p *Pane) nextMatch(above bool) tea.Cmd {
	log := p.anyLog()
	if log == nil {
		return nil
	}
	if log.Searching() == "" {
		if p.search.pattern.Text == "" {
			return p.askSearch()
		}
		re, _ := compiled(p.search.pattern)
		log.Search(p.search.pattern.Text, re)
	}
	return p.seek(log, above)
}

// seek looks for another match, as soon as there is something in the log.
func (p *Pane) seek(log *Log, above bool) tea.Cmd {
	p.endSearch()
	if !log.Begun() {
		p.search.pending = log
		return nil
	}
	look := log.Seek(above)
	if look == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(p.env.Context())
	p.search.stop = cancel
	return panes.Ask(ctx, p.env, func(ctx context.Context, e panes.Engine) (found, error) {
		return look(ctx, e)
	}, func(f found, err error) tea.Cmd {
		if ctx.Err() != nil { // another search is under way, or none
			return nil
		}
		return p.sought(log, f, err)
	})
}

func (p *Pane) endSearch() {
	p.search.pending = nil
	if p.search.stop != nil {
		p.search.stop()
		p.search.stop = nil
	}
}

// sought shows what a search has led to, or says that there is nothing.
func (p *Pane) sought(log *Log, f found, err error) tea.Cmd {
	p.endSearch()
	if err != nil {
		return p.env.Say(panes.ErrorText(err), true)
	}
	log.Found(f)
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

// covered is how many rows of the log the line covers in which is typed what to look
// for.
func (p *Pane) covered() int {
	if line := p.search.line; line != nil && p.env.Shows(line) {
		return overlay.FindRows
	}
	return 0
}
