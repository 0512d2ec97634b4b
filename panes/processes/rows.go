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

// rows are the rows of a table, or a window of them.
type rows struct {
	loaded   []tableRow
	base     int // number of the first loaded row
	total    int // number of rows, loaded or not
	matching int // number of processes that match the filter
	all      int // number of processes
	folded   int // of these, one-shot commands in a folded row
	filter   string
	listed   []*api.Process // all that match, in the order of the rows, folded or not; nil for a window
	window   bool           // the engine filters and sorts, and some rows may not be loaded
	loading  bool
}

// A tableRow is a process or the header of its project.
type tableRow struct {
	project *project
	process *api.Process // nil for a header
	number  int          // of the process among the matching ones, from 1; 0 if unknown
}

// id returns the id of a row, which for a header is not a process's.
func (r *tableRow) id() string {
	if r.process == nil {
		return headerID(r.project.file)
	}
	return r.process.ID
}

func headerID(file string) string { return "project " + file }

// at returns a row; nil if it is not loaded.
func (r *rows) at(row int) *tableRow {
	if row -= r.base; row < 0 || row >= len(r.loaded) {
		return nil
	}
	return &r.loaded[row]
}

// processAt returns the process of a row; nil for a header or a missing row.
func (r *rows) processAt(row int) *api.Process {
	if at := r.at(row); at != nil {
		return at.process
	}
	return nil
}

// find returns the row with an id; -1 if none is loaded.
func (r *rows) find(id string) int {
	for i := range r.loaded {
		if r.loaded[i].id() == id {
			return r.base + i
		}
	}
	return -1
}

// A project is the processes of one project file, those without one, somebody's one-shot commands, or a
// group of a fleet.
type project struct {
	group    *api.FleetGroup // state of a group of a fleet, named by file; nil for projects
	commands bool            // one-shot commands of an agent or the user, named by title
	file     string          // "" for processes without one
	title    string          // the project's name
	members  []*api.Process  // the matching processes, in the order of the rows
	folded   bool
	closed   map[string]bool // sessions whose failure does not count
}

func (g *project) name() string {
	if g.group != nil {
		return cmp.Or(text.Clean(g.file), "without the label")
	}
	if g.file == "" {
		return "no project"
	}
	if g.commands {
		return g.title
	}
	machine, _ := api.PathOf(g.file)
	return api.OnMachine(machine, g.title)
}

// countStates counts the processes of a project: the running ones, the failed ones, and all that should
// run, which exited sessions and processes that exited successfully are not.
func (g *project) countStates() (up, failed, all int) {
	if g.group != nil {
		return g.group.Running, g.group.Failed, g.group.Processes
	}
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

// countCommands describes somebody's one-shot commands.
func (g *project) countCommands() (all string, running int) {
	for _, p := range g.members {
		if !p.State.Ended() {
			running++
		}
	}
	return text.Count(len(g.members), "command"), running
}

// groupByProject divides the processes matching a filter into projects. Those without one come after
// them, and one-shot commands last.
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

// groupFile returns what the processes of a group have in common: the project file, or who ran them
// as one-shot commands.
func groupFile(p *api.Process) string {
	if p.IsOneShot() {
		return "commands of " + actorTitle(p)
	}
	return projectFile(p)
}

// actorTitle returns the title of the one-shot commands of p's actor: the agent's name, whatever its
// version, or that they are the user's, with the machine.
func actorTitle(p *api.Process) string {
	name, _, _ := strings.Cut(states.Who(p.Actor), "/")
	if name == states.You {
		name = "your commands"
	}
	machine, _ := api.MachineOf(p.ID)
	return api.OnMachine(machine, name)
}

// projectNames returns the names of all projects by projectFile. The newest process decides,
// because the name in the file may have changed.
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

// matchesFilter reports whether a process has every word of a filter; see table.SetFilter.
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

// stateText returns the text of the state column, without the time left until a restart.
func stateText(p *api.Process) string {
	if p.State == api.StateBackoff {
		return "restarts"
	}
	return states.StateWords(p, time.Time{})
}
