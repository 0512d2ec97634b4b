package native

import (
	"fmt"
	"testing"
	"time"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/api"
)

func TestListsShowWhatRunsAndTheLastExits(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	f.Actor, f.Owner = "agent:me/1", "own"
	code, now, old := 3, time.Now(), time.Now().Add(-2*recentTime)
	ofOne := &api.Supervision{Transient: true}
	all := []api.Process{
		{ID: "a", Name: "web", Kind: api.KindProcess, State: api.StateRunning, PID: 7, Command: "serve", KeepAlive: true, CWD: "/src",
			StartedAt: now.Add(-3 * time.Minute), Actor: "agent:me/1", Owner: &api.Ownership{Client: "own"}, Supervision: &api.Supervision{Automatic: 2}},
		{ID: "b", Name: "old", Kind: api.KindProcess, State: api.StateExited, ExitCode: &code, ExitedAt: &old, StartedAt: old, Command: "x", CWD: "/", Actor: "person"},
		{ID: "c", Name: "new", Kind: api.KindProcess, State: api.StateStopped, ExitSignal: "SIGTERM", EndedBy: "agent:other/2", ExitedAt: &now, StartedAt: now, Command: "y",
			CWD: "/new\nline", Actor: "agent:me/1", Owner: &api.Ownership{Client: "before", Left: true}, From: "other"},
		{ID: "d", Name: "left", Kind: api.KindProcess, State: api.StateExited, ExitCode: &code, ExitedAt: &old, StartedAt: old, Command: "z &", CWD: "/", Actor: "agent:me/1",
			Owner: &api.Ownership{Client: "twin"}, Metrics: &api.Metrics{Processes: 2, LeftPIDs: []int{8, 9}}, Supervision: ofOne},
		{ID: "e", Name: "done", Kind: api.KindProcess, State: api.StateExited, ExitCode: &code, ExitedAt: &now, Supervision: ofOne},
		{ID: "f", Name: "lost", Kind: api.KindProcess, State: api.StateExited, ExitCode: &code, ExitedAt: &now, StartedAt: now, CWD: "/", Actor: "agent:me/1",
			Owner: &api.Ownership{Client: "before", Left: true}, Supervision: &api.Supervision{Transient: true, Unanswered: true}, Command: "make"},
		{ID: "g", Name: "cut", Kind: api.KindProcess, State: api.StateStopped, ExitSignal: "SIGTERM", EndedBy: "person", ExitedAt: &now, StartedAt: now, CWD: "/",
			Actor: "agent:me/1", Owner: &api.Ownership{Client: "own"}, Supervision: ofOne, Command: "sleep"},
		{ID: "h", Name: "own", Kind: api.KindProcess, State: api.StateStopped, ExitSignal: "SIGTERM", EndedBy: "agent:me/1", ExitedAt: &now, Supervision: ofOne},
	}
	mcptest.Handle(f.Fake, api.ProcessList, func(in api.ProcessListInput) (api.ProcessListOutput, error) {
		if !in.Metrics {
			t.Error("what exited processes left running is not asked for")
		}
		return api.ProcessListOutput{Processes: all}, nil
	})
	const web = "a  web  running, pid 7, 2 restarts, keepAlive  started 3m ago by you in /src  serve\n"
	const oldest = "b  old  exited, exit code 3  started 2h00m ago by the user in /  x\n"
	const recent = "c  new  stopped by other/2, ended by SIGTERM  started 0s ago by an earlier connection of yours from other in \"/new\\nline\"  y\n" +
		"d  left  exited, exit code 3, left running: pid 8, 9  started 2h00m ago by me/1 (another connection) in /  z &\n" +
		"f  lost  exited, exit code 3  started 0s ago by an earlier connection of yours in /  make\n" +
		"g  cut  stopped by the user, ended by SIGTERM  started 0s ago by you in /  sleep"
	f.Check("process_list", `{}`, web+recent+"\n[1 exited earlier; all lists them]", false)
	f.Check("process_list", `{"all":true}`, web+oldest+recent, false)
	all = nil
	f.Check("process_list", `{}`, "No processes.", false)
	var sessions []api.Process
	mcptest.Handle(f.Fake, api.SessionList, func(api.Empty) (api.SessionListOutput, error) { return api.SessionListOutput{Sessions: sessions}, nil })
	f.Check("session_list", `{}`, "No sessions.", false)
	sessions = []api.Process{
		{ID: "s", Name: "sh", Kind: api.KindSession, State: api.StateRunning, CWD: "/src", Actor: "person", StartedAt: now, Command: "bash", Terminal: &api.Terminal{Waiting: "input", Keyboard: "person"}},
		{ID: "t", Name: "top", Kind: api.KindSession, State: api.StateStopped, CWD: "/src", Actor: "agent:me/1", EndedBy: "person", StartedAt: now, ExitedAt: &now, ExitCode: &code, Command: "top", Terminal: &api.Terminal{}},
	}
	f.Check("session_list", `{}`, "s  sh  running  started 0s ago by the user in /src  bash  (waits: input)  (locked by person)\n"+
		"t  top  stopped by the user, exit code 3  started 0s ago by me/1 in /src  top", false)
}

func TestHistoryContinuesAtAnOffset(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	code := 1
	rows := []api.HistoryRow{{Command: api.Command{Command: "make\ntest", Actor: "person", CWD: "/src", StartedAt: at, ExitCode: &code, DurationMS: 1500}, Runs: 2}}
	mcptest.Handle(f.Fake, api.HistorySearch, func(in api.HistorySearchInput) (api.HistorySearchOutput, error) {
		return api.HistorySearchOutput{Rows: rows, Total: 4}, nil
	})
	f.Check("history", `{"offset":1}`, "2026-01-02 03:04:05  exit 1  1.5s  person  /src ×2  make\n    test\n[2 more; use offset=2]", false)
	rows = nil
	f.Check("history", `{"offset":9}`, "Nothing from offset 9 on; the total is 4.", false)
}

