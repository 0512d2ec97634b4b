package engine

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/engine/supervise"
	"tandem/engine/terminal"
)

// handleShells serves what agents need of live shells: exec, wait, the keyboard.
func (h *host) handleShells(m *server.Mux) {
	server.Handle(m, api.SessionExec, h.sessionExec)
	server.Handle(m, api.SessionWait, h.sessionWait)
	server.Handle(m, api.SessionKeyboard, h.sessionKeyboard)
}

// sessionKeyboard takes a session's keyboard away from agents, or gives it
// back. The answer comes when that is on disk and announced.
func (h *host) sessionKeyboard(ctx context.Context, in api.SessionKeyboardInput) (api.Process, error) {
	if in.Take && in.Open {
		return api.Process{}, api.Errorf(api.CodeInvalid, "keyboard of %s: take and open exclude each other", names.Shown(in.ID))
	}
	caller := server.CallerOf(ctx)
	holder := ""
	if in.Take {
		holder = keyboardName(caller)
	}
	return h.control.SetKeyboard(ctx, supervise.Request{ID: in.ID}, holder, in.Open)
}

func keyboardName(c server.Caller) string {
	if names.Check(c.Name) != nil {
		return terminal.PersonActor
	}
	return c.Name
}
