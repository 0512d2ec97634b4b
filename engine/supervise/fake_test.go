package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// A fakeWorld is a world in memory. What it does is written down in order.
type fakeWorld struct {
	mu       sync.Mutex
	did      []string
	noted    []string // that they are not confined
	disk     map[string]store.Record
	nextPID  int
	children map[int]string // pid → id of those that live
	sessions map[string]*fakeSession

	spawnTakes, endTakes time.Duration
	saveTakes            time.Duration
	spawnWaits           bool // for a keeper, until it is called off
	saveErr, spawnErr    error
	endErr               error
	removeTakes          time.Duration
	probeTakes           time.Duration
	probeErr             error
	late                 Ending
	lateTakes            time.Duration
}

func newFakeWorld() *fakeWorld {
	return &fakeWorld{
		disk:     make(map[string]store.Record),
		sessions: make(map[string]*fakeSession),
		children: make(map[int]string),
		nextPID:  100,
		late:     Ending{Exit: keeper.Exit{Unknown: true}},
	}
}

func (w *fakeWorld) note(format string, args ...any) {
	w.did = append(w.did, fmt.Sprintf(format, args...))
}

func (w *fakeWorld) deeds() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.did)
}

func (w *fakeWorld) onDisk(id string) store.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.disk[id]
}

func (w *fakeWorld) Save(r store.Record, _ bool) error {
	time.Sleep(w.saveTakes)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("save %s %s", r.State, r.Desired)
	if w.saveErr != nil {
		return w.saveErr
	}
	w.disk[r.ID] = r
	return nil
}

func (w *fakeWorld) Clear(context.Context, store.Record, Predecessor) error { return nil }

func (w *fakeWorld) Spawn(ctx context.Context, r store.Record, _ store.Identity, _ func()) (Started, error) {
	if w.spawnWaits {
		<-ctx.Done()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.note("spawn called off")
		return Started{}, errFake
	}
	time.Sleep(w.spawnTakes)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("spawn")
	if w.spawnErr != nil {
		return Started{}, w.spawnErr
	}
	w.nextPID++
	w.children[w.nextPID] = r.ID
	begun := Started{Child: keeper.Child{ID: r.ID, PID: w.nextPID, StartTime: 7, BootID: "boot", TTY: r.TTY}}
	if r.TTY {
		s := &fakeSession{}
		w.sessions[r.ID] = s
		begun.Live = s
	}
	return begun, nil
}

func (w *fakeWorld) Probe(ctx context.Context, _ store.Record) error {
	select {
	case <-time.After(w.probeTakes):
		return w.probeErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *fakeWorld) Bound(store.Record) func() { return func() {} }

func (w *fakeWorld) NoteUnconfined(r store.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noted = append(w.noted, r.ID)
}

func (w *fakeWorld) LastLines(store.Record) []string { return []string{"last words"} }

func (w *fakeWorld) EndRemains(_ context.Context, records []store.Record, _ string) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range records {
		w.note("sweep %d", r.Identity.PID)
	}
	return len(records), nil
}

