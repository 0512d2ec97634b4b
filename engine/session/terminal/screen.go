package terminal

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
	"tandem/engine/session/prompt"
	"tandem/engine/session/terminal/replies"
)

// A parser turns a program's output into a screen.
type parser interface {
	Write(p []byte) (int, error)
	SetReplies(on bool)
	ResetModes()
	PendingString() int
	AppendCheckpoint(dst []byte) []byte
	RestoreCheckpoint(checkpoint []byte)
}

// A screen follows a session's log with an emulator. mu is held while a method runs, and guards all
// fields but those that are atomic or a channel.
type screen struct {
	o       *Options
	ctx     context.Context // of the session
	log     Log
	term    Emulator
	facts   *facts
	viewers *viewerSet
	shell   *prompt.Shell
	replies *replies.Writer // to the program's queries

	mu     sync.Mutex
	closed bool          // the log is closed
	shrunk bool          // requestRedraw has changed the size of the PTY
	grew   chan struct{} // of 1: the log has grown
	room   chan struct{} // of 1: the screen has caught up a bit
	shown  atomic.Int64  // offset up to which the screen shows the log
	modes  atomic.Pointer[vt.Modes]

	display  atomic.Pointer[api.Display] // of the viewer that decides, or decided last; set with mu held
	pictured uint64                      // the emulator's counter of picture changes
	feeding  int64                       // offset after the bytes being parsed

	saved  int64       // offset of the last checkpoint
	saving atomic.Bool // a checkpoint is being written
	saves  sync.WaitGroup
}

func newScreen(s *Session) *screen {
	made := &screen{
		o: &s.options, ctx: s.ctx, facts: s.facts, viewers: &s.viewers, shell: s.shell, replies: replies.New(s.keyboard.reply, s.shell),
		grew: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	made.modes.Store(&vt.Modes{})
	made.display.Store(&api.Display{})
	return made
}

// startProgram prepares the screen for a new program, if its output is to begin below that of
// earlier programs, in the modes of a new terminal. It does so with output in the log, so a replay
// and a recording show the same.
func (s *screen) startProgram() {
	if !s.o.Below || s.log.End() == 0 {
		return
	}
	s.print([]byte(vt.PlainState))
	_, first, end := s.term.Bounds()
	for n := end - 1; n >= first; n-- {
		if text, _, _ := s.term.AppendText(nil, n); len(bytes.TrimSpace(text)) > 0 {
			s.print(fmt.Appendf(nil, "\x1b[%d;1H\r\n", n-first+1))
			return
		}
	}
}

// print appends the engine's own output to the log and shows it. The reader must not be running
// yet.
func (s *screen) print(p []byte) {
	if err := s.appendText(p); err != nil {
		s.o.Log.Warn("prepare screen", "id", s.o.ID, "error", err)
		return
	}
	s.catchUp()
}

// use runs f with mu held.
func (s *screen) use(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// tryParse parses the log from offset on, in the caller's goroutine. It returns false if another one
// has the screen, or if the screen does not show everything before the offset.
func (s *screen) tryParse(offset int64) bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	if s.shown.Load() != offset {
		return false
	}
	s.parse()
	return true
}

// parse parses the next piece of the log.
func (s *screen) parse() {
	if s.feed(s.log.End(), parseChunk) {
		raiseFlag(s.grew)
	}
	raiseFlag(s.room)
	s.publishModes()
	s.viewers.frameChanged()
	s.maybeCheckpoint()
}

// catchUp parses the log to its current end.
func (s *screen) catchUp() {
	end := s.log.End()
	if s.shown.Load() < end {
		for s.feed(end, parseChunk) {
		}
		raiseFlag(s.room)
		s.publishModes()
		s.viewers.frameChanged()
	}
}

// publishModes passes the modes to the goroutines encoding input, and reports new output.
func (s *screen) publishModes() {
	s.shell.NoteOutput()
	s.o.Host.ScreenChanged()
	if n := s.term.PictureChanges().Pictures; n != s.pictured {
		s.pictured = n
		s.viewers.repaintPictures()
	}
	if modes := s.term.Modes(); modes != *s.modes.Load() {
		s.modes.Store(&modes)
	}
}

// handleEvent passes on an event that does not change the screen. The emulator calls it from Write.
func (s *screen) handleEvent(e vt.Event) {
	switch e := e.(type) {
	case vt.PromptEvent:
		// Output that is not logged counts as printed at the end of the log.
		s.shell.NoteMark(e, s.positionAt(max(s.shown.Load(), s.feeding-int64(e.Remaining))))
		s.replies.Settle()
	case vt.ClipboardEvent: // a replay has no viewers, so nothing is copied twice
		s.viewers.noteCopy(e.Data)
	case vt.ResetEvent:
		s.viewers.repaint()
	case vt.CWDEvent:
		if s.believesFolder(e) {
			s.facts.noteEvent(e)
		}
	case vt.BellEvent:
		if !s.viewers.haveFocus() { // otherwise the user is there
			s.facts.noteEvent(e)
		}
	default:
		s.facts.noteEvent(e)
	}
}

// resetModes resets the modes left on by a killed program. The log does not record this. So in an
// engine replaying the log, the modes stay on until the command ends or they are reset again.
func (s *screen) resetModes() {
	s.catchUp()
	s.term.ResetModes()
	s.viewers.repaint()
	s.viewers.frameChanged()
	s.publishModes()
}

// positionAt returns the position of the program's output, for an offset in the log.
func (s *screen) positionAt(offset int64) prompt.Spot {
	cols, rows := s.term.Size()
	return prompt.Spot{Offset: offset, Cursor: s.term.Cursor(), Cols: cols, Rows: rows}
}

// showUnlogged shows output that is not in the log.
func (s *screen) showUnlogged(p []byte) {
	s.catchUp()
	s.feeding = s.shown.Load()
	s.runGuarded("show output", func() { s.term.Write(p) })
	s.publishModes()
	s.viewers.repaint()
	s.viewers.frameChanged()
}

// markGap ends a gap, if the log can be written again, and marks it in the log.
func (s *screen) markGap(g *gap) {
	if g.cause == nil {
		return
	}
	s.catchUp()
	if g.missing > 0 {
		err := s.appendText(g.mark())
		s.shown.Store(s.log.End()) // the screen is ahead of the log already
		if err != nil {
			return
		}
		s.viewers.repaint()
		s.o.Host.Notify(fmt.Sprintf("%d bytes of output are missing in the log; a line there marks the gap", g.missing))
	}
	*g = gap{}
}

// appendText appends text of the engine itself to the log.
func (s *screen) appendText(p []byte) error {
	space, err := s.log.Space(len(p))
	if err == nil {
		_, err = s.log.Commit(copy(space, p))
	}
	return err
}
