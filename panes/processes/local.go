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
	table   table
	all     []api.Process           // never changed in place
	folded  map[string]bool         // by project file, of agents' commands whether they are unfolded
	metrics map[string]*api.Metrics // by process
	closed  map[string]bool         // sessions whose failure the user has seen

	machines bool // there are other machines
	polling  bool
}

func newLocal(env panes.Env) *local {
	l := &local{env: env, folded: map[string]bool{}}
	l.table.source, l.table.order = l, order{by: columnName}
	return l
}

func (l *local) hasMachines() bool { return l.machines }

func (l *local) fetchMetrics() tea.Cmd {
	if l.polling || !l.env.News().Connected {
		return nil
	}
	l.polling = true
	return panes.Ask(l.env.Context(), l.env, func(ctx context.Context, e panes.Engine) (api.ProcessListOutput, error) {
		return api.ProcessList.Call(ctx, e, api.ProcessListInput{Metrics: true, Machines: true})
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
	all := slices.Clone(l.env.News().Processes)
	l.closed, l.machines = map[string]bool{}, len(l.env.News().Machines) > 0
	for i := range all {
		if all[i].Failed() && l.env.IsClosed(all[i].ID) {
			l.closed[all[i].ID] = true
		}
		if !all[i].State.Ended() && !l.env.News().CanReach(all[i].ID) {
			all[i].State = states.StateAway
		}
		if metrics := l.metrics[all[i].ID]; metrics != nil && !all[i].State.Ended() {
			all[i].Metrics = metrics
		}
	}
	l.setProcesses(all)
}

// setProcesses replaces the processes. The slice must not change afterwards.
func (l *local) setProcesses(all []api.Process) {
	l.all = all
	for id := range l.table.marked {
		if !slices.ContainsFunc(all, func(p api.Process) bool { return p.ID == id }) {
			delete(l.table.marked, id)
		}
	}
	l.table.arrange()
}

// arrangeRows builds the rows of the projects. Without any project there are no headers. A folded
// project is only a header, unless a filter is set.
func (l *local) arrangeRows(filter string, o order) rows {
	n := len(l.all)
	r := rows{all: n, filter: filter, loaded: make([]tableRow, 0, n), listed: make([]*api.Process, 0, n)}
	headers := l.hasProjects()
	for _, g := range groupByProject(l.all, filter, o) {
		if g.closed = l.closed; headers || g.commands {
			r.loaded = append(r.loaded, tableRow{project: g})
			// Agents' commands are folded until the user unfolds them.
			g.folded = l.folded[g.file] != g.commands && filter == ""
		}
		if g.commands && g.folded {
			r.folded += len(g.members)
		}
		for _, p := range g.members {
			r.listed = append(r.listed, p)
			if !g.folded {
				r.loaded = append(r.loaded, tableRow{g, p, len(r.listed)})
			}
		}
	}
	r.total, r.matching = len(r.loaded), len(r.listed)
	return r
}

func (l *local) hasProjects() bool {
	return slices.ContainsFunc(l.all, func(p api.Process) bool { return p.Project != nil })
}

func (l *local) toggleFold(row *tableRow) bool {
	if row.project.commands || l.hasProjects() {
		l.folded[row.project.file] = !l.folded[row.project.file]
		return true
	}
	return false
}

// reveal puts the cursor on a process. It clears the filter and unfolds the project if they hide
// it.
func (l *local) reveal(id string) {
	if l.table.Select(id) {
		return
	}
	if i := slices.IndexFunc(l.all, func(p api.Process) bool { return p.ID == id }); i >= 0 {
		if file := groupFile(&l.all[i]); l.all[i].IsOneShot() {
			l.folded[file] = true // unfolds its agent's commands
		} else {
			delete(l.folded, file)
		}
		l.table.SetFilter("")
		l.table.Select(id)
	}
}
