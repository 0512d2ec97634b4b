package processes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

const (
	// fleetRows is how many rows are asked for besides those shown, so that most moves of the
	// cursor find theirs; fleetFirst while what is shown changes with each key.
	fleetRows, fleetFirst = 300, 40
	// fleetWait is how long the engine waits for something to change, and fleetEvery how long
	// it is let be before it is asked again.
	fleetWait  = 20 * time.Second
	fleetEvery = 30 * time.Millisecond
)

// A Fleet is the processes of a fleet of many machines: a window of the table that the
// engine has of them, kept about the cursor.
type Fleet struct {
	env   panes.Env
	on    bool // it is shown in place of the processes here
	table Table
	group string // what its rows are grouped by, as api.FleetProcessesInput has it
	open  map[string]bool

	asked *api.FleetProcessesInput // under way
	stop  context.CancelFunc
	out   api.FleetProcessesOutput // the last answer,
	to    api.FleetProcessesInput  // and the question
	err   error
}

func newFleet(env panes.Env) *Fleet {
	return &Fleet{env: env, open: map[string]bool{}, stop: func() {}, table: Table{held: &held{}}}
}

// query is what is wanted of the engine, for a table of h rows.
func (f *Fleet) query(h int) api.FleetProcessesInput {
	t := &f.table
	in := api.FleetProcessesInput{Filter: t.filter, Sort: t.order.fleet(), Reversed: t.reversed, Group: f.group}
	for name, open := range f.open {
		if open {
			in.Open = append(in.Open, name)
		}
	}
	slices.Sort(in.Open)
	more := fleetRows
	if !alike(in, f.to) {
		more = fleetFirst
	}
	in.Offset, in.Limit = max(t.top-more/2, 0), more+h
	return in
}

// alike reports whether two questions are about the same table, be it another window of it.
func alike(a, b api.FleetProcessesInput) bool {
	return a.Filter == b.Filter && a.Sort == b.Sort && a.Reversed == b.Reversed && a.Group == b.Group && slices.Equal(a.Open, b.Open)
}

// covers reports whether the last answer has all rows of a view.
func (f *Fleet) covers(top, h int) bool {
	return top >= f.out.Offset && min(top+h, f.out.Total) <= f.out.Offset+len(f.out.Lines)
}

// fetch asks for what a table of h rows lacks, or else for what changes.
func (f *Fleet) fetch(h int) tea.Cmd {
	t := &f.table
	t.top = widget.Follow(t.top, t.cursor, t.lines(), h)
	in := f.query(h)
	fresh := !alike(in, f.to) || f.out.Serial == 0 || !f.covers(t.top, h)
	if f.asked != nil && (!fresh || alike(in, *f.asked) && f.asked.WaitMS == 0) {
		return nil
	}
	if fresh {
		in.Find = fleetKey(t.id)
		if alike(in, f.to) { // the cursor has gone to where no row is held
			in.Find = ""
		}
	} else {
		in.Find, in.Since, in.WaitMS = fleetKey(t.id), f.out.Serial, int(fleetWait/time.Millisecond)
	}
	f.stop()
	ctx, stop := context.WithCancel(f.env.Context())
	f.stop, f.asked = stop, &in
	return panes.Ask(ctx, f.env, func(ctx context.Context, e panes.Engine) (api.FleetProcessesOutput, error) {
		if in.WaitMS > 0 {
			_ = sleep.For(ctx, fleetEvery)
		}
		return api.FleetProcesses.Call(ctx, e, in)
	}, func(out api.FleetProcessesOutput, err error) tea.Cmd {
		if ctx.Err() != nil {
			return nil // something else is asked for meanwhile
		}
		stop()
		return f.take(in, out, err)
	})
}

// fleetKey is what the engine calls a row that the cursor is on.
func fleetKey(id string) string { return strings.Replace(id, headerID(""), "group ", 1) }

