package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/terminal"
	"tandem/persist/config/settings"
)

// An env implements the environment of panes and overlays on a model. Each method forwards
// to one part of the dashboard.
type env struct{ m *model }

var _ panes.Env = env{}

func (e env) Context() context.Context                         { return e.m.ctx }
func (e env) Engine(ctx context.Context) (panes.Engine, error) { return e.m.link.AwaitEngine(ctx) }
func (e env) News() *panes.News                                { return &e.m.news }
func (e env) Learn(started ...api.Process) tea.Cmd             { return e.m.learnProcesses(started...) }
func (e env) Settings() settings.Dashboard                     { return e.m.o.Dashboard }
func (e env) Home() string                                     { return e.m.o.Home }
func (e env) Folder() string                                   { return e.m.o.CWD }
func (e env) Say(text string, bad bool) tea.Cmd                { return e.m.notices.showToast(text, bad) }
func (e env) ClearMessage()                                    { e.m.notices.clearToast() }
func (e env) Save(s panes.FileSave) tea.Cmd                    { return e.m.saveFile(s, false) }
func (e env) Await(p panes.Pending) tea.Cmd                    { return e.m.input.awaitPending(p) }
func (e env) StartProcess() tea.Cmd                            { return e.m.form.showStart() }
func (e env) OpenMachine(name string) tea.Cmd                  { return e.m.machines.OpenMachine(name) }
func (e env) ExpectStop(id string)                             { e.m.sessions.list.ExpectStop(id) }

func (e env) ShowSession(id string) tea.Cmd {
	return tea.Batch(e.m.setView(viewSessions), e.m.sessions.openSession(id))
}

// Ask opens a dialog in place of the current one.
func (e env) Ask(o dialog.Overlay) {
	e.m.dialog.open = o
	e.m.dirty = true
}

func (e env) Close()                    { e.m.dialog.open = nil }
func (e env) Bindings() keymap.Bindings { return e.m.o.Bindings }
func (e env) Look() *look.Look          { return &e.m.theme.look }
func (e env) Spinner() string           { return e.m.dialog.spinnerText() }

func (e env) Shows(o dialog.Overlay) bool         { return e.m.dialog.open == o }
func (e env) Copy(text, what string) tea.Cmd      { return e.m.clip.copyText(text, what, false) }
func (e env) CopyRead(read terminal.Read) tea.Cmd { return e.m.clip.copyRead(read) }
func (e env) Press(k keys.Key) tea.Cmd            { return e.m.input.pressKey(k) }

func (e env) SayOnce(text string) tea.Cmd {
	if e.m.notices.toast.bad && e.m.notices.toast.text == text {
		return nil
	}
	return e.m.notices.showToast(text, true)
}

func (e env) TakeClip(clip []byte) tea.Cmd { return e.m.clip.acceptClip(clip) }

func (e env) ShowNote(text string, bad bool) tea.Cmd { return e.m.notices.showNews(text, bad) }

func (e env) Notify(text string) tea.Cmd { return e.m.notices.notifyDesktop(text) }

func (e env) ShowRequest(id string) tea.Cmd { return e.m.showRequest(id) }

func (e env) Bell() {
	if e.m.terminal != nil {
		e.m.terminal.Bell()
	}
}

func (e env) Attach(ctx context.Context, id string, feed *terminal.Feed) {
	e.m.link.StartTask(func() { e.m.link.Attach(ctx, id, feed) })
}

func (e env) Ended(p api.Process) {
	e.m.link.RecordExit(p)
	e.m.news.RecordExit(p)
}

func (e env) ShowSessions() { e.m.switchView(viewSessions) }

func (e env) Blurred() bool { return e.m.input.blurred }

func (e env) HasDialog() bool { return e.m.dialog.open != nil }

func (e env) Relayout() { e.m.relayout() }

func (e env) Visit(command []string, folder string, then func() tea.Cmd) tea.Cmd {
	return e.m.visitSession(command, folder, then)
}

func (e env) ClearNote() {
	if !e.m.notices.toast.bad {
		e.m.notices.clearToast()
	}
}

func (e env) Colors() int {
	switch e.m.theme.profile {
	case colorprofile.TrueColor:
		return 1 << 24
	case colorprofile.ANSI256:
		return 256
	case colorprofile.ANSI:
		return 16
	}
	return 0
}

func (e env) Insert(text string) tea.Cmd { return e.m.insertText(text) }

func (e env) StartSession(command []string, folder string) tea.Cmd {
	return e.m.sessions.launcher.startCommand(nil, command, folder)
}

func (e env) StartOn(machine string) tea.Cmd {
	return e.m.sessions.launcher.startOn(machine, nil, nil, "")
}

func (e env) Session() (id, folder string) {
	p := e.m.sessions.currentPane()
	if p != nil {
		id = p.ID
	}
	return id, e.m.sessions.launcher.startFolder(p)
}
