package fleet

import (
	"cmp"
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/remote/fleet/search"
	"tandem/engine/remote/hosts/transport"
)

const (
	// defaultLines is the default number of lines of a window, maxLines the limit.
	defaultLines, maxLines = 200, 1000
	// maxWait limits how long a call waits for changes.
	maxWait = 30 * time.Second
)

// Processes returns a window of the processes published by the machines.
func (p *Person) Processes(ctx context.Context, in api.FleetProcessesInput) (api.FleetProcessesOutput, error) {
	f, err := readFilter(in.Filter)
	if err != nil {
		return api.FleetProcessesOutput{}, err
	}
	if err := checkSort(in.Sort); err != nil {
		return api.FleetProcessesOutput{}, err
	}
	p.view.start(p.conn.nats)
	p.view.requestRows()
	t := p.view.rows
	now := func() { t.updateHosts(p.view.allMachines(p.State() == nil)) }
	now()
	for end := time.Now().Add(min(time.Duration(in.WaitMS)*time.Millisecond, maxWait)); t.currentSerial() == in.Since && ctx.Err() == nil && time.Now().Before(end); now() {
		// In short steps: a machine goes offline by the passing of time alone, without an event.
		t.waitChange(ctx, in.Since, min(time.Until(end), watchInterval))
	}
	if err := ctx.Err(); err != nil { // cancelled by the caller
		return api.FleetProcessesOutput{}, err
	}
	return t.buildWindow(f, in), nil
}

// History searches the histories of machines, by a call to each.
func (p *Person) History(ctx context.Context, in api.FleetHistoryInput, who transport.Preface) (api.FleetHistoryOutput, error) {
	f, err := readFilter(in.Machines)
	if err != nil {
		return api.FleetHistoryOutput{}, err
	}
	machines, _, err := p.selectMachines(ctx, f.machine)
	if err != nil {
		return api.FleetHistoryOutput{}, err
	}
	return p.searches.Ask(ctx, search.Question{FleetHistoryInput: in, Machines: machines, Open: func(ctx context.Context, machine string) (net.Conn, error) {
		conn, _, err := p.Open(ctx, machine, who)
		return conn, err
	}})
}

func (t *rowTable) currentSerial() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.serial
}

func checkSort(by api.FleetSort) error {
	if by == "" || slices.Contains(api.FleetSorts(), by) {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "list processes of the fleet: sort by %q: must be one of %v", by, api.FleetSorts())
}

// A filter selects rows.
type filter struct {
	machine func(api.FleetMachine) bool
	states  []string
	kinds   []string
	away    bool // only rows of offline machines
	words   []string
	without []string
}

// readFilter parses host:PATTERN, label:KEY=VALUE, state:STATE, kind:KIND, and other words, which a
// row's text must contain or, after !, must not.
func readFilter(text string) (f filter, err error) {
	var in api.FleetListInput
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		kind, value, special := strings.Cut(word, ":")
		switch {
		case strings.HasPrefix(word, "!"):
			if word != "!" {
				f.without = append(f.without, word[1:])
			}
		case !special:
			f.words = append(f.words, word)
		case kind == "host" && value != "":
			if !strings.ContainsAny(value, "*?[") {
				value += "*"
			}
			in.Names = append(in.Names, value)
		case kind == "label" && strings.Contains(value, "="):
			in.Labels = append(in.Labels, value)
		case kind == "state" && value == "away":
			f.away = true
		case kind == "state":
			f.states = append(f.states, value)
		case kind == "kind":
			f.kinds = append(f.kinds, value)
		case word == "host:" || kind == "label":
		default:
			f.words = append(f.words, word)
		}
	}
	selects, err := parseSelection(in)
	f.machine = func(m api.FleetMachine) bool { return selects(lowerCase(m)) }
	return f, err
}

// lowerCase returns a machine with its name and labels in lower case, like those of filters.
func lowerCase(m api.FleetMachine) api.FleetMachine {
	labels := make(map[string]string, len(m.Labels))
	for key, value := range m.Labels {
		labels[strings.ToLower(key)] = strings.ToLower(value)
	}
	return api.FleetMachine{Name: strings.ToLower(m.Name), Labels: labels}
}

