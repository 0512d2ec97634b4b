package api

import (
	"strconv"
	"strings"
)

// An AgentCount is how many coding agents are blocked, have done what nobody has looked
// at, and work.
type AgentCount struct {
	Blocked int `json:"blocked" jsonschema:"they need a person"`
	Done    int `json:"done" jsonschema:"and nobody has looked at it since"`
	Working int `json:"working" jsonschema:"at a task"`
}

// Add counts an agent; nil is none.
func (c *AgentCount) Add(a *CodingAgent) {
	switch {
	case a == nil:
	case a.State == AgentBlocked:
		c.Blocked++
	case a.Wants():
		c.Done++
	case a.State == AgentWorking:
		c.Working++
	}
}

// String is "1 blocked, 2 working"; "" if there are none.
func (c AgentCount) String() string {
	var parts []string
	for _, part := range []struct {
		count int
		what  AgentState
	}{{c.Blocked, AgentBlocked}, {c.Done, AgentDone}, {c.Working, AgentWorking}} {
		if part.count > 0 {
			parts = append(parts, strconv.Itoa(part.count)+" "+string(part.what))
		}
	}
	return strings.Join(parts, ", ")
}