func (w *fakeWorld) EndTree(ctx context.Context, r store.Record, held uint64, _ string) error {
	w.mu.Lock()
	w.note("end %d", r.Identity.PID)
	w.mu.Unlock()
	select {
	case <-time.After(w.endTakes):
	case <-ctx.Done():
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.endErr == nil {
		delete(w.children, r.Identity.PID)
	}
	return w.endErr
}

// killChild ends the child of a process from outside, if it has one.
func (w *fakeWorld) killChild(r *rig, id string, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pid, of := range w.children {
		if of == id {
			delete(w.children, pid)
			r.exits(api.Process{ID: id, PID: pid}, code)
		}
	}
}

func (w *fakeWorld) liveChildren(id string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range w.children {
		if of == id {
			n++
		}
	}
	return n
}

func (w *fakeWorld) LateExit(ctx context.Context, _ store.Record) Ending {
	select {
	case <-time.After(w.lateTakes):
	case <-ctx.Done():
	}
	return w.late
}

func (w *fakeWorld) Forget(string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("forget")
}

func (w *fakeWorld) Revive(store.Record) *terminal.Session {
	panic("no test has a terminal that ended")
}

func (w *fakeWorld) Remove(id string, _ bool) error {
	time.Sleep(w.removeTakes)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("remove")
	delete(w.disk, id)
	return nil
}

// A fakeSession counts what it is told.
type fakeSession struct {
	mu       sync.Mutex
	ended    bool
	finished *api.Process
	closed   bool
	viewers  int
}

func (s *fakeSession) ChildEnded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *fakeSession) Facts() terminal.Facts {
	return terminal.Facts{Cols: 80, Rows: 24, Title: "title", Viewers: s.viewers}
}

func (s *fakeSession) Finish(p api.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = &p
}

func (s *fakeSession) Admit(bool, bool) {}

func (s *fakeSession) Stopping() {}

func (s *fakeSession) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

func (s *fakeSession) Gone() <-chan struct{} {
	gone := make(chan struct{})
	close(gone)
	return gone
}

// A rig is a running control with a fake world, in a bubble of fake time.
type rig struct {
	*testing.T
	w    *fakeWorld
	c    *Control
	stop func()
}

// withRig runs a test with a control goroutine that ends with it.
func withRig(t *testing.T, f func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newFakeWorld()
		log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})) // says why the loop panics
		r := &rig{T: t, w: w, c: NewControl(ctx, w, log)}
		go r.c.Run()
		r.stop = func() {
			cancel()
			<-r.c.done
		}
		defer r.stop()
		f(r)
	})
}

// begin starts a process and gives the channel of its answer.
func (r *rig) begin(id string) <-chan outcome {
	r.Helper()
	rec := NewRecord(id, api.KindSession)
	rec.Name, rec.Argv, rec.TTY = "name-"+id, []string{"sh"}, true
	reply := make(chan outcome, 1)
	refused, err := Ask(r.Context(), r.c, func() error { return r.c.start(rec, "", false, HasStarted, reply) })
	if err != nil || refused != nil {
		r.Fatal(err, refused)
	}
	return reply
}

// running starts a process and waits until it runs.
func (r *rig) running(id string) api.Process {
	r.Helper()
	o := <-r.begin(id)
	if o.err != nil || o.process.State != api.StateRunning {
		r.Fatalf("start: %v, %v", o.process.State, o.err)
	}
	return o.process
}

func (r *rig) ask(id string, kind eventKind) <-chan outcome {
	reply := make(chan outcome, 1)
	r.c.post(id, event{kind: kind, reply: reply})
	return reply
}

// exits reports that the child of a process ended with code.
func (r *rig) exits(p api.Process, code int) {
	r.c.post(p.ID, event{
		kind:    evExited,
		Started: Started{Child: keeper.Child{ID: p.ID, PID: p.PID, StartTime: 7}},
		ending:  Ending{Exit: keeper.Exit{Code: &code}, At: time.Now()},
	})
}

func (r *rig) drained(p api.Process) { r.c.post(p.ID, event{kind: evDrained}) }

// view is what is announced of a process at the moment.
func (r *rig) view(id string) api.Process {
	r.Helper()
	synctest.Wait()
	for _, p := range r.listed() {
		if p.ID == id {
			return p
		}
	}
	r.Fatalf("%s is not listed", id)
	return api.Process{}
}

func (r *rig) listed() []api.Process {
	all, err := r.c.Listed(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return all
}

func (r *rig) wantDeeds(want ...string) {
	r.Helper()
	synctest.Wait()
	if got := r.w.deeds(); !slices.Equal(got, want) {
		r.Errorf("did %q, want %q", got, want)
	}
}

var errFake = errors.New("it broke")
