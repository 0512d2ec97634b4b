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

// listInterval is the time between requests for the machines' state.
const listInterval = 5 * time.Second

// A Set holds the machines of config.toml and of a fleet. Of a large fleet, it holds only
// those the user has opened; others are connected to for a single call.
type Set struct {
	notify func()       // something has changed; must not block
	start  func(func()) // runs a task that ends with the context of Begin

	mu           sync.Mutex
	ctx          context.Context
	own          panes.Engine // the local engine; nil while there is none
	all          []*machine   // sorted by name
	serial       int          // counts changes
	lateSearches int64        // counts answers of history searches that came too late
	listed       []api.Machine
	fleet        *api.FleetSummary // set if there are more machines
	ask          chan struct{}     // capacity 1; request a new list
}

// New returns an empty set.
func New(notify func(), start func(func())) *Set {
	return &Set{notify: notify, start: start, ask: make(chan struct{}, 1)}
}

// Begin sets the context of all connections.
func (s *Set) Begin(ctx context.Context) {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.start(func() { s.refreshLoop(ctx) })
}

// SetOwn sets the local engine, nil if it is lost, and requests its list of machines.
func (s *Set) SetOwn(ctx context.Context, own panes.Engine) {
	s.mu.Lock()
	s.own = own
	for _, m := range s.all {
		m.changed.Broadcast()
	}
	s.mu.Unlock()
	if own != nil {
		s.listMachines(ctx, own)
	}
}

// UpdateMachine records a machine's state.
func (s *Set) UpdateMachine(now api.Machine) {
	s.mu.Lock()
	if m := s.findMachine(now.Name); m != nil {
		m.setState(now)
		s.serial++
	}
	s.mu.Unlock()
	// It may be new, or removed from the configuration.
	s.Refresh()
}

// refreshLoop requests the list of machines after each change, and at intervals.
func (s *Set) refreshLoop(ctx context.Context) {
	for {
		s.mu.Lock()
		any := len(s.all) > 0 || s.fleet != nil
		s.mu.Unlock()
		// Offline times and round trips change.
		var again <-chan time.Time
		if any {
			again = time.After(listInterval)
		}
		select {
		case <-s.ask:
		case <-again:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		own := s.own
		s.mu.Unlock()
		if own != nil {
			s.listMachines(ctx, own)
		}
	}
}

// Refresh requests the machines' state, such as their round trips.
func (s *Set) Refresh() {
	select {
	case s.ask <- struct{}{}:
	default:
	}
}

// listMachines requests the list of machines. An error is ignored: an older engine does
// not know the call.
func (s *Set) listMachines(ctx context.Context, own panes.Engine) {
	out, err := api.MachineList.Call(ctx, own, api.MachineListInput{})
	if err != nil {
		return
	}
	s.mu.Lock()
	if !slices.Equal(s.listed, out.Machines) || slices.ContainsFunc(out.Machines, func(m api.Machine) bool { return m.State != api.MachineConnected }) {
		s.applyList(out.Machines)
	}
	s.listed = out.Machines
	if (s.fleet == nil) != (out.Fleet == nil) || s.fleet != nil && *s.fleet != *out.Fleet {
		s.fleet = out.Fleet
		s.serial++
	}
	s.mu.Unlock()
	s.notify()
}

func (s *Set) applyList(now []api.Machine) {
	s.serial++
	s.all = slices.DeleteFunc(s.all, func(m *machine) bool {
		gone := !slices.ContainsFunc(now, func(n api.Machine) bool { return n.Name == m.now.Name })
		if gone {
			m.stop()
			m.disconnect()
		}
		return gone
	})
	for _, n := range now {
		m := s.findMachine(n.Name)
		if m == nil {
			m = newMachine(s)
			s.all = append(s.all, m)
			// Each connection ends with the set or with its machine's removal.
			ctx, cancel := context.WithCancel(s.ctx)
			m.stop = cancel
			s.start(func() { m.runLoop(ctx) })
		}
		m.setState(n)
	}
	slices.SortFunc(s.all, func(a, b *machine) int { return strings.Compare(a.now.Name, b.now.Name) })
}

// findMachine returns a machine by its name; nil if there is none. The lock is held.
func (s *Set) findMachine(name string) *machine {
	at := slices.IndexFunc(s.all, func(m *machine) bool { return m.now.Name == name })
	if at < 0 {
		return nil
	}
	return s.all[at]
}

// Serial counts changes to what AddTo adds.
func (s *Set) Serial() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serial
}

// AddTo adds what is known of the machines to the local news. Notices are returned once.
func (s *Set) AddTo(n *panes.News) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.Serial += s.serial
	n.History += s.lateSearches
	n.Fleet = s.fleet
	n.Machines, n.Processes = nil, slices.Clip(n.Processes)
	n.Requests, n.Answered = slices.Clip(n.Requests), slices.Clip(n.Answered)
	for _, m := range s.all {
		n.Machines = append(n.Machines, panes.Machine{Machine: m.now, Known: m.news.Snapshots > 0})
		n.Processes = append(n.Processes, m.news.Processes...)
		n.History += m.news.History
		if m.now.State == api.MachineConnected {
			n.Requests = append(n.Requests, m.news.Requests...)
			n.Answered = append(n.Answered, m.news.Answered...)
		}
		for _, notice := range m.news.Notices {
			n.RemoteNotices = append(n.RemoteNotices, m.now.Name+": "+notice)
		}
		m.news.Notices = nil
	}
}

// UpdateNews changes the news of the machine a process runs on; ok is false if that is the
// local one.
func (s *Set) UpdateNews(id string, change func(*panes.News)) (ok bool) {
	name, _ := api.MachineOf(id)
	if name == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.findMachine(name); m != nil {
		change(&m.news)
		s.serial++
	}
	return true
}
