package service

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

// An agentTerminal is a session whose agent is known from reports only.
type agentTerminal struct{ gone chan struct{} }

func (agentTerminal) IsReady(context.Context) error          { return nil }
func (agentTerminal) Rows(context.Context) ([]string, error) { return nil, nil }
func (agentTerminal) Facts() terminal.Facts                  { return terminal.Facts{} }
func (agentTerminal) Master() *os.File                       { return nil }
func (t agentTerminal) Gone() <-chan struct{}                { return t.gone }

// startAgent starts a session with an agent in a folder.
func (r *rig) startAgent(name, folder, conversation string) (api.Process, agentTerminal) {
	r.t.Helper()
	p := r.start(api.ProcessStartInput{Name: name, TTY: true})
	a := &store.Agent{Name: "claude", Process: &store.Identity{PID: fakePID}, CWD: folder, Conversation: conversation}
	session := agentTerminal{make(chan struct{})}
	r.agents.Start(p.ID, 0, a, session, nil)
	r.control.SetAgent(p.ID, a)
	return p, session
}

func TestInvalidAgentReportsAreRejected(t *testing.T) {
	r := newRig(t)
	p, _ := r.startAgent("one", "/one", "")
	r.startAgent("two", "/two", "second")
	moved, session := r.startAgent("gone", "/gone", "third")
	close(session.gone)
	locked, _ := r.startAgent("locked", "/locked", "")
	call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: locked.ID, Take: true})
	r.startAgent("twin 1", "/twins", "")
	r.startAgent("twin 2", "/twins", "")
	r.start(api.ProcessStartInput{Name: "web"})
	for _, c := range []struct {
		agent bool
		in    api.AgentReportInput
		code  api.Code // "": accepted
		want  string
	}{
		{in: api.AgentReportInput{ID: "one", State: api.AgentWorking}},
		{in: api.AgentReportInput{ID: "one", State: api.AgentBlocked, Text: strings.Repeat("x", maxReportText), Agent: "my agent"}},
		{in: api.AgentReportInput{ID: "one", Conversation: "first"}},
		{in: api.AgentReportInput{Conversation: "first", Folder: "/elsewhere", State: api.AgentDone}},
		{in: api.AgentReportInput{Conversation: "second", State: api.AgentIdle}},
		{in: api.AgentReportInput{Folder: "/locked", State: api.AgentIdle}}, // the only one there
		{in: api.AgentReportInput{Folder: "/twins", State: api.AgentDone}, code: api.CodeNotFound, want: "no session matches"},
		{agent: true, in: api.AgentReportInput{ID: "one", State: api.AgentWorking}},
		{in: api.AgentReportInput{ID: "one"}, code: api.CodeInvalid, want: "give working, blocked, done, idle or unknown"},
		{in: api.AgentReportInput{ID: "one", State: "\x1b"}, code: api.CodeInvalid, want: "report state \"\\x1b\": unknown"},
		{in: api.AgentReportInput{ID: "one", State: api.AgentDone, Text: strings.Repeat("x", maxReportText+1)}, code: api.CodeInvalid, want: "longer than 4096 bytes"},
		{in: api.AgentReportInput{ID: "one", Conversation: strings.Repeat("x", maxReportText+1)}, code: api.CodeInvalid, want: "longer than 4096 bytes"},
		{in: api.AgentReportInput{ID: "one", State: api.AgentDone, Agent: "a\nb"}, code: api.CodeInvalid, want: "must consist of printable characters"},
		{in: api.AgentReportInput{Folder: "/nowhere", State: api.AgentDone}, code: api.CodeNotFound, want: "give its id"},
		{in: api.AgentReportInput{Conversation: "third", Folder: "/gone", State: api.AgentDone}, code: api.CodeNotFound, want: "no session matches"},
		{in: api.AgentReportInput{ID: moved.ID, State: api.AgentDone}, code: api.CodeEnded, want: "report state of gone: it has exited"},
		{in: api.AgentReportInput{ID: "web", State: api.AgentDone}, code: api.CodeNotFound, want: "web"},
		{agent: true, in: api.AgentReportInput{ID: "locked", State: api.AgentDone}, code: api.CodeLocked, want: "the user has taken the keyboard"},
	} {
		by := r.client
		if c.agent {
			by = r.agent()
		}
		if c.code != "" {
			wantError(t, by, api.AgentReport, c.in, c.code, c.want)
		} else if err := callError(t, by, api.AgentReport, c.in); err != nil {
			t.Errorf("%+v: %v", c.in, err)
		}
	}
	if e := call(t, r, api.AgentExplain, api.IDInput{ID: "one"}); e.Session != p.ID || e.Agent == nil || e.Agent.State != api.AgentWorking || e.Agent.Conversation != "first" {
		t.Errorf("explained as %+v", e)
	}
	wantError(t, r, api.AgentExplain, api.IDInput{ID: "gone"}, api.CodeEnded, "it has exited")
	wantError(t, r, api.AgentSeen, api.AgentSeenInput{ID: "gone"}, api.CodeEnded, "it has exited")
	call(t, r, api.AgentSeen, api.AgentSeenInput{ID: "one"})
}

