package fleet

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/engine/base/sleep"
)

// offlineAfter is the silence after which a machine counts as offline: two missed heartbeats.
const offlineAfter = 12 * time.Second

// A view follows the buckets from the first request on.
type view struct {
	connected chan struct{} // connected again

	mu    sync.Mutex
	hosts map[string]host

	complete   bool          // all hosts have been received
	changed    chan struct{} // closed and replaced with each change
	cancel     func()        // nil until started
	rows       *rowTable
	rowsWanted chan struct{} // closed with the first request for rows
	running    sync.WaitGroup
	watch      func(context.Context) // runs along with the view; may be nil
	log        *slog.Logger          // for panics
}

// A host is the row of a machine. at is when the row was written, according to the local clock.
type host struct {
	hostRow
	at time.Time
}

func newView() *view {
	return &view{connected: make(chan struct{}, 1), hosts: map[string]host{}, changed: make(chan struct{}), rows: newRows(), rowsWanted: make(chan struct{})}
}

func (v *view) onReconnect() { nudge(v.connected) }

// start begins to follow the machines, once.
func (v *view) start(nc *nats.Conn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	v.cancel = cancel
	v.running.Go(panics.Restarted(ctx, v.log, "fleet: view", func() { v.run(ctx, nc) }))
	if v.watch != nil {
		v.running.Go(panics.Restarted(ctx, v.log, "fleet: machines", func() { v.watch(ctx) }))
	}
}

// requestRows begins to follow the processes too.
func (v *view) requestRows() {
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-v.rowsWanted:
	default:
		close(v.rowsWanted)
	}
}

func (v *view) close() {
	v.mu.Lock()
	if v.cancel == nil {
		v.cancel = func() {}
	}
	end := v.cancel
	v.mu.Unlock()
	end()
	v.running.Wait()
}

// run follows the buckets, anew after each reconnect: the hub may have lost or replaced them.
func (v *view) run(ctx context.Context, nc *nats.Conn) {
	for ctx.Err() == nil {
		once, cancel := context.WithCancel(ctx)
		var following panics.Group
		follow := func(bucket func(context.Context, *nats.Conn) error) {
			for once.Err() == nil {
				panics.Log(v.log, "fleet: bucket", func() { _ = bucket(once, nc) }) // tried again
				_ = sleep.For(once, minDelay)
			}
		}
		following.Start(func() { follow(v.followHosts) })
		following.Start(func() {
			select {
			case <-v.rowsWanted:
				follow(v.followRows)
			case <-once.Done():
			}
		})
		select {
		case <-v.connected:
		case <-ctx.Done():
		}
		cancel()
		following.Wait()
	}
}

// bucketTimeout limits how long it may take to find a bucket.
const bucketTimeout = 5 * time.Second

// followHosts updates the machines until ctx is done or the bucket is missing.
func (v *view) followHosts(ctx context.Context, nc *nats.Conn) error {
	var offset time.Duration
	return followBucket(ctx, nc, HostsBucket, func(ctx context.Context, bucket jetstream.KeyValue) (err error) {
		offset, err = clockOffset(ctx, bucket)
		return err
	}, func(entry jetstream.KeyValueEntry) { v.applyEntry(entry, offset) })
}

// followBucket calls apply with every entry of a bucket, then with nil, and then with every change,
// until ctx is done or the bucket is missing. begin is called first.
func followBucket(ctx context.Context, nc *nats.Conn, name string, begin func(context.Context, jetstream.KeyValue) error, apply func(jetstream.KeyValueEntry)) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	bucket, err := js.KeyValue(bounded, name)
	if err != nil {
		return err
	}
	if err := begin(bounded, bucket); err != nil {
		return err
	}
	watch, err := bucket.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }() // the connection may be lost
	for {
		select {
		case entry, ok := <-watch.Updates():
			if !ok {
				return ctx.Err()
			}
			apply(entry)
		case <-ctx.Done():
			return nil
		}
	}
}

// clockOffset returns how far this machine's clock is ahead of the hub's.
func clockOffset(ctx context.Context, bucket jetstream.KeyValue) (time.Duration, error) {
	status, err := bucket.Status(ctx)
	if err != nil {
		return 0, err
	}
	if s, ok := status.(*jetstream.KeyValueBucketStatus); ok {
		if at := s.StreamInfo().TimeStamp; !at.IsZero() {
			return time.Since(at), nil
		}
	}
	return 0, nil
}

// applyEntry updates a machine; a nil entry means that all have been received.
func (v *view) applyEntry(entry jetstream.KeyValueEntry, offset time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if entry == nil {
		v.complete = true
		v.wakeWaiters()
		return
	}
	name := entry.Key()
	if entry.Operation() != jetstream.KeyValuePut {
		delete(v.hosts, name)
		v.wakeWaiters()
		return
	}
	var row hostRow
	if json.Unmarshal(entry.Value(), &row) != nil || row.Name != name || !ValidName(name) {
		return // from another version or a malicious member
	}
	was := v.hosts[name]
	v.hosts[name] = host{row, entry.Created().Add(offset)}
	// A mere heartbeat changes nothing to show.
	if time.Since(was.at) > offlineAfter || !reflect.DeepEqual(was.hostRow, row) {
		v.wakeWaiters()
	}
}

