package ui

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/units"
	"tandem/panes"
	"tandem/panes/widget"
)

// savedMsg is the outcome of a save.
type savedMsg struct {
	panes.FileSave
	bytes int64
	err   error
}

// save writes to a new file, or in place of the one that is there.
func (m *model) save(s panes.FileSave, replace bool) tea.Cmd {
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		n, err := s.WriteFile(ctx, e, replace)
		return savedMsg{s, n, err}
	}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
}

func (m *model) saved(msg savedMsg) tea.Cmd {
	switch {
	case errors.Is(msg.err, os.ErrExist):
		panes.AskReplace(env{m}, msg.Path, m.save(msg.FileSave, true))
		return nil
	case msg.err != nil:
		return m.notices.say(panes.ErrorText(msg.err), true)
	}
	return m.notices.say("saved "+units.Bytes(msg.bytes)+" to "+widget.ShortPath(msg.Path, m.o.Home), false)
}
