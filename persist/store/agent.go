package store

import "time"

// An Agent is a coding agent in a terminal, with the latest report from each source. Its values are
// immutable.
type Agent struct {
	Name         string      `json:"name,omitempty"`
	Process      *Identity   `json:"process,omitempty"` // nil for an agent known only from a report
	Conversation string      `json:"conversation,omitempty"`
	Cost         string      `json:"cost,omitempty"` // cost of the conversation, as last displayed
	CWD          string      `json:"cwd,omitempty"`  // directory it was started in
	Words        []AgentWord `json:"words,omitempty"`
	Seen         time.Time   `json:"seen,omitzero"` // since when the finished state had been seen by the user
}

// An AgentWord is a report of an agent's state by one source.
type AgentWord struct {
	Source string    `json:"source"`
	State  string    `json:"state"`
	Text   string    `json:"text,omitempty"` // text of a question
	At     time.Time `json:"at"`
}

// A LeftAgent is a coding agent that has exited.
type LeftAgent struct {
	Name         string    `json:"name"`
	Conversation string    `json:"conversation"`
	CWD          string    `json:"cwd,omitempty"`
	At           time.Time `json:"at"` // when its exit was noticed
}
