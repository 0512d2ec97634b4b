package host

import (
	"strings"
	"unicode"

	"tandem/engine/base/secrets"
	"tandem/engine/record/history"
	"tandem/engine/session/prompt"
	"tandem/persist/histdb"
)

// CommandRan implements terminal.Host: it adds a command run by a session's shell to the history.
func (h *sessionHost) CommandRan(c prompt.Command) {
	if h.record.Private {
		return
	}
	h.host.History.RecordRun(histdb.Row{
		Command: strings.Map(dropControl, strings.ToValidUTF8(c.Line, "\ufffd")), CWD: c.CWD, StartedAt: c.StartedAt, Duration: c.Duration,
		ExitCode: c.ExitCode, Actor: c.Actor, From: c.From, Kind: history.KindSession, Process: c.Session, LogStart: c.LogStart, LogEnd: c.LogEnd, Stopped: c.Stopped,
	})
}

// ShownLine returns the part of a command line that may be shown to others: no secrets, and nothing
// of a line that is kept out of the history. It implements terminal.Host.
func (h *sessionHost) ShownLine(line string) string {
	if h.host.History.Ignores(line) {
		return ""
	}
	return secrets.RedactLine(line)
}

// dropControl removes control characters that do not belong in a command line. It is a mapping for
// strings.Map.
func dropControl(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