// wakeWaiters wakes everything waiting for a change. v.mu is held.
func (v *view) wakeWaiters() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// lastSeen returns when a machine last wrote its row; zero if unknown.
func (v *view) lastSeen(machine string) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.hosts[machine].at
}

// waitComplete waits until all machines are known or ctx is done.
func (v *view) waitComplete(ctx context.Context) {
	for {
		v.mu.Lock()
		complete, changed := v.complete, v.changed
		v.mu.Unlock()
		if complete {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// listWait limits how long a list waits for the hub.
const listWait = 3 * time.Second

// List returns the selected machines, sorted by name.
func (p *Person) List(ctx context.Context, in api.FleetListInput) ([]api.FleetMachine, error) {
	filter, err := parseSelection(in)
	if err != nil {
		return nil, err
	}
	if in.Rows {
		p.view.requestRows()
	}
	list, epochs, err := p.selectMachines(ctx, filter)
	if err == nil && in.Rows && p.State() == nil {
		p.view.rows.waitComplete(ctx)
		p.view.rows.fillRows(list, epochs)
	}
	return list, err
}

// selectMachines returns the machines accepted by a filter and the epochs of their engines.
func (p *Person) selectMachines(ctx context.Context, filter func(api.FleetMachine) bool) ([]api.FleetMachine, map[string]string, error) {
	p.view.start(p.conn.nats)
	bounded, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	p.view.waitComplete(bounded)
	fault := p.State()
	list, epochs := p.view.selectHosts(filter, fault == nil)
	switch {
	case list == nil && fault != nil:
		return nil, nil, api.Errorf(api.CodeUnavailable, "list the fleet: the hub cannot be reached: %v", fault)
	case list == nil:
		return nil, nil, api.Errorf(api.CodeUnavailable, "list the fleet: the hub did not list its machines")
	}
	return list, epochs, nil
}

// selectHosts returns the machines accepted by a filter, sorted by name, and the epochs of their
// engines; nil if the machines are not known yet.
func (v *view) selectHosts(filter func(api.FleetMachine) bool, connected bool) (list []api.FleetMachine, epochs map[string]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.complete {
		return nil, nil
	}
	list, epochs = []api.FleetMachine{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(v.hosts)) {
		if m := v.hosts[name].toFleetMachine(connected); filter(m) {
			list = append(list, m)
			epochs[name] = v.hosts[name].Epoch
		}
	}
	return list, epochs
}

// toFleetMachine converts a host for the API. connected reports whether the hub is reachable now.
func (h host) toFleetMachine(connected bool) api.FleetMachine {
	m := api.FleetMachine{Name: h.Name, Labels: h.Labels, State: api.FleetConnected, Version: h.Version, States: h.States, Failed: h.Failed, RTTMS: h.RTTMS, LastSeen: h.at}
	if h.Gone || !connected || time.Since(h.at) > offlineAfter {
		m.State = api.FleetAway
	}
	for state, count := range h.States {
		if !state.Ended() {
			m.Processes += count
		}
	}
	return m
}

// parseSelection returns the filter for the names and labels in the input of a list.
func parseSelection(in api.FleetListInput) (func(api.FleetMachine) bool, error) {
	type want struct {
		key, value string
		not        bool
	}
	var wants []want
	for _, label := range in.Labels {
		key, value, ok := strings.Cut(label, "=")
		key, not := strings.CutSuffix(key, "!")
		if _, err := path.Match(value, ""); !ok || key == "" || err != nil {
			return nil, api.Errorf(api.CodeInvalid, "read label %q: must be key=value or key!=value", label)
		}
		wants = append(wants, want{key, value, not})
	}
	named := map[string]bool{}
	var patterns []string
	for _, name := range in.Names {
		if _, err := path.Match(name, ""); err != nil {
			return nil, api.Errorf(api.CodeInvalid, "read name %q: not a valid pattern", name)
		}
		if named[name] = true; !ValidName(name) {
			patterns = append(patterns, name)
		}
	}
	return func(m api.FleetMachine) bool {
		for _, w := range wants {
			if matchesPattern(w.value, m.Labels[w.key]) == w.not {
				return false
			}
		}
		return len(in.Names) == 0 || named[m.Name] || slices.ContainsFunc(patterns, func(name string) bool { return matchesPattern(name, m.Name) })
	}, nil
}

// matchesPattern reports whether text matches a valid pattern.
func matchesPattern(pattern, text string) bool {
	ok, _ := path.Match(pattern, text)
	return ok
}
