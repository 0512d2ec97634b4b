package terminal

import (
	"time"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// An ending describes how a pane's session ended, and what the user can do about it.
type ending struct {
	env panes.Env
	id  func() string // of the session
}

// interruption returns why the session can be restored; nil if it cannot.
func (e *ending) interruption() *api.Interruption {
	process, _ := e.env.News().Process(e.id())
	return process.Interrupted
}

// row returns the content of the pane's last row, w cells wide, once the session has ended.
func (e *ending) row(ended bool, w int) (r exitRow) {
	i := e.interruption()
	if ended || i != nil {
		r.hints = e.hints()
	}
	if i != nil {
		r.reason = states.DescribeInterruption(i, time.Now(), w-2-hintCells(r.hints[0]))
	}
	return r
}

// hints returns the hints for the keys that work after the exit. These keys need no prefix, because
// no program receives input.
func (e *ending) hints() []keymap.Hint {
	b := e.env.Bindings()
	if e.interruption() != nil {
		return []keymap.Hint{
			b.Hint(keymap.SessionRestore, "restore", keymap.ScopeInterrupted),
			b.Hint(keymap.SessionRestoreAll, "restore all", keymap.ScopeInterrupted),
			b.Hint(keymap.SessionDismiss, "dismiss", keymap.ScopeInterrupted),
		}
	}
	return []keymap.Hint{
		b.Hint(keymap.Open, "restore", keymap.ScopeList),
		b.Hint(keymap.SessionKill, "close", keymap.ScopeSessions, keymap.ScopePrefix),
	}
}

// An exitRow is the last row of a pane whose session is not live.
type exitRow struct {
	reason string // why it is not, if it was interrupted
	hints  []keymap.Hint
}

// drawExitRow draws the last row of a pane whose session is not live, with the keys to use next. If
// there is no room, the last keys are dropped first, and then the end of the reason.
func drawExitRow(reason string, ink look.Ink, hints []keymap.Hint, w int, look *look.Look) string {
	row, room := "", w
	for _, h := range hints {
		cells := hintCells(h)
		if row != "" && cells > room-text.Width(reason)-2 {
			break
		}
		if h.Key != "" {
			row += "  " + look.Key.Text(h.Key) + look.Dim.Text(" "+h.Does)
			room -= cells
		}
	}
	what := " " + reason + " "
	if room < min(minReason, text.Width(what)) || row == "" {
		return ink.Text(text.Fit(what, w))
	}
	what = text.Clip(what, room)
	return ink.Text(what) + row + text.Spaces(room-text.Width(what))
}

// hintCells returns the width of a hint with the space before it.
func hintCells(h keymap.Hint) int { return text.Width(h.Key+h.Does) + 3 }

// minReason is the minimum width for the reason beside a key.
const minReason = 12
