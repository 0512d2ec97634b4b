package tmux

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/names"
	"tandem/persist/procstat"
	"tandem/ui/cli/tmux/server"
)

// An engine is the connection to the engine, opened on first use, with the sessions that it reported.
type engine struct {
	ctx       context.Context
	dial      func(context.Context) (*client.Client, error)
	conn      *client.Client
	processes map[string]api.Process // sessions by id; nil until fetched, see knownProcesses
	fetched   func()                 // called when processes were fetched
}

// connect returns the connection, opening it on first use.
func (e *engine) connect() (*client.Client, error) {
	if e.conn != nil {
		return e.conn, nil
	}
	var err error
	e.conn, err = e.dial(e.ctx)
	return e.conn, err
}

func (e *engine) close() {
	if e.conn != nil {
		e.conn.Close()
	}
	e.conn = nil
}

// callEngine calls an operation of the engine.
func callEngine[In, Out any](e *engine, op api.Operation[In, Out], in In) (out Out, err error) {
	conn, err := e.connect()
	if err != nil {
		return out, err
	}
	return op.Call(e.ctx, conn, in)
}

// fetchProcesses fetches the sessions.
func (e *engine) fetchProcesses() error {
	list, err := callEngine(e, api.SessionList, api.Empty{})
	if err != nil {
		return err
	}
	e.processes = make(map[string]api.Process, len(list.Sessions))
	for _, p := range list.Sessions {
		e.processes[p.ID] = p
	}
	e.fetched()
	return nil
}

// knownProcesses returns the sessions by id; none if fetching them fails.
func (e *engine) knownProcesses() map[string]api.Process {
	if e.processes == nil && e.fetchProcesses() != nil {
		return map[string]api.Process{}
	}
	return e.processes
}

// isAlive reports whether a pane's program runs. Until the sessions are fetched, it checks the
// program's PID and start time in /proc, sparing most calls a connection.
func (e *engine) isAlive(p *server.Pane) bool {
	if e.processes == nil {
		s, err := procstat.Read(p.PID)
		return err == nil && strconv.FormatUint(s.StartTime, 10) == p.StartTime && !s.IsZombie()
	}
	process, known := e.processes[p.Terminal]
	return known && !process.State.Ended()
}

// isAttached reports whether a client shows a pane of s. Adopted panes do not count.
func (e *engine) isAttached(s *server.Session) bool {
	for _, w := range s.Windows {
		for _, p := range w.Panes {
			if t := e.knownProcesses()[p.Terminal].Terminal; t != nil && t.Viewers > 0 && !p.Adopted {
				return true
			}
		}
	}
	return false
}

// lastActivity returns the time of the last activity in a window.
func (e *engine) lastActivity(w *server.Window) time.Time {
	last := w.Created
	for _, p := range w.Panes {
		if t := e.knownProcesses()[p.Terminal].Terminal; t != nil && t.ActiveAt.After(last) {
			last = t.ActiveAt
		}
	}
	return last
}

// exitStatus returns the exit status of a dead pane's program, and "" for a running one.
func (e *engine) exitStatus(p *server.Pane) any {
	if code := e.knownProcesses()[p.Terminal].ExitCode; code != nil && !e.isAlive(p) {
		return *code
	}
	return ""
}

func (e *engine) exitTime(p *server.Pane) any {
	if at := e.knownProcesses()[p.Terminal].ExitedAt; at != nil {
		return *at
	}
	return ""
}

// freeName returns name in a form that the engine accepts, with a number appended if another running
// session has it. The result may be empty.
func (e *engine) freeName(name string) string {
	clean := names.Clean(name)
	if clean == "" { // the engine will choose one
		return ""
	}
	taken := func(name string) bool {
		for _, p := range e.knownProcesses() {
			if p.Name == name && !p.State.Ended() {
				return true
			}
		}
		return false
	}
	free := clean
	for n := 2; taken(free); n++ {
		free = fmt.Sprintf("%s-%d", clean, n)
	}
	return free
}

// maxScrollback is larger than any session's scrollback, to request all of it.
const maxScrollback = 1 << 20

// readScreen returns the scrollback of p followed by its screen, with escape sequences if ansi is
// set.
func (e *engine) readScreen(p *server.Pane, ansi bool) (api.Screen, error) {
	return callEngine(e, api.SessionScreen, api.SessionScreenInput{ID: p.Terminal, ANSI: ansi, Scrollback: maxScrollback, Ends: true})
}
