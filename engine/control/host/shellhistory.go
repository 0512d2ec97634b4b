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
	h.host.History.RecordRun(histdb.Row{
		Command: strings.Map(dropControl, strings.ToValidUTF8(c.Line, "\ufffd")), CWD: c.CWD, StartedAt: c.StartedAt, Duration: c.Duration,
		ExitCode: c.ExitCode, Actor: c.Actor, From: c.From, Kind: history.KindSession, Process: c.Session, LogStart: c.LogStart, LogEnd: c.LogEnd, Stopped: c.Stopped,
	})
}

// ShownLine implements terminal.Host: nothing of a line kept out of the history, and no secrets.
func (h *sessionHost) ShownLine(line string) string {
	if h.host.History.Ignores(line) {
		return ""
	}
	return secrets.RedactLine(line)
}

// dropControl drops control characters not belonging in a line; for strings.Map.
func dropControl(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
