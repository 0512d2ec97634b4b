package server

import (
	"strconv"
	"sync"
	"time"

	"tandem/engine/api"
)

const (
	// typedKept is how long the count of a viewer's input is kept after its connection was lost.
	typedKept = time.Hour
	// passOn is how long a new connection waits for the handler of the lost one to pass on its last
	// message.
	passOn = 2 * time.Second
)

// A typing counts the input of viewers with an AttachOptions.Input name. A viewer reconnecting after
// a lost connection learns how much of its input has arrived, so that no key is lost or repeated.
type typing struct {
	mu sync.Mutex
	by map[string]*typed
}

// A typed is the input of one viewer, over all its connections.
type typed struct {
	mu    sync.Mutex
	now   *Viewer       // the current connection; nil if none
	busy  chan struct{} // closed when the handler has passed on the current message; nil if none
	taken uint64        // messages so far
	last  time.Time     // of the last connect or disconnect
}

// inputOf returns the input called name; known is false if it is new or has expired.
func (t *typing) inputOf(name string) (in *typed, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for other, in := range t.by {
		if in.isExpired() {
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

func (in *typed) isExpired() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.now == nil && time.Since(in.last) > typedKept
}

// takeOver makes v the current connection and returns the number of messages so far. Messages of the
// previous connection no longer count.
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
	// The message in progress was counted already, so wait until it cannot come after v's first.
	if busy != nil {
		select {
		case <-busy:
		case <-time.After(passOn):
		}
	}
	return taken
}

// beginMessage counts a message of v before it is passed on. ok is false if v is no longer the
// current connection.
func (in *typed) beginMessage(v *Viewer) (ok bool) {
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

// finishMessage marks the last message of v as passed on.
func (in *typed) finishMessage(v *Viewer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if v.passing != nil {
		close(v.passing)
		v.passing = nil
	}
}

// disconnect ends v's connection, if it is still the current one.
func (in *typed) disconnect(v *Viewer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.now == v {
		in.now, in.busy, in.last = nil, nil, time.Now()
	}
}

// isCounted reports whether a message counts as input. Sizes are sent again by the next connection,
// and marks belong to a single one.
func isCounted(in api.Input) bool { return in.Resize == nil && in.Mark == nil }

// takenHeader returns the value of wire.TakenHeader for a new connection: the number of messages
// so far; "" if the input is unknown.
func (v *Viewer) takenHeader() string {
	in, known := v.typing.inputOf(v.input)
	taken := in.takeOver(v)
	v.typed = in
	if !known {
		return ""
	}
	return strconv.FormatUint(taken, 10)
}
