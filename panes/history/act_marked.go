package history

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// mark marks the row under the cursor.
func (p *Pane) mark() tea.Cmd {
	if p.onDetail {
		return nil
	}
	return p.pick(func(api.HistoryRow) tea.Cmd {
		p.moved = true
		p.list.Mark()
		return nil
	})
}

// onMarked is an action on the commands that are marked or else on the one under
// the cursor.
func (p *Pane) onMarked(act func([]api.HistoryRow) tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if rows := p.list.Marked(); len(rows) > 0 {
			return act(rows)
		}
		return p.pick(func(row api.HistoryRow) tea.Cmd { return act([]api.HistoryRow{row}) })
	}
}

// commandList is what a question about commands lists, a row for each.
func commandList(rows []api.HistoryRow) []string {
	return widget.Some(rows, 8, func(row api.HistoryRow) string { return widget.Clip(widget.Clean(row.Command.Command), 60) })
}

// copyCommands puts commands on the clipboard, one below the other.
func (p *Pane) copyCommands(rows []api.HistoryRow) tea.Cmd {
	lines := make([]string, len(rows))
	for i := range rows {
		lines[i] = strings.TrimRight(rows[i].Command.Command, "\r\n")
	}
	text := strings.Join(lines, "\n")
	what := ""
	if len(rows) > 1 {
		what = commands(len(rows))
	}
	return p.env.Copy(text, what)
}

// askForgetCommands asks before commands are forgotten, with all their runs unless each
// run is a row.
func (p *Pane) askForgetCommands(rows []api.HistoryRow) tea.Cmd {
	if len(rows) == 1 {
		return p.askForgetCommand(rows[0])
	}
	what, title := "All their runs go", "Delete "+commands(len(rows))+"?"
	var removals []api.HistoryRemoveInput
	if p.every {
		title, what = "Delete "+widget.Itoa(len(rows))+" runs?", "Other runs stay"
	}
	runs := map[string]int{} // the removal of each machine
	for _, row := range rows {
		if !p.every {
			removals = append(removals, api.HistoryRemoveInput{Host: row.Host, Command: row.Command.Command})
			continue
		}
		at, ok := runs[row.Host]
		if !ok {
			at = len(removals)
			runs[row.Host], removals = at, append(removals, api.HistoryRemoveInput{Host: row.Host})
		}
		removals[at].IDs = append(removals[at].IDs, row.ID)
	}
	p.env.Ask(&overlay.Question{
		Title: title,
		Lines: append(commandList(rows), "", what+"; what they printed stays in the logs."),
		Yes:   "delete",
		Then:  p.forget(removals),
	})
	return nil
}

func (p *Pane) forget(removals []api.HistoryRemoveInput) tea.Cmd {
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (runs int, err error) {
		for _, in := range removals {
			n, err := api.HistoryRemove.Call(ctx, e, in)
			if err != nil {
				return runs, err
			}
			runs += n.Count
		}
		return runs, nil
	}, func(runs int, err error) tea.Cmd {
		if err != nil {
			return p.env.Say(panes.ErrorText(err), true)
		}
		p.list.Unmark()
		return p.env.Say("deleted "+widget.Count(runs, "run"), false)
	})
}

// runCommands runs commands once more; several only after a question.
func (p *Pane) runCommands(rows []api.HistoryRow) tea.Cmd {
	if len(rows) == 1 {
		return p.runAgain(rows[0])
	}
	taken := p.takenNames()
	starts := make([]api.ProcessStartInput, len(rows))
	lines := commandList(rows)
	secret := func(row api.HistoryRow) bool { return strings.Contains(row.Command.Command, redacted) }
	for i, row := range rows {
		starts[i] = p.startOf(row, taken)
	}
	if slices.ContainsFunc(rows, secret) {
		lines = append(lines, "", "A secret was not kept: "+redacted+" stands in its place.")
	}
	p.env.Ask(&overlay.Question{
		Title: "Run " + commands(len(rows)) + " in the background?",
		Lines: append(lines, "", "All at once, each where it ran."),
		Yes:   "run them",
		Then:  p.start(starts),
	})
	return nil
}

// start starts processes.
func (p *Pane) start(all []api.ProcessStartInput) tea.Cmd {
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (started []api.Process, err error) {
		errs := make([]error, len(all))
		for i, in := range all {
			var p api.Process
			if p, errs[i] = api.ProcessStart.Call(ctx, e, in); errs[i] == nil {
				started = append(started, p)
			}
		}
		return started, panes.FirstError(errs)
	}, p.ran)
}

// ran tells what came of running commands again.
func (p *Pane) ran(started []api.Process, err error) tea.Cmd {
	cmd := p.env.Learn(started...)
	n := len(started)
	switch {
	case err != nil && n > 0:
		return tea.Batch(cmd, p.env.Say("started "+widget.Itoa(n)+"; "+panes.ErrorText(err), true))
	case err != nil:
		return p.env.Say(panes.ErrorText(err), true)
	}
	what, shows := widget.Count(n, "process"), " shows them"
	if n == 1 {
		what, shows = widget.Clean(started[0].Name), " shows it"
	}
	what = "started " + what + " in the background" + panes.WithKey(p.env.Bindings(), " – ", keymap.ViewProcesses, shows, keymap.ScopeGlobal)
	return tea.Batch(cmd, p.env.Say(what, false))
}
