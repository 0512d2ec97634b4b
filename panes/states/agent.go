package states

import (
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/look"
)

// AgentTells reports whether the state of the coding agent in a session is known. The agent's state
// is then shown instead of the terminal's own state.
func AgentTells(p *api.Process) bool { return p.Agent != nil && p.Agent.State != api.AgentUnknown }

// SessionGlyph returns the glyph and the ink for a session. They show the state of its coding agent
// or, if unknown, the session's own state.
func SessionGlyph(p *api.Process, look *look.Look) (string, look.Ink) {
	if !AgentTells(p) || p.State != api.StateRunning {
		return StateGlyph(p, look)
	}
	return AgentGlyph(p.Agent, look)
}

// AgentGlyph returns the glyph and the ink for a coding agent's state. Finished work is dim once
// the user has seen it.
func AgentGlyph(a *api.CodingAgent, look *look.Look) (string, look.Ink) {
	g := &look.Glyphs
	switch {
	case a.State == api.AgentBlocked:
		return g.Blocked, look.Warn
	case a.State == api.AgentWorking:
		return g.Working, look.Info
	case a.NeedsAttention():
		return g.Check, look.Good
	case a.State == api.AgentDone:
		return g.Check, look.Dim
	case a.State == api.AgentIdle:
		return g.Exited, look.Dim
	}
	return g.Unknown, look.Dim
}

// AgentAge returns how long a coding agent has been in its state, to the minute, or "" if unknown.
func AgentAge(a *api.CodingAgent, now time.Time) string {
	switch age := now.Sub(a.Since); {
	case a.Since.IsZero():
		return ""
	case age < time.Minute:
		return "now"
	default:
		return units.Age(age)
	}
}
