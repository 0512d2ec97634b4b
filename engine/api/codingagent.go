package api

import (
	"slices"
	"time"
)

// The operations about coding agents that run in sessions.
var (
	AgentReport = NewOperation[AgentReportInput, Empty]("agent.report",
		"Says what the coding agent in a session is doing.", Write)
	AgentExplain = NewOperation[IDInput, AgentExplainOutput]("agent.explain",
		"Tells what the state of a session's coding agent was decided from.", Read)
	AgentSeen = NewOperation[AgentSeenInput, Empty]("agent.seen",
		"Notes that the user has looked at what the coding agent in a session has done.", Write)
	AgentWait = NewOperation[AgentWaitInput, AgentWaitOutput]("agent.wait",
		"Waits until the coding agent of one of some sessions is in one of some states.", Read)
)

// An AgentState is what a coding agent is doing.
type AgentState string

const (
	AgentWorking AgentState = "working"
	AgentBlocked AgentState = "blocked" // it needs a person
	AgentDone    AgentState = "done"    // it has worked, and waits for the next task
	AgentIdle    AgentState = "idle"    // it waits for its first task
	AgentUnknown AgentState = "unknown"
)

// AgentStates are all of them, those first that a person should see first.
func AgentStates() []AgentState {
	return []AgentState{AgentBlocked, AgentWorking, AgentDone, AgentIdle, AgentUnknown}
}

// IsAgentState reports whether there is such a state.
func IsAgentState(s AgentState) bool { return slices.Contains(AgentStates(), s) }

// A CodingAgent is the agent in a session, and what it is doing.
type CodingAgent struct {
	Name         string     `json:"name" jsonschema:"claude, codex, … ; of a script the name that it reported"`
	State        AgentState `json:"state" jsonschema:"working, blocked (it needs a person), done, idle or unknown"`
	Text         string     `json:"text,omitempty" jsonschema:"of blocked: what it asks, where that can be seen"`
	Source       string     `json:"source,omitempty" jsonschema:"who says so: report (hooks, scripts), file, progress, title, screen or reads; empty: nobody"`
	Since        time.Time  `json:"since,omitzero" jsonschema:"when it came to be in that state"`
	Seen         bool       `json:"seen,omitempty" jsonschema:"of done: the user has looked at it since"`
	Conversation string     `json:"conversation,omitempty" jsonschema:"the agent's own id of its conversation, where it tells one"`
	Cost         string     `json:"cost,omitempty" jsonschema:"what the conversation has cost so far, as the agent shows it, with its currency"`
}

// Wants reports whether a person is needed: it is blocked, or done and nobody has looked
// at that.
func (a *CodingAgent) Wants() bool {
	return a != nil && (a.State == AgentBlocked || a.State == AgentDone && !a.Seen)
}

// AgentSeenInput is the input of agent.seen.
type AgentSeenInput struct {
	ID    string    `json:"id" jsonschema:"id or name of the session, or the beginning of one that no other has"`
	Since time.Time `json:"since" jsonschema:"of the agent, as it was seen; what it has done since then stays unseen"`
}

// AgentReportInput is the input of agent.report.
type AgentReportInput struct {
	ID           string     `json:"id,omitempty" jsonschema:"id or name of the session, or the beginning of one that no other has"`
	Folder       string     `json:"folder,omitempty" jsonschema:"instead of id: the session whose agent has this conversation, or else the only one whose agent was started in this folder and has told none"`
	State        AgentState `json:"state,omitempty" jsonschema:"working, blocked, done or idle; unknown takes back what was reported; default: what it was"`
	Text         string     `json:"text,omitempty" jsonschema:"of blocked: what it asks"`
	Agent        string     `json:"agent,omitempty" jsonschema:"its name, for what is not recognised as an agent"`
	Conversation string     `json:"conversation,omitempty" jsonschema:"the agent's own id of its conversation"`
}

// AgentExplainOutput is the output of agent.explain.
type AgentExplainOutput struct {
	Session string       `json:"session" jsonschema:"id of the session"`
	Agent   *CodingAgent `json:"agent" jsonschema:"null if no agent was recognised"`
	PID     int          `json:"pid,omitempty" jsonschema:"the agent's process"`
	Lines   bool         `json:"lines,omitempty" jsonschema:"its terminal gives it whole lines now: what is typed is taken with enter alone"`
	Yes     string       `json:"yes,omitempty" jsonschema:"of blocked: the name of the key that agrees to what it asks, as far as its screen tells"`
	No      string       `json:"no,omitempty" jsonschema:"the name of the one that refuses it"`
	Sources []string     `json:"sources,omitempty" jsonschema:"where the rules come from that it was recognised by"`
	Words   []AgentWord  `json:"words,omitempty" jsonschema:"what each source said last, that first which is trusted most"`

	Transcript *AgentTranscript `json:"transcript,omitempty" jsonschema:"the file with its conversation, where one is known"`
}

// An AgentTranscript is the file that an agent writes its conversation to, a line of JSON
// an entry.
type AgentTranscript struct {
	Path   string            `json:"path" jsonschema:"absolute"`
	Answer map[string]string `json:"answer,omitempty" jsonschema:"fields of the entries that are its answers, with their values; a.b is a field in a field"`
	Text   string            `json:"text" jsonschema:"the field of an answer with its text, or with a list of parts that have one"`
}

// An AgentWord is what a source says of an agent.
type AgentWord struct {
	Source  string     `json:"source" jsonschema:"report, file, progress, title, screen or reads"`
	State   AgentState `json:"state" jsonschema:"what it says"`
	Text    string     `json:"text,omitempty" jsonschema:"the question"`
	At      time.Time  `json:"at" jsonschema:"since when"`
	Decides bool       `json:"decides,omitempty" jsonschema:"the state follows from this one"`
}

// AgentWaitInput is the input of agent.wait.
type AgentWaitInput struct {
	IDs       []string     `json:"ids,omitempty" jsonschema:"ids or names of sessions; default all"`
	States    []AgentState `json:"states" jsonschema:"any of working, blocked, done and idle"`
	After     time.Time    `json:"after,omitzero" jsonschema:"only a state that the agent has come to be in after this moment"`
	TimeoutMS int          `json:"timeout_ms,omitempty" jsonschema:"default and at most 50000 for one call"`
}

// AgentWaitOutput is the output of agent.wait.
type AgentWaitOutput struct {
	Process *Process `json:"process" jsonschema:"the session whose agent is in such a state; null after the timeout, and when all of the sessions have ended"`
	Ended   bool     `json:"ended,omitempty" jsonschema:"all of the sessions have ended"`
}
