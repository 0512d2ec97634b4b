package processes

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/ui/overlay"
)

func (p *Pane) askSearch() tea.Cmd {
	if p.merged != nil {
		return p.env.Say("search one log at a time", false)
	}
	if p.shownLog() == nil {
		return nil
	}
	p.env.Ask(overlay.NewPrompt("Search the log for", "", func(pattern string) tea.Cmd {
		log := p.shownLog()
		if log == nil { // its process was forgotten meanwhile
			return nil
		}
		p.endSearch()
		if err := log.Search(pattern); err != nil {
			return p.env.Say(err.Error(), true)
		}
		return p.searchFirst(log)
	}))
	return nil
}

// searchFirst searches a log for what was typed last, as soon as there is
// something in it.
func (p *Pane) searchFirst(log *Log) tea.Cmd {
	p.pending = nil
	if log.Pattern() != "" && !log.Begun() {
		p.pending = log
		return nil
	}
	s, ok := log.First()
	if !ok {
		return nil
	}
	cmd := p.search(log, s)
	p.turn = !s.Backward
	return cmd
}

// nextMatch goes to the next match above or below.
func (p *Pane) nextMatch(above bool) tea.Cmd {
	if p.merged != nil {
		return p.askSearch()
	}
	log := p.shownLog()
	if log == nil {
		return nil
	}
	s, ok := log.Another(above)
	if !ok {
		return p.askSearch()
	}
	return p.search(log, s)
}

func (p *Pane) search(log *Log, s api.ProcessLogInput) tea.Cmd {
	p.endSearch()
	ctx, cancel := context.WithCancel(p.env.Context())
	p.find, p.turn = cancel, false
	return panes.Ask(ctx, p.env, func(ctx context.Context, e panes.Engine) (api.ProcessLogOutput, error) {
		return api.ProcessLog.Call(ctx, e, s)
	}, func(out api.ProcessLogOutput, err error) tea.Cmd {
		if ctx.Err() != nil { // another search is under way, or none
			return nil
		}
		return p.searched(log, s, out, err)
	})
}

func (p *Pane) endSearch() {
	p.pending = nil
	if p.find != nil {
		p.find()
		p.find = nil
	}
}

func (p *Pane) searched(log *Log, search api.ProcessLogInput, out api.ProcessLogOutput, err error) tea.Cmd {
	turn := p.turn
	p.endSearch()
	if err != nil {
		return p.env.Say(panes.ErrorText(err), true)
	}
	found, more := log.Found(search, out)
	switch {
	case more != nil:
		cmd := p.search(log, *more)
		p.turn = turn
		return cmd
	case found:
		p.env.Unsay()
		return nil
	case turn: // a new search: what is above is better than nothing
		if above, ok := log.Another(true); ok {
			return tea.Batch(p.search(log, above), p.env.Say("no match below, searching above", false))
		}
		return nil
	case log.Following() && !out.State.Ended():
		return p.env.Say("no match yet; new matches will be highlighted", false)
	case search.Backward:
		return p.env.Say("no match above", false)
	}
	return p.env.Say("no match below", false)
}
