package terminal

import (
	"fmt"

	"tandem/engine/units"
)

// A log that cannot be written, for example on a full or read-only disk, must not stop the program:
// the reader continues to read its terminal. The screen shows what the log does not get, and the
// viewers of bytes, which follow the log, get pictures of the screen instead. Offsets stand still.
// Once the log can be written again, it gets a mark that says how much is missing, for readers of
// the log and for screens rebuilt from it. The current screen does not show the mark. Holding the
// output in memory until then was dropped: a flood would fill it, and it would be lost with the
// engine all the same.

// A gap is output that the log lacks; zero if it can be written.
type gap struct {
	cause   error // why the log cannot be written
	missing int64 // bytes that the screen has shown meanwhile
}

// mark returns the text that stands for the gap in the log. It begins by cancelling a control
// sequence that may have been cut.
func (g gap) mark() []byte {
	return fmt.Appendf(nil, "%c\r\n[tandem: %s of output missing; the log could not be written]\r\n", can, units.Bytes(g.missing))
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

// markGap ends a gap with a mark in the log, if the log can be written.
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
		s.o.Notice(fmt.Sprintf("%s of output is missing in the log; a line there marks the gap", units.Bytes(g.missing)))
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
