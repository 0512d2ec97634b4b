// Package agents knows which coding agent runs in a session and what it is doing:
// working, blocked on a question, done, idle, or unknown. What an agent looks like is
// data (rules/*.toml, and the person's own beside them); what follows from several
// signs at once is decided here. It looks when a screen has changed, never by a clock
// alone, and silence decides nothing.
package agents
