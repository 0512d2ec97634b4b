// Package history stores the commands that were run. One goroutine owns the database, and recording
// a command never blocks. Searches use an index in memory. Callers decide what counts as a command.
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

	"tandem/engine/base/mailbox"
	"tandem/engine/base/panics"
	"tandem/engine/base/secrets"
	"tandem/persist/histdb"
)

// Recording must not block a shell or an agent, and must survive a full disk and a crash. So one
// goroutine owns the database and the pending changes, and calls post functions to its mailbox. A
// change is applied to the index in memory at once, and written a moment later, together with
// others. Searches write pending changes first, so nothing shown can be lost.
//
// If a write fails, changes stay pending and are written later. Rows get their final ids meanwhile,
// because clients refer to them. The index is loaded on the first search and released when idle,
// because a large history takes too much memory to keep it unused.

const (
	// historyDelay is how long a change waits for others to be written with. A search writes it
	// earlier.
	historyDelay = 80 * time.Millisecond
	// historyRetry is the time between two attempts to write after an error.
	historyRetry = 5 * time.Second
	// historyIdle is how long the index stays in memory after the last search, and how long the
	// database stays open after the last change.
	historyIdle = 40 * time.Second
	// maxPending is how many changes may wait after a failed write. The oldest are dropped.
	maxPending = 10_000
	// MaxLine is the maximum length of a recorded command line, in bytes.
	MaxLine = 64 << 10
)

// Kinds of commands in the history.
const (
	KindSession  = "session"
	KindExec     = "exec"
	KindProcess  = "process"
	commandAdded = "added" // by history.add and history.load
)

// A History records commands. One goroutine owns the database, opens it on demand and writes in the
// background, so recording never blocks. Searches run in parallel.
type History struct {
	dir     string
	log     *slog.Logger
	notice  func(text string)
	ignored atomic.Pointer[[]*regexp.Regexp]
	box     *mailbox.Mailbox
	ctx     context.Context // cancelled by Close, to stop loading
	stop    context.CancelFunc
	done    chan struct{}

	announce func(n int64) // called after each written change; may be nil
	changes  int64         // number of written changes

	written     time.Time       // when the previous engine last wrote; zero if there is no history yet
	db          *histdb.History // nil while closed
	last        int64           // highest id assigned, once numbered
	numbered    bool            // last includes the ids in the database
	pending     []histdb.Change
	writeFailed bool // the last write failed
	flushAt     <-chan time.Time
	idleAt      *time.Timer
	lastAsked   time.Time // time of the last call needing the index
	gcPercent   int       // GOGC before a large index was loaded; 0 if unchanged

	loads loads
	mu    sync.RWMutex
	index *historyIndex // nil until needed
}

// Start opens the history of a data directory; use Close to end it. Commands that match the
// patterns in ignore are left out. notice is called with messages for the user.
//
// The database may be of an earlier release, so it is not changed before ready is closed, or at all
// if Close comes first. A nil ready does not delay anything.
func Start(dir string, ignore []string, log *slog.Logger, notice func(string), ready <-chan struct{}) *History {
	ctx, cancel := context.WithCancel(context.Background())
	h := &History{
		dir: dir, log: log, notice: notice, box: mailbox.New(), ctx: ctx, stop: cancel, done: make(chan struct{}),
		idleAt: time.NewTimer(historyIdle),
	}
	h.written, _ = histdb.Written(dir)
	h.Ignore(ignore)
	h.idleAt.Stop()
	go h.run(ready)
	return h
}

// Ignore replaces the patterns of commands to leave out.
func (h *History) Ignore(patterns []string) {
	var compiled []*regexp.Regexp
	for _, pattern := range patterns {
		re, err := regexp.Compile(pattern)
		if err != nil {
			h.log.Error("history.ignore", "pattern", pattern, "error", err)
			continue
		}
		compiled = append(compiled, re)
	}
	h.ignored.Store(&compiled)
}

// OnChange sets a function to be called after each written change, with the number of changes so
// far. It is called on the history's goroutine.
func (h *History) OnChange(f func(n int64)) {
	h.box.Post(func() { h.announce = f })
}

// Close writes pending changes and stops the goroutine. The history must not be used afterwards.
func (h *History) Close() {
	h.stop()
	<-h.done
}

func (h *History) run(ready <-chan struct{}) {
	defer close(h.done)
	if ready != nil {
		select {
		case <-ready:
		case <-h.ctx.Done():
			select { // both may have happened
			case <-ready:
			default:
				return
			}
		}
	}
	for h.ctx.Err() == nil {
		select {
		case <-h.ctx.Done():
		case <-h.box.Wake:
			h.runPosted()
			h.idleAt.Reset(historyIdle)
			if h.index != nil { // only searches keep the index in memory
				h.idleAt.Reset(max(0, historyIdle-time.Since(h.lastAsked)))
			}
		case <-h.flushAt:
			h.flushPending()
		case <-h.idleAt.C:
			h.runStep("close history", h.releaseIdle)
		}
	}
	// Calls posted before Close still count.
	h.runPosted()
	h.flushPending()
	h.runStep("close history", h.releaseIdle)
}

