package attach

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// watchSignals follows the terminal's size and ends the run for a signal that
// would end the program, so that the terminal is restored first. It ends with
// the run.
func (r *run) watchSignals() (done chan struct{}) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGWINCH, unix.SIGCONT, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)
	return r.spawn(func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				r.signalled(s)
			case <-r.ctx.Done():
				return
			}
		}
	})
}

func (r *run) signalled(s os.Signal) {
	switch s {
	case unix.SIGWINCH:
		r.link.resize(r.terminal.size())
	case unix.SIGCONT:
		// Whoever stopped this program has had the terminal meanwhile.
		if r.terminal.raw() == nil {
			r.link.refresh()
		}
	default:
		r.link.stop(Outcome{Reason: Interrupted, Signal: s})
	}
}
