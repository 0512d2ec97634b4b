package processes

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

const (
	// windowRows is how many rows are fetched in addition to the visible ones, so that most moves
	// of the cursor need no query. typingRows replaces it while each key changes the query.
	windowRows, typingRows = 300, 40
	// maxFleetWait is how long the engine may wait for a change before it answers, and fleetDelay
	// the pause before the next query.
	maxFleetWait = 20 * time.Second
	fleetDelay   = 30 * time.Millisecond
	retryDelay   = time.Second // after an error
)

// A fleet is the table of all processes of a fleet. The engine filters and sorts them; the table
// holds only a window of rows around the cursor.
type fleet struct {
	env   panes.Env
	shown bool // shown in place of the local processes
	table table
	group string          // see api.FleetProcessesInput
	open  map[string]bool // the open groups

	pending  *api.FleetProcessesInput // the query under way
	querying panes.LatestCall
	answer   api.FleetProcessesOutput // the last answer,
	answered api.FleetProcessesInput  // and its query
	err      error
}

func newFleet(env panes.Env) *fleet {
	f := &fleet{env: env, open: map[string]bool{}}
	f.table = table{source: f, rows: rows{window: true, loading: true}}
	return f
}

// buildQuery returns the query for a table of h rows.
func (f *fleet) buildQuery(h int) api.FleetProcessesInput {
	t := &f.table
	in := api.FleetProcessesInput{Filter: t.rows.filter, Sort: t.order.by.fleetSort(), Reversed: t.order.reversed, Group: f.group,
		Open: slices.Sorted(maps.Keys(f.open))}
	more := windowRows
	if !sameTable(in, f.answered) {
		more = typingRows
	}
	in.Offset, in.Limit = max(t.top-more/2, 0), more+h
	return in
}

// sameTable reports whether two queries differ at most in their window of rows.
func sameTable(a, b api.FleetProcessesInput) bool {
	return a.Filter == b.Filter && a.Sort == b.Sort && a.Reversed == b.Reversed && a.Group == b.Group && slices.Equal(a.Open, b.Open)
}

// coversRows reports whether the last answer has all rows of a view.
func (f *fleet) coversRows(top, h int) bool {
	return top >= f.answer.Offset && min(top+h, f.answer.Total) <= f.answer.Offset+len(f.answer.Lines)
}

// fetchRows loads the rows missing from a view of h rows. If none are, it waits for changes.
func (f *fleet) fetchRows(h int) tea.Cmd {
	t := &f.table
	// The cursor may have moved since the last drawing; the new view decides about the missing
	// rows.
	t.top = list.Follow(t.top, t.cursor, t.rows.total, h)
	in := f.buildQuery(h)
	// A query for missing rows replaces one waiting for changes, but not one for the same rows.
	fresh := !sameTable(in, f.answered) || f.answer.Serial == 0 || !f.coversRows(t.top, h)
	if f.pending != nil && (!fresh || sameTable(in, *f.pending) && f.pending.WaitMS == 0) {
		return nil
	}
	if fresh {
		in.Find = fleetKey(t.id)
		if sameTable(in, f.answered) { // the cursor has moved to a row not loaded
			in.Find = ""
		}
	} else {
		in.Find, in.Since, in.WaitMS = fleetKey(t.id), f.answer.Serial, int(maxFleetWait/time.Millisecond)
	}
	f.pending = &in
	ctx := f.querying.Begin(f.env.Context())
	return panes.Ask(ctx, f.env, func(ctx context.Context, e panes.Engine) (api.FleetProcessesOutput, error) {
		if in.WaitMS > 0 {
			_ = sleep.For(ctx, fleetDelay)
		}
		return api.FleetProcesses.Call(ctx, e, in)
	}, func(out api.FleetProcessesOutput, err error) tea.Cmd {
		if ctx.Err() != nil {
			return nil // another query has replaced this one
		}
		f.querying.Cancel()
		return f.storeAnswer(in, out, err)
	})
}

// fleetKey returns the engine's key for a row; see FleetProcessesInput.Find.
func fleetKey(id string) string { return strings.Replace(id, headerID(""), "group ", 1) }

// storeAnswer stores an answer, and after an error schedules another attempt.
func (f *fleet) storeAnswer(in api.FleetProcessesInput, out api.FleetProcessesOutput, err error) tea.Cmd {
	f.err = err
	if err != nil {
		return panes.After(retryDelay, func() tea.Cmd {
			f.pending = nil
			return nil
		})
	}
	f.pending, f.answer, f.answered = nil, out, in
	// The answer's position of the cursor is stale if the cursor has moved meanwhile.
	at := -1
	if in.Find == fleetKey(f.table.id) {
		at = out.At
	}
	f.table.setRows(f.loadRows(&out))
	if at >= 0 {
		f.table.MoveTo(at)
	}
	return nil
}

// loadRows returns the rows of an answer.
func (f *fleet) loadRows(out *api.FleetProcessesOutput) rows {
	r := rows{window: true, base: out.Offset, total: out.Total, matching: out.Matching, all: out.All, filter: f.table.rows.filter,
		loading: out.Loading || out.All == 0}
	group := &project{group: &api.FleetGroup{}}
	for i := range out.Lines {
		l := &out.Lines[i]
		if l.Group != nil {
			group = &project{file: l.Group.Name, group: l.Group, folded: !l.Group.Open}
			r.loaded = append(r.loaded, tableRow{project: group})
			continue
		}
		p := *l.Process
		p.ID = api.OnMachine(l.Host, p.ID)
		if l.Away && !p.State.Ended() {
			p.State = states.StateAway
		}
		row := tableRow{project: group, process: &p}
		if out.Total == out.Matching { // else headers are among the rows
			row.number = out.Offset + i + 1
		}
		r.loaded = append(r.loaded, row)
	}
	return r
}

