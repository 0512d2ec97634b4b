package supervise

import "tandem/engine/system/keeper"

// Terminals gives access to the terminals of the sessions in the table of a Control.
type Terminals struct{ Of *Control }

// Each calls f for each process that runs in a terminal, with its child and its session. The
// control goroutine must have stopped.
func (t Terminals) Each(f func(keeper.Child, Session)) {
	for _, p := range t.Of.reg.procs {
		if p.live != nil && p.rec.Identity != nil && p.ending == nil && !p.state().Ended() {
			f(childOf(p.rec), p.live)
		}
	}
}
