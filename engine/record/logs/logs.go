// Package logs reads and searches the logs of processes, notifies followers when they grow, and
// limits their size. Callers tell it which logs there are.
package logs

import (
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"tandem/engine/base/panics"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

const (
	// followGap is the minimum interval between notifications for a log.
	followGap = 5 * time.Millisecond
	// boundGap is the interval between checks of a slowly growing log without followers. The
	// interval increases from followGap to boundGap over a few checks, since only the second check
	// can detect a flood.
	boundGap = 100 * time.Millisecond

	// These are the poll intervals for logs that cannot be watched. With followers, the interval
	// depends on how fast the log grows; otherwise it is pollBound.
	pollFast  = 10 * time.Millisecond
	pollSlow  = 100 * time.Millisecond
	pollBound = 2 * time.Second

	// lingerTime is how long the goroutine waits without work before it exits. Readers often
	// return.
	lingerTime = 10 * time.Second
)

// Logs reads the logs of processes, notifies followers when they grow, and limits their size. Its
// single goroutine runs only while there are logs to follow or to limit, and sleeps while they do
// not grow.
//
// The engine calls Bound when a process starts to write or is found running, and the returned
// function once the process has exited. Read implements process.log. WaitLine and WaitIdle
// implement conditions of process.wait and of readiness. LastLines returns the lines to show for a
// failed process. All except Bound read files, so they must not be called on the control goroutine.
type Logs struct {
	// Secret returns the nonce to redact in the log of a session, or "" if there is none. If Secret
	// is nil, nothing is redacted.
	Secret func(session string) string

	// OpenInMemory opens the log of a private session, which is not on disk, with the flags of
	// os.OpenFile.
	OpenInMemory func(path string, flag int) (*os.File, error)

	log     *slog.Logger
	kick    chan struct{} // buffered, capacity 1: work for the goroutine
	linger  time.Duration // lingerTime, except in tests
	settles time.Duration // LineSettles, except in tests
	growths func() growth // newGrowth, except in tests

	mu     sync.Mutex
	files  map[string]*logFile // by path
	byID   map[int]*logFile    // watched files by watch
	growth growth              // nil while the goroutine is not running
	idle   time.Time           // since when files is empty
	times  map[string]stamps   // by path, including logs no longer watched
	closed bool
	run    sync.WaitGroup

	orders orders

	scratches sync.Pool // of *linelog.Scratch
}

// orders are operations to be carried out in order. Their lock is held only briefly, so adding an
// order never waits for a file.
type orders struct {
	mu      sync.Mutex
	queue   []func()
	working bool
	closed  bool
}

// A logFile is a log with followers or a limit.
type logFile struct {
	path      string
	id        int          // id of the watch; 0 if polled
	end       func() int64 // end of a terminal's log, whose writes inotify does not report
	followers map[chan struct{}]bool

	bounds int   // number of callers that want it bounded
	limit  int64 // limit of the latest caller
	notice func(string)
	dirty  bool // it may exceed its limit

	size int64     // size at the last check
	grew time.Time // time of the last growth
	from int64     // start, as far as known

	unbounded bool // the file system cannot free its head
}

// A growth detects the growth of files. Only one goroutine may call wait.
type growth interface {
	// add watches a file and returns a positive id.
	add(path string) (id int, err error)
	remove(id int)
	// wait blocks until watched files have grown, the deadline until has passed (unless it is
	// zero), or wake is called. ids are the watches of files that have grown, and gone those of
	// files that may have been deleted. all is set if any file may have grown.
	wait(until time.Time) (ids, gone []int, all bool)
	wake()
	close()
}

func New(log *slog.Logger) *Logs {
	return &Logs{
		log:     log,
		kick:    make(chan struct{}, 1),
		linger:  lingerTime,
		settles: LineSettles,
		growths: newGrowth,
		files:   make(map[string]*logFile),
		byID:    make(map[int]*logFile),
		times:   make(map[string]stamps),
	}
}

// Close stops the goroutine. Logs are not followed or limited any more.
func (s *Logs) Close() {
	s.orders.mu.Lock()
	s.orders.closed = true
	s.orders.mu.Unlock()
	s.mu.Lock()
	s.closed = true
	clear(s.files)
	s.wakeLoop()
	s.mu.Unlock()
	s.run.Wait()
}

// addFollower sends on c whenever the log at path may have grown. c must have a buffer. end is nil,
// except for a terminal's log. The caller must call stop.
func (s *Logs) addFollower(c chan struct{}, path string, end func() int64) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fileFor(path, end)
	f.followers[c] = true
	s.wakeLoop()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(f.followers, c)
		s.releaseFile(f)
	}
}