// selectHosts marks the machines selected by f. t.mu is held.
func (t *rowTable) selectHosts(f filter) {
	for _, m := range t.machines {
		m.selected = m.epoch != "" && (!f.away || m.away) && f.machine(api.FleetMachine{Name: m.name, Labels: m.labels})
	}
}

// matchesRow reports whether f selects a row, apart from its machine.
func (f filter) matchesRow(r *row) bool {
	for _, state := range f.states {
		if !strings.HasPrefix(string(r.State), state) && !(strings.HasPrefix("failed", state) && r.rank == api.UrgencyFailed) {
			return false
		}
	}
	for _, kind := range f.kinds {
		if !strings.HasPrefix(string(r.Kind), kind) {
			return false
		}
	}
	for _, word := range f.words {
		if !strings.Contains(r.text, word) {
			return false
		}
	}
	return !slices.ContainsFunc(f.without, func(word string) bool { return strings.Contains(r.text, word) })
}

// A filterResult caches the rows selected by a filter, in sorted order.
type filterResult struct {
	text string // of the filter, in lower case
	filter
	rows []*row
}

// maxResults is how many results are cached, for a user who types and deletes letters.
const maxResults = 8

// applyFilter returns the rows selected by a filter. t.mu is held, and the rows are sorted.
func (t *rowTable) applyFilter(f filter, text string) []*row {
	if i := slices.IndexFunc(t.results, func(m filterResult) bool { return m.text == text }); i >= 0 {
		m := t.results[i]
		t.results = append(slices.Delete(t.results, i, i+1), m)
		return m.rows
	}
	// Start from the smallest earlier result known to contain all matching rows.
	from := t.sorted
	for _, m := range t.results {
		if len(m.rows) < len(from) && narrowsFilter(text, m.text) {
			from = m.rows
		}
	}
	rows := slices.Clone(t.filterRows(f, from))
	if len(t.results) == maxResults {
		t.results = slices.Delete(t.results, 0, 1)
	}
	t.results = append(t.results, filterResult{text, f, rows})
	return rows
}

// filterRows returns the rows in from selected by f. The slice is valid until the next call.
func (t *rowTable) filterRows(f filter, from []*row) []*row {
	t.selectHosts(f)
	t.scratch = t.scratch[:0]
	for _, r := range from {
		if r.isCurrent() && r.host.selected && f.matchesRow(r) {
			t.scratch = append(t.scratch, r)
		}
	}
	return t.scratch
}

// narrowsFilter reports whether text selects a subset of the rows of before: it adds words, or
// letters to a last word of plain text.
func narrowsFilter(text, before string) bool {
	at := strings.LastIndexByte(before, ' ') + 1
	if !strings.HasPrefix(text, before) {
		return false
	}
	word, _, _ := strings.Cut(text[at:], " ")
	return at == len(before) || !strings.ContainsAny(word, "!:")
}

// countCurrent returns the number of current rows. t.mu is held.
func (t *rowTable) countCurrent() int {
	if t.counted != t.serial {
		t.counted, t.current = t.serial, 0
		for _, r := range t.sorted {
			if r.isCurrent() {
				t.current++
			}
		}
	}
	return t.current
}

// buildWindow returns the requested window.
func (t *rowTable) buildWindow(f filter, in api.FleetProcessesInput) api.FleetProcessesOutput {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sortRows(sortOrder{cmp.Or(in.Sort, api.FleetByState), in.Reversed})
	l := windowRows{in: in, find: findKey(in.Find), rows: t.applyFilter(f, strings.ToLower(in.Filter))}
	l.in.Limit = min(max(cmp.Or(in.Limit, defaultLines), 1), maxLines)
	out := api.FleetProcessesOutput{Serial: t.serial, Loading: !t.complete, At: -1}
	out.All, out.Matching = t.countCurrent(), len(l.rows)
	labels := map[string]bool{}
	for _, m := range t.machines {
		if m.epoch == "" {
			continue
		}
		out.Machines++
		if m.away {
			out.Away++
		}
		for key := range m.labels {
			labels[key] = true
		}
	}
	out.Labels = slices.Sorted(maps.Keys(labels))
	l.groupRows(in.Filter != "")
	out.Total = l.countLines()
	out.Offset = max(min(in.Offset, out.Total-1), 0)
	if out.At = l.findLine(); out.At >= 0 && (out.At < out.Offset || out.At >= out.Offset+l.in.Limit) {
		out.Offset = max(out.At-l.in.Limit/2, 0)
	}
	out.Lines = l.cutLines(out.Offset)
	return out
}

