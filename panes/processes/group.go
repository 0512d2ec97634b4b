package processes

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A project is the processes of one project file, those without one, or a group of a fleet.
type project struct {
	group   *api.FleetGroup // state of a group of a fleet, named by file; nil for projects
	file    string          // "" for processes without one
	title   string          // the project's name
	members []int           // indexes of the matching processes in Table.all, in the order of the rows
}

// A tableRow is a process or the header of its project.
type tableRow struct {
	project *project
	process int // index in Table.all; header for a project's header
}

const header = -1

// headerID returns the id of a header row, in place of a process's.
func headerID(file string) string { return "project " + file }

func (g *project) name() string {
	if g.group != nil {
		return cmp.Or(text.Clean(g.file), "without the label")
	}
	if g.file == "" {
		return "no project"
	}
	machine, _ := api.PathOf(g.file)
	return api.OnMachine(machine, g.title)
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

// groupByProject divides the processes matching the filter into projects; those without one come
// last.
func (t *Table) groupByProject() {
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

// buildRows builds the rows of the projects. Without any project there are no headers. A folded
// project is only a header, unless a filter is set.
func (t *Table) buildRows() {
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

// HeaderProject returns the project whose header is under the cursor; nil without one.
func (t *Table) HeaderProject() *project {
	if r := t.findRow(t.cursor); r != nil && r.process == header {
		return r.project
	}
	return nil
}

// ToggleFold folds or unfolds the project under the cursor. The cursor goes to its header.
func (t *Table) ToggleFold() {
	// With a filter every project is open.
	if t.cursor >= len(t.rows) || t.filter != "" || t.rows[0].process != header {
		return
	}
	file := t.rows[t.cursor].project.file
	if t.folded == nil {
		t.folded = map[string]bool{}
	}
	t.folded[file] = !t.folded[file]
	t.id = headerID(file)
	t.arrangeRows()
}

// Reveal puts the cursor on a process. It clears the filter and unfolds the project if they hide
// it.
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

// toggleProjectMarks marks the processes of a project, or removes their marks if all have one.
func (t *Table) toggleProjectMarks(g *project) {
	marked := !slices.ContainsFunc(g.members, func(i int) bool { return !t.marked[t.all[i].ID] })
	for _, i := range g.members {
		if t.marked[t.all[i].ID] = true; marked {
			delete(t.marked, t.all[i].ID)
		}
	}
}

// countStates counts the running and the failed processes of a project, and all but those that
// exited with success.
func (t *Table) countStates(g *project) (up, failed, all int) {
	if g.group != nil {
		return g.group.Running, g.group.Failed, g.group.Processes
	}
	for _, i := range g.members {
		p := &t.all[i]
		switch {
		case p.Failed(), p.State == api.StateBackoff:
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
func (t *Table) drawHeader(g *project, cursor bool, w int, look *look.Look) string {
	sign, here, name := look.Glyphs.Unfolded, " ", look.Strong
	if t.folded[g.file] && t.filter == "" || g.group != nil && !g.group.Open {
		sign = look.Glyphs.Folded
	}
	if cursor {
		here, name = look.Glyphs.Selected, look.Current
	}
	r := list.Row{Plain: cursor && t.Focused}
	r.Add(here, look.Accent)
	r.Add("  "+sign+" ", look.Dim)
	at := t.stateColumnX()
	r.Add(text.Fit(g.name(), max(at-columnGap-r.Cells, min(12, w-r.Cells))), name)
	r.Add(text.Spaces(columnGap), "")
	up, failed, all := t.countStates(g)
	ink := look.Good
	switch {
	case up == 0:
		ink = look.Dim
	case up < all:
		ink = look.Warn
	}
	r.AddKept(text.Itoa(up)+"/"+text.Itoa(all)+" up", ink, look.Selected)
	if failed > 0 {
		r.AddKept(", "+text.Itoa(failed)+" failed", look.Bad, look.Selected)
	}
	if m := g.group; m != nil && m.Machines > 1 {
		r.Add(text.Spaces(columnGap)+text.Itoa(m.Machines)+" machines", look.Dim)
	}
	if m := g.group; m != nil && m.Away > 0 {
		away := "away"
		if m.Machines > 1 {
			away = text.Itoa(m.Away) + " away"
		}
		r.Add(", "+away, look.Dim)
	}
	if g.group == nil && g.file != "" && w-r.Cells > columnGap+4 {
		folder := text.ShortPath(filepath.Dir(g.file), t.Home)
		r.Add(text.Spaces(columnGap)+text.ClipPath(folder, w-r.Cells-columnGap), look.Dim)
	}
	return t.finishRow(&r, w, look)
}

func (t *Table) stateColumnX() int {
	for _, c := range t.columns {
		if c.column == ColumnState {
			return c.x
		}
	}
	return leadCells
}

// finishRow pads or clips a row to the width of the table.
func (t *Table) finishRow(r *list.Row, w int, look *look.Look) string {
	r.Add(text.Spaces(w-r.Cells), "")
	line := r.Text.String()
	if r.Cells > w {
		line = text.Cut(line, w, "")
	}
	if r.Plain {
		return look.Selected.Text(line)
	}
	return line
}
