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
	"tandem/engine/panics"
	"tandem/engine/sleep"
)

// awayAfter is how long a machine says nothing that is away: it has missed two words.
const awayAfter = 12 * time.Second

// A view is what the buckets say, followed from when somebody first asks.
type view struct {
	back chan struct{} // there is a connection again

	mu    sync.Mutex
	hosts map[string]host

	complete bool          // hosts are all that there are
	changed  chan struct{} // is closed, and another one made, with each change
	end      func()        // nil until it begins
	rows     *rows
	wanted   chan struct{} // is closed when somebody asks for the rows
	running  sync.WaitGroup
	watching func(context.Context) // runs beside, from when the view begins; nil: nothing does
	log      *slog.Logger          // of panics
}

// A host is a row and when it was written, by this machine's clock.
type host struct {
	hostRow
	at time.Time
}

func newView() *view {
	return &view{back: make(chan struct{}, 1), hosts: map[string]host{}, changed: make(chan struct{}), rows: newRows(), wanted: make(chan struct{})}
}

func (v *view) reconnected() { nudge(v.back) }

// begin follows the machines, once.
func (v *view) begin(nc *nats.Conn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.end != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	v.end = cancel
	v.running.Go(panics.Restarted(ctx, v.log, "fleet: view", func() { v.run(ctx, nc) }))
	if v.watching != nil {
		v.running.Go(panics.Restarted(ctx, v.log, "fleet: machines", func() { v.watching(ctx) }))
	}
}

// wantRows has what runs on the machines followed too.
func (v *view) wantRows() {
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-v.wanted:
	default:
		close(v.wanted)
	}
}

func (v *view) close() {
	v.mu.Lock()
	if v.end == nil {
		v.end = func() {}
	}
	end := v.end
	v.mu.Unlock()
	end()
	v.running.Wait()
}

// run follows the buckets, anew with each connection: they may be others then.
func (v *view) run(ctx context.Context, nc *nats.Conn) {
	for ctx.Err() == nil {
		once, cancel := context.WithCancel(ctx)
		var following panics.Group
		follow := func(bucket func(context.Context, *nats.Conn) error) {
			for once.Err() == nil {
				panics.Log(v.log, "fleet: bucket", func() { _ = bucket(once, nc) }) // it is tried again
				_ = sleep.For(once, firstPause)
			}
		}
		following.Start(func() { follow(v.follow) })
		following.Start(func() {
			select {
			case <-v.wanted:
				follow(v.followRows)
			case <-once.Done():
			}
		})
		select {
		case <-v.back:
		case <-ctx.Done():
		}
		cancel()
		following.Wait()
	}
}

// bucketTimeout bounds how long it takes to find a bucket.
const bucketTimeout = 5 * time.Second

// follow takes in the machines until ctx ends or there is no bucket.
func (v *view) follow(ctx context.Context, nc *nats.Conn) error {
	var behind time.Duration
	return followBucket(ctx, nc, HostsBucket, func(ctx context.Context, bucket jetstream.KeyValue) (err error) {
		behind, err = clockBehind(ctx, bucket)
		return err
	}, func(entry jetstream.KeyValueEntry) { v.take(entry, behind) })
}

// followBucket takes what a bucket holds and what becomes of it until ctx ends or there is
// no bucket; nil stands between the two. begin is called before.
func followBucket(ctx context.Context, nc *nats.Conn, name string, begin func(context.Context, jetstream.KeyValue) error, take func(jetstream.KeyValueEntry)) error {
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
	defer func() { _ = watch.Stop() }() // the connection may be gone
	for {
		select {
		case entry, ok := <-watch.Updates():
			if !ok {
				return ctx.Err()
			}
			take(entry)
		case <-ctx.Done():
			return nil
		}
	}
}

