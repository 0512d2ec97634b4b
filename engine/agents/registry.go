package agents

import (
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

	all sync.Map // id of a session to its *Watch
}

// Start watches a session until it is gone. child is the process that its terminal was
// made for, before what an engine before this one knew.
func (r *Registry) Start(session string, child int, before *store.Agent, t Terminal) {
	r.all.Store(session, Start(Options{
		Library: r.Library, Child: child, BootID: r.BootID, Home: r.Home, Before: before,
		Changed: func(now *store.Agent) { r.Changed(session, now) }, OnEnd: r.OnEnd,
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

// Of is the watch of a session; nil if it does not run.
func (r *Registry) Of(session string) *Watch {
	w, ok := r.all.Load(session)
	if !ok || isGone(w.(*Watch).terminal) {
		return nil
	}
	return w.(*Watch)
}
