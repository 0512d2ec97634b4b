// Package panestest has what the tests of panes put in place of the dashboard
// and of the engine.
package panestest

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// An Env is a dashboard that keeps what it is asked for. What it has no method for
// is nil.
type Env struct {
	panes.Env
	Known panes.News
	Inks  widget.Look
	API   panes.Engine
	Keys  *keymap.Bindings // nil for the default ones

	Shown  overlay.Overlay
	Said   string
	Copied string
	Opened string   // the last session shown
	Ended  []string // processes asked to stop

	Pending *panes.Pending // the last action not ready yet; nil for none
}

// Await does an action, or keeps it in Pending until it is ready.
func (e *Env) Await(p panes.Pending) tea.Cmd {
	if p.Ready() {
		return p.Then()
	}
	e.Pending = &p
	return nil
}

// Settle does the pending action if it is ready now.
func (e *Env) Settle() tea.Cmd {
	p := e.Pending
	if p == nil || !p.Ready() {
		return nil
	}
	e.Pending = nil
	return p.Then()
}

func (e *Env) Context() context.Context                     { return context.Background() }
func (e *Env) Engine(context.Context) (panes.Engine, error) { return e.API, nil }
func (e *Env) News() *panes.News                            { return &e.Known }
func (e *Env) Learn(all ...api.Process) tea.Cmd             { e.Known.Learn(all[0]); return nil }
func (e *Env) Home() string                                 { return "/home/ann" }
func (e *Env) Folder() string                               { return "/home/ann" }
func (e *Env) Colors() int                                  { return 256 }
func (e *Env) OpenWith() []string                           { return nil }
func (e *Env) FileIcons() bool                              { return false }
func (e *Env) Look() *widget.Look                           { return &e.Inks }
func (e *Env) Spinner() string                              { return "" }
func (e *Env) Ask(o overlay.Overlay)                        { e.Shown = o }
func (e *Env) Shows(o overlay.Overlay) bool                 { return e.Shown == o }
func (e *Env) Close()                                       { e.Shown = nil }
func (e *Env) ClearNote()                                   {}
func (e *Env) Say(text string, _ bool) tea.Cmd              { e.Said = text; return nil }
func (e *Env) Copy(text, _ string) tea.Cmd                  { e.Copied = text; return nil }
func (e *Env) ShowSession(id string) tea.Cmd                { e.Opened = id; return nil }
func (e *Env) ExpectStop(id string)                         { e.Ended = append(e.Ended, id) }

func (e *Env) Bindings() keymap.Bindings {
	if e.Keys != nil {
		return *e.Keys
	}
	return keymap.DefaultBindings()
}
