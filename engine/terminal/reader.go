package terminal

import (
	"errors"
	"os"
	"time"

	"tandem/engine/logs"
	"tandem/engine/pty"
)

const (
	// maxLead is how far the log may be ahead of the screen: enough to keep
	// both busy, little enough that a key is echoed soon during a flood.
	maxLead = 1 << 20
	// readSpace is the least room in the log that a read is tried with.
	readSpace = 32 << 10
	// readMostAtOnce is how much is read before anybody is told. To wake the
	// screen costs as much as to read a few pieces.
	readMostAtOnce = 128 << 10
	// endGrace is how long the PTY of an ended child has to be silent while
	// something else still holds it open, endLimit how long at all it is read.
	endGrace = 50 * time.Millisecond
	endLimit = time.Second
	// logRetry is the time between attempts to write to a full disk.
	logRetry = 500 * time.Millisecond
	// hangUpRetry is the time between looks at a PTY that nothing has open
	// while the child lives: it may open its terminal again.
	hangUpRetry = time.Second
)

// read is the reader goroutine: it moves output from the PTY to the log until
// the PTY is empty and its child has ended, or the session is closed.
func (s *Session) read() {
	full := false
	for s.waitForRoom() && s.childLives() {
		space, err := s.log.Space(readSpace)
		if err != nil {
			if !s.logFull(err, &full) {
				return
			}
			continue
		}
		full = false
		n, err := pty.ReadBurst(s.options.Master, space[:min(len(space), readMostAtOnce)])
		s.took(n)
		if err != nil && !s.readAgain(err) {
			return
		}
	}
	s.readRest()
}

// readRest reads what an ended child has left in the PTY. Something else may
// still write to it: then it is read for a while, but not for ever.
func (s *Session) readRest() {
	endBy := time.Now().Add(endLimit)
	full := false
	for s.waitForRoom() {
		space, err := s.log.Space(readSpace)
		if err != nil {
			if !s.logFull(err, &full) {
				return
			}
			continue
		}
		s.expectEnd()
		n, err := pty.ReadBurst(s.options.Master, space[:min(len(space), readMostAtOnce)])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = pty.ReadNow(s.options.Master, space)
		}
		s.took(n)
		if err != nil || n == 0 || time.Now().After(endBy) {
			if s.ctx.Err() == nil {
				s.finishLog()
				s.options.Drained()
			}
			return
		}
	}
}

// finishLog leaves nothing in the log's file but the log: its path is told to
// everybody.
func (s *Session) finishLog() {
	if err := s.log.Finish(); err != nil {
		s.options.Log.Warn("finish log", "id", s.options.ID, "error", err)
	}
}

// took makes n bytes that were read part of the log.
func (s *Session) took(n int) {
	if n > 0 {
		if now := time.Now(); now.Sub(s.stamped) >= logs.StampGap {
			s.stamped = now
			s.options.Stamp(s.log.End())
		}
		s.log.Commit(n)
		raise(s.grew)
		s.viewers.rawChanged()
	}
}

// logFull waits for room on the disk; the program waits too.
func (s *Session) logFull(err error, told *bool) bool {
	if !*told {
		s.options.Notice("write log: " + err.Error() + "; the program waits until there is room")
	}
	*told = true
	select {
	case <-time.After(logRetry):
		return true
	case <-s.ctx.Done():
		return false
	}
}

// readAgain decides after an error while the child lives.
func (s *Session) readAgain(err error) bool {
	switch {
	case errors.Is(err, os.ErrClosed):
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		return true // the child ended just now
	}
	select { // nothing has the terminal open
	case <-s.exited:
		return true
	case <-s.ctx.Done():
		return false
	case <-time.After(hangUpRetry):
		return true
	}
}

func (s *Session) childLives() bool {
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

// waitForRoom holds the reader back while the screen is far behind.
func (s *Session) waitForRoom() bool {
	for s.log.End()-s.parsed.Load() > maxLead {
		select {
		case <-s.room:
		case <-s.ctx.Done():
			return false
		}
	}
	return s.ctx.Err() == nil
}

// expectEnd lets a read of an ended child's PTY fail when it stays silent.
func (s *Session) expectEnd() {
	if s.options.Master != nil && s.ctx.Err() == nil {
		s.options.Master.SetReadDeadline(time.Now().Add(endGrace))
	}
}

// interruptReader makes a read return.
func (s *Session) interruptReader() {
	s.options.Master.SetReadDeadline(time.Unix(1, 0))
}
