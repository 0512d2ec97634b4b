package all

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

// A stream is a watch of a rig, whose events are kept as short texts.
type stream struct {
	stop context.CancelFunc
	done chan error

	mu   sync.Mutex
	seen []string
	full error // what send returns
}

func (r *rig) watch(t *testing.T) *stream {
	ctx, cancel := context.WithCancel(t.Context())
	w := &stream{stop: cancel, done: make(chan error, 1)}
	go func() { w.done <- r.Watch(ctx, api.WatchInput{Machines: true}, w.send) }()
	t.Cleanup(cancel)
	synctest.Wait()
	return w
}

func (w *stream) send(e api.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := string(e.Type)
	if e.Host != "" {
		text = e.Host + ":" + text
	}
	for _, m := range e.Machines {
		text += fmt.Sprintf(" %s=%s", m.Name, m.State)
	}
	for _, p := range e.Processes {
		text += " " + p.ID
	}
	if e.Request != nil {
		text += " " + e.Request.ID
	}
	w.seen = append(w.seen, strings.TrimSpace(text+" "+e.ID))
	return w.full
}

// next returns the events since the last call, once nothing more happens.
func (w *stream) next() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := strings.Join(w.seen, "; ")
	w.seen = nil
	return all
}

func (w *stream) want(t *testing.T, events string) {
	t.Helper()
	if got := w.next(); got != events {
		t.Errorf("sent %q, want %q", got, events)
	}
}

func snapshot(ids ...string) (e api.Event) {
	e.Type = api.EventSnapshot
	for _, id := range ids {
		e.Processes = append(e.Processes, api.Process{ID: id})
	}
	return e
}

func TestWatchSendsTheEventsOfAllMachinesWithTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "box", "pi")
		w := r.watch(t)
		w.want(t, "machines box=connected pi=connected")
		box := r.links["box"]
		box.events <- api.Event{Type: api.EventSnapshot, Info: &api.Info{Version: "0.1"}, Layout: &api.Layout{}, Processes: []api.Process{{ID: "a1"}}}
		box.events <- api.Event{Type: api.EventRequest, Request: &api.Request{ID: "q"}}
		box.events <- api.Event{Type: api.EventRemoved, ID: "a1"}
		for _, own := range []api.EventType{api.EventLayout, api.EventShow, api.EventMachine, api.EventPolicy, api.EventStopped} {
			box.events <- api.Event{Type: own}
		}
		w.want(t, "box:snapshot box/a1; box:request box/q; box:removed box/a1")
		second := r.watch(t)
		second.want(t, "machines box=connected pi=connected")
		w.stop()
		if err := <-w.done; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}

func TestWatchEndsWhenItsClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "box")
		w := r.watch(t)
		w.mu.Lock()
		w.full = errors.New("the client is gone")
		w.mu.Unlock()
		r.links["box"].events <- snapshot("a1")
		if err := <-w.done; err == nil || err.Error() != "the client is gone" {
			t.Errorf("it ends with %v", err)
		}
	})
}

// While its link is down, a machine is not asked for its events. A machine that is only silent
// keeps its stream, so that its sessions are not announced again.
func TestWatchFollowsAMachineWhoseLinkFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "box")
		box := r.links["box"]
		w := r.watch(t)
		box.events <- snapshot("a1")
		box.events <- api.Event{Type: api.EventRequest, Request: &api.Request{ID: "q"}}
		w.want(t, "machines box=connected; box:snapshot box/a1; box:request box/q")
		for range 3 {
			r.setState("box", api.MachineAway)
			w.want(t, "machines box=away")
			r.setState("box", api.MachineConnected)
			w.want(t, "machines box=connected")
		}
		box.events <- api.Event{Type: api.EventRemoved, ID: "a1"}
		w.want(t, "box:removed box/a1")

		r.setState("box", api.MachineAway)
		lost := box.events
		box.mu.Lock()
		box.events = make(chan api.Event, 100)
		box.mu.Unlock()
		opened := box.opened
		close(lost)
		box.events <- snapshot("a2")
		w.want(t, "machines box=away")
		time.Sleep(time.Minute)
		if w.want(t, ""); box.opened != opened {
			t.Errorf("it was connected to %d times while it was offline", box.opened-opened)
		}
		r.setState("box", api.MachineConnecting)
		w.want(t, "machines box=connecting")
		r.setState("box", api.MachineConnected)
		time.Sleep(maxWait)
		w.want(t, "machines box=connected; box:snapshot box/a2")
	})
}

func TestWatchFollowsTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "box")
		w := r.watch(t)
		w.want(t, "machines box=connected")
		r.mu.Lock()
		r.links["pi"] = &fakeLink{state: api.Machine{Name: "pi", State: api.MachineConnecting}, events: make(chan api.Event, 1)}
		r.mu.Unlock()
		r.setState("pi", api.MachineConnecting)
		w.want(t, "machines box=connected pi=connecting")
		r.setState("pi", api.MachineConnected)
		r.links["pi"].events <- snapshot("p1")
		w.want(t, "machines box=connected pi=connected; pi:snapshot pi/p1")
		box := r.links["box"]
		r.remove("box")
		w.want(t, "machines pi=connected")
		box.events <- snapshot("a1")
		w.want(t, "")
	})
}

// A machine that sends nothing delays neither the list nor the others.
func TestSlowMachineDelaysNoEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "box", "slow")
		began := time.Now()
		w := r.watch(t)
		r.links["box"].events <- snapshot("a1")
		w.want(t, "machines box=connected slow=connected; box:snapshot box/a1")
		if time.Since(began) > 0 {
			t.Errorf("after %v", time.Since(began))
		}
		r.set("box", func(m *api.Machine) { m.RTTMS = 7 })
		w.want(t, "machines box=connected slow=connected")
		time.Sleep(listInterval)
		w.want(t, "") // nothing has changed
	})
}

func (r *rig) listOwn(ctx context.Context, in api.ProcessListInput) (out api.ProcessListOutput, err error) {
	err = r.own.Do(ctx, api.ProcessList.Name, api.Read, in, &out)
	return out, err
}

// listIDs lists processes and returns their ids, and the machines that are missing.
func (r *rig) listIDs(t *testing.T, in api.ProcessListInput) string {
	t.Helper()
	out, err := r.Processes(t.Context(), in, r.listOwn)
	if err != nil {
		return err.Error()
	}
	var ids []string
	for _, p := range out.Processes {
		ids = append(ids, p.ID)
	}
	for _, m := range out.Missing {
		ids = append(ids, m.Host+": "+m.Message)
	}
	return strings.Join(ids, " ")
}

func TestListOfKnownProcessesWaitsForNoMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "box", "slow", "away")
		r.links["slow"].hang = make(chan struct{})
		r.setState("away", api.MachineAway)
		known := api.ProcessListInput{Machines: true}
		for i, want := range []string{"p", "p box/p"} {
			began := time.Now()
			if got := r.listIDs(t, known); got != want || time.Since(began) > 0 {
				t.Errorf("list %d is %q after %v", i, got, time.Since(began))
			}
			synctest.Wait()
		}
		if got := r.listIDs(t, api.ProcessListInput{}); got != "p" {
			t.Errorf("without machines: %q", got)
		}
		if r.agent = "claude"; r.listIDs(t, known) != "p" {
			t.Error("what the machine lists for the user is listed for an agent")
		}
		synctest.Wait()
		time.Sleep(maxRowsAge)
		if got := r.listIDs(t, known); got != "p" {
			t.Errorf("old rows are listed: %q", got)
		}
	})
}

func TestListOfHostsWaitsAndNamesThoseMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "box", "slow", "away")
		slow := r.links["slow"]
		slow.hang = make(chan struct{})
		time.AfterFunc(time.Second, func() { close(slow.hang) })
		r.setState("away", api.MachineAway)
		in := api.ProcessListInput{Hosts: []string{"slow", "box", "away", "nosuch"}}
		if got, want := r.listIDs(t, in), "slow/p box/p away: reach machine away: it is offline nosuch: reach machine nosuch: no such machine"; got != want {
			t.Errorf("listed %q, want %q", got, want)
		}
		in.Hosts = []string{"", "box"}
		if got := r.listIDs(t, in); got != "p box/p" {
			t.Errorf("with this machine: %q", got)
		}
		r.may = false
		if got := r.listIDs(t, in); !strings.Contains(got, "only for its user's programs") {
			t.Errorf("for others: %q", got)
		}
	})
}

func TestCallersWhoMayNotReachMachinesSeeNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "box")
		r.may = false
		if err := r.Watch(t.Context(), api.WatchInput{Machines: true}, func(api.Event) error { return nil }); !errors.Is(err, api.CodeForbidden) {
			t.Errorf("watch: %v", err)
		}
		if got := r.search(t, api.HistorySearchInput{Hosts: []string{"", "box"}}); !strings.Contains(got, "only for its user's programs") {
			t.Errorf("search: %q", got)
		}
		if err := r.get(t.Context(), "box"); !errors.Is(err, api.CodeForbidden) {
			t.Errorf("call: %v", err)
		}
		if r.links["box"].opened > 0 {
			t.Error("it was connected to")
		}
	})
}
