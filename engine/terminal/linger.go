package terminal

import "time"

const (
	// floodBurst is the output between two pauses of the screen that makes a
	// flood, when another burst came within floodGap before it. Frames of a film
	// come further apart.
	floodBurst = 96 << 10
	floodGap   = 10 * time.Millisecond
	// lingerTime is how long the screen then stays awake for more: longer than
	// the next burst takes even where everything is slow.
	lingerTime = 5 * time.Millisecond
)

// linger stays awake for more output in the middle of a flood. To sleep and be
// woken for each burst would cost little by itself; but a processor that sleeps
// draws the kernel's worker for PTYs away from the reader's processor, and with
// the two apart, each 4 KiB wait for both processors to be woken: everything
// passes at half of the speed or less.
func (s *screen) linger() {
	shown := s.shown.Load()
	if shown < s.log.End() {
		return
	}
	burst := shown - s.lingered
	s.lingered = shown
	if burst < floodBurst {
		return
	}
	now := time.Now()
	flood := now.Sub(s.flooded) < floodGap
	for until := now.Add(lingerTime); flood && len(s.grew) == 0 && now.Before(until); now = time.Now() {
		select {
		case ask := <-s.asks:
			ask()
		default:
			giveWay()
		}
	}
	s.flooded = now
}
