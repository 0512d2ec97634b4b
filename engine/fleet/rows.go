package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tandem/engine/api"
	"tandem/engine/sleep"
)

// A rows is what runs on the machines as the bucket of processes says, followed from
// when somebody first asks. What is asked for is a window of it.
type rows struct {
	mu         sync.Mutex
	generation int // counts connections: what an earlier one brought may be gone
	complete   bool
	all        map[string]*row // by key
	machines   map[string]*rowsHost
	serial     int64         // counts changes
	changed    chan struct{} // closed with the next change; nil while nobody waits

	// The rows in the order that was asked for last, but for those that have changed since.
	sorted  []*row
	order   order
	pending map[*row]bool

	matched []matched // by the filters that were used last, the newest at the end
	room    []*row    // for those of the next
	shown   int       // rows that are, when serial was counted
	counted int64
}

// A rowsHost is the machine of rows.
type rowsHost struct {
	name   string
	epoch  string // "" while nothing is known of it
	wrote  string // the epoch of the row that came last
	labels map[string]string
	away   bool
	chosen bool // by the filter that is applied
}

// A row is a session or process.
type row struct {
	key        string // of the bucket
	of         *rowsHost
	epoch      string
	generation int
	gone       bool
	rank       int    // how much its state wants to be seen
	text       string // what filters look in; it begins with the name
	api.Process
}

// shown reports whether the engine that has written a row is the one that runs there.
func (r *row) shown() bool { return r.of.epoch != "" && r.epoch == r.of.epoch }

// same gives an epoch that is in memory already as it is there: such strings need no reading
// to be found equal, and each look at the rows compares all.
func (m *rowsHost) same(epoch string) string {
	if epoch != m.wrote {
		m.wrote = epoch
	}
	return m.wrote
}

func newRows() *rows {
	return &rows{all: map[string]*row{}, machines: map[string]*rowsHost{}, pending: map[*row]bool{}}
}

// followRows takes in what runs until ctx ends or there is no bucket.
func (v *view) followRows(ctx context.Context, nc *nats.Conn) error {
	return followBucket(ctx, nc, ProcessesBucket, func(context.Context, jetstream.KeyValue) error {
		v.rows.begin()
		return nil
	}, func(entry jetstream.KeyValueEntry) {
		switch {
		case entry == nil:
			v.rows.settle()
		case entry.Operation() == jetstream.KeyValuePut:
			v.rows.put(entry.Key(), entry.Value())
		default:
			v.rows.remove(entry.Key())
		}
	})
}

// begin is before all that there is comes again.
func (t *rows) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.generation++
}

// settle is when all has come that there is: what has not is gone.
func (t *rows) settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.all {
		if r.generation != t.generation {
			t.drop(r)
		}
	}
	t.complete = true
	t.tell()
}

// put takes in a row as it was written. One that cannot be read is of another version, or
// of somebody who writes what they like.
func (t *rows) put(key string, value []byte) {
	machine, id, ok := strings.Cut(key, ".")
	var written processRow
	if !ok || json.Unmarshal(value, &written) != nil || written.ID != id || !ValidName(machine) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.all[key]; old != nil {
		t.drop(old)
	}
	m := t.machine(machine)
	r := &row{key: key, of: m, epoch: m.same(written.Epoch), generation: t.generation, Process: written.Process}
	r.rank = api.UrgencyOf(&r.Process)
	r.text = strings.ToLower(strings.Join([]string{r.Name, machine, r.Command, r.CWD, string(r.State), r.Actor, string(r.Kind), strconv.Itoa(r.PID)}, "\n"))
	t.all[key] = r
	t.pending[r] = true
	t.tell()
}

func (t *rows) remove(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.all[key]; r != nil {
		t.drop(r)
		t.tell()
	}
}

// drop takes a row out. The lock is held.
func (t *rows) drop(r *row) {
	r.gone = true
	delete(t.all, r.key)
	t.pending[r] = true
}

