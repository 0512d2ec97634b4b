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
	"tandem/engine/fleet/search"
	"tandem/engine/hosts/transport"
)

const (
	// windowLines is how many lines a window has that does not say, and mostLines how many
	// one has at most.
	windowLines, mostLines = 200, 1000
	// mostWait bounds how long is waited for news at once.
	mostWait = 30 * time.Second
)

// Processes tells of what runs on the machines, as they have told the hub.
func (p *Person) Processes(ctx context.Context, in api.FleetProcessesInput) (api.FleetProcessesOutput, error) {
	f, err := readFilter(in.Filter)
	if err != nil {
		return api.FleetProcessesOutput{}, err
	}
	if err := checkSort(in.Sort); err != nil {
		return api.FleetProcessesOutput{}, err
	}
	p.view.begin(p.conn.nats)
	p.view.wantRows()
	t := p.view.rows
	now := func() { t.meet(p.view.machines(p.State() == nil)) }
	now()
	for end := time.Now().Add(min(time.Duration(in.WaitMS)*time.Millisecond, mostWait)); t.number() == in.Since && ctx.Err() == nil && time.Now().Before(end); now() {
		t.since(ctx, in.Since, min(time.Until(end), watchStep)) // that a machine is away, only the clock tells
	}
	if err := ctx.Err(); err != nil { // nobody waits for it any more
		return api.FleetProcessesOutput{}, err
	}
	return t.window(f, in), nil
}

// History tells what is found in the histories of machines, which it asks for that.
func (p *Person) History(ctx context.Context, in api.FleetHistoryInput, who transport.Preface) (api.FleetHistoryOutput, error) {
	f, err := readFilter(in.Machines)
	if err != nil {
		return api.FleetHistoryOutput{}, err
	}
	machines, _, err := p.meant(ctx, f.machine)
	if err != nil {
		return api.FleetHistoryOutput{}, err
	}
	return p.searches.Ask(ctx, search.Question{FleetHistoryInput: in, Machines: machines, Open: func(ctx context.Context, machine string) (net.Conn, error) {
		conn, _, err := p.Open(ctx, machine, who)
		return conn, err
	}})
}

func (t *rows) number() int64 {
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

// A filter chooses rows.
type filter struct {
	machine func(api.FleetMachine) bool
	states  []string
	kinds   []string
	away    bool // only what is on machines that are away
	words   []string
	without []string
}

// readFilter reads words: host:PATTERN, label:KEY=VALUE, state:STATE, kind:KIND, and others, which the
// text of a row has to hold, or with ! before them must not.
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
	meant, err := selection(in)
	f.machine = func(m api.FleetMachine) bool { return meant(lowered(m)) }
	return f, err
}

// lowered is a machine with its name and labels in lower case, as filters are.
func lowered(m api.FleetMachine) api.FleetMachine {
	labels := make(map[string]string, len(m.Labels))
	for key, value := range m.Labels {
		labels[strings.ToLower(key)] = strings.ToLower(value)
	}
	return api.FleetMachine{Name: strings.ToLower(m.Name), Labels: labels}
}

// choose notes which machines are meant. The lock is held.
func (t *rows) choose(f filter) {
	for _, m := range t.machines {
		m.chosen = m.epoch != "" && (!f.away || m.away) && f.machine(api.FleetMachine{Name: m.name, Labels: m.labels})
	}
}

