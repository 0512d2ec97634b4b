// Package history keeps the commands that were run: one goroutine owns the database and never makes anybody wait
// who tells of a command; searches run on an index in memory. What counts as a command, others decide.
package history

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/mailbox"
	"tandem/engine/panics"
	"tandem/engine/secrets"
	"tandem/persist/histdb"
)

const (
	// historyDelay is how long what was run may wait until it is on disk,
	// together with what follows, when nobody asks for it.
	historyDelay = 80 * time.Millisecond
	// historyRetry is the time between attempts to write to a disk that refuses.
	historyRetry = 5 * time.Second
	// historyIdle is how long the history stays in memory when nobody asks, and the
	// database open when nothing is run.
	historyIdle = 40 * time.Second
	// pendingMost bounds what waits for a disk that refuses; the oldest gives way.
	pendingMost = 10_000
	// earlyMost bounds the memory of ends whose beginning is still on its way.
	earlyMost = 256
	// lineMost is the longest command line that is kept, in bytes.
	lineMost = 64 << 10
)

// Kinds of commands in the history.
const (
	KindSession  = "session"
	KindExec     = "exec"
	KindProcess  = "process"
	commandAdded = "added" // by history.add and history.load
)

// A History keeps what was run. One goroutine owns the database, opens it when
// it is needed, and writes in the background: to tell the history something
// never blocks. Searches run beside it.
type History struct {
	dir     string
	log     *slog.Logger
	notice  func(text string)
	keepOut atomic.Pointer[[]*regexp.Regexp]
	box     *mailbox.Mailbox
	ctx     context.Context // ends loading when the engine ends
	stop    context.CancelFunc
	done    chan struct{}

	announce func(n int64) // told of each change once it is written; nil if nobody asks
	changes  int64         // since the engine started

	written  time.Time       // when the previous engine last wrote; zero if there is no history yet
	db       *histdb.History // nil until it is needed
	last     int64           // greatest id given, once numbered
	numbered bool            // the database has said which ids are taken
	pending  []histdb.Change
	refused  bool // the disk did not take what is pending
	early    []api.Process
	flushAt  <-chan time.Time
	idleAt   *time.Timer
	asked    time.Time // when somebody asked last
	percent  int       // GOGC as it was before a large history came into memory; 0 if there is none

	loads loads
	mu    sync.RWMutex
	index *historyIndex // nil until somebody searches
}

// Start begins to keep the history of a data folder until close.
func Start(dir string, ignore []string, log *slog.Logger, notice func(string)) *History {
	ctx, cancel := context.WithCancel(context.Background())
	h := &History{
		dir: dir, log: log, notice: notice, box: mailbox.New(), ctx: ctx, stop: cancel, done: make(chan struct{}),
		idleAt: time.NewTimer(historyIdle),
	}
	h.written, _ = histdb.Written(dir)
	h.Ignore(ignore)
	h.idleAt.Stop()
	go h.run()
	return h
}

// Ignore has commands that match one of the patterns kept out from now on, and
// no others.
func (h *History) Ignore(patterns []string) {
	var keepOut []*regexp.Regexp
	for _, pattern := range patterns {
		re, err := regexp.Compile(pattern)
		if err != nil {
			h.log.Error("history.ignore", "pattern", pattern, "error", err)
			continue
		}
		keepOut = append(keepOut, re)
	}
	h.keepOut.Store(&keepOut)
}

// Tell has f called, on the history's goroutine, whenever something has
// changed and is written, with the number of changes so far.
func (h *History) Tell(f func(n int64)) {
	h.box.Post(func() { h.announce = f })
}

// Close writes what waits, and ends. Nothing may be told to it any more.
func (h *History) Close() {
	h.stop()
	<-h.done
}

func (h *History) run() {
	defer close(h.done)
	for h.ctx.Err() == nil {
		select {
		case <-h.ctx.Done():
		case <-h.box.Wake:
			h.takeIn()
			h.idleAt.Reset(historyIdle)
			if h.index != nil { // what is run is no reason to keep it
				h.idleAt.Reset(max(0, historyIdle-time.Since(h.asked)))
			}
		case <-h.flushAt:
			h.flush()
		case <-h.idleAt.C:
			h.step("close history", h.rest)
		}
	}
	h.takeIn()
	h.flush()
	h.step("close history", h.rest)
}

// takeIn handles what was posted.
func (h *History) takeIn() {
	for _, f := range h.box.Take() {
		h.step("change history", f)
	}
}

// step runs f. A panic costs what is in memory, which may be half changed and is read
// again when somebody asks.
func (h *History) step(what string, f func()) (panicked bool) {
	if panicked = panics.Log(h.log, what, f); panicked {
		h.setIndex(nil)
	}
	return panicked
}

// rest gives the memory back.
func (h *History) rest() {
	if h.percent != 0 {
		debug.SetGCPercent(h.percent)
		h.percent = 0
		defer debug.FreeOSMemory()
	}
	h.setIndex(nil)
	if h.db == nil || len(h.pending) > 0 && h.ctx.Err() == nil {
		return
	}
	if err := h.db.Close(); err != nil {
		h.log.Warn("close history", "error", err)
	}
	h.db = nil
}

