package attach

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"tandem/ui/jobcontrol"
)

// watchSignals follows the terminal's size, and ends the run on signals that would
// terminate the program: the terminal must be restored first. done is closed when the run
// ends.
func (r *run) watchSignals() (done chan struct{}) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGWINCH, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)
	return r.spawnGuarded(func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-r.stops:
				r.handleSignal(s)
			case s := <-signals:
				r.handleSignal(s)
			case <-r.ctx.Done():
				return
			}
		}
	})
}

func (r *run) handleSignal(s os.Signal) {
	switch s {
	case unix.SIGWINCH:
		r.sendSize()
	case unix.SIGTSTP:
		r.terminal.lendOut(r.link.awaitTerminal, func() {
			jobcontrol.Stop()
			jobcontrol.AwaitContinue(r.ctx, r.stops)
		})
		r.link.forceReattach()
	case unix.SIGCONT:
		// The shell that stopped this program has used the terminal meanwhile.
		r.terminal.lendOut(r.link.awaitTerminal, func() {})
		r.link.forceReattach()
	default:
		r.link.stopRun(Outcome{Reason: Interrupted, Signal: s})
	}
}
