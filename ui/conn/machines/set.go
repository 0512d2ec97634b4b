package machines

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/panes"
)

// listEvery is the time between looks at how it is with the machines.
const listEvery = 5 * time.Second

// A Set is the machines of config.toml, and those of a fleet: all, or those of many that
// the person has opened. The others are connected to for as long as it takes to do
// something there.
type Set struct {
	notify func()       // something has changed; must not block
	start  func(func()) // runs a task that ends with the context of Begin

	mu      sync.Mutex
	ctx     context.Context
	through panes.Engine // the own engine, nil while there is none
	all     []*machine   // by name
	serial  int          // counts changes
	found   int64        // counts what searches of the history were not told in time
	listed  []api.Machine
	fleet   *api.FleetSummary   // of more machines; nil: there are none
	copying map[string]*copying // transfers between machines, by id
	copies  int                 // so far
	ask     chan struct{}       // of 1: the machines are to be listed anew
}

// New is a set that knows no machine yet.
func New(notify func(), start func(func())) *Set {
	return &Set{notify: notify, start: start, copying: map[string]*copying{}, ask: make(chan struct{}, 1)}
}

// Begin has the connections end with ctx.
func (s *Set) Begin(ctx context.Context) {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.start(func() { s.keepListed(ctx) })
}

// Through says which own engine leads to the machines from now on, nil for none,
// and asks it which there are.
func (s *Set) Through(ctx context.Context, own panes.Engine) {
	s.mu.Lock()
	s.through = own
	for _, m := range s.all {
		m.changed.Broadcast()
	}
	s.mu.Unlock()
	if own != nil {
		s.list(ctx, own)
	}
}

// Tell takes in how it is with a machine now.
func (s *Set) Tell(now api.Machine) {
	s.mu.Lock()
	if m := s.find(now.Name); m != nil {
		m.tell(now)
		s.serial++
	}
	s.mu.Unlock()
	select { // it may be new, or gone from the configuration
	case s.ask <- struct{}{}:
	default:
	}
}

// keepListed lists the machines whenever something was told of one.
func (s *Set) keepListed(ctx context.Context) {
	for {
		s.mu.Lock()
		any := len(s.all) > 0 || s.fleet != nil
		s.mu.Unlock()
		var again <-chan time.Time // how long one has been away, and how fast the others are
		if any {
			again = time.After(listEvery)
		}
		select {
		case <-s.ask:
		case <-again:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		own := s.through
		s.mu.Unlock()
		if own != nil {
			s.list(ctx, own)
		}
	}
}

// Refresh asks how it is with the machines, how fast they answer above all.
func (s *Set) Refresh() {
	select {
	case s.ask <- struct{}{}:
	default:
	}
}

// list takes in which machines there are. An engine that knows of none is not an
// error: it may be an older one.
func (s *Set) list(ctx context.Context, own panes.Engine) {
	out, err := api.MachineList.Call(ctx, own, api.MachineListInput{})
	if err != nil {
		return
	}
	s.mu.Lock()
	if !slices.Equal(s.listed, out.Machines) || slices.ContainsFunc(out.Machines, func(m api.Machine) bool { return m.State != api.MachineConnected }) {
		s.take(out.Machines)
	}
	s.listed = out.Machines
	if (s.fleet == nil) != (out.Fleet == nil) || s.fleet != nil && *s.fleet != *out.Fleet {
		s.fleet = out.Fleet
		s.serial++
	}
	s.mu.Unlock()
	s.notify()
}

func (s *Set) take(now []api.Machine) {
	s.serial++
	s.all = slices.DeleteFunc(s.all, func(m *machine) bool {
		gone := !slices.ContainsFunc(now, func(n api.Machine) bool { return n.Name == m.now.Name })
		if gone {
			m.end()
			m.away()
		}
		return gone
	})
	for _, n := range now {
		m := s.find(n.Name)
		if m == nil {
			m = newMachine(s)
			s.all = append(s.all, m)
			ctx, cancel := context.WithCancel(s.ctx)
			m.end = cancel
			s.start(func() { m.run(ctx) })
		}
		m.tell(n)
	}
	slices.SortFunc(s.all, func(a, b *machine) int { return strings.Compare(a.now.Name, b.now.Name) })
}

// find is a machine by its name, nil if there is none. The lock is held.
func (s *Set) find(name string) *machine {
	at := slices.IndexFunc(s.all, func(m *machine) bool { return m.now.Name == name })
	if at < 0 {
		return nil
	}
	return s.all[at]
}

// returns reports whether a machine is connected, or about to be.
func (s *Set) returns(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(name)
	return m != nil && (m.now.State == api.MachineConnected || m.now.State == api.MachineConnecting)
}

// Serial counts changes of what Add adds.
func (s *Set) Serial() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serial
}

// Add adds what is known of the machines to the news of the own one. Notices are
// handed out once.
func (s *Set) Add(n *panes.News) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.Serial += s.serial
	n.History += s.found
	n.Fleet = s.fleet
	n.Machines, n.Processes, n.Requests = nil, slices.Clip(n.Processes), slices.Clip(n.Requests)
	for _, m := range s.all {
		n.Machines = append(n.Machines, panes.Machine{Machine: m.now, Known: m.news.Snapshots > 0})
		n.Processes = append(n.Processes, m.news.Processes...)
		n.History += m.news.History
		if m.now.State == api.MachineConnected {
			n.Requests = append(n.Requests, m.news.Requests...)
		}
		for _, notice := range m.news.Notices {
			n.RemoteNotices = append(n.RemoteNotices, m.now.Name+": "+notice)
		}
		m.news.Notices = nil
	}
}

// Learn changes what is known of the machine of a process; ok is false if that is
// the own one.
func (s *Set) Learn(id string, change func(*panes.News)) (ok bool) {
	name, _ := api.MachineOf(id)
	if name == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.find(name); m != nil {
		change(&m.news)
		s.serial++
	}
	return true
}
