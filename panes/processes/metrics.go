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

func (t *table) fetchMetrics() tea.Cmd {
	if t.polling || !t.env.News().Connected {
		return nil
	}
	t.polling = true
	return panes.Call(t.env.Context(), t.env, func(ctx context.Context, e panes.Engine) (api.ProcessListOutput, error) {
		return api.ProcessList.Call(ctx, e, api.ProcessListInput{Metrics: true, Machines: true})
	}, t.storeMetrics)
}

// storeMetrics stores the metrics of all processes, and schedules the next request for them.
func (t *table) storeMetrics(out api.ProcessListOutput, err error) tea.Cmd {
	if err == nil {
		t.metrics = make(map[string]*api.Metrics, len(out.Processes))
		for i := range out.Processes {
			if one := &out.Processes[i]; one.Metrics != nil {
				t.metrics[one.ID] = one.Metrics
			}
		}
	}
	t.refresh()
	return panes.After(metricsEvery, func() tea.Cmd {
		t.polling = false
		return nil
	})
}

// refresh rebuilds the rows from the processes in the news and from their last metrics.
func (t *table) refresh() {
	all := slices.Clone(t.env.News().Processes)
	t.closed, t.machines = map[string]bool{}, len(t.env.News().Machines) > 0
	for i := range all {
		if all[i].Failed() && t.env.IsClosed(all[i].ID) {
			t.closed[all[i].ID] = true
		}
		if !all[i].State.Ended() && !t.env.News().CanReach(all[i].ID) {
			all[i].State = states.StateAway
		}
		if metrics := t.metrics[all[i].ID]; metrics != nil && !all[i].State.Ended() {
			all[i].Metrics = metrics
		}
	}
	t.setProcesses(all)
}

// setProcesses replaces the processes. The slice must not change afterwards.
func (t *table) setProcesses(all []api.Process) {
	t.all = all
	for id := range t.marked {
		if !slices.ContainsFunc(all, func(p api.Process) bool { return p.ID == id }) {
			delete(t.marked, id)
		}
	}
	t.arrange()
}