// arrangeRows leaves it to the engine to filter and sort. Until it has answered, only the loaded
// rows that match a new filter are kept, because the next key must not act on one of the others.
func (f *fleet) arrangeRows(filter string, _ order) rows {
	if filter == f.table.rows.filter {
		return f.table.rows
	}
	kept := rows{window: true, loading: true, all: f.table.rows.all, filter: filter}
	for _, row := range f.table.rows.loaded {
		if row.process != nil && matchesFilter(row.process, "", filter) {
			row.number = len(kept.loaded) + 1
			kept.loaded = append(kept.loaded, row)
		}
	}
	kept.total, kept.matching = len(kept.loaded), len(kept.loaded)
	f.table.cursor = 0
	return kept
}

func (f *fleet) hasMachines() bool { return true }

// toggleFold opens or closes the group of a header.
func (f *fleet) toggleFold(row *tableRow) bool {
	if row.process != nil {
		return false
	}
	if name := row.project.file; f.open[name] {
		delete(f.open, name)
	} else {
		f.open[name] = true
	}
	return true
}

func (f *fleet) askGroup() tea.Cmd {
	if !f.shown {
		return f.env.Say("only a fleet's processes can be grouped", false)
	}
	names := []string{"", "host"}
	choices := []list.Choice{{Text: "nothing", Detail: "one list"}, {Text: "host", Detail: "a group for each machine"}}
	for _, key := range f.answer.Labels {
		names = append(names, "label:"+key)
		choices = append(choices, list.Choice{Text: text.Clean(key), Also: "label", Detail: "label"})
	}
	look := f.env.Look()
	for i := range choices {
		choices[i].Number, choices[i].Sign, choices[i].SignInk = i, " ", look.Dim
		if names[i] == f.group {
			choices[i].Sign = look.Glyphs.Check
		}
	}
	u := &dialog.Picker{Title: "Group the fleet by", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "group by it" }}
	u.Pick = func(c list.Choice) tea.Cmd {
		f.group, f.open = names[c.Number], map[string]bool{}
		f.table.cursor, f.table.id = 0, ""
		return nil
	}
	u.List.Set(choices)
	f.env.Ask(u)
	return nil
}

func (f *fleet) cancel() {
	f.querying.Cancel()
	f.pending = nil
}

// show shows the fleet's table in place of the local one, or no longer.
func (f *fleet) show(on bool) {
	f.cancel()
	f.shown = on
}

// openSession shows a session of one of the machines. It connects the machine first if it is not
// shown yet.
func (f *fleet) openSession(session api.Process) tea.Cmd {
	machine, _ := api.MachineOf(session.ID)
	if f.env.News().Machine(machine) != nil {
		return f.env.ShowSession(session.ID)
	}
	return panes.AwaitAnswer(f.env.Context(), f.env, func(ctx context.Context, e panes.Engine) (api.Process, error) {
		if _, err := api.MachineConnect.Call(ctx, e, api.MachineConnectInput{Name: machine}); err != nil {
			return api.Process{}, err
		}
		return api.ProcessGet.Call(ctx, e, api.IDInput{ID: session.ID})
	}, panes.ReportErrors(f.env.Say, func(now api.Process) tea.Cmd {
		return tea.Batch(f.env.Learn(now), f.env.ShowSession(now.ID))
	}))
}

// drawTabs draws the tabs of the two tables, this machine's and the fleet's, each with its counts.
func (f *fleet) drawTabs(w int) string {
	n := f.env.News()
	summary := "fleet " + text.Thousands(n.Fleet.Processes) + " on " + text.Count(n.Fleet.Machines, "machine")
	summary = panes.WithCounts(summary, panes.Count{N: n.Fleet.Failed, What: "failed"}, panes.Count{N: n.Fleet.Away, What: "offline"})
	hint := f.env.Bindings().WithKey("", keymap.ProcessFleet, " switches", keymap.ScopeProcesses)
	switch {
	case !f.shown:
	case f.err != nil:
		hint = panes.ErrorText(f.err)
	case f.answer.Loading:
		hint = "loading…"
	case f.group != "":
		hint = "by " + text.Clean(strings.TrimPrefix(f.group, "label:"))
	}
	return panes.DrawFleetTabs(f.env.Look(), f.shown, "here "+text.Thousands(len(n.Processes)), summary, hint, w)
}

// fleetSort returns the engine's name of a column's order.
func (c column) fleetSort() api.FleetSort {
	return cmp.Or([columnCount]api.FleetSort{
		columnName: api.FleetByName, columnHost: api.FleetByHost, columnPID: api.FleetByPID, columnUp: api.FleetByUp,
		columnWho: api.FleetByWho, columnCommand: api.FleetByCommand,
	}[c], api.FleetByState)
}

// inFleet reports whether the column is known for a fleet's processes; they have no metrics.
func (c column) inFleet() bool {
	return !slices.Contains([]column{columnCPU, columnMemory, columnRestarts, columnPorts}, c)
}
