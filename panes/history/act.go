package history

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// actions are what the user can do with commands of the history.
type actions struct {
	env       panes.Env
	everyRun  func() bool               // each run has a row
	countRuns func(*api.HistoryRow) int // of a row's command; 0 if unknown
	unmark    func([]api.HistoryRow)    // removes the marks of rows
}

// insertAtPrompt types a command into the session used last, and shows the session. It does not run
// the command.
func (a *actions) insertAtPrompt(row api.HistoryRow) tea.Cmd {
	return a.env.Insert(row.Command.Command)
}

func countCommands(n int) string { return text.Count(n, "command") }

// commandList returns the rows of a dialog that list commands.
func commandList(rows []api.HistoryRow) []string {
	return text.Some(rows, 8, func(row api.HistoryRow) string { return text.Clip(text.Clean(row.Command.Command), 60) })
}

// copyCommands puts commands on the clipboard, one per line.
func (a *actions) copyCommands(rows []api.HistoryRow) tea.Cmd {
	lines := make([]string, len(rows))
	for i := range rows {
		lines[i] = strings.TrimRight(rows[i].Command.Command, "\r\n")
	}
	text := strings.Join(lines, "\n")
	what := ""
	if len(rows) > 1 {
		what = countCommands(len(rows))
	}
	return a.env.Copy(text, what)
}

// askDeleteCommands asks before it deletes the commands of rows with all their runs. If the list
// shows each run in a row of its own, only these runs are deleted.
func (a *actions) askDeleteCommands(rows []api.HistoryRow) tea.Cmd {
	title, what := "Delete "+countCommands(len(rows))+"?", "All their runs go"
	if a.everyRun() {
		title, what = "Delete "+text.Itoa(len(rows))+" runs?", "Other runs stay"
	}
	lines := append(commandList(rows), "", what+"; their output stays in the logs.")
	if len(rows) == 1 {
		title, lines = a.deleteTitle(&rows[0]), append(commandList(rows), "Its output stays in the log of its session.")
	}
	a.env.Ask(&dialog.Question{Title: title, Lines: lines, Yes: "delete", Then: func() tea.Cmd { return a.removeRuns(a.removalsOf(rows)) }})
	return nil
}

// deleteTitle returns the title of the dialog that asks before a single row is deleted.
func (a *actions) deleteTitle(row *api.HistoryRow) string {
	switch n := a.countRuns(row); {
	case a.everyRun():
		return "Delete this run?"
	case n > 1:
		return "Delete all " + text.Itoa(n) + " runs of this command?"
	case n == 0 && row.Runs > 1:
		return "Delete all runs of this command?"
	}
	return "Delete this command?"
}

// A removal is a call that deletes rows.
type removal struct {
	in   api.HistoryRemoveInput
	rows []api.HistoryRow
}

// removalsOf returns the calls that delete rows: one call for each command or, if each row is a
// single run, one for each machine.
func (a *actions) removalsOf(rows []api.HistoryRow) (removals []removal) {
	runs := map[string]int{} // index in removals, by machine
	for _, row := range rows {
		if !a.everyRun() {
			in := api.HistoryRemoveInput{Host: row.Host, Command: row.Command.Command}
			removals = append(removals, removal{in, []api.HistoryRow{row}})
			continue
		}
		at, ok := runs[row.Host]
		if !ok {
			at = len(removals)
			runs[row.Host], removals = at, append(removals, removal{in: api.HistoryRemoveInput{Host: row.Host}})
		}
		r := &removals[at]
		r.in.IDs, r.rows = append(r.in.IDs, row.ID), append(r.rows, row)
	}
	return removals
}

// removeRuns makes the calls, and continues after an error, because only one of several machines
// may be offline.
func (a *actions) removeRuns(removals []removal) tea.Cmd {
	type result struct {
		runs int
		rows []api.HistoryRow
	}
	return panes.Call(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) (deleted result, _ error) {
		errs := make([]error, len(removals))
		for i, r := range removals {
			var out api.HistoryCount
			if out, errs[i] = api.HistoryRemove.Call(ctx, e, r.in); errs[i] == nil {
				deleted.runs += out.Count
				deleted.rows = append(deleted.rows, r.rows...)
			}
		}
		return deleted, panes.FirstError(errs)
	}, func(deleted result, err error) tea.Cmd {
		a.unmark(deleted.rows)
		note := "deleted " + text.Count(deleted.runs, "run")
		switch {
		case err != nil && len(deleted.rows) > 0:
			note += "; " + panes.ErrorText(err)
		case err != nil:
			note = panes.ErrorText(err)
		}
		return a.env.Say(note, err != nil)
	})
}

// statsOf has the name of each actor in actorFilters for messages about statistics.
var statsOf = map[string]string{"person": states.You, "agent": "agents"}

// showStats shows the most frequent commands, the failures and the runs per day of an actor, like
// tandem history stats. If actor is "", they are those of the user.
func (a *actions) showStats(actor string) tea.Cmd {
	actor = cmp.Or(actor, "person")
	return panes.AwaitAnswer(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) (api.HistoryStatsOutput, error) {
		return api.HistoryStats.Call(ctx, e, api.HistoryStatsInput{Actor: actor})
	}, panes.ReportErrors(a.env.Say, func(out api.HistoryStatsOutput) tea.Cmd {
		if out.Total == 0 {
			return a.env.Say("no commands run by "+statsOf[actor]+" yet", false)
		}
		for i := range out.Actors {
			out.Actors[i].Name = states.Who(out.Actors[i].Name)
		}
		a.env.Ask(&dialog.Counts{
			Title: statsOf[actor] + ": " + text.Count(out.Total, "run") + " of " + text.Count(out.Unique, "command") + ", " + text.Thousands(out.Failed) + " failed",
			Lists: []dialog.CountList{
				{Title: "Commands", Rows: out.Commands}, {Title: "Failures", Rows: out.Failures}, {Title: "Days", Rows: out.Days},
				{Title: "Programs", Rows: out.Programs}, {Title: "Folders", Rows: out.Folders}, {Title: "Who", Rows: out.Actors},
			},
		})
		return nil
	}))
}