// runPosted runs the posted functions.
func (h *History) runPosted() {
	for _, f := range h.box.Take() {
		h.runStep("change history", f)
	}
}

// runStep runs f. If f panics, the index may be half changed, so it is discarded. The next search
// loads it again.
func (h *History) runStep(what string, f func()) (panicked bool) {
	if panicked = panics.Log(h.log, what, f); panicked {
		h.setIndex(nil)
	}
	return panicked
}

// releaseIdle frees the index and closes the database.
func (h *History) releaseIdle() {
	if h.gcPercent != 0 {
		debug.SetGCPercent(h.gcPercent)
		h.gcPercent = 0
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

// openDatabase opens the database if it is closed. It sets a damaged database aside.
func (h *History) openDatabase() error {
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
	// If the database was deleted, it is empty now, but ids must not repeat.
	h.db, h.last, h.numbered = db, max(h.last, last), true
	return nil
}

// closeDeleted closes the database if its file was deleted. The next use creates an empty one.
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
		h.notice("the history was damaged; it was set aside as " + filepath.Join(h.dir, aside) + ", and a new one was started")
	}
}

// handleDamage sets the database aside if err says that it is damaged. The next use creates an
// empty one.
func (h *History) handleDamage(err error) error {
	if !errors.Is(err, histdb.ErrDamaged) || h.db == nil {
		return err
	}
	aside, asideErr := h.db.SetAside()
	h.db = nil
	h.setIndex(nil)
	h.reportAside(aside)
	return errors.Join(err, asideErr)
}

// recordRow adds a run, unless it is ignored.
func (h *History) recordRow(r histdb.Row) {
	if h.Ignores(r.Command) {
		return
	}
	r.Command = secrets.RedactLine(strings.TrimRight(r.Command, " \t\n"))
	if h.numbered || !h.writeFailed && h.openDatabase() == nil { // otherwise commitPending reports the error and assigns the id
		h.last++
		r.ID = h.last
	}
	h.queueChange(histdb.Change{Add: []histdb.Row{r}})
	h.updateIndex(func(x *historyIndex) { x.insertRow(r) })
}

// Ignores reports whether a command line must not be recorded.
func (h *History) Ignores(line string) bool {
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, " ") || len(line) > MaxLine ||
		slices.ContainsFunc(*h.ignored.Load(), func(re *regexp.Regexp) bool { return re.MatchString(line) })
}

// updateIndex runs f on the index, if it is in memory.
func (h *History) updateIndex(f func(x *historyIndex)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index != nil {
		f(h.index)
	}
}

// queueChange schedules a change to be written.
func (h *History) queueChange(c histdb.Change) {
	// If the row is still pending, its exit needs no change of its own.
	if c.End == nil || !h.completePending(*c.End) {
		h.pending = append(h.pending, c)
	}
	if n := len(h.pending); n > maxPending {
		h.pending = slices.Delete(h.pending, 0, n-maxPending)
	}
	if h.flushAt == nil {
		h.flushAt = time.After(historyDelay)
	}
}

// completePending sets the exit of a process's rows not written yet. It returns false if there may
// be others on disk.
func (h *History) completePending(e histdb.End) (all bool) {
	for i := range h.pending {
		for j := range h.pending[i].Add {
			r := &h.pending[i].Add[j]
			if !r.Running || r.Process != e.Process {
				continue
			}
			r.Complete(e)
			all = true
		}
	}
	return all
}

// flushPending writes pending changes. After an error, it schedules another attempt.
func (h *History) flushPending() {
	h.flushAt = nil
	if len(h.pending) == 0 {
		return
	}
	var err error
	if h.runStep("write history", func() { err = h.commitPending() }) {
		h.pending = nil // they would panic again
		h.notice("some commands were not recorded in the history; engine.log has the details")
		return
	}
	if err == nil {
		return
	}
	if !h.writeFailed {
		h.writeFailed = true
		h.notice("commands cannot be recorded in the history: " + err.Error())
	}
	h.flushAt = time.After(historyRetry)
}

// commitPending writes the queued changes and the new ones in one transaction. If it fails, the
// queued ones stay queued and the new ones are dropped.
func (h *History) commitPending(more ...histdb.Change) error {
	if err := h.openDatabase(); err != nil {
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
		return h.handleDamage(err)
	}
	h.pending, h.writeFailed = nil, false
	h.announceChange()
	return nil
}

// announceChange reports a written change.
func (h *History) announceChange() {
	if h.changes++; h.announce != nil {
		h.announce(h.changes)
	}
}
