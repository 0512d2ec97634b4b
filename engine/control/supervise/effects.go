package supervise

import (
	"slices"
	"sync"
)

// The control loop must never block: a slow disk or a keeper busy forking would delay every other
// process. Hence it only decides, and its effects run elsewhere. Disk work for one process has to
// stay in order (a record, then its removal), while different processes are independent. Each
// process therefore has its own queue and runs one job at a time. The jobs of all processes share a
// few workers, grouped into lanes by kind, so that a thousand writes do not occupy the workers for
// starts. A process being stopped moves its jobs to the urgent lane, ahead of everything else. With
// one goroutine per job instead, a stop would compete with a burst of starts for disk and keeper.
// Only jobs that do nothing but wait, for an exit or for readiness, get goroutines of their own.

const (
	// maxStarts limits concurrent starts. Each waits for the disk and for the keeper, which forks.
	maxStarts = 16
	// maxWrites limits concurrent writes of records.
	maxWrites = 16
)

// effects carries out the decisions of the control goroutine, which owns everything here except the
// lanes.
type effects struct {
	post    func(func()) // runs a function on the control goroutine
	running sync.WaitGroup
	starts  lane
	writes  lane
	urgent  lane
	forgets lane          // may block on a keeper
	busy    int           // processes with disk work
	onIdle  chan struct{} // closed when busy reaches 0; nil if nobody waits
}

func newEffects(post func(func())) *effects {
	e := &effects{post: post}
	e.starts = lane{workers: &e.running, maxWorkers: maxStarts}
	e.writes = lane{workers: &e.running, maxWorkers: maxWrites}
	e.urgent = lane{workers: &e.running, maxWorkers: maxWrites}
	e.forgets = lane{workers: &e.running, maxWorkers: maxWrites}
	return e
}

// runBlocking runs f in a goroutine of its own, because it waits rather than works.
func (e *effects) runBlocking(f func()) { e.running.Go(f) }

// whenWritten returns a channel closed once everything decided so far is on disk. It may be called
// only once, before the first client connects.
func (e *effects) whenWritten() <-chan struct{} {
	idle := make(chan struct{})
	if e.busy == 0 {
		close(idle)
	} else {
		e.onIdle = idle
	}
	return idle
}

// A workQueue holds the jobs of one process: its disk work, done one at a time and in order, and
// its start.
type workQueue struct {
	queue   []*job
	current *job // taken from queue; waits for a worker or has one
	start   *job // a start after the first, outside queue
	urgent  bool // the process is being stopped: its jobs go to the urgent lane
}

// addJob appends a job to the queue of a process.
func (e *effects) addJob(w *workQueue, l *lane, do func()) {
	w.queue = append(w.queue, &job{do: func(func()) { do() }, lane: l})
	e.beginWork(w)
}

// addStart appends a first start. It must finish before later disk work of the process. do calls
// waits before a long wait.
func (e *effects) addStart(w *workQueue, do func(waits func())) {
	w.queue = append(w.queue, &job{do: do, lane: &e.starts})
	e.beginWork(w)
}

func (e *effects) beginWork(w *workQueue) {
	if w.current == nil {
		e.busy++
		e.startNext(w)
	}
}

// startNext sends the next job of a process to its lane.
func (e *effects) startNext(w *workQueue) {
	if w.current = nil; len(w.queue) == 0 {
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
		// The control goroutine owns the queue, so a worker must not take the next job itself.
		e.post(func() { e.startNext(w) })
	}
	w.current = j
	e.dispatchJob(w, j)
}

// startOutsideQueue starts a process while its disk work continues.
func (e *effects) startOutsideQueue(w *workQueue, do func(waits func())) {
	w.start = &job{do: do, lane: &e.starts}
	e.dispatchJob(w, w.start)
}

func (e *effects) dispatchJob(w *workQueue, j *job) {
	// Forgetting waits for a keeper, and must not hold up the urgent lane.
	if w.urgent && j.lane != &e.forgets {
		j.lane = &e.urgent
	}
	j.lane.add(j)
}

// prioritize puts all jobs of a process ahead of other processes' until resetPriority.
func (e *effects) prioritize(w *workQueue) {
	w.urgent = true
	// A job already running cannot be moved; remove fails for it.
	for _, j := range []*job{w.current, w.start} {
		if j != nil && (j.lane == &e.starts || j.lane == &e.writes) && j.lane.remove(j) {
			e.dispatchJob(w, j)
		}
	}
}

func (w *workQueue) resetPriority() { w.urgent = false }

// A job is run by a worker of its lane. It calls waits before a long wait, to give up the worker's
// place.
type job struct {
	do   func(waits func())
	lane *lane
}

// A lane runs jobs in order of arrival, up to maxWorkers at a time.
type lane struct {
	workers    *sync.WaitGroup
	maxWorkers int

	mu      sync.Mutex
	running int
	queue   []*job
}

func (l *lane) add(j *job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue = append(l.queue, j); l.running < l.maxWorkers {
		l.running++
		l.workers.Go(l.runJobs)
	}
}

// runJobs runs jobs until none is left, or until one gives up the worker's place.
func (l *lane) runJobs() {
	for j := l.nextJob(); j != nil; j = l.nextJob() {
		left := false
		j.do(func() {
			if !left {
				left = true
				l.replaceWorker()
			}
		})
		// replaceWorker has started another worker, or has uncounted this one.
		if left {
			return
		}
	}
}

func (l *lane) nextJob() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.running--
		return nil
	}
	j := l.queue[0]
	l.queue = slices.Delete(l.queue, 0, 1)
	return j
}

// replaceWorker starts another worker, if there is work, in place of one that is about to wait.
func (l *lane) replaceWorker() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.running--
		return
	}
	l.workers.Go(l.runJobs)
}

// remove takes a job out of the lane, and reports whether it was still waiting.
func (l *lane) remove(j *job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queue, j)
	if i < 0 {
		return false
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	return true
}
