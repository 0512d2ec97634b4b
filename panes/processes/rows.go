package processes

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A tableRow is a process or the header of its project.
type tableRow struct {
	project *project
	process *api.Process // nil for a header
	number  int          // of the process among the matching ones, from 1; 0 for a header
}

// id returns the id of a row. For a header it is one that no process has.
func (r *tableRow) id() string {
	if r.process == nil {
		return headerID(r.project.file)
	}
	return r.process.ID
}

func headerID(file string) string { return "project " + file }

// A project is a group of processes in the table: those of one project file, those without a
// project file, or the one-shot commands of one agent or of the user.
type project struct {
	commands bool           // one-shot commands of an agent or the user, named by title
	file     string         // "" for processes without one
	title    string         // the project's name
	members  []*api.Process // the matching processes, in the order of the rows
	folded   bool
	closed   map[string]bool // sessions whose failure does not count
}

func (g *project) name() string {
	if g.file == "" {
		return "no project"
	}
	if g.commands {
		return g.title
	}
	machine, _ := api.PathOf(g.file)
	return api.OnMachine(machine, g.title)
}

// countStates counts the processes of a project that are up, that have failed, and all that should
// run. Exited sessions and processes that exited successfully are not counted.
func (g *project) countStates() (up, failed, all int) {
	now := time.Now()
	for _, p := range g.members {
		switch {
		case p.IsFailing(now) && !g.closed[p.ID]:
			failed++
		case p.State == api.StateRunning, p.State == api.StateBackoff:
			up++
		case p.State == api.StateExited:
			continue
		}
		if p.Kind != api.KindSession || !p.State.Ended() {
			all++
		}
	}
	return up, failed, all
}

// countCommands returns the number of one-shot commands in words, and how many of them are running.
func (g *project) countCommands() (all string, running int) {
	for _, p := range g.members {
		if !p.State.Ended() {
			running++
		}
	}
	return text.Count(len(g.members), "command"), running
}

// arrange filters and sorts the rows, and puts the cursor back on its process. If that process is
// gone, the cursor stays in the same place.
func (t *table) arrange() {
	t.buildRows()
	if t.Select(t.id) {
		return
	}
	t.cursor = max(min(t.cursor, len(t.rows)-1), 0)
	// Prefer a process to a header, because the view has more to show of it.
	if t.HeaderProject() != nil && t.cursor+1 < len(t.rows) && t.rows[t.cursor+1].process != nil {
		t.cursor++
	}
	t.rememberRow()
}

// buildRows builds the rows of all projects. If no process has a project file, only one-shot
// commands have a header. A folded project has only its header, unless a filter is set.
func (t *table) buildRows() {
	t.rows, t.matching, t.hidden = make([]tableRow, 0, len(t.all)), make([]*api.Process, 0, len(t.all)), 0
	headers := t.hasProjects()
	for _, g := range groupByProject(t.all, t.filter, t.order) {
		if g.closed = t.closed; headers || g.commands {
			t.rows = append(t.rows, tableRow{project: g})
			// Agents' commands are folded until the user unfolds them.
			g.folded = t.folded[g.file] != g.commands && t.filter == ""
		}
		if g.commands && g.folded {
			t.hidden += len(g.members)
		}
		for _, p := range g.members {
			t.matching = append(t.matching, p)
			if !g.folded {
				t.rows = append(t.rows, tableRow{g, p, len(t.matching)})
			}
		}
	}
}

func (t *table) hasProjects() bool {
	return slices.ContainsFunc(t.all, func(p api.Process) bool { return p.Project != nil })
}

// groupByProject divides the processes that match a filter into groups: first those of each project
// file, then those without a project file, then one-shot commands.
func groupByProject(processes []api.Process, filter string, o order) (all []*project) {
	byFile, names := map[string]*project{}, projectNames(processes)
	o.now = time.Now()
	for i := range processes {
		p := &processes[i]
		file := groupFile(p)
		title := names[file]
		if p.IsOneShot() {
			title = actorTitle(p)
		}
		if !matchesFilter(p, title, filter) {
			continue
		}
		g := byFile[file]
		if g == nil {
			g = &project{file: file, title: title, commands: p.IsOneShot()}
			byFile[file] = g
			all = append(all, g)
		}
		g.members = append(g.members, p)
	}
	rank := func(g *project) int {
		switch {
		case g.commands:
			return 2
		case g.file == "":
			return 1
		}
		return 0
	}
	slices.SortFunc(all, func(a, b *project) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.name(), b.name()), strings.Compare(a.file, b.file))
	})
	for _, g := range all {
		slices.SortStableFunc(g.members, o.compare)
	}
	return all
}

// groupFile returns a text that is the same for all processes of a group: the project file or, for
// one-shot commands, who ran them.
func groupFile(p *api.Process) string {
	if p.IsOneShot() {
		return "commands of " + actorTitle(p)
	}
	return projectFile(p)
}

// actorTitle returns the title of the group for one-shot command p: the name of the agent that ran
// it, without a version, or "your commands". It includes the machine if that is another one.
func actorTitle(p *api.Process) string {
	name, _, _ := strings.Cut(states.Who(p.Actor), "/")
	if name == states.You {
		name = "your commands"
	}
	machine, _ := api.MachineOf(p.ID)
	return api.OnMachine(machine, name)
}

// projectNames returns the names of all projects by projectFile. The name is that of the newest
// process, because the name in the file may have changed.
func projectNames(all []api.Process) map[string]string {
	names, newest := map[string]string{}, map[string]time.Time{}
	for i := range all {
		p := &all[i]
		file := projectFile(p)
		if _, known := names[file]; file == "" || known && !p.StartedAt.After(newest[file]) {
			continue
		}
		names[file] = text.Clean(cmp.Or(p.Project.Project, filepath.Base(projectFolder(p))))
		newest[file] = p.StartedAt
	}
	return names
}

func projectFile(p *api.Process) string {
	if p.Project == nil {
		return ""
	}
	machine, _ := api.MachineOf(p.ID)
	return api.PathOn(machine, p.Project.File)
}

func projectFolder(p *api.Process) string {
	if p.Project == nil {
		return ""
	}
	return filepath.Dir(p.Project.File)
}

// matchesFilter reports whether a process matches a filter. For the syntax see table.SetFilter.
func matchesFilter(p *api.Process, project, filter string) bool {
	if filter == "" {
		return true
	}
	host, filter := list.CutHost(filter)
	if machine, _ := api.MachineOf(p.ID); !list.OnHost(host, machine) {
		return false
	}
	s := strings.ToLower(strings.Join([]string{p.Name, project, projectFolder(p), hostText(p), p.Command, p.CWD, string(p.State), stateText(p), states.WhoFrom(p.Actor, p.From),
		string(p.Kind), pidText(p), portsText(p)}, "\n"))
	return text.Holds(s, strings.Fields(strings.ToLower(filter)))
}

// stateText returns the text of the state column for filtering. It leaves out the time until a
// restart.
func stateText(p *api.Process) string {
	if p.State == api.StateBackoff {
		return "restarts"
	}
	return states.StateWords(p, time.Time{})
}
