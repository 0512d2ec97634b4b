package terminal

import (
	"io"
	"runtime/debug"
	"slices"
	"sync"

	"tandem/engine/api"
	"tandem/engine/pty"
	"tandem/engine/vt"
	"tandem/persist/store"
)

const (
	// parseChunk is how much output is shown at a time; requests to the screen
	// are answered in between.
	parseChunk = 32 << 10
	// checkpointGap is the least output between two checkpoints.
	checkpointGap = 2 << 20
	// replayLeast is the output that a replay shows at least, so that the
	// scrollback is there as well.
	replayLeast = 1 << 20
	// replayMost bounds a replay when there are no checkpoints.
	replayMost = 8 << 20
)

// NewChunks makes a pool of buffers for copies of the log; sessions hold one
// only while they show what is in it.
func NewChunks() *sync.Pool {
	return &sync.Pool{New: func() any { return new([parseChunk]byte) }}
}

// prepare opens the log and brings the screen to where the log ends.
func (s *Session) prepare() error {
	log, err := s.options.Open()
	if err == nil {
		s.log = log
	}
	close(s.opened)
	if err != nil {
		return err
	}
	if log.End() == 0 {
		return s.replay()
	}
	select {
	case s.options.Replays <- struct{}{}:
		defer func() { <-s.options.Replays }()
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	return s.replay()
}

// replay shows the tail of the log, from a checkpoint on if there is one, with
// the sizes that the terminal had. Nothing is answered and nothing announced.
func (s *Session) replay() error {
	sizes, err := s.options.Journal.ReadResizes(s.options.ID)
	if err != nil {
		return err
	}
	checkpoints, err := s.options.Journal.ReadCheckpoints(s.options.ID)
	if err != nil {
		s.options.Log.Warn("read checkpoints", "id", s.options.ID, "error", err)
	}
	start, end := s.log.Start(), s.log.End()
	from := chooseCheckpoint(checkpoints, start, end)
	if from.Cols == 0 {
		from.Cols, from.Rows = s.options.Cols, s.options.Rows
		if i := lastSize(sizes, from.Offset); i >= 0 {
			from.Cols, from.Rows = sizes[i].Cols, sizes[i].Rows
		}
	}
	s.term = s.newTerminal(from.Cols, from.Rows)
	s.term.SetReplies(false)
	s.feeding = from.Offset
	s.guard("show checkpoint", func() { s.term.Write(from.Repaint) })
	s.parsed.Store(from.Offset)
	s.saved = from.Offset
	for _, size := range sizes[lastSize(sizes, from.Offset-1)+1:] {
		s.replayTo(min(size.Offset, end))
		s.guard("resize screen", func() { s.term.Resize(size.Cols, size.Rows) })
	}
	s.replayTo(end)
	s.term.SetReplies(true)
	s.adoptSize()
	s.noteReplayed()
	return s.ctx.Err()
}

func (s *Session) newTerminal(cols, rows int) Emulator {
	return s.options.Terminal(vt.Options{Cols: cols, Rows: rows, Reply: s.input.reply, Event: s.event})
}

// guard keeps a mistake of the emulator from costing more than one screen: the
// engine would end, and replay the same output into the same mistake for ever.
func (s *Session) guard(what string, f func()) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		s.options.Log.Error(what, "id", s.options.ID, "offset", s.parsed.Load(), "panic", p, "stack", string(debug.Stack()))
		s.options.Notice("the emulator failed; its screen was cleared")
		cols, rows := s.term.Size()
		s.term = s.newTerminal(cols, rows)
		err = api.Errorf(api.CodeInternal, "%s: the emulator failed", what)
	}()
	f()
	return nil
}

func (s *Session) replayTo(end int64) {
	for s.ctx.Err() == nil && s.feed(end, parseChunk) {
	}
}

// chooseCheckpoint gives where a replay starts: at the newest checkpoint that
// leaves enough output for a scrollback, or with an empty screen.
func chooseCheckpoint(newestFirst []store.Checkpoint, start, end int64) store.Checkpoint {
	for _, c := range newestFirst {
		if c.Offset >= start && c.Offset <= end-replayLeast {
			return c
		}
	}
	return store.Checkpoint{Offset: max(start, end-replayMost)}
}

// lastSize is the index of the size that holds at an offset, -1 if none does.
func lastSize(sizes []store.Resize, offset int64) int {
	i, _ := slices.BinarySearchFunc(sizes, offset+1, func(r store.Resize, o int64) int {
		return int(min(1, max(-1, r.Offset-o)))
	})
	return i - 1
}

// adoptSize takes the size that the PTY has, should the journal tell another.
func (s *Session) adoptSize() {
	if s.options.Master == nil {
		return
	}
	cols, rows, err := pty.Size(s.options.Master)
	if err != nil || cols == 0 || rows == 0 {
		return
	}
	if c, r := s.term.Size(); c != cols || r != rows {
		s.setScreenSize(cols, rows)
	}
}

// noteReplayed takes over what a replay does not announce.
func (s *Session) noteReplayed() {
	s.noteScreen()
	cols, rows := s.term.Size()
	s.mu.Lock()
	s.known.Cols, s.known.Rows = cols, rows
	s.known.Title = s.term.Title()
	s.mu.Unlock()
	s.pace.touch()
}

// feed shows at most n bytes of the log before end and reports whether there
// is more.
func (s *Session) feed(end int64, n int) bool {
	at := s.parsed.Load()
	n = int(min(int64(n), end-at))
	if n <= 0 {
		return false
	}
	buffer := s.options.Chunks.Get().(*[parseChunk]byte)
	defer s.options.Chunks.Put(buffer)
	n, err := s.log.ReadAt(buffer[:n], at)
	if n == 0 && err != nil && err != io.EOF {
		s.options.Log.Error("read log", "id", s.options.ID, "offset", at, "error", err)
		s.parsed.Store(end)
		return false
	}
	s.feeding = at + int64(n)
	s.guard("show output", func() { s.term.Write(buffer[:n]) })
	s.parsed.Store(at + int64(n))
	return n > 0 && at+int64(n) < end
}

// maybeCheckpoint saves the screen once in a while, one save at a time.
func (s *Session) maybeCheckpoint() {
	at := s.parsed.Load()
	if at-s.saved < checkpointGap || !s.saving.CompareAndSwap(false, true) {
		return
	}
	s.saved = at
	cols, rows := s.term.Size()
	c := store.Checkpoint{Offset: s.boundary(), Cols: cols, Rows: rows, Repaint: s.shell.AppendState(s.term.AppendRepaint(nil))}
	s.running.Go(func() {
		defer s.saving.Store(false)
		if err := s.options.Journal.SaveCheckpoint(s.options.ID, c); err != nil {
			s.options.Log.Warn("save checkpoint", "id", s.options.ID, "error", err)
		}
	})
}
