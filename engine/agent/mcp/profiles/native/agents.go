package native

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/screen/vt/scan"
)

// promptWaitMS is how long agent_prompt waits for the agent to start working.
const promptWaitMS = 3000

// agentTools returns the tools for coding agents in sessions.
func agentTools() []toolkit.Tool {
	only := []toolkit.Profile{toolkit.Native}
	return []toolkit.Tool{
		toolkit.Define[toolkit.None, toolkit.None](toolkit.Tool{Name: "agent_list", Effect: api.Read, Profiles: only, RulesLike: "session_list",
			Doc: "List coding agents in sessions."}, listAgents),
		toolkit.Define[agentWaitInput, toolkit.None](toolkit.Tool{Name: "agent_wait", Effect: api.Read, Profiles: only, RulesLike: "session_wait",
			Doc: "Wait until an agent is blocked or done, or already was."}, waitForAgents),
		toolkit.Define[agentPromptInput, toolkit.None](toolkit.Tool{Name: "agent_prompt", Effect: api.Destructive, Profiles: only, RulesLike: "session_write",
			Doc: "Prompt an agent that is not blocked; wait_ms: wait for it to be done or blocked."}, promptAgent),
		toolkit.Define[toolkit.IDInput, toolkit.None](toolkit.Tool{Name: "agent_transcript", Effect: api.Read, Profiles: only, RulesLike: "session_screen",
			Doc: "An agent's last answer."}, readTranscript),
	}
}

// listAgents lists the running agents, those in need of attention first.
func listAgents(ctx context.Context, f *toolkit.Agent, _ toolkit.None) (toolkit.Result, error) {
	running, err := runningAgents(ctx, f)
	if err != nil || len(running) == 0 {
		return toolkit.Text(noAgent), err
	}
	order := api.AgentStates()
	slices.SortStableFunc(running, func(x, y api.Process) int {
		return slices.Index(order, x.Agent.State) - slices.Index(order, y.Agent.State)
	})
	branches := make(map[string]string)
	var lines []string
	for _, p := range running {
		if _, known := branches[p.CWD]; !known {
			scope, path := f.PathInScope(p.CWD)
			git, _ := api.FilesGit.Call(api.WithoutAsking(ctx), f.Engine, api.FilesGitInput{FileScope: scope, Path: path}) // no branch outside a repository or the agent's folders
			branches[p.CWD] = git.Branch
		}
		lines = append(lines, agentLine(p, branches[p.CWD], time.Now()))
	}
	return toolkit.Text(toolkit.HeadAndTail(strings.Join(lines, "\n"), toolkit.DefaultBodySize, "agent_wait reports on one")), nil
}

const noAgent = "No coding agent runs in a session."

// runningAgents returns the sessions with a running coding agent.
func runningAgents(ctx context.Context, f *toolkit.Agent) ([]api.Process, error) {
	out, err := api.SessionList.Call(ctx, f.Engine, api.Empty{})
	return slices.DeleteFunc(out.Sessions, func(p api.Process) bool { return p.Agent == nil }), err
}

// agentLine describes an agent in one line.
func agentLine(p api.Process, branch string, now time.Time) string {
	a := p.Agent
	line := fmt.Sprintf("%s  %s  %s  %s", p.ID, p.Name, scan.Visible(a.Name), a.State)
	if !a.Since.IsZero() {
		line += " for " + max(0, now.Sub(a.Since)).Round(time.Second).String()
	}
	line += "  " + scan.Visible(p.CWD)
	if branch != "" {
		line += " on " + scan.Visible(branch)
	}
	if a.Conversation != "" {
		line += "  conversation " + scan.Visible(a.Conversation)
	}
	if a.Cost != "" {
		line += "  cost " + scan.Visible(a.Cost)
	}
	return line + questionSuffix(a)
}

// questionSuffix returns a blocked agent's question, after a colon.
func questionSuffix(a *api.CodingAgent) string {
	if a.Text == "" {
		return ""
	}
	return ": " + toolkit.PlainText(a.Text)
}

// agentState describes an agent's state in a sentence.
func agentState(p api.Process) string {
	return fmt.Sprintf("%s in %s (%s) is %s%s", scan.Visible(p.Agent.Name), p.Name, p.ID, p.Agent.State, questionSuffix(p.Agent))
}

type agentWaitInput struct {
	IDs       []string         `json:"ids,omitempty"`
	States    []api.AgentState `json:"states,omitempty" enum:"working,blocked,done,idle" schema:"-"`
	TimeoutMS int              `json:"timeout_ms,omitempty"`
}

