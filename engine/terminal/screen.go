package terminal

import (
	"context"
	"sync"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/prompt"
	"tandem/engine/vt"
)

// A screen follows a session's log with an emulator. The screen goroutine runs all of
// its methods; what is shared with others is atomic or a channel.
type screen struct {
	o       *Options
	ctx     context.Context // of the session
	log     Log
	term    Emulator
	facts   *facts
	viewers *viewerSet
	shell   *prompt.Shell
	reply   func([]byte) // to what the program asks of its terminal

	asks  chan func()
	grew  chan struct{} // of 1: the log has grown
	room  chan struct{} // of 1: the screen has caught up a bit
	shown atomic.Int64  // how much of the log the screen shows
	modes atomic.Pointer[vt.Modes]

	display  atomic.Pointer[api.Display] // of the viewer that decides, or decided last; the screen goroutine sets it
	pictured uint64                      // what the emulator said of its pictures
	feeding  int64                       // offset behind what the emulator is given now

	saved  int64       // offset of the last checkpoint
	saving atomic.Bool // a checkpoint is being written
	saves  sync.WaitGroup
}

func newScreen(s *Session) *screen {
	made := &screen{
		o: &s.options, ctx: s.ctx, facts: s.facts, viewers: &s.viewers, shell: s.shell, reply: s.keyboard.reply,
		asks: make(chan func()), grew: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	made.modes.Store(&vt.Modes{})
	made.display.Store(&api.Display{})
	return made
}

// parse shows a piece of what the log has grown by.
func (s *screen) parse() {
	if s.feed(s.log.End(), parseChunk) {
		raise(s.grew)
	}
	raise(s.room)
	s.publish()
	s.viewers.frameChanged()
	s.maybeCheckpoint()
}

// catchUp shows everything that the log holds now.
func (s *screen) catchUp() {
	end := s.log.End()
	if s.shown.Load() < end {
		for s.feed(end, parseChunk) {
		}
		raise(s.room)
		s.publish()
		s.viewers.frameChanged()
	}
}

// publish tells the modes for the goroutines that encode input, and that
// there is output.
func (s *screen) publish() {
	s.shell.NoteOutput()
	s.o.Moved()
	if n := s.term.Pictured(); n != s.pictured {
		s.pictured = n
		s.viewers.repaintPictures()
	}
	if modes := s.term.Modes(); modes != *s.modes.Load() {
		s.modes.Store(&modes)
	}
}

// event passes on what the program tells beyond the screen; called from Write.
func (s *screen) event(e vt.Event) {
	switch e := e.(type) {
	case vt.PromptEvent:
		s.shell.NoteMark(e, s.spot(s.feeding-int64(e.Behind)))
	case vt.ClipboardEvent: // a replay has no viewers, so nothing is copied twice
		s.viewers.copied(e.Data)
	case vt.ResetEvent:
		s.viewers.repaint()
	default:
		s.facts.note(e)
	}
}

// resetModes resets the modes that a killed program left on. The log does not record this, so an
// engine that replays it has them on until the command ends or they are reset again.
func (s *screen) resetModes() {
	s.catchUp()
	s.term.ResetModes()
	s.viewers.repaint()
	s.viewers.frameChanged()
	s.publish()
}

// spot is where the program is with its output.
func (s *screen) spot(offset int64) prompt.Spot {
	cols, rows := s.term.Size()
	return prompt.Spot{Offset: offset, Cursor: s.term.Cursor(), Cols: cols, Rows: rows}
}