// take takes in an answer.
func (f *Fleet) take(in api.FleetProcessesInput, out api.FleetProcessesOutput, err error) tea.Cmd {
	f.err = err
	if err != nil {
		return panes.After(logLater, func() tea.Cmd {
			f.asked = nil
			return nil
		})
	}
	f.asked, f.out, f.to = nil, out, in
	all, rows := make([]api.Process, 0, len(out.Lines)), make([]tableRow, 0, len(out.Lines))
	group := &project{told: &api.FleetGroup{}}
	for i := range out.Lines {
		l := &out.Lines[i]
		if l.Group != nil {
			group = &project{file: l.Group.Name, told: l.Group}
			rows = append(rows, tableRow{group, header})
			continue
		}
		p := *l.Process
		p.ID = api.OnMachine(l.Host, p.ID)
		if l.Away && !p.State.Ended() {
			p.State = widget.StateAway
		}
		rows = append(rows, tableRow{group, len(all)})
		all = append(all, p)
	}
	at := -1
	if in.Find == fleetKey(f.table.id) {
		at = out.At
	}
	f.table.setWindow(all, rows, at, &out)
	return nil
}

// fold opens the group that the cursor is in, or closes it.
func (f *Fleet) fold() {
	g := f.table.Project()
	if g == nil || f.table.filter != "" {
		return
	}
	f.open[g.file] = !f.open[g.file]
}

// askGroup asks what the rows are to be grouped by.
func (f *Fleet) askGroup() {
	names := []string{"", "host"}
	choices := []widget.Choice{{Text: "nothing", Detail: "one list"}, {Text: "host", Detail: "a group for each machine"}}
	for _, key := range f.out.Labels {
		names = append(names, "label:"+key)
		choices = append(choices, widget.Choice{Text: widget.Clean(key), Also: "label", Detail: "label"})
	}
	look := f.env.Look()
	for i := range choices {
		choices[i].Number, choices[i].Sign, choices[i].SignInk = i, " ", look.Dim
		if names[i] == f.group {
			choices[i].Sign = look.Glyphs.Check
		}
	}
	u := &overlay.Picker{Title: "Group the fleet by", Wide: widget.ChoicesWidth, Verb: func(widget.Choice) string { return "group by it" }}
	u.Pick = func(c widget.Choice) tea.Cmd {
		f.group, f.open = names[c.Number], map[string]bool{}
		f.table.cursor, f.table.id = 0, ""
		return nil
	}
	u.List.Set(choices)
	f.env.Ask(u)
}

// toggleFleet shows the processes of the fleet, or those here again.
func toggleFleet(p *Pane) tea.Cmd {
	switch {
	case p.fleet.on:
		p.fleet.leave()
	case p.env.News().Fleet == nil:
		return p.env.Say("machines of a fleet are shown here, as they are few", false)
	default:
		p.fleet.on = true
	}
	showTable(p)
	return nil
}

// ShowFleet shows what of the processes of the fleet matches a filter.
func ShowFleet(p *Pane, filter string) tea.Cmd {
	p.fleet.on = p.env.News().Fleet != nil
	showTable(p)
	if !p.fleet.on {
		return p.env.Say("no fleet of many machines is connected", false)
	}
	p.table.SetFilter(filter)
	return nil
}

// showTable shows the table that is chosen, and no log in its place.
func showTable(p *Pane) {
	p.closeMerged()
	p.onLog = false
	p.refresh()
}

// leave asks for nothing more.
func (f *Fleet) leave() {
	f.stop()
	f.on, f.asked = false, nil
}

// groupFleet asks what to group by, where there is a fleet.
func groupFleet(p *Pane) tea.Cmd {
	if !p.fleet.on {
		return p.env.Say("only processes of a fleet are grouped", false)
	}
	p.fleet.askGroup()
	return nil
}

// foldRow folds what the cursor is in.
func foldRow(p *Pane) {
	if p.fleet.on {
		p.fleet.fold()
		return
	}
	p.table.Fold()
}

