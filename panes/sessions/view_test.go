package sessions

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
	"tandem/panes/terminal"
)

// A fakeEnv is a dashboard that shows only the view, and attaches panes to nothing.
type fakeEnv struct {
	*panestest.Env
	Dashboard
	view *View
}

func (e *fakeEnv) Attach(context.Context, string, *terminal.Feed) {}
func (e *fakeEnv) ShowSessions()                                  { e.view.Show() }
func (e *fakeEnv) PanesChanged() tea.Cmd                          { return nil }
func (e *fakeEnv) Relayout() {
	e.view.Display.SetTight(e.view.Display.IsZoomed())
	e.view.Resize(120, 36)
}

// openView opens a view of 120×36 cells on a session for each name.
func openView(t *testing.T, names ...string) *View {
	t.Helper()
	e := &fakeEnv{Env: &panestest.Env{Ctx: t.Context()}}
	e.view = New(e)
	e.Relayout()
	e.Known.Connected = true
	for _, name := range names {
		e.Known.Processes = append(e.Known.Processes, api.Process{ID: name, Name: name, Kind: api.KindSession, State: api.StateRunning})
	}
	e.view.HandleNews(&panes.News{})
	e.view.Fetch()
	return e.view
}
