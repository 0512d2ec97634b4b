package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/terminal"
	"tandem/persist/config/settings"
)

// An env implements the environment of panes and overlays on a model.
type env struct {
	*toast
	*overlay
	ctx context.Context
	m   *model
}

var _ panes.Env = env{}

func (e env) Context() context.Context                         { return e.ctx }
func (e env) Engine(ctx context.Context) (panes.Engine, error) { return e.m.link.AwaitEngine(ctx) }
func (e env) News() *panes.News                                { return &e.m.news }
func (e env) Settings() settings.Dashboard                     { return e.m.o.Dashboard }
func (e env) Bindings() keymap.Bindings                        { return e.m.o.Bindings }
func (e env) Home() string                                     { return e.m.o.Home }
func (e env) Folder() string                                   { return e.m.o.CWD }
func (e env) Await(p panes.Pending) tea.Cmd                    { return e.m.input.await(p) }
func (e env) StartProcess() tea.Cmd                            { return e.m.form.showStart() }
func (e env) OpenMachine(name string) tea.Cmd                  { return e.m.machines.OpenMachine(name) }
func (e env) IsClosed(id string) bool                          { return e.m.sessions.Tabs.IsClosed(id) }
func (e env) ExpectStop(id string) (forget func())             { return e.m.sessions.List.ExpectStop(id) }
func (e env) Look() *look.Look                                 { return &e.m.theme.look }
func (e env) Colors() int                                      { return e.m.theme.countColors() }
func (e env) Spinner() string                                  { return e.m.dialog.spinnerText() }
func (e env) Copy(text, what string) tea.Cmd                   { return e.m.clip.copyText(text, what, false) }
func (e env) CopyRead(read terminal.Read) tea.Cmd              { return e.m.clip.copyRead(read) }
func (e env) TakeClip(clip []byte) tea.Cmd                     { return e.m.clip.acceptClip(clip) }
func (e env) Insert(text string) tea.Cmd                       { return e.m.inserter.insertText(text) }
func (e env) Relayout()                                        { e.m.relayout() }

func (e env) ReportEvent(bar, desktop string, urgency panes.Urgency) tea.Cmd {
	return e.m.notices.report(bar, desktop, urgency)
}

func (e env) AddProcesses(started ...api.Process) tea.Cmd {
	e.m.link.AddProcesses(started...)
	return e.m.syncNews()
}

func (e env) Visit(name string, command []string, folder string, then func() tea.Cmd) tea.Cmd {
	return e.Change(func() tea.Cmd { return e.m.visits.start(name, command, folder, then) })
}

func (e env) IsVisit(id string) bool { return e.m.visits.has(id) }

// PanesChanged ends the visits whose program has exited or whose pane is closed. It also runs the
// pending actions that are ready now, and handles the input held for them.
func (e env) PanesChanged() tea.Cmd {
	return tea.Batch(e.m.visits.endFinished(e.m.notices.toast.isUrgent()), e.m.input.runReady(e.m.input.isHeld()))
}

func (e env) ShowSessions() {
	e.m.views.show(keymap.ViewSessions)
	if e.m.sessions.IsZoomed() {
		e.m.relayout()
	}
}

func (e env) ShowSession(id string) tea.Cmd {
	return e.Change(func() tea.Cmd {
		e.m.setView(keymap.ViewSessions)
		return e.m.sessions.OpenSession(id)
	})
}

func (e env) RestoreSession(id string) tea.Cmd { return e.m.sessions.List.Restorer.RestoreAndShow(id) }

func (e env) Bell() {
	if e.m.terminal != nil {
		e.m.terminal.Bell()
	}
}

func (e env) Attach(ctx context.Context, id string, feed *terminal.Feed) {
	e.m.link.StartTask(func() { e.m.link.Attach(ctx, id, feed) })
}

func (e env) RecordExit(p api.Process) {
	e.m.link.RecordExit(p)
	e.m.news.RecordExit(p)
}

func (e env) StartSession(command []string, folder string) tea.Cmd {
	return e.Change(func() tea.Cmd { return e.m.sessions.Launcher.StartNear(nil, command, folder) })
}

func (e env) StartOn(machine string) tea.Cmd {
	return e.Change(func() tea.Cmd { return e.m.sessions.Launcher.StartOn(machine) })
}

func (e env) Session() (id, folder string) {
	p := e.m.sessions.CurrentPane()
	if p != nil {
		id = p.ID
	}
	return id, e.m.sessions.Launcher.FolderOf(p)
}

// ShowRequest opens the dialog on a request; an empty id selects the oldest.
func (e env) ShowRequest(id string) tea.Cmd {
	if len(e.News().Requests) == 0 {
		return e.Say("no requests from agents", false)
	}
	// The toast may announce the very request being opened.
	if e.toast.news {
		e.ClearMessage()
	}
	e.Ask(&dialog.Approval{
		ID:       id,
		Requests: func() []api.Request { return e.News().Requests },
		Answer: func(in api.RequestAnswerInput) tea.Cmd {
			// The announcement has served its purpose.
			e.ClearMessage()
			return panes.Call(e.Context(), e, func(ctx context.Context, engine panes.Engine) (api.Request, error) {
				return api.RequestAnswer.Call(ctx, engine, in)
			}, panes.ReportErrors(e.Say, func(r api.Request) tea.Cmd {
				if !r.Always {
					return nil
				}
				return e.Say("always allowed until the engine stops"+e.m.o.Bindings.WithKey("; ", keymap.Inbox, " can undo it", keymap.ScopePrefix), false)
			}))
		},
		Refuse: func(why string) tea.Cmd { return e.Say(why, true) },
	})
	return nil
}
