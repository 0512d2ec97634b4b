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
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A fakeExecutor is an executor in memory. It logs its calls in order.
type fakeExecutor struct {
	mu       sync.Mutex
	calls    []string
	noted    []string // ids passed to NoteUnconfined
	disk     map[string]store.Record
	nextPID  int
	children map[int]string  // ids of running children by PID
	remains  map[string]bool // ids of ended processes that left something running
	sessions map[string]*fakeSession

	spawnDelay, stopDelay time.Duration
	saveDelay             time.Duration
	spawnWaits            bool // Spawn blocks until it is cancelled
	saveErr, spawnErr     error
	stopErr, removeErr    error
	removeDelay           time.Duration
	reading               func() // called by LastLines
	probeDelay            time.Duration
	kept, dropped         []string // ids given to Keep, and to what it returned
	onKeep                func()
	probeErr              error
	lateExit              Ending
	lateDelay             time.Duration
}

func newFakeExecutor() *fakeExecutor {
	return &fakeExecutor{
		disk:     make(map[string]store.Record),
		sessions: make(map[string]*fakeSession),
		children: make(map[int]string),
		nextPID:  100,
		lateExit: Ending{Exit: keeper.Exit{Unknown: true}},
	}
}

func (w *fakeExecutor) noteCall(format string, args ...any) {
	w.calls = append(w.calls, fmt.Sprintf(format, args...))
}

func (w *fakeExecutor) listCalls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

func (w *fakeExecutor) savedRecord(id string) store.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.disk[id]
}

func (w *fakeExecutor) Save(r store.Record, _ bool) error {
	time.Sleep(w.saveDelay)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noteCall("save %s %s", r.State, r.Desired)
	if w.saveErr != nil {
		return w.saveErr
	}
	w.disk[r.ID] = r
	return nil
}

func (w *fakeExecutor) ClearPredecessor(context.Context, store.Record, Predecessor) error { return nil }

func (w *fakeExecutor) Spawn(ctx context.Context, r store.Record, _ store.Identity, _ func()) (Launch, error) {
	if w.spawnWaits {
		<-ctx.Done()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.noteCall("spawn cancelled")
		return Launch{}, errFake
	}
	time.Sleep(w.spawnDelay)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noteCall("spawn")
	if w.spawnErr != nil {
		return Launch{}, w.spawnErr
	}
	w.nextPID++
	w.children[w.nextPID] = r.ID
	begun := Launch{Child: keeper.Child{ID: r.ID, PID: w.nextPID, StartTime: 7, BootID: "boot", TTY: r.TTY}}
	if r.TTY {
		s := &fakeSession{}
		w.sessions[r.ID] = s
		begun.Live = s
	}
	return begun, nil
}

func (w *fakeExecutor) Probe(ctx context.Context, _ store.Record) error {
	select {
	case <-time.After(w.probeDelay):
		return w.probeErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *fakeExecutor) TypeCommand(store.Record, Session, func(context.Context) error) {}

func (w *fakeExecutor) BoundLog(store.Record) func() { return func() {} }

func (w *fakeExecutor) NoteUnconfined(r store.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noted = append(w.noted, r.ID)
}

func (w *fakeExecutor) LastLines(store.Record) []string {
	if w.reading != nil {
		w.reading()
	}
	return []string{"last words"}
}

func (w *fakeExecutor) StopRemains(_ context.Context, records []store.Record, _ string) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range records {
		w.noteCall("sweep %d", r.Identity.PID)
	}
	return len(records), nil
}

