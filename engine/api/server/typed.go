package server

import (
	"strconv"
	"sync"
	"time"

	"tandem/engine/api"
)

const (
	// typedKept is how long a viewer whose connection was lost may take to come back
	// and hear how much of its input has arrived.
	typedKept = time.Hour
	// passOn is how long it waits for what came over the lost connection to be passed on.
	passOn = 2 * time.Second
)

// A typing counts the input of viewers that name theirs (AttachOptions.Input): who comes
// back after a connection was lost is told how much of it has arrived, so that no key is
// lost or doubled.
type typing struct {
	mu sync.Mutex
	by map[string]*typed
}

// A typed is the input of one viewer, over all its connections.
type typed struct {
	mu    sync.Mutex
	now   *Viewer       // the connection that counts; none before it does
	busy  chan struct{} // a message of now is being passed on until it is closed; nil if none is
	taken uint64        // messages so far
	last  time.Time     // when a connection came or went
}

// of is the input of that name, which is new if nothing is known of it any more.
func (t *typing) of(name string) (in *typed, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for other, in := range t.by {
		if in.forgotten() {
			delete(t.by, other)
		}
	}
	if in, known = t.by[name]; !known {
		if t.by == nil {
			t.by = make(map[string]*typed)
		}
		in = &typed{last: time.Now()}
		t.by[name] = in
	}
	return in, known
}

func (in *typed) forgotten() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.now == nil && time.Since(in.last) > typedKept
}

// takeOver makes v the connection that counts. What comes over the one before is taken no
// more; it tells how many messages were.
func (in *typed) takeOver(v *Viewer) (taken uint64) {
	in.mu.Lock()
	before, busy := in.now, in.busy
	in.now, in.busy, in.last = v, nil, time.Now()
	taken = in.taken
	in.mu.Unlock()
	if before == nil {
		return taken
	}
	before.cancel()
	if busy != nil {
		select {
		case <-busy:
		case <-time.After(passOn):
		}
	}
	return taken
}

// begin counts a message of v, which may then be passed on. ok is false when v counts no more.
func (in *typed) begin(v *Viewer) (ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.now != v {
		return false
	}
	in.taken++
	v.passing = make(chan struct{})
	in.busy = v.passing
	return true
}

// passed says that the last message of v was passed on.
func (in *typed) passed(v *Viewer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if v.passing != nil {
		close(v.passing)
		v.passing = nil
	}
}

// left says that v has gone.
func (in *typed) left(v *Viewer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.now == v {
		in.now, in.busy, in.last = nil, nil, time.Now()
	}
}

// counted reports whether a message is input that counts: sizes are sent anew, and a mark
// is of its connection alone.
func counted(in api.Input) bool { return in.Resize == nil && in.Mark == nil }

// count is what a viewer is told of its input when its connection is opened: how many
// messages have arrived; "" if nothing is known of it.
func (v *Viewer) count() string {
	in, known := v.typing.of(v.input)
	taken := in.takeOver(v)
	v.typed = in
	if !known {
		return ""
	}
	return strconv.FormatUint(taken, 10)
}
