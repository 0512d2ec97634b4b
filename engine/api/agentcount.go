package api

import (
	"strconv"
	"strings"
)

// An AgentCount counts coding agents by state: blocked, done but not yet seen by the user, and
// working.
type AgentCount struct {
	Blocked int `json:"blocked" jsonschema:"number of agents that need the user"`
	Done    int `json:"done" jsonschema:"number of agents whose finished work the user has not seen"`
	Working int `json:"working" jsonschema:"number of agents working on a task"`
}

// Add counts a; nil counts as no agent.
func (c *AgentCount) Add(a *CodingAgent) {
	switch {
	case a == nil:
	case a.State == AgentBlocked:
		c.Blocked++
	case a.NeedsAttention():
		c.Done++
	case a.State == AgentWorking:
		c.Working++
	}
}

// String returns the counts in words, for example "1 blocked, 2 working". It returns "" if all are
// 0.
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
