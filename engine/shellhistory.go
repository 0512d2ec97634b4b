package engine

import (
	"strings"
	"unicode"

	"tandem/engine/history"
	"tandem/engine/prompt"
	"tandem/persist/histdb"
)

// commandEnded takes a command that a session's shell has run. It is called from
// the session's own goroutine and must not block.
func (h *host) commandEnded(c prompt.Command) {
	h.history.RecordRun(histdb.Row{
		Command: strings.Map(printable, strings.ToValidUTF8(c.Line, "\ufffd")), CWD: c.CWD, StartedAt: c.StartedAt, Duration: c.Duration,
		ExitCode: c.ExitCode, Actor: c.Actor, From: c.From, Kind: history.KindSession, Process: c.Session, LogStart: c.LogStart, LogEnd: c.LogEnd, Stopped: c.Stopped,
	})
}

// printable leaves out the control characters that are not part of a line.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