// clockBehind is by how much the clock of the hub is behind that of this machine.
func clockBehind(ctx context.Context, bucket jetstream.KeyValue) (time.Duration, error) {
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

// take takes in an entry of the hosts; nil comes when all that there were have.
func (v *view) take(entry jetstream.KeyValueEntry, behind time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if entry == nil {
		v.complete = true
		v.tell()
		return
	}
	name := entry.Key()
	if entry.Operation() != jetstream.KeyValuePut {
		delete(v.hosts, name)
		v.tell()
		return
	}
	var row hostRow
	if json.Unmarshal(entry.Value(), &row) != nil || row.Name != name || !ValidName(name) {
		return // it is of another version, or of somebody who writes what they like
	}
	was := v.hosts[name]
	v.hosts[name] = host{row, entry.Created().Add(behind)}
	if time.Since(was.at) > awayAfter || !reflect.DeepEqual(was.hostRow, row) { // else it only says that it is there
		v.tell()
	}
}

// tell wakes who waits. The lock is held.
func (v *view) tell() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// seen is when a machine said something last; zero if it is not known.
func (v *view) seen(machine string) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.hosts[machine].at
}

// settled waits until all machines are known, or ctx ends.
func (v *view) settled(ctx context.Context) {
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

// listWait bounds how long a list waits for the hub.
const listWait = 3 * time.Second

// List tells of the machines that are meant, by name.
func (p *Person) List(ctx context.Context, in api.FleetListInput) ([]api.FleetMachine, error) {
	meant, err := selection(in)
	if err != nil {
		return nil, err
	}
	if in.Rows {
		p.view.wantRows()
	}
	list, epochs, err := p.meant(ctx, meant)
	if err == nil && in.Rows && p.State() == nil {
		p.view.rows.settled(ctx)
		p.view.rows.give(list, epochs)
	}
	return list, err
}

// meant are the machines that are, and the engines that tell of them.
func (p *Person) meant(ctx context.Context, meant func(api.FleetMachine) bool) ([]api.FleetMachine, map[string]string, error) {
	p.view.begin(p.conn.nats)
	bounded, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	p.view.settled(bounded)
	fault := p.State()
	list, epochs := p.view.chosen(meant, fault == nil)
	switch {
	case list == nil && fault != nil:
		return nil, nil, api.Errorf(api.CodeUnavailable, "list the fleet: the hub cannot be reached: %v", fault)
	case list == nil:
		return nil, nil, api.Errorf(api.CodeUnavailable, "list the fleet: the hub did not list its machines")
	}
	return list, epochs, nil
}

// chosen are the machines that are meant, by name, and the engines that tell of them; nil
// while it is not known which there are.
func (v *view) chosen(meant func(api.FleetMachine) bool, connected bool) (list []api.FleetMachine, epochs map[string]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.complete {
		return nil, nil
	}
	list, epochs = []api.FleetMachine{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(v.hosts)) {
		if m := v.hosts[name].told(connected); meant(m) {
			list = append(list, m)
			epochs[name] = v.hosts[name].Epoch
		}
	}
	return list, epochs
}

// machines are all machines, and the engines that tell of them.
func (v *view) machines(connected bool) (all []api.FleetMachine, epochs map[string]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	epochs = make(map[string]string, len(v.hosts))
	for name, h := range v.hosts {
		all = append(all, h.told(connected))
		epochs[name] = h.Epoch
	}
	return all, epochs
}

// told is a machine as others are told of it.
func (h host) told(connected bool) api.FleetMachine {
	m := api.FleetMachine{Name: h.Name, Labels: h.Labels, State: api.FleetConnected, Version: h.Version, States: h.States, Failed: h.Failed, RTTMS: h.RTTMS, LastSeen: h.at}
	if h.Gone || !connected || time.Since(h.at) > awayAfter {
		m.State = api.FleetAway
	}
	for state, count := range h.States {
		if !state.Ended() {
			m.Processes += count
		}
	}
	return m
}

// selection is which machines are meant.
func selection(in api.FleetListInput) (func(api.FleetMachine) bool, error) {
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
			if matches(w.value, m.Labels[w.key]) == w.not {
				return false
			}
		}
		return len(in.Names) == 0 || named[m.Name] || slices.ContainsFunc(patterns, func(name string) bool { return matches(name, m.Name) })
	}, nil
}

// matches reports whether a text is what a pattern means that was checked.
func matches(pattern, text string) bool {
	ok, _ := path.Match(pattern, text)
	return ok
}
