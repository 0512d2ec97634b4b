package widget

import (
	"time"

	"tandem/engine/api"
	"tandem/engine/units"
)

// AgentTells reports whether the coding agent in a session says what it is doing: that is
// told then, in place of what its terminal shows by itself.
func AgentTells(p *api.Process) bool { return p.Agent != nil && p.Agent.State != api.AgentUnknown }

// SessionGlyph is the sign of a session and its ink: what the coding agent in it is doing,
// where one says so, else its state.
func SessionGlyph(p *api.Process, look *Look) (string, Ink) {
	if !AgentTells(p) || p.State != api.StateRunning {
		return StateGlyph(p, look)
	}
	return AgentGlyph(p.Agent, look)
}

// AgentGlyph is the sign of what a coding agent is doing, and its ink. What it has done is
// dim once somebody has looked at it.
func AgentGlyph(a *api.CodingAgent, look *Look) (string, Ink) {
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

// AgentAge is for how long a coding agent has been doing what it does, to the minute; ""
// if that is unknown.
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
