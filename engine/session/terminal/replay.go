package terminal

import (
	"io"
	"runtime/debug"
	"sort"
	"sync"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/base/panics"
	"tandem/engine/screen/vt"
	"tandem/engine/system/pty"
	"tandem/persist/store"
)

const (
	// parseChunk is how many bytes of output are parsed at once. Requests to the screen are served
	// in between.
	parseChunk = 32 << 10
	// checkpointGap is the minimum number of bytes of output between two checkpoints.
	checkpointGap = 2 << 20
	// minReplay is how many bytes of output a replay parses at least. With fewer, the scrollback
	// would not be restored.
	minReplay = 1 << 20
	// maxReplay bounds a replay without checkpoints.
	maxReplay = 8 << 20
	// MinLogLimit is the minimum size limit of a terminal's log, in bytes. With a lower limit,
	// output could be dropped before the screen has parsed it.
	MinLogLimit = 2 * maxLead
)

// NewChunks returns a pool of buffers for copies of the log. A session holds a buffer only while it
// parses.
func NewChunks() *sync.Pool {
	return &sync.Pool{New: func() any { return new([parseChunk]byte) }}
}

// replay parses the end of the log, if possible from a checkpoint on, with the sizes that the
// terminal had. It sends no replies to queries and announces nothing.
func (s *screen) replay() error {
	sizes, err := s.o.Journal.ReadResizes(s.o.ID)
	if err != nil {
		return err
	}
	checkpoints, err := s.o.Journal.ReadCheckpoints(s.o.ID)
	if err != nil {
		s.o.Log.Warn("read checkpoints", "id", s.o.ID, "error", err)
	}
	start, end := s.log.Start(), s.log.End()
	from := chooseCheckpoint(checkpoints, start, end)
	if from.Cols == 0 {
		from.Cols, from.Rows = s.o.Cols, s.o.Rows
		if i := lastSize(sizes, from.Offset); i >= 0 {
			from.Cols, from.Rows = sizes[i].Cols, sizes[i].Rows
		}
	}
	if i := lastSize(sizes, from.Offset); i >= 0 {
		s.setCell(sizes[i])
	}
	s.term = s.newTerminal(from.Cols, from.Rows)
	s.term.SetReplies(false)
	s.feeding = from.Offset
	s.runGuarded("show checkpoint", func() { s.term.RestoreCheckpoint(from.Repaint) })
	s.shown.Store(from.Offset)
	s.saved = from.Offset
	for _, size := range sizes[lastSize(sizes, from.Offset-1)+1:] {
		s.replayTo(min(size.Offset, end))
		s.setCell(size)
		s.runGuarded("resize screen", func() {
			s.term.SetCell(s.cell())
			s.term.Resize(size.Cols, size.Rows)
		})
	}
	s.replayTo(end)
	s.term.SetReplies(true)
	s.adoptSize()
	s.noteReplayed()
	return s.ctx.Err()
}

// setCell sets the cell size that was in use at a resize in the log.
func (s *screen) setCell(then store.Resize) {
	display := *s.display.Load()
	display.CellWidth, display.CellHeight = then.CellWidth, then.CellHeight
	s.display.Store(&display)
}

func (s *screen) newTerminal(cols, rows int) Emulator {
	// The program expects input after the reply to follow the modes that it set before its query.
	reply := func(p []byte) { s.publishModes(); s.replies.Add(p) }
	return s.o.Host.NewEmulator(vt.Options{
		Cols: cols, Rows: rows, Colors: s.display.Load().Colors, Cell: s.cell(), Reply: reply, Event: s.handleEvent,
	})
}

// runGuarded calls f and recovers from a panic of the emulator, so that it affects only one screen.
// Otherwise the engine would exit, and the next one would replay the same output into the same
// panic, forever.
func (s *screen) runGuarded(what string, f func()) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		invariants.Repanic(p)
		s.o.Log.Error(what, "id", s.o.ID, "offset", s.shown.Load(), "panic", p, "stack", string(debug.Stack()))
		s.o.Host.Notify("the terminal emulator failed; the screen was cleared")
		cols, rows := s.term.Size()
		s.term = s.newTerminal(cols, rows)
		err = api.Errorf(api.CodeInternal, "%s: the emulator failed", what)
	}()
	f()
	return nil
}

