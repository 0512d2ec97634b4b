package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// mark marks the row under the cursor of the view that is shown.
func (m *model) mark() tea.Cmd {
	if m.view != viewHistory {
		return m.markRow()
	}
	h := &m.history
	if h.onDetail {
		return nil
	}
	return h.pick(m, func(m *model, _ api.HistoryRow) tea.Cmd {
		h.moved, m.dirty = true, true
		h.list.Mark()
		return nil
	})
}

// onMarked is an action on the commands that are marked in the view or else on
// the one under the cursor.
func onMarked(act func(*model, []api.HistoryRow) tea.Cmd) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		if m.view != viewHistory {
			return nil
		}
		if rows := m.history.list.Marked(); len(rows) > 0 {
			return act(m, rows)
		}
		return m.history.pick(m, func(m *model, row api.HistoryRow) tea.Cmd {
			return act(m, []api.HistoryRow{row})
		})
	}
}

// historyNote is what the status bar says of the view.
func (m *model) historyNote() string {
	if n := m.history.list.MarkedRows(); n > 0 && m.view == viewHistory {
		return itoa(n) + " marked"
	}
	return ""
}

// commandList is what a question about commands lists, a row for each.
func commandList(rows []api.HistoryRow) (lines []string) {
	const most = 8
	for i, row := range rows {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(rows)-most))
			break
		}
		lines = append(lines, widget.Clip(widget.Clean(row.Command.Command), 60))
	}
	return lines
}

// copyCommands puts commands on the clipboard, one below the other.
func (m *model) copyCommands(rows []api.HistoryRow) tea.Cmd {
	lines := make([]string, len(rows))
	for i := range rows {
		lines[i] = strings.TrimRight(rows[i].Command.Command, "\r\n")
	}
	text := strings.Join(lines, "\n")
	cmd := m.keepCopy(text, false)
	if len(rows) > 1 && !m.toast.bad {
		m.toast.text = strings.Replace(m.toast.text, "copied "+howMuch(text), "copied "+commands(len(rows)), 1)
	}
	return cmd
}

// askForgetCommands asks before commands are forgotten, with all their runs unless each
// run is a row.
func (m *model) askForgetCommands(rows []api.HistoryRow) tea.Cmd {
	if len(rows) == 1 {
		return m.askForgetCommand(rows[0])
	}
	what, title := "All their runs go", "Forget "+commands(len(rows))+"?"
	var removals []api.HistoryRemoveInput
	if m.history.every {
		title, what = "Forget "+itoa(len(rows))+" runs?", "Other runs stay"
		removals = []api.HistoryRemoveInput{{}}
	}
	for _, row := range rows {
		if m.history.every {
			removals[0].IDs = append(removals[0].IDs, row.ID)
			continue
		}
		removals = append(removals, api.HistoryRemoveInput{Command: row.Command.Command})
	}
	m.overlay = &overlay.Question{
		Title: title,
		Lines: append(commandList(rows), "", what+"; what they printed stays in the logs."),
		Yes:   "forget them",
		Then:  m.forget(removals),
	}
	return nil
}

// forgotMsg is the outcome of forgetting commands.
type forgotMsg struct {
	runs int
	err  error
}

func (msg forgotMsg) take(m *model) tea.Cmd {
	if msg.err != nil {
		return m.say(panes.ErrorText(msg.err), true)
	}
	m.history.list.Unmark()
	m.dirty = true
	if msg.runs == 1 {
		return m.say("forgot 1 run", false)
	}
	return m.say("forgot "+thousands(msg.runs)+" runs", false)
}

func (m *model) forget(removals []api.HistoryRemoveInput) tea.Cmd {
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		msg := forgotMsg{}
		for _, in := range removals {
			n, err := e.RemoveHistory(ctx, in)
			if err != nil {
				return forgotMsg{msg.runs, err}
			}
			msg.runs += n.Count
		}
		return msg
	}, func(err error) tea.Msg { return forgotMsg{err: err} })
}

// runCommands runs commands once more; several only after a question.
func (m *model) runCommands(rows []api.HistoryRow) tea.Cmd {
	if len(rows) == 1 {
		return m.runAgain(rows[0])
	}
	taken := m.takenNames()
	starts := make([]api.ProcessStartInput, len(rows))
	lines := commandList(rows)
	secret := func(row api.HistoryRow) bool { return strings.Contains(row.Command.Command, redacted) }
	for i, row := range rows {
		starts[i] = m.startOf(row, taken)
	}
	if slices.ContainsFunc(rows, secret) {
		lines = append(lines, "", "A secret was not kept: "+redacted+" stands in its place.")
	}
	m.overlay = &overlay.Question{
		Title: "Run " + commands(len(rows)) + " in the background?",
		Lines: append(lines, "", "All at once, each where it ran."),
		Yes:   "run them",
		Then: m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
			msg := ranMsg{}
			errs := make([]error, len(starts))
			for i, in := range starts {
				var p api.Process
				if p, errs[i] = e.StartProcess(ctx, in); errs[i] == nil {
					msg.started = append(msg.started, p)
				}
			}
			msg.err = panes.FirstError(errs)
			return msg
		}, func(err error) tea.Msg { return ranMsg{err: err} }),
	}
	return nil
}

// ran tells what came of running commands again.
func (m *model) ran(msg ranMsg) tea.Cmd {
	cmd := m.learn(msg.started...)
	what := ""
	switch n := len(msg.started); {
	case msg.err != nil && n > 0:
		return tea.Batch(cmd, m.say("started "+itoa(n)+"; "+panes.ErrorText(msg.err), true))
	case msg.err != nil:
		return m.say(panes.ErrorText(msg.err), true)
	case n == 1:
		what = "started " + widget.Clean(msg.started[0].Name) + " in the background"
	default:
		what = "started " + itoa(n) + " processes in the background"
	}
	shows := " shows it"
	if len(msg.started) > 1 {
		shows = " shows them"
	}
	what += m.withKey(" – ", keymap.ViewProcesses, shows, keymap.ScopeGlobal)
	return tea.Batch(cmd, m.say(what, false))
}
