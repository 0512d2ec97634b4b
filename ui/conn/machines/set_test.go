package machines

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
)

// A fakeEngine is an engine whose events are read from a channel.
type fakeEngine struct {
	*panestest.Engine
	events chan api.Event
	mu     sync.Mutex             // guards far while the set is running
	far    map[string]*fakeEngine // other machines, for the local engine
	closed atomic.Bool
}

func (f *fakeEngine) Close() { f.closed.Store(true) }

func newFakeEngine() *fakeEngine {
	return &fakeEngine{Engine: panestest.NewEngine(), events: make(chan api.Event, 100), far: map[string]*fakeEngine{}}
}

func (f *fakeEngine) Watch(ctx context.Context) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		for {
			select {
			case e, ok := <-f.events:
				if !ok {
					yield(api.Event{}, errors.New("the link was lost"))
					return
				}
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (f *fakeEngine) Reach(_ context.Context, machine string) (panes.Engine, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.far[machine], nil
}

// connectTo makes a local engine reach another one from now on.
func (f *fakeEngine) connectTo(machine string, to *fakeEngine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.far[machine] = to
}

// A testSet is a set with a local engine that reaches box and slow.
type testSet struct {
	*Set
	own  *fakeEngine
	list atomic.Pointer[[]api.Machine]
}

func newTestSet(t *testing.T) *testSet {
	w := &testSet{own: newFakeEngine()}
	var list []api.Machine
	for _, name := range []string{"box", "slow"} {
		w.own.connectTo(name, newFakeEngine())
		list = append(list, api.Machine{Name: name, State: api.MachineConnected})
	}
	w.list.Store(&list)
	panestest.On(w.own.Engine, api.MachineList, func(context.Context, api.MachineListInput) (api.MachineListOutput, error) {
		return api.MachineListOutput{Machines: *w.list.Load()}, nil
	})
	var tasks sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	w.Set = New(func() {}, func(task func()) { tasks.Go(task) })
	w.Begin(ctx)
	w.SetOwn(ctx, w.own)
	t.Cleanup(func() { cancel(); tasks.Wait() })
	return w
}

// setState makes the local engine report the state of a machine.
func (w *testSet) setState(name string, state api.MachineState) {
	list := slices.Clone(*w.list.Load())
	for i := range list {
		if list[i].Name == name {
			list[i].State = state
			if state == api.MachineAway {
				list[i].Error = "no answer within 2s"
			}
			w.list.Store(&list)
			w.UpdateMachine(list[i])
		}
	}
	synctest.Wait()
}

func (w *testSet) news() (n panes.News) {
	w.AddTo(&n)
	return n
}

func snapshot(ids ...string) (e api.Event) {
	e.Type = api.EventSnapshot
	for _, id := range ids {
		e.Processes = append(e.Processes, api.Process{ID: id, Name: "shell", Kind: api.KindSession, State: api.StateRunning})
	}
	return e
}

func TestRemoteNamesHaveMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		box := w.own.far["box"]
		box.events <- snapshot("a1")
		synctest.Wait()
		n := w.news()
		if len(n.Processes) != 1 || n.Processes[0].ID != "box/a1" || !n.Machine("box").Known || n.Machine("slow").Known {
			t.Fatalf("known: %+v", n)
		}
		started := api.Process{ID: "box/b2"}
		w.UpdateNews("box/b2", func(n *panes.News) { n.Learn(started) })
		if n := w.news(); len(n.Processes) != 2 {
			t.Errorf("what was started is not known: %+v", n.Processes)
		}
	})
}

func TestReconnectedMachineIsFollowedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		box := w.own.far["box"]
		box.events <- snapshot("a1")
		synctest.Wait()
		w.own.connectTo("box", newFakeEngine())
		w.setState("box", api.MachineAway)
		close(box.events)
		w.own.far["box"].events <- snapshot("a1", "a2")
		time.Sleep(time.Minute)
		if n := w.news(); len(n.Processes) != 1 {
			t.Errorf("asked while it was away: %+v", n.Processes)
		}
		w.setState("box", api.MachineConnected)
		time.Sleep(maxWait)
		synctest.Wait()
		if n := w.news(); len(n.Processes) != 2 || !n.CanReach("box/a2") {
			t.Errorf("known: %+v", n)
		}
		list := (*w.list.Load())[1:]
		w.list.Store(&list)
		w.Refresh()
		synctest.Wait()
		if n := w.news(); len(n.Processes) != 0 || len(n.Machines) != 1 {
			t.Errorf("after it was removed: %+v", n)
		}
	})
}

func TestProcessListDoesNotWaitForMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		list := func(e *fakeEngine, answer func(context.Context)) {
			panestest.On(e.Engine, api.ProcessList, func(ctx context.Context, _ api.ProcessListInput) (out api.ProcessListOutput, err error) {
				answer(ctx)
				return api.ProcessListOutput{Processes: []api.Process{{ID: "p"}}}, ctx.Err()
			})
		}
		at := func(context.Context) {}
		list(w.own, at)
		list(w.own.far["box"], at)
		list(w.own.far["slow"], func(ctx context.Context) { <-ctx.Done() })
		w.own.far["box"].events <- snapshot()
		w.own.far["slow"].events <- snapshot()
		synctest.Wait()
		for i, want := range []string{"p", "p box/p"} {
			began := time.Now()
			out, err := api.ProcessList.Call(t.Context(), w.WrapEngine(w.own), api.ProcessListInput{})
			var ids []string
			for _, p := range out.Processes {
				ids = append(ids, p.ID)
			}
			if got := strings.Join(ids, " "); err != nil || got != want || time.Since(began) > 0 {
				t.Errorf("answer %d is %q after %v: %v", i, got, time.Since(began), err)
			}
			synctest.Wait()
		}
		w.setState("slow", api.MachineAway)
	})
}

// A stream of events may end while its link lives: the connections opened for it must be
// closed.
func TestConnectionIsClosedWhenItsEventsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		box := w.own.far["box"]
		box.events <- snapshot("a1")
		synctest.Wait()
		w.own.connectTo("box", newFakeEngine())
		close(box.events)
		time.Sleep(maxWait)
		if !box.closed.Load() {
			t.Error("it is kept")
		}
	})
}
