package agents

import (
	"log/slog"
	"sync"

	"tandem/persist/store"
)

// A Registry has the watches of all sessions that run.
type Registry struct {
	Library *Library
	BootID  string
	Home    string
	Changed func(session string, now *store.Agent) // see Options
	OnEnd   func(who store.Identity, ended func()) (stop func())
	Log     *slog.Logger // of panics; nil: none

	all sync.Map // id of a session to its *Watch
}

// Start watches a session until it is gone. child is the process that its terminal was
// made for, before what an engine before this one knew, and confine as in Options.
func (r *Registry) Start(session string, child int, before *store.Agent, t Terminal, confine func() error) {
	r.all.Store(session, Start(Options{
		Library: r.Library, Child: child, BootID: r.BootID, Home: r.Home, Confine: confine, Before: before,
		Changed: func(now *store.Agent) { r.Changed(session, now) }, OnEnd: r.OnEnd, Log: r.Log,
	}, t))
}

// Ended forgets a session that is gone, unless it has been started again.
func (r *Registry) Ended(session string) {
	if w, ok := r.all.Load(session); ok && isGone(w.(*Watch).terminal) {
		r.all.CompareAndDelete(session, w)
	}
}

// Moved tells that a session shows something else; it does not block.
func (r *Registry) Moved(session string) {
	if w := r.Of(session); w != nil {
		w.Moved()
	}
}

// Talking is the session whose agent has a conversation, or else the only one whose agent
// was started in a folder and has told none; "" if that is not known. An agent that runs
// its hooks in a process of its own for all of its terminals cannot tell which it is.
func (r *Registry) Talking(conversation, folder string) string {
	var silent []string
	for id, w := range r.all.Range {
		switch a := w.(*Watch).agent(); {
		case a == nil || a.Process == nil || isGone(w.(*Watch).terminal):
		case conversation != "" && a.Conversation == conversation:
			return id.(string)
		case a.Conversation == "" && a.CWD == folder:
			silent = append(silent, id.(string))
		}
	}
	if len(silent) != 1 {
		return ""
	}
	return silent[0]
}

// Of is the watch of a session; nil if it does not run.
func (r *Registry) Of(session string) *Watch {
	w, ok := r.all.Load(session)
	if !ok || isGone(w.(*Watch).terminal) {
		return nil
	}
	return w.(*Watch)
}
