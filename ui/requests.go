package ui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/overlay"
)

// noteRequests says what agents have asked since before. The question itself
// waits for a key: a dialog that opens under somebody's fingers would be
// answered by what they type.
func (n *notices) noteRequests(before []api.Request) tea.Cmd {
	for _, r := range n.m.news.Requests {
		if !slices.ContainsFunc(before, func(b api.Request) bool { return b.ID == r.ID }) {
			// The key is the one that works everywhere, and stands where nothing cuts it off.
			key := panes.WithKey(n.m.o.Bindings, " (", keymap.Requests, " answers)", keymap.ScopePrefix)
			who, asks := overlay.Asker(r)+" asks", ": "+overlay.Wish(r)
			notify := n.notify(who + asks)
			if _, open := n.m.dialog.open.(*overlay.Approval); open { // it counts them
				return notify
			}
			return tea.Batch(n.tell(who+key+asks, true), notify)
		}
	}
	return nil
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// showRequest opens a request; "" is the oldest one.
func (m *model) showRequest(id string) tea.Cmd {
	if len(m.news.Requests) == 0 {
		return m.notices.say("no requests from agents", false)
	}
	if m.notices.toast.news { // such as the announcement of the request
		m.notices.unsay()
	}
	m.dialog.open = &overlay.Approval{
		ID:       id,
		Requests: func() []api.Request { return m.news.Requests },
		Answer: func(in api.RequestAnswerInput) tea.Cmd {
			m.notices.unsay() // what told of the request has done its work
			return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
				return panes.DoneMsg{Err: api.RequestAnswer.Run(ctx, e, in)}
			}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
		},
		Refuse: func(why string) tea.Cmd { return m.notices.say(why, true) },
	}
	return nil
}
