package history

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

func (p *Pane) toggleMark() tea.Cmd {
	if p.detailFocused {
		return nil
	}
	return p.actOnChosen(func(api.HistoryRow) tea.Cmd {
		p.rowChosen = true
		p.list.ToggleMark()
		return nil
	})
}

// forMarked returns an action on the marked commands, or else on the one under the cursor.
func (p *Pane) forMarked(act func([]api.HistoryRow) tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if rows := p.list.ListMarked(); len(rows) > 0 {
			return act(rows)
		}
		return p.actOnChosen(func(row api.HistoryRow) tea.Cmd { return act([]api.HistoryRow{row}) })
	}
}

// commandList returns the rows of a dialog with commands.
func commandList(rows []api.HistoryRow) []string {
	return text.Some(rows, 8, func(row api.HistoryRow) string { return text.Clip(text.Clean(row.Command.Command), 60) })
}

// copyCommands puts commands on the clipboard, one per line.
func (p *Pane) copyCommands(rows []api.HistoryRow) tea.Cmd {
	lines := make([]string, len(rows))
	for i := range rows {
		lines[i] = strings.TrimRight(rows[i].Command.Command, "\r\n")
	}
	text := strings.Join(lines, "\n")
	what := ""
	if len(rows) > 1 {
		what = countCommands(len(rows))
	}
	return p.env.Copy(text, what)
}

// askDeleteCommands asks before it deletes commands with all their runs, or only these runs if each
// has a row.
func (p *Pane) askDeleteCommands(rows []api.HistoryRow) tea.Cmd {
	if len(rows) == 1 {
		return p.askDeleteCommand(rows[0])
	}
	what, title := "All their runs go", "Delete "+countCommands(len(rows))+"?"
	var removals []api.HistoryRemoveInput
	if p.everyRun {
		title, what = "Delete "+text.Itoa(len(rows))+" runs?", "Other runs stay"
	}
	runs := map[string]int{} // index in removals, by machine
	for _, row := range rows {
		if !p.everyRun {
			removals = append(removals, api.HistoryRemoveInput{Host: row.Host, Command: row.Command.Command})
			continue
		}
		// One call per machine removes all its runs.
		at, ok := runs[row.Host]
		if !ok {
			at = len(removals)
			runs[row.Host], removals = at, append(removals, api.HistoryRemoveInput{Host: row.Host})
		}
		removals[at].IDs = append(removals[at].IDs, row.ID)
	}
	p.env.Ask(&dialog.Question{
		Title: title,
		Lines: append(commandList(rows), "", what+"; their output stays in the logs."),
		Yes:   "delete",
		Then:  p.removeRuns(removals),
	})
	return nil
}

func (p *Pane) removeRuns(removals []api.HistoryRemoveInput) tea.Cmd {
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
		p.list.ClearMarks()
		return p.env.Say("deleted "+text.Count(runs, "run"), false)
	})
}

// runCommands runs commands again. It asks first if there are several.
func (p *Pane) runCommands(rows []api.HistoryRow) tea.Cmd {
	if len(rows) == 1 {
		return p.runAgain(rows[0])
	}
	taken := p.runningNames()
	starts := make([]api.ProcessStartInput, len(rows))
	lines := commandList(rows)
	secret := func(row api.HistoryRow) bool { return strings.Contains(row.Command.Command, redacted) }
	for i, row := range rows {
		starts[i] = p.startInput(row, taken)
	}
	if slices.ContainsFunc(rows, secret) {
		lines = append(lines, "", "A secret was not recorded: "+redacted+" stands in its place.")
	}
	p.env.Ask(&dialog.Question{
		Title: "Run " + countCommands(len(rows)) + " in the background?",
		Lines: append(lines, "", "All at once, each in its own folder."),
		Yes:   "run them",
		Then:  p.startProcesses(starts),
	})
	return nil
}

// startProcesses starts processes one after another and goes on after an error.
func (p *Pane) startProcesses(all []api.ProcessStartInput) tea.Cmd {
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (started []api.Process, err error) {
		errs := make([]error, len(all))
		for i, in := range all {
			var p api.Process
			if p, errs[i] = api.ProcessStart.Call(ctx, e, in); errs[i] == nil {
				started = append(started, p)
			}
		}
		return started, panes.FirstError(errs)
	}, p.reportStarts)
}

// reportStarts reports which commands were started.
func (p *Pane) reportStarts(started []api.Process, err error) tea.Cmd {
	cmd := p.env.Learn(started...)
	n := len(started)
	switch {
	case err != nil && n > 0:
		return tea.Batch(cmd, p.env.Say("started "+text.Itoa(n)+"; "+panes.ErrorText(err), true))
	case err != nil:
		return p.env.Say(panes.ErrorText(err), true)
	}
	what, shows := text.Count(n, "process"), " shows them"
	if n == 1 {
		what, shows = text.Clean(started[0].Name), " shows it"
	}
	what = "started " + what + " in the background" + p.env.Bindings().WithKey(" – ", keymap.ViewProcesses, shows, keymap.ScopeGlobal)
	return tea.Batch(cmd, p.env.Say(what, false))
}
