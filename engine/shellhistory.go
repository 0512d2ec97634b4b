package engine

import (
	"strings"
	"unicode"

	"tandem/engine/base/secrets"
	"tandem/engine/record/history"
	"tandem/engine/session/prompt"
	"tandem/persist/histdb"
)

// recordCommand adds a command run by a session's shell to the history. The session's own goroutine
// calls it, so it must not block.
func (h *host) recordCommand(c prompt.Command) {
	h.history.RecordRun(histdb.Row{
		Command: strings.Map(dropControl, strings.ToValidUTF8(c.Line, "\ufffd")), CWD: c.CWD, StartedAt: c.StartedAt, Duration: c.Duration,
		ExitCode: c.ExitCode, Actor: c.Actor, From: c.From, Kind: history.KindSession, Process: c.Session, LogStart: c.LogStart, LogEnd: c.LogEnd, Stopped: c.Stopped,
	})
}

// showCommand returns what of a command line may be shown: nothing of one kept out of the history,
// and no secrets.
func (h *host) showCommand(line string) string {
	if h.history.Ignores(line) {
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
