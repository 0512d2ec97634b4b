package coding

import (
	"log/slog"
	"sync"

	"tandem/persist/store"
)

// A Registry holds the watches of all running sessions.
type Registry struct {
	Library *Library
	BootID  string
	Home    string
	Changed func(session string, now *store.Agent) // see Options
	OnEnd   func(who store.Identity, ended func()) (stop func())
	Log     *slog.Logger // for panics; may be nil

	all sync.Map // session id to *Watch
}

// Start watches a session until it ends. child is the first process of its terminal. saved is the
// state kept by an earlier engine, nil for a new session. confine has the meaning described in
// Options.
func (r *Registry) Start(session string, child int, saved *store.Agent, t Terminal, confine func() error) {
	r.all.Store(session, Start(Options{
		Library: r.Library, Child: child, BootID: r.BootID, Home: r.Home, Confine: confine, Before: saved,
		Changed: func(now *store.Agent) { r.Changed(session, now) }, OnEnd: r.OnEnd, Log: r.Log,
	}, t))
}

// RemoveExited removes the watch of an ended session, unless the session has been restarted.
func (r *Registry) RemoveExited(session string) {
	if w, ok := r.all.Load(session); ok && isGone(w.(*Watch).terminal) {
		r.all.CompareAndDelete(session, w)
	}
}

// NoteChange schedules an inspection of a session. It does not block.
func (r *Registry) NoteChange(session string) {
	if w := r.Of(session); w != nil {
		w.NoteChange()
	}
}

// FindByConversation returns the session whose agent has a conversation, or else the only session
// whose agent was started in folder without a known conversation. It returns "" if there is none or
// more than one. Agents that run the hooks of all terminals in one process cannot name their
// session.
func (r *Registry) FindByConversation(conversation, folder string) string {
	var silent []string
	for id, w := range r.all.Range {
		switch a := w.(*Watch).currentAgent(); {
		case a == nil || a.Process == nil || isGone(w.(*Watch).terminal):
		case conversation != "" && a.Conversation == conversation:
			return id.(string)
		case a.Conversation == "" && a.CWD == folder:
			silent = append(silent, id.(string))
		}
	}
	// Guessing among several could attach a report to the wrong session.
	if len(silent) != 1 {
		return ""
	}
	return silent[0]
}

// Of returns the watch of a session, or nil if it does not run.
func (r *Registry) Of(session string) *Watch {
	w, ok := r.all.Load(session)
	if !ok || isGone(w.(*Watch).terminal) {
		return nil
	}
	return w.(*Watch)
}
