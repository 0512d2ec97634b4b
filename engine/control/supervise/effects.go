package supervise

import (
	"slices"
	"sync"
)

// The control loop must never block: a slow disk or a keeper busy with forking would delay every
// other process. So it only decides, and its effects run elsewhere.
//
// Disk work for one process must stay in order (a record, then its removal), but different
// processes are independent. So each process has its own queue and runs one job at a time. The jobs
// of all processes share a few workers. These are grouped into lanes by kind, so that a thousand
// writes do not occupy the workers for starts. When a process is being stopped, its jobs move to
// the urgent lane, ahead of everything else. If each job had its own goroutine instead, a stop
// would compete with a burst of starts for disk and keeper. Only jobs that just wait, for an exit
// or for readiness, get their own goroutines.

const (
	// maxStarts limits concurrent starts. Each one waits for the disk and for the keeper to fork.
	maxStarts = 16
	// maxWrites limits concurrent writes of records.
	maxWrites = 16
)

// effects carries out the decisions of the control goroutine. That goroutine owns all fields except
// the lanes.
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

// runBlocking runs f in its own goroutine, because f mostly waits and would occupy a worker.
func (e *effects) runBlocking(f func()) { e.running.Go(f) }

// whenWritten returns a channel that is closed once everything decided so far is on disk. It may be
// called only once, before the first client connects.
func (e *effects) whenWritten() <-chan struct{} {
	idle := make(chan struct{})
	if e.busy == 0 {
		close(idle)
	} else {
		e.onIdle = idle
	}
	return idle
}

// A workQueue holds the jobs of one process: its start, and its disk work, which is done one job at
// a time and in order.
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

// addStart appends the first start of a process to its queue. It must finish before later disk work
// of the process. do calls onWait before a long wait.
func (e *effects) addStart(w *workQueue, do func(onWait func())) {
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
	j.do = func(onWait func()) {
		do(onWait)
		// The control goroutine owns the queue, so a worker must not take the next job itself.
		e.post(func() { e.startNext(w) })
	}
	w.current = j
	e.dispatchJob(w, j)
}

// startOutsideQueue starts a process while its disk work continues.
func (e *effects) startOutsideQueue(w *workQueue, do func(onWait func())) {
	w.start = &job{do: do, lane: &e.starts}
	e.dispatchJob(w, w.start)
}

func (e *effects) dispatchJob(w *workQueue, j *job) {
	// Forgetting a child waits for the keeper, and must not delay the urgent lane.
	if w.urgent && j.lane != &e.forgets {
		j.lane = &e.urgent
	}
	j.lane.add(j)
}

// prioritize moves all jobs of a process ahead of other processes', until resetPriority is called.
func (e *effects) prioritize(w *workQueue) {
	w.urgent = true
	// A job that is already running cannot be moved; remove returns false for it.
	for _, j := range []*job{w.current, w.start} {
		if j != nil && (j.lane == &e.starts || j.lane == &e.writes) && j.lane.remove(j) {
			e.dispatchJob(w, j)
		}
	}
}

func (w *workQueue) resetPriority() { w.urgent = false }

// A job is run by a worker of its lane. It calls onWait before a long wait, so another job can use
// the worker's place.
type job struct {
	do   func(onWait func())
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

// runJobs runs jobs until none is left, or until a job has called the function given to it, which
// starts another worker in place of this one.
func (l *lane) runJobs() {
	for j := l.nextJob(); j != nil; j = l.nextJob() {
		left := false
		j.do(func() {
			if !left {
				left = true
				l.replaceWorker()
			}
		})
		// If left is set, replaceWorker has given the place of this worker to another one, or there
		// was no work.
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

// replaceWorker gives the place of a worker that is about to wait to a new worker, if there is
// work.
func (l *lane) replaceWorker() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.running--
		return
	}
	l.workers.Go(l.runJobs)
}

// remove takes a job out of the lane. It returns false if the job is not waiting there any more.
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