func (w *fakeExecutor) Keep(ended []Entry) (drop func(ids []string)) {
	if w.onKeep != nil {
		w.onKeep()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range ended {
		w.kept = append(w.kept, e.Rec.ID)
	}
	return func(ids []string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dropped = append(w.dropped, ids...)
	}
}

func (w *fakeExecutor) HaveRemains([]store.Record) (map[string]bool, error) { return w.remains, nil }

func (w *fakeExecutor) StopTree(ctx context.Context, r store.Record, held uint64, _ string) error {
	w.mu.Lock()
	w.noteCall("end %d", r.Identity.PID)
	w.mu.Unlock()
	select {
	case <-time.After(w.stopDelay):
	case <-ctx.Done():
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopErr == nil {
		delete(w.children, r.Identity.PID)
	}
	return w.stopErr
}

// killChild kills the child of a process, if it has one, without the engine's doing.
func (w *fakeExecutor) killChild(r *rig, id string, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pid, of := range w.children {
		if of == id {
			delete(w.children, pid)
			r.reportExit(api.Process{ID: id, PID: pid}, code)
		}
	}
}

func (w *fakeExecutor) countChildren(id string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range w.children {
		if of == id {
			n++
		}
	}
	return n
}

func (w *fakeExecutor) FindLateExit(ctx context.Context, _ store.Record) Ending {
	select {
	case <-time.After(w.lateDelay):
	case <-ctx.Done():
	}
	return w.lateExit
}

func (w *fakeExecutor) ForgetChild(string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noteCall("forget")
}

func (w *fakeExecutor) ReviveSession(store.Record) *terminal.Session {
	panic("no test opens the session of an ended process")
}

func (w *fakeExecutor) Remove(id string, _ bool) error {
	time.Sleep(w.removeDelay)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noteCall("remove")
	if w.removeErr != nil {
		return w.removeErr
	}
	delete(w.disk, id)
	return nil
}

// A fakeSession records the calls it receives.
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

// A rig is a running Control with a fake executor, in a bubble of fake time.
type rig struct {
	*testing.T
	w    *fakeExecutor
	c    *Control
	stop func()
}

// withRig runs f with a control goroutine stopped at its end.
func withRig(t *testing.T, f func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newFakeExecutor()
		log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})) // shows why the loop panics
		r := &rig{T: t, w: w, c: NewControl(ctx, w, w, log)}
		go r.c.Run()
		r.stop = func() {
			cancel()
			<-r.c.done
		}
		defer r.stop()
		f(r)
	})
}

// startSession starts a session and returns the channel of its answer.
func (r *rig) startSession(id string) <-chan outcome {
	r.Helper()
	rec := NewRecord(id, api.KindSession)
	rec.Name, rec.Argv, rec.TTY = "name-"+id, []string{"sh"}, true
	reply := make(chan outcome, 1)
	refused, err := Ask(r.Context(), r.c, func() error { return r.c.startRecord(rec, "", false, HasStarted, reply) })
	if err != nil || refused != nil {
		r.Fatal(err, refused)
	}
	return reply
}

// startRunning starts a session and waits until it runs.
func (r *rig) startRunning(id string) api.Process {
	r.Helper()
	o := <-r.startSession(id)
	if o.err != nil || o.process.State != api.StateRunning {
		r.Fatalf("start: %v, %v", o.process.State, o.err)
	}
	return o.process
}

func (r *rig) postEvent(id string, kind eventKind) <-chan outcome {
	reply := make(chan outcome, 1)
	r.c.reg.post(id, event{kind: kind, reply: reply})
	return reply
}

// reportExit reports the exit of a process's child with code.
func (r *rig) reportExit(p api.Process, code int) {
	r.c.reg.post(p.ID, event{
		kind:   evExited,
		Launch: Launch{Child: keeper.Child{ID: p.ID, PID: p.PID, StartTime: 7}},
		ending: Ending{Exit: keeper.Exit{Code: &code}, At: time.Now()},
	})
}

func (r *rig) reportDrained(p api.Process) { r.c.reg.post(p.ID, event{kind: evDrained}) }

// view returns the announced view of a process once the control loop is idle.
func (r *rig) view(id string) api.Process {
	r.Helper()
	synctest.Wait()
	for _, p := range r.listProcesses() {
		if p.ID == id {
			return p
		}
	}
	r.Fatalf("%s is not listed", id)
	return api.Process{}
}

func (r *rig) listProcesses() []api.Process {
	all, err := r.c.ListProcesses(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return all
}

func (r *rig) wantCalls(want ...string) {
	r.Helper()
	synctest.Wait()
	if got := r.w.listCalls(); !slices.Equal(got, want) {
		r.Errorf("did %q, want %q", got, want)
	}
}

var errFake = errors.New("it broke")