// findKey converts an id of the dashboard to a key in the bucket; a group's name stays unchanged.
func findKey(id string) string { return strings.Replace(id, "/", ".", 1) }

// windowRows are the selected rows, perhaps in groups.
type windowRows struct {
	in     api.FleetProcessesInput
	rows   []*row
	groups []*rowGroup
	find   string
}

// A rowGroup holds the rows of one machine, or of all machines with the same label.
type rowGroup struct {
	api.FleetGroup
	rows []*row
}

// groupRows divides the rows into groups. A group is open if requested, or if a filter is set.
func (l *windowRows) groupRows(filtered bool) {
	if l.in.Group == "" {
		return
	}
	byName, away := map[string]*rowGroup{}, map[*rowHost]bool{}
	key, labelled := strings.CutPrefix(l.in.Group, "label:")
	for _, r := range l.rows {
		name := r.host.name
		if labelled {
			name = r.host.labels[key]
		}
		g := byName[name]
		if g == nil {
			g = &rowGroup{FleetGroup: api.FleetGroup{Name: name, Open: filtered || slices.Contains(l.in.Open, name)}}
			byName[name] = g
		}
		if _, counted := away[r.host]; !counted {
			away[r.host] = r.host.away
			g.Machines++
			if r.host.away {
				g.Away++
			}
		}
		g.Processes++
		switch {
		case r.rank <= api.UrgencyBackoff:
			g.Failed++
		case r.State == api.StateRunning && !r.host.away:
			g.Running++
		}
		g.rows = append(g.rows, r)
	}
	byState := cmp.Or(l.in.Sort, api.FleetByState) == api.FleetByState && !l.in.Reversed
	l.groups = slices.SortedFunc(maps.Values(byName), func(a, b *rowGroup) int {
		failed := 0
		// By urgency, groups with failures come first.
		if byState {
			failed = cmp.Compare(b.Failed, a.Failed)
		}
		return cmp.Or(failed, cmp.Compare(labelOrder(a.Name), labelOrder(b.Name)), strings.Compare(a.Name, b.Name))
	})
}

// labelOrder returns the sort key that puts machines without the label last.
func labelOrder(name string) int {
	if name == "" {
		return 1
	}
	return 0
}

func (l *windowRows) countLines() int {
	if l.in.Group == "" {
		return len(l.rows)
	}
	total := len(l.groups)
	for _, g := range l.groups {
		if g.Open {
			total += len(g.rows)
		}
	}
	return total
}

// findLine returns the number of the line to find, or -1.
func (l *windowRows) findLine() int {
	if l.find == "" {
		return -1
	}
	if l.in.Group == "" {
		return slices.IndexFunc(l.rows, func(r *row) bool { return r.key == l.find })
	}
	at := 0
	for _, g := range l.groups {
		if l.find == "group "+g.Name {
			return at
		}
		at++
		if !g.Open {
			continue
		}
		if i := slices.IndexFunc(g.rows, func(r *row) bool { return r.key == l.find }); i >= 0 {
			return at + i
		}
		at += len(g.rows)
	}
	return -1
}

// cutLines returns the lines of the window from offset on.
func (l *windowRows) cutLines(offset int) []api.FleetLine {
	out := []api.FleetLine{}
	if l.in.Group == "" {
		return appendRows(out, l.rows, offset, l.in.Limit)
	}
	for _, g := range l.groups {
		if len(out) == l.in.Limit {
			break
		}
		if offset--; offset < 0 {
			out = append(out, api.FleetLine{Group: &g.FleetGroup})
			offset = 0
		}
		if !g.Open {
			continue
		}
		out = appendRows(out, g.rows, offset, l.in.Limit)
		offset = max(offset-len(g.rows), 0)
	}
	return out
}

// appendRows appends rows from offset on, until out has limit lines.
func appendRows(out []api.FleetLine, rows []*row, offset, limit int) []api.FleetLine {
	for _, r := range rows[min(offset, len(rows)):] {
		if len(out) == limit {
			break
		}
		out = append(out, api.FleetLine{Host: r.host.name, Away: r.host.away, Process: &r.Process})
	}
	return out
}