func waitForAgents(ctx context.Context, f *toolkit.Agent, in agentWaitInput) (toolkit.Result, error) {
	if len(in.States) == 0 {
		in.States = []api.AgentState{api.AgentBlocked, api.AgentDone}
	}
	if len(in.IDs) == 0 {
		running, err := runningAgents(ctx, f)
		if err != nil || len(running) == 0 {
			return toolkit.Text(noAgent), err
		}
	}
	out, err := awaitAgent(ctx, f, api.AgentWaitInput{IDs: in.IDs, States: in.States}, in.TimeoutMS)
	switch {
	case err != nil:
		return toolkit.Result{}, err
	case out.Process != nil:
		return toolkit.Text(agentState(*out.Process)).ForProcess(out.Process.ID), nil
	case out.Ended:
		return toolkit.Text("Those sessions have exited."), nil
	}
	return toolkit.Textf("Timed out; none is %s.", joinStates(in.States)), nil
}

func joinStates(states []api.AgentState) string {
	var names []string
	for _, s := range states {
		names = append(names, string(s))
	}
	return strings.Join(names, " or ")
}

func awaitAgent(ctx context.Context, f *toolkit.Agent, ask api.AgentWaitInput, timeoutMS int) (api.AgentWaitOutput, error) {
	return toolkit.WaitInTurns(timeoutMS, func(turnMS int) (api.AgentWaitOutput, bool, error) {
		ask.TimeoutMS = turnMS
		out, err := api.AgentWait.Call(ctx, f.Engine, ask)
		return out, out.Process != nil || out.Ended, err
	})
}

type agentPromptInput struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	WaitMS int    `json:"wait_ms,omitempty"`
}

func (in agentPromptInput) Subject(*toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: in.Text, Session: in.ID}
}

// promptAgent types a task into an agent's session. The engine rejects it while the user has locked
// the keyboard.
func promptAgent(ctx context.Context, f *toolkit.Agent, in agentPromptInput) (toolkit.Result, error) {
	if strings.TrimSpace(in.Text) == "" {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "prompt agent: text is empty")
	}
	p, _, err := findAgent(ctx, f, in.ID, "prompt")
	if err != nil {
		return toolkit.Result{}, err
	}
	if p.Agent.State == api.AgentBlocked {
		return toolkit.Result{}, api.Errorf(api.CodeConflict, "prompt %s: it is blocked%s", p.Name, questionSuffix(p.Agent)).
			WithHint("the user must answer it; agent_wait waits until they have")
	}
	if p.Agent.State == api.AgentUnknown {
		return toolkit.Result{}, api.Errorf(api.CodeConflict, "prompt %s: its agent's state is unknown, so it may not take a prompt", p.Name).
			WithHint("session_screen shows it; session_write types into it anyway")
	}
	// Enter goes separately: inside a paste it would be part of the text.
	for _, w := range []api.SessionWriteInput{{ID: p.ID, Paste: in.Text}, {ID: p.ID, Keys: []string{"enter"}}} {
		if err := api.TypeInto(ctx, f.Engine, w); err != nil {
			return toolkit.Result{}, err
		}
	}
	ask := api.AgentWaitInput{IDs: []string{p.ID}, States: api.AgentStates(), After: p.Agent.Since}
	if in.WaitMS != 0 {
		ask.States = []api.AgentState{api.AgentBlocked, api.AgentDone}
	}
	out, err := awaitAgent(ctx, f, ask, cmp.Or(in.WaitMS, promptWaitMS))
	switch {
	case err != nil:
		return toolkit.Result{}, err
	case out.Process != nil:
		return toolkit.Text("Prompted; " + agentState(*out.Process)).ForProcess(p.ID), nil
	case out.Ended:
		return toolkit.Text("Prompted; the session has exited.").ForProcess(p.ID), nil
	}
	// The wait timed out; report the present state.
	if p, _, err = findAgent(ctx, f, p.ID, "prompt"); err != nil {
		return toolkit.Result{}, err
	}
	how := "Prompted; "
	if in.WaitMS != 0 {
		how += "timed out: "
	}
	return toolkit.Text(how + agentState(p)).ForProcess(p.ID), nil
}

// findAgent returns a session with a coding agent, and the agent's transcript. verb starts the error.
func findAgent(ctx context.Context, f *toolkit.Agent, id, verb string) (p api.Process, transcript *api.AgentTranscript, err error) {
	known, err := api.AgentExplain.Call(ctx, f.Engine, api.IDInput{ID: id})
	p = api.Process{ID: known.Session, Name: cmp.Or(known.Name, id), Agent: known.Agent}
	if err == nil && p.Agent == nil {
		err = api.Errorf(api.CodeNotFound, "%s %s: no coding agent runs in it", verb, p.Name).WithHint("agent_list lists the sessions with a coding agent")
	}
	return p, known.Transcript, err
}
