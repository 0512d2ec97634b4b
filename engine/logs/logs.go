// Package logs reads the logs of processes, searches them, tells followers that they grow and keeps them within
// their limits. Who writes a log, and what it is the log of, it is told.
package logs

import (
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"tandem/engine/panics"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

const (
	// followGap is how soon followers of a log are told again that it grows.
	followGap = 5 * time.Millisecond
	// boundGap is how often logs that grow slowly, and that nobody follows, are
	// checked. Getting there from followGap takes a few checks, since only the second
	// one shows a flood.
	boundGap = 100 * time.Millisecond

	// A log that cannot be watched is polled: the faster it grows the more often while
	// somebody follows it, otherwise once in pollBound.
	pollFast  = 10 * time.Millisecond
	pollSlow  = 100 * time.Millisecond
	pollBound = 2 * time.Second

	// logsLinger is how long the goroutine waits for more to do, because readers of a
	// log come back.
	logsLinger = 10 * time.Second
)

// Logs reads the logs of processes, tells followers that they grow and keeps
// them within their limits. It has one goroutine, which runs only while there
// is something to follow or to bound, and sleeps while nothing is written.
//
// The engine calls bound when a process starts to write, or is found running,
// and what bound returns when it has ended. read is process.log; WaitLine and
// WaitIdle are conditions of process.wait and of readiness; LastLines is what
// a process that failed leaves to be shown. None of them may be called on the
// control goroutine: they read files.
type Logs struct {
	// Secret returns the nonce to redact in the log of a session, or "" for none. A nil Secret
	// redacts nothing.
	Secret func(session string) string

	log     *slog.Logger
	kick    chan struct{} // of 1: something was asked of the goroutine
	linger  time.Duration // logsLinger but in tests
	growths func() growth // newGrowth but in tests

	mu     sync.Mutex
	files  map[string]*logFile // by path
	byID   map[int]*logFile    // those that are watched
	growth growth              // nil while the goroutine does not run
	idle   time.Time           // since when there are no files
	times  map[string]stamps   // by path, also of files that are not watched any more
	closed bool
	run    sync.WaitGroup

	orders orders
}

// orders are what is to be done with logs, one at a time. Its lock is held for nothing
// else, so that whoever gives an order never waits for a file.
type orders struct {
	mu      sync.Mutex
	queue   []func()
	working bool
	closed  bool
}

// A logFile is a log that somebody follows or that is kept within a limit.
type logFile struct {
	path      string
	id        int          // of the watch; 0 if it is polled
	end       func() int64 // of a terminal's log, which is written unseen
	followers map[chan struct{}]bool

	bounds int   // how many want it bounded
	limit  int64 // as the last of them wants
	notice func(string)
	dirty  bool // it may have outgrown its limit

	size int64     // when looked at last
	grew time.Time // when that had changed
	from int64     // where it starts, as far as known

	unbounded bool // the file system cannot free its head
}

// A growth tells that files grow. Only wait is for one goroutine alone.
type growth interface {
	// add watches a file; the id is positive.
	add(path string) (id int, err error)
	remove(id int)
	// wait blocks until files that are watched have grown, a time has come
	// (unless it is zero), or wake is called. all is whether any may have grown.
	wait(until time.Time) (ids []int, all bool)
	wake()
	close()
}

func New(log *slog.Logger) *Logs {
	return &Logs{
		log:     log,
		kick:    make(chan struct{}, 1),
		linger:  logsLinger,
		growths: newGrowth,
		files:   make(map[string]*logFile),
		byID:    make(map[int]*logFile),
		times:   make(map[string]stamps),
	}
}

// Close ends the goroutine; nothing is followed or bounded any more.
func (s *Logs) Close() {
	s.orders.mu.Lock()
	s.orders.closed = true
	s.orders.mu.Unlock()
	s.mu.Lock()
	s.closed = true
	clear(s.files)
	s.wake()
	s.mu.Unlock()
	s.run.Wait()
}

// join has a channel of one told whenever the log at path has grown, or may
// have. end is nil but for a terminal's log. Who joins calls stop.
func (s *Logs) join(c chan struct{}, path string, end func() int64) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.file(path, end)
	f.followers[c] = true
	s.wake()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(f.followers, c)
		s.release(f)
	}
}

// Bound keeps the log at path, which a process writes itself, within limit
// bytes until stop is called, and looks at it once more then. notice is told,
// once, if the file system cannot do that. Neither Bound nor stop
// waits for a file.
func (s *Logs) Bound(path string, limit int64, notice func(string)) (stop func()) {
	var f *logFile
	s.later(func() {
		f = s.file(path, nil)
		f.bounds++
		f.limit, f.notice, f.dirty = limit, notice, true
		s.wake()
	})
	return sync.OnceFunc(func() {
		s.later(func() {
			f.bounds--
			f.dirty = true
			s.wake()
		})
	})
}

// later has an order carried out with the lock held, after those before it.
func (s *Logs) later(order func()) {
	o := &s.orders
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, order)
	if !o.working {
		o.working = true
		s.run.Go(s.carryOut)
	}
}