func (h *History) setIndex(x *historyIndex) {
	h.mu.Lock()
	h.index = x
	h.mu.Unlock()
}

// open makes the database usable. A damaged one is set aside.
func (h *History) open() error {
	h.closeDeleted()
	if h.db != nil {
		return nil
	}
	db, aside, err := histdb.Open(h.dir)
	h.reportAside(aside)
	if err != nil {
		return err
	}
	last, err := db.Last()
	if err != nil {
		return errors.Join(err, db.Close())
	}
	h.db, h.last, h.numbered = db, max(h.last, last), true
	return nil
}

// closeDeleted closes the database if its file was deleted; the next use creates an empty one.
func (h *History) closeDeleted() {
	if h.db == nil || !h.db.Deleted() {
		return
	}
	_ = h.db.Close() // its last writes are lost with the file
	h.db = nil
	h.setIndex(nil)
	h.notice("the history was deleted; starting a new, empty one")
}

func (h *History) reportAside(aside string) {
	if aside != "" {
		h.notice("the history was damaged; it is set aside as " + filepath.Join(h.dir, aside) + ", and an empty one is begun")
	}
}

// damaged sees whether an error says that the database cannot be used any more;
// then it is set aside, and the next use begins an empty one.
func (h *History) damaged(err error) error {
	if !errors.Is(err, histdb.ErrDamaged) || h.db == nil {
		return err
	}
	aside, asideErr := h.db.SetAside()
	h.db = nil
	h.setIndex(nil)
	h.reportAside(aside)
	return errors.Join(err, asideErr)
}

// record adds a run of a command, unless it is to be kept out.
func (h *History) record(r histdb.Row) {
	if h.keepsOut(r.Command) {
		return
	}
	r.Command = secrets.RedactLine(strings.TrimRight(r.Command, " \t\n"))
	if h.numbered || !h.refused && h.open() == nil { // if not, commit says so
		h.last++
		r.ID = h.last
	}
	h.queue(histdb.Change{Add: []histdb.Row{r}})
	h.change(func(x *historyIndex) { x.insert(r) })
}

// keepsOut reports whether a command line must not be kept.
func (h *History) keepsOut(line string) bool {
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, " ") || len(line) > lineMost ||
		slices.ContainsFunc(*h.keepOut.Load(), func(re *regexp.Regexp) bool { return re.MatchString(line) })
}

// change changes what is in memory, if it is.
func (h *History) change(f func(x *historyIndex)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index != nil {
		f(h.index)
	}
}

// queue has a change written a moment later.
func (h *History) queue(c histdb.Change) {
	if c.End == nil || !h.endPending(*c.End) {
		h.pending = append(h.pending, c)
	}
	if n := len(h.pending); n > pendingMost {
		h.pending = slices.Delete(h.pending, 0, n-pendingMost)
	}
	if h.flushAt == nil {
		h.flushAt = time.After(historyDelay)
	}
}

// endPending completes the rows of a process that are not written yet. It gives
// false if there may be others.
func (h *History) endPending(e histdb.End) (all bool) {
	for i := range h.pending {
		for j := range h.pending[i].Add {
			r := &h.pending[i].Add[j]
			if !r.Running || r.Process != e.Process {
				continue
			}
			complete(r, e)
			all = true
		}
	}
	return all
}

// complete notes the end of a run.
func complete(r *histdb.Row, e histdb.End) {
	r.Running, r.ExitCode, r.ExitSignal, r.Stopped, r.Duration = false, e.ExitCode, e.ExitSignal, e.Stopped, -1
	if !e.At.IsZero() {
		r.Duration = max(0, e.At.Sub(r.StartedAt))
	}
}

// flush writes what waits.
func (h *History) flush() {
	h.flushAt = nil
	if len(h.pending) == 0 {
		return
	}
	var err error
	if h.step("write history", func() { err = h.commit() }) {
		h.pending = nil // it would panic again
		h.notice("some of what was run was not kept in the history; engine.log has the details")
		return
	}
	if err == nil {
		return
	}
	if !h.refused {
		h.refused = true
		h.notice("what is run cannot be kept in the history: " + err.Error())
	}
	h.flushAt = time.After(historyRetry)
}

// commit writes what waits, and more; of more nothing is left if that fails.
func (h *History) commit(more ...histdb.Change) error {
	if err := h.open(); err != nil {
		return err
	}
	for _, c := range h.pending {
		for i := range c.Add {
			if r := &c.Add[i]; r.ID == 0 { // recorded when the last number could not be read
				h.last++
				r.ID = h.last
			}
		}
	}
	changes := append(slices.Clip(h.pending), more...)
	if len(changes) == 0 {
		return nil
	}
	if err := h.db.Apply(changes); err != nil {
		return h.damaged(err)
	}
	h.pending, h.refused = nil, false
	h.changed()
	return nil
}

// changed announces a change that is written.
func (h *History) changed() {
	if h.changes++; h.announce != nil {
		h.announce(h.changes)
	}
}