// Bound keeps the log at path within limit bytes, until stop is called; stop checks the log once
// more. It is meant for a log that the process writes itself. If the file system does not support
// limiting, notice is called once. Neither Bound nor stop waits for a file.
func (s *Logs) Bound(path string, limit int64, notice func(string)) (stop func()) {
	var f *logFile
	s.enqueue(func() {
		f = s.fileFor(path, nil)
		f.bounds++
		f.limit, f.notice, f.dirty = limit, notice, true
		s.wakeLoop()
	})
	return sync.OnceFunc(func() {
		s.enqueue(func() {
			f.bounds--
			f.dirty = true
			s.wakeLoop()
		})
	})
}

// enqueue carries out an order with s.mu held, after all earlier orders.
func (s *Logs) enqueue(order func()) {
	o := &s.orders
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, order)
	if !o.working {
		o.working = true
		s.run.Go(s.runOrders)
	}
}

// runOrders carries out all pending orders.
func (s *Logs) runOrders() {
	o := &s.orders
	for {
		o.mu.Lock()
		// Take the whole queue, so the lock is not held while orders run.
		queue := o.queue
		o.queue = nil
		o.working = len(queue) > 0
		o.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, order := range queue {
			panics.Log(s.log, "order for logs", func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				order()
			})
		}
	}
}

// fileFor returns the entry for the log at path. If there is none, it adds one, and starts the
// goroutine if necessary.
func (s *Logs) fileFor(path string, end func() int64) *logFile {
	f := s.files[path]
	if f == nil {
		f = &logFile{path: path, followers: make(map[chan struct{}]bool), grew: time.Now(), size: -1}
		s.files[path] = f
	}
	if end != nil {
		f.end = end
	}
	if s.growth == nil && !s.closed {
		g := s.growths()
		s.growth = g
		s.run.Go(func() { s.loop(g) })
	}
	// Watch before measuring, so that growth after the measurement raises an event.
	s.watchFile(f)
	s.noteGrowth(f) // record the size, so that followers are notified of later growth only
	return f
}

// watchFile starts to watch a file instead of polling it, if possible.
func (s *Logs) watchFile(f *logFile) {
	if f.id != 0 || f.end != nil || s.closed {
		return
	}
	if id, err := s.growth.add(f.path); err == nil {
		f.id = id
		s.byID[id] = f
	}
}

// dropWatches stops watching files that may have been deleted. Another file may take the place of a
// log, so its path is polled until it can be watched again.
func (s *Logs) dropWatches(ids []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if f := s.byID[id]; f != nil {
			delete(s.byID, id)
			f.id = 0
			s.growth.remove(id)
		}
	}
}

