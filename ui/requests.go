package ui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
)

// announceRequests reports the first request that is not in before. It does not open the
// dialog, which would take the user's next keys as an answer.
func (n *notices) announceRequests(before []api.Request) tea.Cmd {
	for _, r := range n.m.news.Requests {
		if !slices.ContainsFunc(before, func(b api.Request) bool { return b.ID == r.ID }) {
			// The key works everywhere, and comes early in the text so that it is not cut
			// off.
			key := n.m.o.Bindings.WithKey(" (", keymap.Requests, " answers)", keymap.ScopePrefix)
			who, asks := dialog.AskerName(r)+" asks", ": "+dialog.RequestSummary(r)
			notify := n.notifyDesktop(who + asks)
			// The dialog counts them.
			if _, open := n.m.dialog.open.(*dialog.Approval); open {
				return notify
			}
			return tea.Batch(n.showNews(who+key+asks, true), notify)
		}
	}
	return nil
}

// showRequest opens the dialog on a request; an empty id selects the oldest.
func (m *model) showRequest(id string) tea.Cmd {
	if len(m.news.Requests) == 0 {
		return m.notices.showToast("no requests from agents", false)
	}
	// The toast may announce the very request being opened.
	if m.notices.toast.news {
		m.notices.clearToast()
	}
	m.dialog.open = &dialog.Approval{
		ID:       id,
		Requests: func() []api.Request { return m.news.Requests },
		Answer: func(in api.RequestAnswerInput) tea.Cmd {
			// The announcement has served its purpose.
			m.notices.clearToast()
			return m.callEngine(func(ctx context.Context, e panes.Engine) tea.Msg {
				return panes.DoneMsg{Err: api.RequestAnswer.Run(ctx, e, in)}
			}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
		},
		Refuse: func(why string) tea.Cmd { return m.notices.showToast(why, true) },
	}
	return nil
}
