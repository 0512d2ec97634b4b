package processes

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/ui/overlay"
)

// search

// searchMsg is the answer to a search.
type searchMsg struct {
	log    *Log
	search LogSearch
	out    api.ProcessLogOutput
	err    error
}

func (p *Pane) askSearch() tea.Cmd {
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
	p.turn = !s.Input.Backward
	return cmd
}

// nextMatch goes to the next match above or below.
func (p *Pane) nextMatch(above bool) tea.Cmd {
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

func (p *Pane) search(log *Log, s LogSearch) tea.Cmd {
	p.endSearch()
	ctx, cancel := context.WithCancel(p.env.Context())
	p.find, p.finding, p.turn = cancel, s, false
	return panes.CallIn(ctx, p.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		out, err := e.Log(ctx, s.Input)
		return searchMsg{log, s, out, err}
	}, func(err error) tea.Msg { return searchMsg{log: log, search: s, err: err} })
}

func (p *Pane) endSearch() {
	p.pending = nil
	if p.find != nil {
		p.find()
		p.find = nil
	}
}

func (p *Pane) searched(msg searchMsg) tea.Cmd {
	if p.find == nil || msg.log != p.log || msg.search != p.finding {
		return nil
	}
	turn := p.turn
	p.endSearch()
	if msg.err != nil {
		return p.env.Say(panes.ErrorText(msg.err), true)
	}
	found, more := msg.log.Found(msg.search, msg.out)
	switch {
	case more != nil:
		cmd := p.search(msg.log, *more)
		p.turn = turn
		return cmd
	case found:
		p.env.Unsay()
		return nil
	case turn: // a new search: what is above is better than nothing
		if above, ok := msg.log.Another(true); ok {
			return tea.Batch(p.search(msg.log, above), p.env.Say("no match below, looking above", false))
		}
		return nil
	case msg.log.Following() && !msg.out.State.Ended():
		return p.env.Say("no match so far; what comes is marked", false)
	case msg.search.Input.Backward:
		return p.env.Say("no match above", false)
	}
	return p.env.Say("no match below", false)
}

// saving
