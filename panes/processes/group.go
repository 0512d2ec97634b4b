package processes

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// A project is the processes of one project file, or those of none.
type project struct {
	told    *api.FleetGroup // what the engine tells of a group of a fleet, whose name is file; nil for projects
	file    string          // "" for those of none
	title   string          // the project's name
	members []int           // indexes into all of what matches the filter, in the order of the rows
}

// A tableRow is a process or, where several projects are told apart, the header
// of one.
type tableRow struct {
	project *project
	process int // index into all; header for a project's header
}

const header = -1

// headerID is what the cursor keeps its place by on a header.
func headerID(file string) string { return "project " + file }

func (g *project) name() string {
	if g.told != nil {
		return cmp.Or(widget.Clean(g.file), "without the label")
	}
	if g.file == "" {
		return "no project"
	}
	machine, _ := api.PathOf(g.file)
	return api.OnMachine(machine, g.title)
}

// projectNames returns the names of the projects that processes belong to, by
// projectFile. The newest process decides, so that a new name in the file shows.
func projectNames(all []api.Process) map[string]string {
	names, newest := map[string]string{}, map[string]time.Time{}
	for i := range all {
		p := &all[i]
		file := projectFile(p)
		if _, known := names[file]; file == "" || known && !p.StartedAt.After(newest[file]) {
			continue
		}
		names[file] = widget.Clean(cmp.Or(p.Project.Project, filepath.Base(projectFolder(p))))
		newest[file] = p.StartedAt
	}
	return names
}

// divide divides the processes that match the filter into projects, those of none
// last.
func (t *Table) divide() {
	var all []*project
	byFile, names := map[string]*project{}, projectNames(t.all)
	for i := range t.all {
		p := &t.all[i]
		file := projectFile(p)
		if !matchesFilter(p, names[file], t.filter) {
			continue
		}
		g := byFile[file]
		if g == nil {
			g = &project{file: file, title: names[file]}
			byFile[file] = g
			all = append(all, g)
		}
		g.members = append(g.members, i)
	}
	slices.SortFunc(all, func(a, b *project) int {
		if (a.file == "") != (b.file == "") {
			return strings.Compare(b.file, a.file)
		}
		return cmp.Or(strings.Compare(a.name(), b.name()), strings.Compare(a.file, b.file))
	})
	for _, g := range all {
		slices.SortStableFunc(g.members, func(a, b int) int { return t.compare(&t.all[a], &t.all[b]) })
	}
	t.projects = all
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

// layRows makes the rows of the projects: no header where there are no projects, and of
// one that is folded nothing else, unless a filter looks for what is in it.
func (t *Table) layRows() {
	t.rows = t.rows[:0]
	named := slices.ContainsFunc(t.all, func(p api.Process) bool { return p.Project != nil })
	for _, g := range t.projects {
		if named {
			t.rows = append(t.rows, tableRow{g, header})
			if t.folded[g.file] && t.filter == "" {
				continue
			}
		}
		for _, i := range g.members {
			t.rows = append(t.rows, tableRow{g, i})
		}
	}
}

// Project is the project whose header the cursor is on; nil without one.
func (t *Table) Project() *project {
	if r := t.row(t.cursor); r != nil && r.process == header {
		return r.project
	}
	return nil
}

// Fold folds the project that the cursor is in, whose header it goes to, or
// unfolds it.
func (t *Table) Fold() {
	if t.cursor >= len(t.rows) || t.filter != "" || t.rows[0].process != header {
		return
	}
	file := t.rows[t.cursor].project.file
	if t.folded == nil {
		t.folded = map[string]bool{}
	}
	t.folded[file] = !t.folded[file]
	t.id = headerID(file)
	t.arrange()
}

// Reveal puts the cursor on a process, whatever is filtered and folded.
func (t *Table) Reveal(id string) {
	if t.Select(id) {
		return
	}
	for i := range t.all {
		if t.all[i].ID == id {
			delete(t.folded, projectFile(&t.all[i]))
			t.SetFilter("")
			t.Select(id)
		}
	}
}

// markAll marks the processes of a project, or takes their marks away if all
// have one.
func (t *Table) markAll(g *project) {
	marked := !slices.ContainsFunc(g.members, func(i int) bool { return !t.marked[t.all[i].ID] })
	for _, i := range g.members {
		if t.marked[t.all[i].ID] = true; marked {
			delete(t.marked, t.all[i].ID)
		}
	}
}

// count counts the processes of a project that run, those that have failed, and
// all but the ones that did what they had to.
func (t *Table) count(g *project) (up, failed, all int) {
	if g.told != nil {
		return g.told.Running, g.told.Failed, g.told.Processes
	}
	for _, i := range g.members {
		p := &t.all[i]
		switch {
		case widget.Failed(p), p.State == api.StateBackoff:
			failed++
		case p.State == api.StateRunning:
			up++
		case p.State == api.StateExited:
			continue
		}
		all++
	}
	return up, failed, all
}

// drawHeader draws the header of a project.
func (t *Table) drawHeader(g *project, cursor bool, w int, look *widget.Look) string {
	sign, here, name := look.Glyphs.Unfolded, " ", look.Strong
	if t.folded[g.file] && t.filter == "" || g.told != nil && !g.told.Open {
		sign = look.Glyphs.Folded
	}
	if cursor {
		here, name = look.Glyphs.Selected, look.Current
	}
	r := widget.Row{Plain: cursor && t.Focused}
	r.Add(here, look.Accent)
	r.Add("  "+sign+" ", look.Dim)
	at := t.stateAt()
	r.Add(widget.Fit(g.name(), max(at-columnGap-r.Cells, min(12, w-r.Cells))), name)
	r.Add(widget.Spaces(columnGap), "")
	up, failed, all := t.count(g)
	ink := look.Good
	switch {
	case up == 0:
		ink = look.Dim
	case up < all:
		ink = look.Warn
	}
	r.AddKept(widget.Itoa(up)+"/"+widget.Itoa(all)+" up", ink, look.Selected)
	if failed > 0 {
		r.AddKept(", "+widget.Itoa(failed)+" failed", look.Bad, look.Selected)
	}
	if m := g.told; m != nil && m.Machines > 1 {
		r.Add(widget.Spaces(columnGap)+widget.Itoa(m.Machines)+" machines", look.Dim)
	}
	if m := g.told; m != nil && m.Away > 0 {
		away := "away"
		if m.Machines > 1 {
			away = widget.Itoa(m.Away) + " away"
		}
		r.Add(", "+away, look.Dim)
	}
	if g.told == nil && g.file != "" && w-r.Cells > columnGap+4 {
		folder := widget.ShortPath(filepath.Dir(g.file), t.Home)
		r.Add(widget.Spaces(columnGap)+widget.ClipPath(folder, w-r.Cells-columnGap), look.Dim)
	}
	return t.finish(&r, w, look)
}

// stateAt is where the column of states begins.
func (t *Table) stateAt() int {
	for _, c := range t.places {
		if c.column == ColumnState {
			return c.x
		}
	}
	return leadCells
}

// finish fills a row that was drawn up to the width of the table.
func (t *Table) finish(r *widget.Row, w int, look *widget.Look) string {
	r.Add(widget.Spaces(w-r.Cells), "")
	line := r.Text.String()
	if r.Cells > w {
		line = widget.Cut(line, w, "")
	}
	if r.Plain {
		return look.Selected.Text(line)
	}
	return line
}