// holds reports whether a row of a machine that is meant is.
func (f filter) holds(r *row) bool {
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

// A matched is the rows that a filter leaves, in the order of all.
type matched struct {
	text string // of the filter, in lower case
	filter
	rows []*row
}

// keptFilters is how many filters' rows are kept: those of what is typed and taken back.
const keptFilters = 8

// match gives the rows that a filter leaves. The lock is held, and the rows are arranged.
func (t *rows) match(f filter, text string) []*row {
	if i := slices.IndexFunc(t.matched, func(m matched) bool { return m.text == text }); i >= 0 {
		m := t.matched[i]
		t.matched = append(slices.Delete(t.matched, i, i+1), m)
		return m.rows
	}
	from := t.sorted
	for _, m := range t.matched {
		if len(m.rows) < len(from) && narrows(text, m.text) {
			from = m.rows
		}
	}
	rows := slices.Clone(t.matching(f, from))
	if len(t.matched) == keptFilters {
		t.matched = slices.Delete(t.matched, 0, 1)
	}
	t.matched = append(t.matched, matched{text, f, rows})
	return rows
}

// matching are those of some rows that a filter leaves, until it is called again.
func (t *rows) matching(f filter, from []*row) []*row {
	t.choose(f)
	t.room = t.room[:0]
	for _, r := range from {
		if r.shown() && r.of.chosen && f.holds(r) {
			t.room = append(t.room, r)
		}
	}
	return t.room
}

// narrows reports whether a filter leaves nothing that another one has not left: more words
// were typed behind that, or more of its last one, which is no more than text to be held.
func narrows(text, before string) bool {
	at := strings.LastIndexByte(before, ' ') + 1
	if !strings.HasPrefix(text, before) {
		return false
	}
	word, _, _ := strings.Cut(text[at:], " ")
	return at == len(before) || !strings.ContainsAny(word, "!:")
}

// count is how many rows there are. The lock is held.
func (t *rows) count() int {
	if t.counted != t.serial {
		t.counted, t.shown = t.serial, 0
		for _, r := range t.sorted {
			if r.shown() {
				t.shown++
			}
		}
	}
	return t.shown
}

// window is the part of the rows that is asked for.
func (t *rows) window(f filter, in api.FleetProcessesInput) api.FleetProcessesOutput {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrange(order{cmp.Or(in.Sort, api.FleetByState), in.Reversed})
	l := lines{in: in, find: findKey(in.Find), matching: t.match(f, strings.ToLower(in.Filter))}
	l.in.Limit = min(max(cmp.Or(in.Limit, windowLines), 1), mostLines)
	out := api.FleetProcessesOutput{Serial: t.serial, Loading: !t.complete, At: -1}
	out.All, out.Matching = t.count(), len(l.matching)
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
	l.lay(in.Filter != "")
	out.Total = l.total()
	out.Offset = max(min(in.Offset, out.Total-1), 0)
	if out.At = l.place(); out.At >= 0 && (out.At < out.Offset || out.At >= out.Offset+l.in.Limit) {
		out.Offset = max(out.At-l.in.Limit/2, 0)
	}
	out.Lines = l.cut(out.Offset)
	return out
}

// findKey is the key of a process in the bucket, as the dashboard calls it; a group's name stays.
func findKey(id string) string { return strings.Replace(id, "/", ".", 1) }

// lines are rows that match, in groups if that is wanted.
type lines struct {
	in       api.FleetProcessesInput
	matching []*row
	groups   []*rowGroup
	find     string
}

// A rowGroup is the rows of a machine, or of machines with the same label.
type rowGroup struct {
	api.FleetGroup
	rows []*row
}

// lay divides the rows into groups. Those are open that are asked for, and all that something
// was looked for in.
func (l *lines) lay(filtered bool) {
	if l.in.Group == "" {
		return
	}
	byName, away := map[string]*rowGroup{}, map[*rowsHost]bool{}
	key, labelled := strings.CutPrefix(l.in.Group, "label:")
	for _, r := range l.matching {
		name := r.of.name
		if labelled {
			name = r.of.labels[key]
		}
		g := byName[name]
		if g == nil {
			g = &rowGroup{FleetGroup: api.FleetGroup{Name: name, Open: filtered || slices.Contains(l.in.Open, name)}}
			byName[name] = g
		}
		if _, counted := away[r.of]; !counted {
			away[r.of] = r.of.away
			g.Machines++
			if r.of.away {
				g.Away++
			}
		}
		g.Processes++
		switch {
		case r.rank <= api.UrgencyBackoff:
			g.Failed++
		case r.State == api.StateRunning && !r.of.away:
			g.Running++
		}
		g.rows = append(g.rows, r)
	}
	byState := cmp.Or(l.in.Sort, api.FleetByState) == api.FleetByState && !l.in.Reversed
	l.groups = slices.SortedFunc(maps.Values(byName), func(a, b *rowGroup) int {
		failed := 0
		if byState { // what wants to be seen comes first
			failed = cmp.Compare(b.Failed, a.Failed)
		}
		return cmp.Or(failed, cmp.Compare(unnamed(a.Name), unnamed(b.Name)), strings.Compare(a.Name, b.Name))
	})
}

// unnamed puts machines without the label last.
func unnamed(name string) int {
	if name == "" {
		return 1
	}
	return 0
}

func (l *lines) total() int {
	if l.in.Group == "" {
		return len(l.matching)
	}
	total := len(l.groups)
	for _, g := range l.groups {
		if g.Open {
			total += len(g.rows)
		}
	}
	return total
}

// place is the number of the line that is looked for; -1 if there is none.
func (l *lines) place() int {
	if l.find == "" {
		return -1
	}
	if l.in.Group == "" {
		return slices.IndexFunc(l.matching, func(r *row) bool { return r.key == l.find })
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

// cut gives the lines from one on.
func (l *lines) cut(offset int) []api.FleetLine {
	out := []api.FleetLine{}
	if l.in.Group == "" {
		return appendRows(out, l.matching, offset, l.in.Limit)
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

// appendRows adds rows from one on, up to a number of lines in all.
func appendRows(out []api.FleetLine, rows []*row, offset, limit int) []api.FleetLine {
	for _, r := range rows[min(offset, len(rows)):] {
		if len(out) == limit {
			break
		}
		out = append(out, api.FleetLine{Host: r.of.name, Away: r.of.away, Process: &r.Process})
	}
	return out
}
