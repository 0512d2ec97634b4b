package ui

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/units"
	"tandem/panes"
	"tandem/panes/kit/text"
)

// savedMsg is the result of saving a file.
type savedMsg struct {
	panes.FileSave
	bytes int64
	err   error
}

// saveFile writes a new file; with replace, it overwrites an existing one.
func (m *model) saveFile(s panes.FileSave, replace bool) tea.Cmd {
	return m.callEngine(func(ctx context.Context, e panes.Engine) tea.Msg {
		n, err := s.WriteFile(ctx, e, replace)
		return savedMsg{s, n, err}
	}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
}

func (m *model) reportSaved(msg savedMsg) tea.Cmd {
	switch {
	case errors.Is(msg.err, os.ErrExist):
		panes.AskReplace(env{m}, msg.Path, m.saveFile(msg.FileSave, true))
		return nil
	case msg.err != nil:
		return m.notices.showToast(panes.ErrorText(msg.err), true)
	}
	return m.notices.showToast("saved "+units.Bytes(msg.bytes)+" to "+text.ShortPath(msg.Path, m.o.Home), false)
}
