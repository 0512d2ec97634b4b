package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tandem/engine/api"
)

// A rowTable holds all sessions and processes of the fleet, as published in ProcessesBucket and
// followed from the first request on.
type rowTable struct {
	complete chan struct{} // closed once all rows have been received

	mu         sync.Mutex
	generation int            // counts connections: rows from an earlier one may be outdated
	all        map[string]row // by key in the bucket
}

// A row is a session or process.
type row struct {
	machine    string
	epoch      string
	generation int
	api.Process
}

func newRows() *rowTable {
	return &rowTable{complete: make(chan struct{}), all: map[string]row{}}
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
	maps.DeleteFunc(t.all, func(_ string, r row) bool { return r.generation != t.generation })
	if !t.isComplete() {
		close(t.complete)
	}
}

func (t *rowTable) isComplete() bool {
	select {
	case <-t.complete:
		return true
	default:
		return false
	}
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
	t.all[key] = row{machine, written.Epoch, t.generation, written.Process}
}

func (t *rowTable) removeRow(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, key)
}

// rowsWait limits how long to wait for the first complete set of rows.
const rowsWait = 10 * time.Second

// waitComplete waits for the first complete set of rows, but at most rowsWait.
func (t *rowTable) waitComplete(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, rowsWait)
	defer cancel()
	select {
	case <-t.complete:
	case <-ctx.Done():
	}
}

// maxRows limits the rows of one answer.
const maxRows = 5000

// fillRows adds the rows to each machine in list, but only if their number in each state equals the
// machine's own count; otherwise some are still on their way.
func (t *rowTable) fillRows(list []api.FleetMachine, epochs map[string]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isComplete() {
		return
	}
	byName := make(map[string]*api.FleetMachine, len(list))
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
		byName[m.Name] = m
	}
	for _, r := range t.all {
		if m := byName[r.machine]; m != nil && r.epoch == epochs[m.Name] {
			m.Rows = append(m.Rows, r.Process)
		}
	}
	for _, m := range byName {
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
