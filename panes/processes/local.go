package processes

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/states"
)

// metricsEvery is the interval between measurements while the view is shown.
const metricsEvery = time.Second

// local is the table of the processes known from events, with their metrics.
type local struct {
	env     panes.Env
	table   Table
	metrics map[string]*api.Metrics // by process
	polling bool
}

func (l *local) fetchMetrics() tea.Cmd {
	if l.polling || !l.env.News().Connected {
		return nil
	}
	l.polling = true
	return panes.Ask(l.env.Context(), l.env, func(ctx context.Context, e panes.Engine) (api.ProcessListOutput, error) {
		return api.ProcessList.Call(ctx, e, api.ProcessListInput{Metrics: true})
	}, l.storeMetrics)
}

// storeMetrics stores the metrics, and schedules the next measurement.
func (l *local) storeMetrics(out api.ProcessListOutput, err error) tea.Cmd {
	if err == nil {
		l.metrics = make(map[string]*api.Metrics, len(out.Processes))
		for i := range out.Processes {
			if one := &out.Processes[i]; one.Metrics != nil {
				l.metrics[one.ID] = one.Metrics
			}
		}
	}
	l.refresh()
	return panes.After(metricsEvery, func() tea.Cmd {
		l.polling = false
		return nil
	})
}

// refresh rebuilds the rows from the processes known from events and their last metrics.
func (l *local) refresh() {
	rows := slices.Clone(l.env.News().Processes)
	for i := range rows {
		if !rows[i].State.Ended() && !l.env.News().CanReach(rows[i].ID) {
			rows[i].State = states.StateAway
		}
		if metrics := l.metrics[rows[i].ID]; metrics != nil && !rows[i].State.Ended() {
			rows[i].Metrics = metrics
		}
	}
	l.table.SetRows(rows)
}
