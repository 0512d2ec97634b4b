// Package panestest has a fake dashboard, a fake engine and a driver for the tests of panes.
package panestest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/persist/config/settings"
)

var _ panes.Env = (*Env)(nil)

// An Env is a dashboard recording its calls.
type Env struct {
	Known panes.News
	Inks  look.Look
	API   panes.Engine
	Keys  *keymap.Bindings          // nil for the default ones
	Set   func(*settings.Dashboard) // changes the default settings; may be nil

	UserHome                 string // "" for /home/ann
	SessionID, SessionFolder string // of the session used last

	Ctx        context.Context // nil for one that is never cancelled
	Shown      dialog.Overlay
	Said       string
	SaidBad    bool
	Copied     string
	Opened     string         // last session shown
	Restored   string         // last session restored
	Inserted   string         // last text inserted
	StartedOn  string         // last machine on which a session was started
	Visited    []string       // last command started for a visit
	AfterVisit func() tea.Cmd // what it runs after that
	Stopped    []string       // processes stopped by the user, without failed stops

	Pending *panes.Pending // last action not ready yet; nil for none
}

// Await runs an action, or keeps it in Pending until it is ready.
func (e *Env) Await(p panes.Pending) tea.Cmd {
	if p.Ready() {
		return p.Then()
	}
	e.Pending = &p
	return nil
}

// RunPending runs the pending action if it is ready.
func (e *Env) RunPending() tea.Cmd {
	p := e.Pending
	if p == nil || !p.Ready() {
		return nil
	}
	e.Pending = nil
	return p.Then()
}

func (e *Env) Context() context.Context                     { return cmp.Or(e.Ctx, context.Background()) }
func (e *Env) Engine(context.Context) (panes.Engine, error) { return e.API, nil }
func (e *Env) News() *panes.News                            { return &e.Known }
func (e *Env) AddProcesses(all ...api.Process) tea.Cmd      { e.Known.AddProcess(all[0]); return nil }
func (e *Env) Home() string                                 { return cmp.Or(e.UserHome, "/home/ann") }
func (e *Env) Folder() string                               { return "/home/ann" }
func (e *Env) Colors() int                                  { return 256 }
func (e *Env) Look() *look.Look                             { return &e.Inks }
func (e *Env) Spinner() string                              { return "" }
func (e *Env) Ask(o dialog.Overlay)                         { e.Shown = o }
func (e *Env) Shows(o dialog.Overlay) bool                  { return e.Shown == o }
func (e *Env) Close()                                       { e.Shown = nil }
func (e *Env) ClearMessage()                                { e.Said, e.SaidBad = "", false }
func (e *Env) ClearNote()                                   {}
func (e *Env) Say(text string, bad bool) tea.Cmd            { e.Said, e.SaidBad = text, bad; return nil }
func (e *Env) StartProcess() tea.Cmd                        { return nil }
func (e *Env) Copy(text, _ string) tea.Cmd                  { e.Copied = text; return nil }
func (e *Env) ShowSession(id string) tea.Cmd                { e.Opened = id; return nil }
func (e *Env) RestoreSession(id string) tea.Cmd             { e.Restored = id; return nil }
func (e *Env) Session() (id, folder string)                 { return e.SessionID, e.SessionFolder }
func (e *Env) Insert(text string) tea.Cmd                   { e.Inserted = text; return nil }
func (e *Env) StartSession([]string, string) tea.Cmd        { return nil }
func (e *Env) StartOn(machine string) tea.Cmd               { e.StartedOn = machine; return nil }

func (e *Env) IsClosed(string) bool { return false }

func (e *Env) Visit(_ string, command []string, _ string, then func() tea.Cmd) tea.Cmd {
	e.Visited, e.AfterVisit = command, then
	return nil
}

func (e *Env) Settings() settings.Dashboard {
	all := settings.Defaults().Dashboard
	if e.Set != nil {
		e.Set(&all)
	}
	return all
}

func (e *Env) ExpectStop(id string) (forget func()) {
	e.Stopped = append(e.Stopped, id)
	return func() {
		e.Stopped = slices.DeleteFunc(e.Stopped, func(other string) bool { return other == id })
	}
}

func (e *Env) Bindings() keymap.Bindings {
	if e.Keys != nil {
		return *e.Keys
	}
	return defaultBindings()
}

// defaultBindings builds the bindings only once, because panes ask for them whenever they are
// drawn.
var defaultBindings = sync.OnceValue(keymap.DefaultBindings)
