package engine

import "time"

const (
	// floodBurst is the output between two pauses of the screen from which on
	// it counts as a flood.
	floodBurst = 192 << 10
	// lingerTime is how long the screen then stays awake for more: about what
	// the reader needs for a burst.
	lingerTime = 500 * time.Microsecond
)

// linger stays awake for more output in the middle of a flood. To sleep and be
// woken for each burst would cost little by itself; but a processor that sleeps
// draws the kernel's worker for PTYs away from the reader's processor, and with
// the two apart everything passes at a third of the speed.
func (s *session) linger() {
	shown := s.parsed.Load()
	if shown < s.log.End() {
		return
	}
	burst := shown - s.lingered
	s.lingered = shown
	if burst < floodBurst {
		return
	}
	for until := time.Now().Add(lingerTime); len(s.grew) == 0 && time.Now().Before(until); {
		giveWay()
	}
}
