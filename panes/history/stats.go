package history

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// showStats shows frequent commands, failures and runs per day, as tandem history stats prints
// them.
func (a *actions) showStats() tea.Cmd {
	return panes.Ask(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) (api.HistoryStatsOutput, error) {
		return api.HistoryStats.Call(ctx, e, api.HistoryStatsInput{})
	}, func(out api.HistoryStatsOutput, err error) tea.Cmd {
		switch {
		case err != nil:
			return a.env.Say(panes.ErrorText(err), true)
		case out.Total == 0:
			return a.env.Say("no command has been run yet", false)
		}
		for i := range out.Actors {
			out.Actors[i].Name = states.Who(out.Actors[i].Name)
		}
		a.env.Ask(&dialog.Counts{
			Title: text.Count(out.Total, "run") + " of " + text.Count(out.Unique, "command") + ", " + text.Thousands(out.Failed) + " failed",
			Lists: []dialog.CountList{
				{Title: "Commands", Rows: out.Commands}, {Title: "Failures", Rows: out.Failures}, {Title: "Days", Rows: out.Days},
				{Title: "Programs", Rows: out.Programs}, {Title: "Folders", Rows: out.Folders}, {Title: "Who", Rows: out.Actors},
			},
		})
		return nil
	})
}
