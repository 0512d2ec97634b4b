package store

import "time"

// An Agent is a coding agent in a terminal, and the last word of each source of what it
// is doing. A value is never changed.
type Agent struct {
	Name         string      `json:"name,omitempty"`
	Process      *Identity   `json:"process,omitempty"` // nil for one that was only reported
	Conversation string      `json:"conversation,omitempty"`
	Cost         string      `json:"cost,omitempty"` // of the conversation, as it showed it last
	CWD          string      `json:"cwd,omitempty"`  // where it was started
	Words        []AgentWord `json:"words,omitempty"`
	Seen         time.Time   `json:"seen,omitzero"` // since when it had been done what the person has looked at
}

// An AgentWord is what a source says of an agent.
type AgentWord struct {
	Source string    `json:"source"`
	State  string    `json:"state"`
	Text   string    `json:"text,omitempty"` // of a question
	At     time.Time `json:"at"`
}

// A LeftAgent is a coding agent that has ended.
type LeftAgent struct {
	Name         string    `json:"name"`
	Conversation string    `json:"conversation"`
	CWD          string    `json:"cwd,omitempty"`
	At           time.Time `json:"at"` // when it was seen to have ended
}
