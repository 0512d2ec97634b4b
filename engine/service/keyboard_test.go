package service

import (
	"io"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestUserLocksTheKeyboardAgainstAgents(t *testing.T) {
	r := newRig(t)
	p, slave := r.startTerminal(api.SessionStartInput{Name: "shell", Cols: 80, Rows: 24})
	agent := r.agent()
	if err := typeText(t, agent, p.ID, "a"); err != nil || readInput(t, slave, 1) != "a" {
		t.Errorf("before the lock: %v", err)
	}
	if typist := r.get(p.ID).Terminal.Typist; typist != "claude" {
		t.Errorf("typist %q", typist)
	}
	if view := call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true}); view.Terminal.Keyboard != "test" {
		t.Errorf("%+v", view.Terminal)
	}
	yes := true
	for what, err := range map[string]error{
		"run":      callError(t, agent, api.SessionExec, api.SessionExecInput{ID: p.ID, Command: "true"}),
		"type":     typeText(t, agent, p.ID, "x"),
		"resize":   callError(t, agent, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: 40, Rows: 10}),
		"rename":   callError(t, agent, api.SessionRename, api.SessionRenameInput{ID: p.ID, Name: "mine"}),
		"kill":     callError(t, agent, api.SessionKill, api.IDInput{ID: p.ID}),
		"stop":     callError(t, agent, api.ProcessStop, api.ProcessStopInput{ID: p.ID}),
		"restart":  callError(t, agent, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID}),
		"remove":   callError(t, agent, api.ProcessRemove, api.IDInput{ID: p.ID}),
		"signal":   callError(t, agent, api.ProcessSignal, api.ProcessSignalInput{ID: p.ID, Signal: "KILL"}),
		"update":   callError(t, agent, api.ProcessUpdate, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &yes}),
		"stop all": callError(t, agent, api.ProcessStopAll, api.ProcessStopAllInput{Sessions: true}),
	} {
		if e := api.AsError(err); e == nil || e.Code != api.CodeLocked || !strings.HasPrefix(e.Message, "locked_by_user: ") || e.Hint == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if p := r.get(p.ID); p.State != api.StateRunning || p.Name != "shell" || p.Terminal.Cols != 80 || p.KeepAlive {
		t.Errorf("after what was refused it is %+v, %+v", p, p.Terminal)
	}
	if err := typeText(t, r.client, p.ID, "u"); err != nil || readInput(t, slave, 1) != "u" {
		t.Errorf("the user types: %v", err)
	}
	if typist := r.get(p.ID).Terminal.Typist; typist != "test" {
		t.Errorf("typist %q", typist)
	}
	if view := call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID}); view.Terminal.Keyboard != "" {
		t.Errorf("%+v", view.Terminal)
	}
	if err := typeText(t, agent, p.ID, "b"); err != nil || readInput(t, slave, 1) != "b" {
		t.Errorf("after the lock: %v", err)
	}
}

func (r *rig) get(id string) api.Process {
	r.t.Helper()
	return call(r.t, r, api.ProcessGet, api.IDInput{ID: id})
}

// A fakeViewer is the connection of a viewer.
type fakeViewer struct {
	in  chan api.Input
	out chan api.Output
}

func (v fakeViewer) Resume(api.InputState) {}

func (v fakeViewer) Receive() (api.Input, error) {
	in, ok := <-v.in
	if !ok {
		return in, io.EOF
	}
	return in, nil
}

func (v fakeViewer) Send(out api.Output) error {
	v.out <- out
	return nil
}

// sync returns once the engine has handled everything that was sent before.
func (v fakeViewer) sync() {
	v.in <- api.Input{Lines: &api.LineRange{Count: 1}}
	for out := range v.out {
		if out.Lines != nil {
			return
		}
	}
}

func TestAgentsCannotResizeATerminalWithALockedKeyboard(t *testing.T) {
	r := newRig(t)
	p, _ := r.startTerminal(api.SessionStartInput{})
	session, _, err := r.control.OpenSession(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	watching := fakeViewer{make(chan api.Input), make(chan api.Output, 1000)}
	left := make(chan error)
	go func() {
		left <- session.Attach(api.WithCaller(t.Context(), api.Caller{Name: "agent:claude", Owner: "x"}), api.AttachOptions{Cols: 50, Rows: 20}, false, watching)
	}()
	defer func() {
		close(watching.in)
		<-left
	}()
	want := func(cols, rows int) {
		t.Helper()
		if c, r := session.Size(); c != cols || r != rows {
			t.Errorf("size %d×%d, want %d×%d", c, r, cols, rows)
		}
	}
	watching.sync()
	want(50, 20)
	call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true})
	call(t, r, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: 90, Rows: 30})
	watching.in <- api.Input{Resize: &api.Size{Cols: 60, Rows: 20}}
	watching.sync()
	want(90, 30)
	call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID})
	want(60, 20)
}
