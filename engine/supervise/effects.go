package supervise

import (
	"slices"
	"sync"
)

const (
	// startsAtOnce is how many children are started at a time. A start waits for
	// the disk and for the keeper, which forks.
	startsAtOnce = 16
	// writesAtOnce is how many processes' records are written at a time.
	writesAtOnce = 16
)

// effects carry out what the control goroutine decides. A few workers each do starts
// and writes; work for a process that is being stopped overtakes the rest. What only
// waits, for a child's end or readiness, has a goroutine of its own. The control
// goroutine owns all of it except the lanes.
type effects struct {
	post    func(func()) // runs something on the control goroutine
	running sync.WaitGroup
	starts  lane
	writes  lane
	urgent  lane
	forgets lane          // may have to wait for a keeper
	busy    int           // processes with disk work
	onIdle  chan struct{} // closed when there is none; nil if nobody waits
}

func newEffects(post func(func())) *effects {
	e := &effects{post: post}
	e.starts = lane{workers: &e.running, most: startsAtOnce}
	e.writes = lane{workers: &e.running, most: writesAtOnce}
	e.urgent = lane{workers: &e.running, most: writesAtOnce}
	e.forgets = lane{workers: &e.running, most: writesAtOnce}
	return e
}

// wait runs f, which waits for something, beside everything else.
func (e *effects) wait(f func()) { e.running.Go(f) }

// written returns a channel that is closed once everything decided so far is on disk.
// It is called once, before the first client.
func (e *effects) written() <-chan struct{} {
	idle := make(chan struct{})
	if e.busy == 0 {
		close(idle)
	} else {
		e.onIdle = idle
	}
	return idle
}

// A work is what is to be done for one process: its disk work, one at a time and
// in order, and its start.
type work struct {
	queue  []*job
	now    *job // of the queue; waits for a worker, or has one
	start  *job // a start after the first, which is not in the queue
	urgent bool // it is being stopped: nothing of it waits behind others
}

// add queues a job of a process behind those that wait already.
func (e *effects) add(w *work, l *lane, do func()) {
	w.queue = append(w.queue, &job{do: func(func()) { do() }, lane: l})
	e.begin(w)
}

// addStart is add for a first start, which is told how to make room when it has to
// wait.
func (e *effects) addStart(w *work, do func(waits func())) {
	w.queue = append(w.queue, &job{do: do, lane: &e.starts})
	e.begin(w)
}

func (e *effects) begin(w *work) {
	if w.now == nil {
		e.busy++
		e.next(w)
	}
}

// next hands the next job of a process to a lane.
func (e *effects) next(w *work) {
	if w.now = nil; len(w.queue) == 0 {
		if e.busy--; e.busy == 0 && e.onIdle != nil {
			close(e.onIdle)
			e.onIdle = nil
		}
		return
	}
	j := w.queue[0]
	w.queue = w.queue[1:]
	do := j.do
	j.do = func(waits func()) {
		do(waits)
		e.post(func() { e.next(w) })
	}
	w.now = j
	e.hand(w, j)
}

// startBeside starts a process beside its disk work.
func (e *effects) startBeside(w *work, do func(waits func())) {
	w.start = &job{do: do, lane: &e.starts}
	e.hand(w, w.start)
}

func (e *effects) hand(w *work, j *job) {
	if w.urgent && j.lane != &e.forgets {
		j.lane = &e.urgent
	}
	j.lane.add(j)
}

// hurry puts all work of a process ahead of that of others, until calm.
func (e *effects) hurry(w *work) {
	w.urgent = true
	for _, j := range []*job{w.now, w.start} {
		if j != nil && (j.lane == &e.starts || j.lane == &e.writes) && j.lane.remove(j) {
			e.hand(w, j)
		}
	}
}

func (w *work) calm() { w.urgent = false }

// A job is done by a worker of its lane. It calls waits before a wait that may be long,
// so that its worker no longer counts.
type job struct {
	do   func(waits func())
	lane *lane
}

// A lane does jobs in the order in which they came, so many at a time.
type lane struct {
	workers *sync.WaitGroup
	most    int

	mu      sync.Mutex
	running int
	waiting []*job
}

func (l *lane) add(j *job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting = append(l.waiting, j); l.running < l.most {
		l.running++
		l.workers.Go(l.work)
	}
}

// work does jobs until none waits, or one has left the lane.
func (l *lane) work() {
	for j := l.next(); j != nil; j = l.next() {
		left := false
		j.do(func() {
			if !left {
				left = true
				l.leave()
			}
		})
		if left {
			return
		}
	}
}

func (l *lane) next() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.running--
		return nil
	}
	j := l.waiting[0]
	l.waiting = slices.Delete(l.waiting, 0, 1)
	return j
}

// leave gives a worker's place to another one.
func (l *lane) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.running--
		return
	}
	l.workers.Go(l.work)
}

// remove takes out a job that is still waiting.
func (l *lane) remove(j *job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, j)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return true
}