// openFar shows a session of a machine of many: the machine is one of those that are shown
// from then on.
func openFar(p *Pane, session api.Process) tea.Cmd {
	machine, _ := api.MachineOf(session.ID)
	if p.env.News().Machine(machine) != nil {
		return p.env.ShowSession(session.ID)
	}
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.Process, error) {
		if _, err := api.MachineConnect.Call(ctx, e, api.MachineConnectInput{Name: machine}); err != nil {
			return api.Process{}, err
		}
		return api.ProcessGet.Call(ctx, e, api.IDInput{ID: session.ID})
	}, func(now api.Process, err error) tea.Cmd {
		if err != nil {
			return p.env.Say(panes.ErrorText(err), true)
		}
		return tea.Batch(p.env.Learn(now), p.env.ShowSession(now.ID))
	})
}

// drawTabs says which of both tables is shown, and what the other one has.
func (f *Fleet) drawTabs(w int) string {
	n := f.env.News()
	fleet := "fleet " + widget.Thousands(n.Fleet.Processes) + " on " + widget.Count(n.Fleet.Machines, "machine")
	fleet = panes.WithCounts(fleet, panes.Count{N: n.Fleet.Failed, What: "failed"}, panes.Count{N: n.Fleet.Away, What: "away"})
	hint := panes.WithKey(f.env.Bindings(), "", keymap.ProcessFleet, " switches", keymap.ScopeProcesses)
	switch {
	case !f.on:
	case f.err != nil:
		hint = panes.ErrorText(f.err)
	case f.out.Loading:
		hint = "loading…"
	case f.group != "":
		hint = "by " + widget.Clean(strings.TrimPrefix(f.group, "label:"))
	}
	return panes.DrawFleetTabs(f.env, f.on, "here "+widget.Thousands(len(n.Processes)), fleet, hint, w)
}

// A held is what a table knows of rows that it does not hold.
type held struct {
	base     int // number of the first row that is held
	total    int
	matching int
	all      int
	loading  bool
	marked   map[string]api.Process // as they were when they were marked
}

// setWindow replaces the rows that are held. at is where that of the cursor is now; -1 if that
// is not known.
func (t *Table) setWindow(all []api.Process, rows []tableRow, at int, out *api.FleetProcessesOutput) {
	t.all, t.rows, t.matching = all, rows, out.Matching
	w := t.held
	w.base, w.total, w.matching, w.all, w.loading = out.Offset, out.Total, out.Matching, out.All, out.Loading
	if at >= 0 {
		t.cursor = at
	} else if !t.Select(t.id) {
		t.cursor = max(min(t.cursor, w.total-1), 0)
	}
	t.keep()
}

// narrow leaves those of the rows that are held that are known to match the filter, until the
// engine has answered: what is typed next is about none of the others.
func (t *Table) narrow() {
	rows := t.rows[:0:0]
	for _, r := range t.rows {
		if r.process != header && matchesFilter(&t.all[r.process], "", t.filter) {
			rows = append(rows, r)
		}
	}
	t.rows, t.matching, t.cursor = rows, len(rows), 0
	t.held.base, t.held.total, t.held.loading = 0, len(rows), true
	if !t.Select(t.id) {
		t.keep()
	}
}

// fleet is the name of a column's order for the engine.
func (c Column) fleet() api.FleetSort {
	switch c {
	case ColumnName:
		return api.FleetByName
	case ColumnHost:
		return api.FleetByHost
	case ColumnPID:
		return api.FleetByPID
	case ColumnUp:
		return api.FleetByUp
	case ColumnWho:
		return api.FleetByWho
	case ColumnCommand:
		return api.FleetByCommand
	}
	return api.FleetByState
}

// inFleet reports whether the rows of a fleet tell what a column has: nobody measures all of them.
func (c Column) inFleet() bool {
	switch c {
	case ColumnCPU, ColumnMemory, ColumnRestarts, ColumnPorts:
		return false
	}
	return true
}

// markedFar are the processes of a window that are marked, held or not.
func (t *Table) markedFar() []api.Process {
	var all []api.Process
	for id := range t.marked {
		all = append(all, t.held.marked[id])
	}
	slices.SortFunc(all, func(a, b api.Process) int { return cmp.Or(t.compare(&a, &b), cmp.Compare(a.ID, b.ID)) })
	return all
}
