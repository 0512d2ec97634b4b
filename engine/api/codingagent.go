package api

import (
	"slices"
	"time"
)

// The operations about coding agents in sessions.
var (
	AgentReport = NewOperation[AgentReportInput, Empty]("agent.report",
		"Reports the state of the coding agent in a session.", Write,
		// It is never repeated, because a late report would hide a newer one.
		Row[AgentReportInput]{Access: Changing, Repeat: RepeatNever, IDs: (*AgentReportInput).ids})
	AgentExplain = NewOperation[IDInput, AgentExplainOutput]("agent.explain",
		"Explains how the state of a session's coding agent was determined.", Read,
		Row[IDInput]{Access: Unrestricted, IDs: (*IDInput).ids})
	AgentSeen = NewOperation[AgentSeenInput, Empty]("agent.seen",
		"Records that the user has seen the finished work of a session's coding agent.", Write,
		Row[AgentSeenInput]{Access: UserOnly, Repeat: RepeatAlways, IDs: (*AgentSeenInput).ids})
	AgentWait = NewOperation[AgentWaitInput, AgentWaitOutput]("agent.wait",
		"Waits until the coding agent of one of the sessions reaches one of the states.", Read,
		Row[AgentWaitInput]{Access: Unrestricted, IDs: (*AgentWaitInput).ids})
)

// An AgentState is what a coding agent is doing.
type AgentState string

const (
	AgentWorking AgentState = "working"
	AgentBlocked AgentState = "blocked" // needs the user
	AgentDone    AgentState = "done"    // has finished a task and waits for the next one
	AgentIdle    AgentState = "idle"    // waits for its first task
	AgentUnknown AgentState = "unknown"
)

// AgentStates returns all states, most urgent first.
func AgentStates() []AgentState {
	return []AgentState{AgentBlocked, AgentWorking, AgentDone, AgentIdle, AgentUnknown}
}

func IsAgentState(s AgentState) bool { return slices.Contains(AgentStates(), s) }

// A CodingAgent is the coding agent in a session, with its state.
type CodingAgent struct {
	Name         string     `json:"name" jsonschema:"claude, codex, …, or the name reported by a script"`
	State        AgentState `json:"state" jsonschema:"working, blocked (needs the user), done, idle or unknown"`
	Text         string     `json:"text,omitempty" jsonschema:"question of a blocked agent, if visible"`
	Source       string     `json:"source,omitempty" jsonschema:"source of the state: report (hooks, scripts), file, progress, title, screen or reads; empty: none"`
	Since        time.Time  `json:"since,omitzero" jsonschema:"when it entered this state"`
	Seen         bool       `json:"seen,omitempty" jsonschema:"the user has seen the finished work of a done agent"`
	Conversation string     `json:"conversation,omitempty" jsonschema:"the agent's own id of its conversation, if it reports one"`
	Cost         string     `json:"cost,omitempty" jsonschema:"cost of the conversation so far, as shown by the agent, with its currency"`
}

// NeedsAttention reports whether the agent is blocked, or done without the user having seen it.
func (a *CodingAgent) NeedsAttention() bool {
	return a != nil && (a.State == AgentBlocked || a.State == AgentDone && !a.Seen)
}

// AgentSeenInput is the input of agent.seen.
type AgentSeenInput struct {
	ID    string    `json:"id" jsonschema:"id, unique prefix of an id, or name of the session"`
	Since time.Time `json:"since" jsonschema:"value of the agent's \"since\" when the user looked; work finished later stays unseen"`
}

// AgentReportInput is the input of agent.report.
type AgentReportInput struct {
	ID           string     `json:"id,omitempty" jsonschema:"id, unique prefix of an id, or name of the session"`
	Folder       string     `json:"folder,omitempty" jsonschema:"instead of \"id\": selects the session with this \"conversation\", or else the only session with an agent that was started in this folder and has reported no conversation"`
	State        AgentState `json:"state,omitempty" jsonschema:"working, blocked, done or idle; unknown withdraws the last report; default: no change"`
	Text         string     `json:"text,omitempty" jsonschema:"question of a blocked agent"`
	Agent        string     `json:"agent,omitempty" jsonschema:"name of the agent, for programs not recognised as an agent"`
	Conversation string     `json:"conversation,omitempty" jsonschema:"the agent's own id of its conversation"`
}

// AgentExplainOutput is the output of agent.explain.
type AgentExplainOutput struct {
	Session string       `json:"session" jsonschema:"id of the session"`
	Name    string       `json:"name,omitempty" jsonschema:"name of the session"`
	Agent   *CodingAgent `json:"agent" jsonschema:"null if no agent was recognised"`
	PID     int          `json:"pid,omitempty" jsonschema:"process id of the agent"`
	Lines   bool         `json:"lines,omitempty" jsonschema:"the agent's terminal is in line mode: it receives input only after enter"`
	Yes     string       `json:"yes,omitempty" jsonschema:"name of the key that accepts a blocked agent's question, if the screen shows one"`
	No      string       `json:"no,omitempty" jsonschema:"name of the key that declines the question"`
	Sources []string     `json:"sources,omitempty" jsonschema:"origins of the rules that recognised it"`
	Words   []AgentWord  `json:"words,omitempty" jsonschema:"last state from each source, most trusted first"`

	Transcript *AgentTranscript `json:"transcript,omitempty" jsonschema:"the file with its conversation, if known"`
}

// An AgentTranscript is the file in which an agent keeps its conversation, with one JSON entry in
// each line.
type AgentTranscript struct {
	Path   string            `json:"path" jsonschema:"absolute path"`
	Answer map[string]string `json:"answer,omitempty" jsonschema:"fields, with their values, that mark an entry as the agent's answer; a.b is a nested field"`
	Text   string            `json:"text" jsonschema:"the field of an answer that contains the text, or a list of parts with text"`
}

// An AgentWord is the state of an agent according to one source.
type AgentWord struct {
	Source  string     `json:"source" jsonschema:"report, file, progress, title, screen or reads"`
	State   AgentState `json:"state" jsonschema:"the state according to this source"`
	Text    string     `json:"text,omitempty" jsonschema:"the question according to this source"`
	At      time.Time  `json:"at" jsonschema:"when the source reported this"`
	Decides bool       `json:"decides,omitempty" jsonschema:"this source determined the state"`
}

// AgentWaitInput is the input of agent.wait.
type AgentWaitInput struct {
	IDs       []string     `json:"ids,omitempty" jsonschema:"ids or names of sessions; default all"`
	States    []AgentState `json:"states" jsonschema:"any of working, blocked, done and idle"`
	After     time.Time    `json:"after,omitzero" jsonschema:"only states entered after this time"`
	TimeoutMS int          `json:"timeout_ms,omitempty" jsonschema:"milliseconds to wait; default and maximum 50000 per call"`
}

// AgentWaitOutput is the output of agent.wait.
type AgentWaitOutput struct {
	Process *Process `json:"process" jsonschema:"the session whose agent is in one of these states; null after the timeout, and if all sessions have exited"`
	Ended   bool     `json:"ended,omitempty" jsonschema:"all of the sessions have exited"`
}
