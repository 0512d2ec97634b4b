package terminal

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/text"
)

// A queued describes the input that waits for another machine that is offline. The pane shows it,
// because it takes effect there later, when the user may have forgotten it.
type queued struct {
	env    Env
	id     func() string // of the session
	outbox *outbox.Outbox
}

// isWaiting reports whether input for the session waits until its machine is connected.
func (q *queued) isWaiting() bool {
	machine, _ := api.MachineOf(q.id())
	return machine != "" && !q.outbox.Connected()
}

// row shows what waits, and the key that drops it.
func (q *queued) row() exitRow {
	if !q.isWaiting() || q.outbox.Waiting() == 0 {
		return exitRow{}
	}
	var typed strings.Builder
	for _, in := range q.outbox.WaitingInput() {
		switch {
		case in.Bytes != nil:
			typed.Write(in.Bytes)
		case in.Paste != nil:
			typed.WriteString(*in.Paste)
		case in.Key == nil || in.Key.Phase == keys.Release:
		case in.Key.Text != "":
			typed.WriteString(in.Key.Text)
		case in.Key.String() == "enter":
			typed.WriteString("⏎")
		default:
			typed.WriteString(" " + in.Key.String() + " ")
		}
	}
	machine, _ := api.MachineOf(q.id())
	shown := strings.NewReplacer("\r", "⏎", "\n", "⏎").Replace(typed.String())
	return exitRow{
		reason: "queued until " + text.Clean(machine) + " is back: " + text.Clean(shown),
		hints:  []keymap.Hint{q.env.Bindings().Hint(keymap.InputDrop, "drop it", keymap.ScopePrefix)},
	}
}

// drop drops what waits.
func (q *queued) drop() tea.Cmd {
	if !q.isWaiting() || q.outbox.Waiting() == 0 {
		return q.env.SayOnce("no input is queued")
	}
	q.outbox.DropWaiting()
	return q.env.SayOnce("dropped what was queued")
}
