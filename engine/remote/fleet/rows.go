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
	"tandem/engine/base/sleep"
)

// A rowTable holds all sessions and processes of the fleet, as published in ProcessesBucket and
// followed from the first request on.
//
// Clients ask for a window of it: sorted, filtered, perhaps grouped, and again with every key typed
// into the filter. Sorting and filtering 50,000 rows each time would be too slow, so the table
// keeps the sorted rows and the results of the last filters. A changed row is only marked as
// pending; the next request merges all pending rows in at their places. A filter that extends an
// earlier one searches only the rows left by that one.
type rowTable struct {
	mu         sync.Mutex
	generation int // counts connections: rows from an earlier one may be outdated
	complete   bool
	all        map[string]*row // by key
	machines   map[string]*rowHost
	serial     int64         // counts changes
	changed    chan struct{} // closed with the next change; nil while no one waits

	// sorted are the rows in the order last requested, except for the pending ones.
	sorted  []*row
	order   sortOrder
	pending map[*row]bool

	results []filterResult // results of the last filters, the newest last
	scratch []*row         // buffer of filterRows, reused
	current int            // number of current rows when serial was counted
	counted int64
}

// A rowHost is the machine of some rows.
type rowHost struct {
	name      string
	epoch     string // "" if unknown
	lastEpoch string // epoch of the last row received
	labels    map[string]string
	away      bool
	selected  bool // set by selectHosts
}

// A row is a session or process.
type row struct {
	key        string // in the bucket
	host       *rowHost
	epoch      string
	generation int
	gone       bool
	rank       int    // urgency of its state
	text       string // searched by filters; begins with the name
	api.Process
}

// isCurrent reports whether the row was written by the engine now running on its machine.
func (r *row) isCurrent() bool { return r.host.epoch != "" && r.epoch == r.host.epoch }

// internEpoch returns epoch as the string already stored, if equal. Comparing two strings with the
// same memory does not read it, and every request compares the epochs of all rows.
func (m *rowHost) internEpoch(epoch string) string {
	if epoch != m.lastEpoch {
		m.lastEpoch = epoch
	}
	return m.lastEpoch
}

func newRows() *rowTable {
	return &rowTable{all: map[string]*row{}, machines: map[string]*rowHost{}, pending: map[*row]bool{}}
}

// followRows updates the rows until ctx is done or the bucket is missing.
func (v *view) followRows(ctx context.Context, nc *nats.Conn) error {
	return followBucket(ctx, nc, ProcessesBucket, func(context.Context, jetstream.KeyValue) error {
		v.rows.beginGeneration()
		return nil
	}, func(entry jetstream.KeyValueEntry) {
		switch {
		case entry == nil:
			v.rows.endGeneration()
		case entry.Operation() == jetstream.KeyValuePut:
			v.rows.putRow(entry.Key(), entry.Value())
		default:
			v.rows.removeRow(entry.Key())
		}
	})
}

// beginGeneration is called before the bucket's content is received, also after a reconnect.
func (t *rowTable) beginGeneration() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.generation++
}

// endGeneration is called once all of it has been received. Rows not seen again were deleted
// meanwhile.
func (t *rowTable) endGeneration() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.all {
		if r.generation != t.generation {
			t.dropRow(r)
		}
	}
	t.complete = true
	t.wakeWaiters()
}

// putRow stores a row. Invalid rows are ignored: they come from another version or a malicious
// member.
func (t *rowTable) putRow(key string, value []byte) {
	machine, id, ok := strings.Cut(key, ".")
	var written processRow
	if !ok || json.Unmarshal(value, &written) != nil || written.ID != id || !ValidName(machine) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// Rows are never modified, only replaced: the sorted slices hold pointers to them.
	if old := t.all[key]; old != nil {
		t.dropRow(old)
	}
	m := t.hostFor(machine)
	r := &row{key: key, host: m, epoch: m.internEpoch(written.Epoch), generation: t.generation, Process: written.Process}
	r.rank = api.UrgencyOf(&r.Process)
	r.text = strings.ToLower(strings.Join([]string{r.Name, machine, r.Command, r.CWD, string(r.State), r.Actor, string(r.Kind), strconv.Itoa(r.PID)}, "\n"))
	t.all[key] = r
	t.pending[r] = true
	t.wakeWaiters()
}

func (t *rowTable) removeRow(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.all[key]; r != nil {
		t.dropRow(r)
		t.wakeWaiters()
	}
}

// dropRow removes a row. t.mu is held.
func (t *rowTable) dropRow(r *row) {
	r.gone = true
	delete(t.all, r.key)
	t.pending[r] = true
}