// carryOut carries out orders until there are none.
func (s *Logs) carryOut() {
	o := &s.orders
	for {
		o.mu.Lock()
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

// file is the entry of a path; it starts the goroutine if need be.
func (s *Logs) file(path string, end func() int64) *logFile {
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
	s.watch(f)
	s.grown(f) // nobody is told again of what is seen here
	return f
}

// watch has a file watched rather than polled, if that can be.
func (s *Logs) watch(f *logFile) {
	if f.id != 0 || f.end != nil || s.closed {
		return
	}
	if id, err := s.growth.add(f.path); err == nil {
		f.id = id
		s.byID[id] = f
	}
}

// now is the size of the log.
func (f *logFile) now() int64 {
	if f.end != nil {
		return f.end()
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// release forgets a file that nobody follows and that is not to be bounded.
func (s *Logs) release(f *logFile) {
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
		s.wake()
	}
}

// wake has the goroutine look at what there is to do.
func (s *Logs) wake() {
	if s.growth != nil {
		tell(s.kick)
		s.growth.wake()
	}
}

// loop is the goroutine. It ends when there is nothing left to do.
func (s *Logs) loop(g growth) {
	defer g.close()
	var until time.Time
	gap := followGap
	for ended := false; !ended; {
		panicked := panics.Log(s.log, "growth of logs", func() {
			begin := time.Now()
			ids, all := g.wait(until)
			var fast bool
			if fast, ended = s.tend(ids, all); ended {
				return
			}
			gap = min(2*gap, boundGap)
			if fast || time.Since(begin) > time.Second {
				gap = followGap
			}
			s.pause(gap)
			until = s.nextPoll()
		})
		if panicked {
			s.pause(boundGap)
		}
	}
}

// tend looks at the logs that have grown, and trims those that have to be.
func (s *Logs) tend(ids []int, all bool) (fast, ended bool) {
	fast, due, ended := s.look(ids, all)
	for _, t := range due {
		s.trim(t)
	}
	return fast, ended
}

// look takes note of which logs have grown, and says which may have to be
// trimmed and whether to look again soon.
func (s *Logs) look(ids []int, all bool) (fast bool, due []trimming, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.files) == 0 && time.Since(s.idle) >= s.linger {
		s.growth = nil
		clear(s.byID)
		return false, nil, true
	}
	for _, id := range ids {
		if f := s.byID[id]; f != nil && s.grown(f) {
			fast = true
		}
	}
	for _, f := range s.files {
		if (all || f.id == 0) && s.grown(f) {
			fast = true
		}
		fast = fast || len(f.followers) > 0
		if f.dirty {
			f.dirty = false
			due = append(due, trimming{f, f.path, f.limit, f.bounds == 0 || f.outgrown()})
		}
		if f.id == 0 && f.size > 0 {
			s.watch(f)
		}
	}
	return fast, due, false
}

// grown looks at how much f has grown, tells its followers, and reports whether
// it may soon outgrow its limit.
func (s *Logs) grown(f *logFile) bool {
	more := s.measure(f)
	if more == 0 {
		return false
	}
	f.grew = time.Now()
	for c := range f.followers {
		tell(c)
	}
	f.dirty = f.dirty || f.bounds > 0
	return f.bounds > 0 && more > sparse.Excess(f.limit)/4
}

// measure takes the size of f, and notes when what was added was written. It
// gives by how much f has grown.
func (s *Logs) measure(f *logFile) int64 {
	before := f.size
	f.size = f.now()
	if before < 0 {
		before = f.size
	}
	if f.end == nil && (f.size > before || s.times[f.path] == nil) {
		s.times[f.path] = s.times[f.path].add(before, time.Now())
	}
	return f.size - before
}

// outgrown reports whether f is to be trimmed, as far as is known.
func (f *logFile) outgrown() bool {
	return !f.unbounded && f.size-f.from > f.limit+sparse.Excess(f.limit)
}

// nextPoll is when the logs that cannot be watched are looked at next, or when
// the goroutine ends for want of logs; zero if neither is due.
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

// pause lets events gather.
func (s *Logs) pause(gap time.Duration) {
	timer := time.NewTimer(gap)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.kick:
	}
}

// A trimming is a log that may have to be trimmed.
type trimming struct {
	file  *logFile
	path  string
	limit int64
	due   bool // it has outgrown its limit, as far as known
}

// trim frees the head of a log that has outgrown its limit.
func (s *Logs) trim(t trimming) {
	from, bounded, err := int64(0), true, error(nil)
	if t.due {
		from, bounded, err = trimFile(t.path, t.limit)
	}
	notice := s.trimmed(t, from, bounded, err)
	if err != nil {
		s.log.Warn("trim log", "path", t.path, "error", err)
	}
	if !bounded && notice != nil {
		notice("the log is not kept within its limit: the file system cannot free the head of a file")
	}
}

// trimFile trims the log at path, and tells where it starts and whether it can
// be bounded.
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

// trimmed notes what came of a trimming, and gives what to call if the file system
// cannot bound the log.
func (s *Logs) trimmed(t trimming, from int64, bounded bool, err error) (notice func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := t.file
	if t.due && err == nil {
		f.from = from
	}
	if !bounded && !f.unbounded {
		f.unbounded, notice = true, f.notice
	}
	s.release(f)
	return notice
}