func (s *screen) replayTo(end int64) {
	for s.ctx.Err() == nil && s.feed(end, parseChunk) {
	}
}

// chooseCheckpoint returns where a replay begins: at the newest checkpoint that leaves enough
// output to restore the scrollback, or else at an empty screen.
func chooseCheckpoint(newestFirst []store.Checkpoint, start, end int64) store.Checkpoint {
	if start == 0 && end <= maxReplay && invariants.Sometimes("replay of a whole log", 2) {
		return store.Checkpoint{}
	}
	for _, c := range newestFirst {
		if c.Offset >= start && c.Offset <= end-minReplay {
			return c
		}
	}
	return store.Checkpoint{Offset: max(start, end-maxReplay)}
}

// lastSize returns the index of the size that was in use at an offset, or -1.
func lastSize(sizes []store.Resize, offset int64) int {
	return sort.Search(len(sizes), func(i int) bool { return sizes[i].Offset > offset }) - 1
}

// adoptSize applies the PTY's size if it differs from the last one in the journal, and the display
// that the user last used.
func (s *screen) adoptSize() {
	if s.o.Master == nil {
		return
	}
	now := s.shape()
	if cols, rows, err := pty.Size(s.o.Master); err == nil && cols > 0 && rows > 0 {
		now.cols, now.rows = cols, rows
	}
	if last, ok := s.o.Displays.last(); ok {
		now.display = last
	}
	if err := s.setShape(now); err != nil {
		s.o.Log.Debug("resize", "id", s.o.ID, "error", err)
	}
}

// noteReplayed applies the facts that a replay has restored, without announcing them.
func (s *screen) noteReplayed() {
	s.publishModes()
	s.shell.NoteReplay(s.o.New)
	s.facts.setTitle(s.term.Title())
	s.facts.setSize(s.term.Size())
}

// feed parses at most n bytes of the log before the offset end. It reports whether there are more.
func (s *screen) feed(end int64, n int) bool {
	at := s.shown.Load()
	n = int(min(int64(n), end-at))
	if n <= 0 {
		return false
	}
	buffer := s.o.Chunks.Get().(*[parseChunk]byte)
	defer s.o.Chunks.Put(buffer)
	n, err := s.log.ReadAt(buffer[:n], at)
	if n == 0 && err != nil && err != io.EOF {
		s.o.Log.Error("read log", "id", s.o.ID, "offset", at, "error", err)
		s.shown.Store(end)
		return false
	}
	s.feeding = at + int64(n)
	s.runGuarded("show output", func() { s.term.Write(buffer[:n]) })
	s.shown.Store(at + int64(n))
	return n > 0 && at+int64(n) < end
}

// maybeCheckpoint saves the screen if enough output has come since the last checkpoint, one save at
// a time.
func (s *screen) maybeCheckpoint() {
	at := s.shown.Load()
	if at-s.saved < checkpointGap || !s.saving.CompareAndSwap(false, true) {
		return
	}
	// This is set before the save succeeds, so that a failing disk is not tried again for every
	// piece of output.
	s.saved = at
	cols, rows := s.term.Size()
	c := store.Checkpoint{Offset: s.findBoundary(), Cols: cols, Rows: rows, Repaint: s.shell.AppendState(appendFolder(s.term.AppendCheckpoint(nil), s.facts.all().CWD))}
	s.saves.Go(panics.Logged(s.o.Log, "checkpoint", func() {
		defer s.saving.Store(false)
		if err := s.o.Journal.SaveCheckpoint(s.o.ID, c); err != nil {
			s.o.Log.Warn("save checkpoint", "id", s.o.ID, "error", err)
		}
	}))
}