// wakeWaiters wakes everything waiting for a change. t.mu is held.
func (t *rowTable) wakeWaiters() {
	t.serial++
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// hostFor returns the entry of a machine, created if necessary. t.mu is held.
func (t *rowTable) hostFor(name string) *rowHost {
	m := t.machines[name]
	if m == nil {
		m = &rowHost{name: name}
		t.machines[name] = m
	}
	return m
}

// updateHosts stores the state of all machines. Rows left by earlier engines of a machine are
// dropped, as no one deletes them from the bucket.
func (t *rowTable) updateHosts(now []api.FleetMachine, epochs map[string]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	current := map[string]bool{}
	stale := map[*rowHost]string{}
	changed := false
	for _, machine := range now {
		m := t.hostFor(machine.Name)
		current[machine.Name] = true
		away, epoch := machine.State == api.FleetAway, epochs[machine.Name]
		if m.epoch != epoch && m.epoch != "" {
			stale[m] = m.epoch
		}
		if m.epoch != epoch || m.away != away || !maps.Equal(m.labels, machine.Labels) {
			m.epoch, m.away, m.labels, changed = m.internEpoch(epoch), away, machine.Labels, true
		}
	}
	for name, m := range t.machines {
		if m.epoch != "" && !current[name] {
			m.epoch, changed = "", true
		}
	}
	if len(stale) > 0 {
		for _, r := range t.all {
			if epoch, ok := stale[r.host]; ok && r.epoch == epoch {
				t.dropRow(r)
			}
		}
	}
	if changed {
		t.results = nil
		t.wakeWaiters()
	}
}

// waitChange waits at most limit for a change after the given serial, and then briefly for further
// ones.
func (t *rowTable) waitChange(ctx context.Context, number int64, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t.mu.Lock()
	if t.serial != number {
		t.mu.Unlock()
		return
	}
	// Create the channel only for a waiter, so that changes without one cost nothing.
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	changed := t.changed
	t.mu.Unlock()
	select {
	case <-changed:
		_ = sleep.For(ctx, batchTime)
	case <-ctx.Done():
	}
}

// rowsWait limits how long to wait for the first complete set of rows.
const rowsWait = 10 * time.Second

// waitComplete waits for the first complete set of rows, but at most rowsWait.
func (t *rowTable) waitComplete(ctx context.Context) {
	for end := time.Now().Add(rowsWait); ctx.Err() == nil; {
		t.mu.Lock()
		complete, number := t.complete, t.serial
		t.mu.Unlock()
		left := time.Until(end)
		if complete || left <= 0 {
			return
		}
		t.waitChange(ctx, number, left)
	}
}

// maxRows limits the rows of one answer.
const maxRows = 5000

// fillRows adds the rows to each machine in list, but only if their number in each state equals the
// machine's own count; otherwise some are still on their way.
func (t *rowTable) fillRows(list []api.FleetMachine, epochs map[string]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.complete {
		return
	}
	byHost := make(map[*rowHost]*api.FleetMachine, len(list))
	room := maxRows
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
		byHost[t.hostFor(m.Name)] = m
	}
	for _, r := range t.all {
		if m := byHost[r.host]; m != nil && r.epoch == epochs[m.Name] {
			m.Rows = append(m.Rows, r.Process)
		}
	}
	for _, m := range byHost {
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

// A sortOrder is the order of the rows.
type sortOrder struct {
	by       api.FleetSort
	reversed bool
}

// sortRows brings t.sorted into an order. t.mu is held.
func (t *rowTable) sortRows(o sortOrder) {
	// With many changes, sorting all rows is faster than merging.
	if t.order != o || len(t.pending) > len(t.all)/4 {
		t.order, t.results = o, nil
		t.sorted = slices.SortedFunc(maps.Values(t.all), o.compareRows)
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
	slices.SortFunc(fresh, o.compareRows)
	t.sorted = o.mergeRows(t.sorted, fresh)
	// Keep only the newest result, as it is most likely to be requested again.
	if last := len(t.results) - 1; last >= 0 {
		m := t.results[last]
		m.rows = o.mergeRows(m.rows, t.filterRows(m.filter, fresh))
		t.results = append(t.results[:0], m)
	}
	clear(t.pending)
}

// mergeRows merges the rows of fresh into those of into, both sorted. It leaves out rows marked as
// gone.
func (o sortOrder) mergeRows(into, fresh []*row) []*row {
	kept := slices.DeleteFunc(into, func(r *row) bool { return r.gone })
	merged := make([]*row, 0, len(kept)+len(fresh))
	for _, r := range fresh {
		at, _ := slices.BinarySearchFunc(kept, r, o.compareRows)
		merged = append(append(merged, kept[:at]...), r)
		kept = kept[at:]
	}
	return append(merged, kept...)
}

func (o sortOrder) compareRows(a, b *row) int {
	by := 0
	switch o.by {
	case api.FleetByName:
		by = strings.Compare(a.text, b.text)
	case api.FleetByHost:
		by = strings.Compare(a.host.name, b.host.name)
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