func TestMachineListStatesWhetherMachinesCanBeUsed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	seen := now.Add(-time.Minute)
	for _, tc := range []struct {
		m    api.Machine
		want string
	}{
		{api.Machine{Name: "a", State: api.MachineConnected, Version: "1.2.3", RTTMS: 12.4}, "a  connected, tandem 1.2.3, 12 ms"},
		{api.Machine{Name: "a", State: api.MachineAway, LastSeen: &seen, Error: "no route"}, "a  away, last seen 1m0s ago: no route"},
		{api.Machine{Name: "a", State: api.MachineNeedsYou}, "a  needs the user: `tandem machine connect a`"},
	} {
		if got := machineLine(tc.m, now); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
	f := newAgent(t)
	mcptest.Handle(f.Fake, api.MachineList, func(api.MachineListInput) (out api.MachineListOutput, err error) { return out, nil })
	f.Check("machine_list", `{}`, "No other machines.", false)
}

// serveAgent makes the engine know a session with an agent in a state.
func serveAgent(f *mcptest.Agent, state api.AgentState, text string) {
	mcptest.Handle(f.Fake, api.AgentExplain, func(in api.IDInput) (api.AgentExplainOutput, error) {
		out := api.AgentExplainOutput{Session: session, Name: "work"}
		if state != "" {
			out.Agent = &api.CodingAgent{Name: "claude", State: state, Text: text}
		}
		return out, nil
	})
}

func TestPromptNeedsAnAgentReadyForIt(t *testing.T) {
	t.Parallel()
	for state, want := range map[api.AgentState]string{
		"":               "prompt work: no coding agent runs in it\nhint: agent_list lists the sessions with a coding agent",
		api.AgentBlocked: "prompt work: it is blocked: Sure?\nhint: the user must answer it; agent_wait waits until they have",
		api.AgentUnknown: "prompt work: its agent's state is unknown, so it may not take a prompt\nhint: session_screen shows it; session_write types into it anyway",
	} {
		f := newAgent(t)
		serveAgent(f, state, "Sure?")
		f.Check("agent_prompt", `{"id":"work","text":"do it"}`, want, true)
	}
	newAgent(t).Check("agent_prompt", `{"id":"work","text":" "}`, "prompt agent: text is empty", true)
}

func TestPromptIsPastedAndEntered(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	serveAgent(f, api.AgentIdle, "")
	var typed []string
	mcptest.Handle(f.Fake, api.SessionWrite, func(in api.SessionWriteInput) (api.SessionWriteOutput, error) {
		typed = append(typed, fmt.Sprint(in.Paste, in.Keys))
		return api.SessionWriteOutput{}, nil
	})
	var reply api.AgentWaitOutput
	mcptest.Handle(f.Fake, api.AgentWait, func(in api.AgentWaitInput) (api.AgentWaitOutput, error) { return reply, nil })
	for want, out := range map[string]api.AgentWaitOutput{
		"Prompted; claude in work (aaaaaaaaaaaa) is working": {Process: &api.Process{ID: session, Name: "work", Agent: &api.CodingAgent{Name: "claude", State: api.AgentWorking}}},
		"Prompted; the session has exited.":                  {Ended: true},
	} {
		typed, reply = nil, out
		f.Check("agent_prompt", `{"id":"work","text":"do it"}`, want, false)
		if fmt.Sprint(typed) != "[do it[] [enter]]" {
			t.Errorf("typed is %q", typed)
		}
	}
}

func TestAgentWaitReportsTheFirstAgent(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	var sessions []api.Process
	mcptest.Handle(f.Fake, api.SessionList, func(api.Empty) (api.SessionListOutput, error) { return api.SessionListOutput{Sessions: sessions}, nil })
	f.Check("agent_wait", `{}`, noAgent, false)
	f.Check("agent_list", `{}`, noAgent, false)
	sessions = []api.Process{{ID: session, Agent: &api.CodingAgent{Name: "claude"}}}
	mcptest.Handle(f.Fake, api.AgentWait, func(in api.AgentWaitInput) (api.AgentWaitOutput, error) {
		return api.AgentWaitOutput{}, nil
	})
	f.Check("agent_wait", `{"timeout_ms":1}`, "Timed out; none is blocked or done.", false)
	mcptest.Handle(f.Fake, api.AgentWait, func(in api.AgentWaitInput) (api.AgentWaitOutput, error) {
		return api.AgentWaitOutput{Ended: true}, nil
	})
	f.Check("agent_wait", `{"ids":["x"]}`, "Those sessions have exited.", false)
}

func TestAgentListShowsBranchesOnce(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	of := func(id string, state api.AgentState) api.Process {
		return api.Process{ID: id, Name: id, CWD: "/src", Agent: &api.CodingAgent{Name: "claude", State: state, Cost: "$1"}}
	}
	mcptest.Handle(f.Fake, api.SessionList, func(api.Empty) (api.SessionListOutput, error) {
		return api.SessionListOutput{Sessions: []api.Process{of("a", api.AgentIdle), {ID: "sh"}, of("b", api.AgentBlocked)}}, nil
	})
	calls := 0
	mcptest.Handle(f.Fake, api.FilesGit, func(api.FilesGitInput) (api.FilesGitOutput, error) {
		calls++
		return api.FilesGitOutput{Branch: "main"}, nil
	})
	f.Check("agent_list", `{}`, "b  b  claude  blocked  /src on main  cost $1\na  a  claude  idle  /src on main  cost $1", false)
	if calls != 1 {
		t.Errorf("%d calls for one folder", calls)
	}
}