func TestAgentWaitIsMetByAState(t *testing.T) {
	r := newRig(t)
	one, _ := r.startAgent("one", "/one", "")
	two, _ := r.startAgent("two", "/two", "")
	for _, c := range []struct {
		in   api.AgentWaitInput
		code api.Code
	}{
		{api.AgentWaitInput{}, api.CodeInvalid},
		{api.AgentWaitInput{States: []api.AgentState{"asleep"}}, api.CodeInvalid},
		{api.AgentWaitInput{States: []api.AgentState{api.AgentDone}, TimeoutMS: -1}, api.CodeInvalid},
		{api.AgentWaitInput{States: []api.AgentState{api.AgentDone}, IDs: []string{"one", "none"}}, api.CodeNotFound},
	} {
		wantError(t, r, api.AgentWait, c.in, c.code, "")
	}
	done := []api.AgentState{api.AgentDone, api.AgentIdle}
	if out := call(t, r, api.AgentWait, api.AgentWaitInput{States: done, TimeoutMS: 1}); out.Process != nil || out.Ended {
		t.Errorf("nothing in time: %+v", out)
	}
	waits := map[string]api.AgentWaitInput{
		"any": {States: done}, "both": {States: done, IDs: []string{"one", "two"}}, "two": {States: done, IDs: []string{two.ID}},
		"two, later": {States: done, IDs: []string{"two"}, After: time.Now().Add(-time.Hour)},
	}
	met := make(chan string)
	for name, in := range waits {
		go func() {
			out, err := api.AgentWait.Call(t.Context(), r, in)
			if err != nil || out.Ended || out.Process == nil || out.Process.ID != two.ID || out.Process.Agent.State != api.AgentDone {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
			met <- name
		}()
	}
	call(t, r, api.AgentReport, api.AgentReportInput{ID: "one", State: api.AgentWorking})
	call(t, r, api.AgentReport, api.AgentReportInput{ID: "two", State: api.AgentDone})
	for range waits {
		<-met
	}
	if out := call(t, r, api.AgentWait, api.AgentWaitInput{States: done, After: time.Now().Add(time.Hour), TimeoutMS: 1}); out.Process != nil {
		t.Errorf("an earlier state counts: %+v", out)
	}
	// With ids given, the wait ends once all of their sessions have.
	ended := make(chan api.AgentWaitOutput)
	go func() {
		out, err := api.AgentWait.Call(t.Context(), r, api.AgentWaitInput{States: []api.AgentState{api.AgentBlocked}, IDs: []string{"one", "two"}})
		if err != nil {
			t.Error(err)
		}
		ended <- out
	}()
	for _, p := range []api.Process{one, two} {
		call(t, r, api.SessionKill, api.IDInput{ID: p.ID})
	}
	if out := <-ended; !out.Ended || out.Process != nil {
		t.Errorf("all have ended: %+v", out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &CodingAgents{Control: r.control, Agents: r.agents}
	if _, err := s.waitForAgent(ctx, api.AgentWaitInput{States: done}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