// currentSize returns the size of the log.
func (f *logFile) currentSize() int64 {
	if f.end != nil {
		return f.end()
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// releaseFile removes the entry of a file that has neither followers nor a limit.
func (s *Logs) releaseFile(f *logFile) {
	if len(f.followers) > 0 || f.bounds > 0 || f.dirty || s.files[f.path] != f {
		return
	}
	delete(s.files, f.path)
	if f.id != 0 {
		delete(s.byID, f.id)
		s.growth.remove(f.id)
	}
	if len(s.files) == 0 {
		s.idle = time.Now()
		s.wakeLoop()
	}
}

// wakeLoop makes the goroutine check for work.
func (s *Logs) wakeLoop() {
	if s.growth != nil {
		notify(s.kick)
		s.growth.wake()
	}
}

// loop is the goroutine. It returns when there is no more work.
func (s *Logs) loop(g growth) {
	defer g.close()
	var until time.Time
	gap := followGap
	for ended := false; !ended; {
		panicked := panics.Log(s.log, "growth of logs", func() {
			begin := time.Now()
			ids, gone, all := g.wait(until)
			s.dropWatches(gone)
			var fast bool
			if fast, ended = s.checkLogs(ids, all); ended {
				return
			}
			gap = min(2*gap, boundGap)
			if fast || time.Since(begin) > time.Second {
				gap = followGap
			}
			s.waitForEvents(gap)
			until = s.nextPoll()
		})
		if panicked {
			s.waitForEvents(boundGap)
		}
	}
}

// checkLogs checks the logs that have grown, and trims those that exceed their limit.
func (s *Logs) checkLogs(ids []int, all bool) (fast, ended bool) {
	fast, due, ended := s.findGrown(ids, all)
	for _, t := range due {
		s.trimLog(t)
	}
	return fast, ended
}

// findGrown records which logs have grown. due are the logs that may need trimming, and fast is set
// if the logs should be checked again soon.
func (s *Logs) findGrown(ids []int, all bool) (fast bool, due []trimming, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.files) == 0 && time.Since(s.idle) >= s.linger {
		s.growth = nil
		clear(s.byID)
		return false, nil, true
	}
	for _, id := range ids {
		if f := s.byID[id]; f != nil && s.noteGrowth(f) {
			fast = true
		}
	}
	for _, f := range s.files {
		if (all || f.id == 0) && s.noteGrowth(f) {
			fast = true
		}
		fast = fast || len(f.followers) > 0
		if f.dirty {
			f.dirty = false
			due = append(due, trimming{f, f.path, f.limit, f.bounds == 0 || f.exceedsLimit()})
		}
		if f.id == 0 && f.size > 0 {
			s.watchFile(f)
			s.noteGrowth(f) // it may have grown before it was watched
		}
	}
	return fast, due, false
}

// noteGrowth measures f and notifies its followers. It reports whether f may soon exceed its limit.
func (s *Logs) noteGrowth(f *logFile) bool {
	more := s.measureFile(f)
	if more == 0 {
		return false
	}
	f.grew = time.Now()
	for c := range f.followers {
		notify(c)
	}
	f.dirty = f.dirty || f.bounds > 0
	return f.bounds > 0 && more > sparse.Excess(f.limit)/4
}

// measureFile updates the size of f and the times of its content. It returns the number of bytes
// added.
func (s *Logs) measureFile(f *logFile) int64 {
	before := f.size
	f.size = f.currentSize()
	if before < 0 {
		before = f.size
	}
	if f.size < before { // it is another file, or was emptied
		f.from = 0
	}
	if f.end == nil && (f.size > before || s.times[f.path] == nil) {
		s.times[f.path] = s.times[f.path].addStamp(before, time.Now())
	}
	return f.size - before
}

// exceedsLimit reports whether f is known to exceed its limit.
func (f *logFile) exceedsLimit() bool {
	return !f.unbounded && f.size-f.from > f.limit+sparse.Excess(f.limit)
}

// nextPoll returns the time of the next poll, or the time at which the goroutine exits for lack of
// work. It returns zero if neither applies.
func (s *Logs) nextPoll() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	var next time.Time
	if len(s.files) == 0 {
		next = s.idle.Add(s.linger)
	}
	for _, f := range s.files {
		if f.id != 0 {
			continue
		}
		after := pollBound
		if len(f.followers) > 0 {
			after = min(max(now.Sub(f.grew)/4, pollFast), pollSlow)
		}
		if at := now.Add(after); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// waitForEvents waits for events to accumulate.
func (s *Logs) waitForEvents(gap time.Duration) {
	timer := time.NewTimer(gap)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.kick:
	}
}

// A trimming is a log that may need trimming.
type trimming struct {
	file  *logFile
	path  string
	limit int64
	due   bool // it exceeds its limit, as far as known
}

// trimLog frees the start of a log that exceeds its limit.
func (s *Logs) trimLog(t trimming) {
	from, bounded, err := int64(0), true, error(nil)
	if t.due {
		from, bounded, err = trimFile(t.path, t.limit)
	}
	notice := s.recordTrim(t, from, bounded, err)
	if err != nil {
		s.log.Warn("trim log", "path", t.path, "error", err)
	}
	if !bounded && notice != nil {
		notice("the log exceeds its limit: the file system cannot free the start of a file")
	}
}

// trimFile frees the start of the log at path. It returns the new start, and whether the file
// system supports that.
func trimFile(path string, limit int64) (from int64, bounded bool, err error) {
	l, err := linelog.Open(path, linelog.Options{Limit: limit})
	if errors.Is(err, os.ErrNotExist) {
		return 0, true, nil
	}
	if err != nil {
		return 0, true, err
	}
	err = l.Trim()
	return l.Start(), l.Bounded(), errors.Join(err, l.Close())
}

// recordTrim records the result of a trimming. If the file system does not support it, it returns
// the function to call.
func (s *Logs) recordTrim(t trimming, from int64, bounded bool, err error) (notice func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := t.file
	if t.due && err == nil {
		f.from = from
	}
	if !bounded && !f.unbounded {
		f.unbounded, notice = true, f.notice
	}
	s.releaseFile(f)
	return notice
}