// tell wakes who waits. The lock is held.
func (t *rows) tell() {
	t.serial++
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// machine is what is known of a machine. The lock is held.
func (t *rows) machine(name string) *rowsHost {
	m := t.machines[name]
	if m == nil {
		m = &rowsHost{name: name}
		t.machines[name] = m
	}
	return m
}

// meet takes in how it is with the machines now. Rows that an earlier engine of a machine
// has left are forgotten: nobody deletes them.
func (t *rows) meet(now []api.FleetMachine, epochs map[string]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := map[string]bool{}
	left := map[*rowsHost]string{}
	changed := false
	for _, told := range now {
		m := t.machine(told.Name)
		known[told.Name] = true
		away, epoch := told.State == api.FleetAway, epochs[told.Name]
		if m.epoch != epoch && m.epoch != "" {
			left[m] = m.epoch
		}
		if m.epoch != epoch || m.away != away || !maps.Equal(m.labels, told.Labels) {
			m.epoch, m.away, m.labels, changed = m.same(epoch), away, told.Labels, true
		}
	}
	for name, m := range t.machines {
		if m.epoch != "" && !known[name] {
			m.epoch, changed = "", true
		}
	}
	if len(left) > 0 {
		for _, r := range t.all {
			if epoch, ok := left[r.of]; ok && r.epoch == epoch {
				t.drop(r)
			}
		}
	}
	if changed {
		t.matched = nil
		t.tell()
	}
}

// since waits for something newer than what has a number, for a while at most, and then for
// what comes together with it.
func (t *rows) since(ctx context.Context, number int64, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	t.mu.Lock()
	if t.serial != number {
		t.mu.Unlock()
		return
	}
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	changed := t.changed
	t.mu.Unlock()
	select {
	case <-changed:
		_ = sleep.For(ctx, settle)
	case <-ctx.Done():
	}
}

// rowsWait bounds how long is waited for all rows to come for the first time.
const rowsWait = 10 * time.Second

// settled waits until all rows have come, for a while at most.
func (t *rows) settled(ctx context.Context) {
	for end := time.Now().Add(rowsWait); ctx.Err() == nil; {
		t.mu.Lock()
		complete, number := t.complete, t.serial
		t.mu.Unlock()
		left := time.Until(end)
		if complete || left <= 0 {
			return
		}
		t.since(ctx, number, left)
	}
}

// mostRows is how many rows are given at once.
const mostRows = 5000

// give gives machines the rows that their engines have written, where these are as many in each
// state as the machine counts: of others some are still on the way.
func (t *rows) give(list []api.FleetMachine, epochs map[string]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.complete {
		return
	}
	wanted := make(map[*rowsHost]*api.FleetMachine, len(list))
	room := mostRows
	for i := range list {
		m := &list[i]
		count := 0
		for _, n := range m.States {
			count += n
		}
		if room -= count; room < 0 && i > 0 {
			break
		}
		m.Rows = make([]api.Process, 0, count)
		wanted[t.machine(m.Name)] = m
	}
	for _, r := range t.all {
		if m := wanted[r.of]; m != nil && r.epoch == epochs[m.Name] {
			m.Rows = append(m.Rows, r.Process)
		}
	}
	for _, m := range wanted {
		states := map[api.State]int{}
		for _, p := range m.Rows {
			states[p.State]++
		}
		if !maps.Equal(states, m.States) {
			m.Rows = nil
		}
		slices.SortFunc(m.Rows, func(a, b api.Process) int {
			return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
		})
	}
}

// An order is what rows are sorted by.
type order struct {
	by       api.FleetSort
	reversed bool
}

// arrange puts the rows in an order. The lock is held.
func (t *rows) arrange(o order) {
	if t.order != o || len(t.pending) > len(t.all)/4 {
		t.order, t.matched = o, nil
		t.sorted = slices.SortedFunc(maps.Values(t.all), o.compare)
		clear(t.pending)
		return
	}
	if len(t.pending) == 0 {
		return
	}
	var fresh []*row
	for r := range t.pending {
		if !r.gone {
			fresh = append(fresh, r)
		}
	}
	slices.SortFunc(fresh, o.compare)
	t.sorted = o.merge(t.sorted, fresh)
	if last := len(t.matched) - 1; last >= 0 { // the one that is looked at
		m := t.matched[last]
		m.rows = o.merge(m.rows, t.matching(m.filter, fresh))
		t.matched = append(t.matched[:0], m)
	}
	clear(t.pending)
}

// merge puts rows among others, of which it leaves out those that are gone.
func (o order) merge(into, fresh []*row) []*row {
	kept := slices.DeleteFunc(into, func(r *row) bool { return r.gone })
	merged := make([]*row, 0, len(kept)+len(fresh))
	for _, r := range fresh {
		at, _ := slices.BinarySearchFunc(kept, r, o.compare)
		merged = append(append(merged, kept[:at]...), r)
		kept = kept[at:]
	}
	return append(merged, kept...)
}

func (o order) compare(a, b *row) int {
	by := 0
	switch o.by {
	case api.FleetByName:
		by = strings.Compare(a.text, b.text)
	case api.FleetByHost:
		by = strings.Compare(a.of.name, b.of.name)
	case api.FleetByPID:
		by = cmp.Compare(a.PID, b.PID)
	case api.FleetByUp:
		by = b.StartedAt.Compare(a.StartedAt)
	case api.FleetByWho:
		by = strings.Compare(a.Actor, b.Actor)
	case api.FleetByCommand:
		by = strings.Compare(a.Command, b.Command)
	default:
		by = cmp.Compare(a.rank, b.rank)
	}
	if o.reversed {
		by = -by
	}
	if by != 0 {
		return by
	}
	if by = cmp.Compare(a.rank, b.rank); by != 0 {
		return by
	}
	return cmp.Or(strings.Compare(a.text, b.text), strings.Compare(a.key, b.key))
}
