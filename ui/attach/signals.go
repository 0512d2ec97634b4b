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
	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(signals, unix.SIGTSTP)
	}
	return r.spawn(func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				r.signalled(s, signals)
			case <-r.ctx.Done():
				return
			}
		}
	})
}

func (r *run) signalled(s os.Signal, next <-chan os.Signal) {
	switch s {
	case unix.SIGWINCH:
		r.resized()
	case unix.SIGTSTP:
		r.terminal.lend(r.link.takeBack, func() {
			_ = unix.Kill(os.Getpid(), unix.SIGSTOP) // cannot fail
			r.untilContinued(next)
		})
		r.link.refresh()
	case unix.SIGCONT:
		// Whoever stopped this program has had the terminal meanwhile.
		r.terminal.lend(r.link.takeBack, func() {})
		r.link.refresh()
	default:
		r.link.stop(Outcome{Reason: Interrupted, Signal: s})
	}
}

// untilContinued returns when the program goes on after it was stopped.
func (r *run) untilContinued(signals <-chan os.Signal) {
	for {
		select {
		case s := <-signals:
			switch s {
			case unix.SIGCONT:
				return
			case unix.SIGWINCH, unix.SIGTSTP:
			default:
				r.link.stop(Outcome{Reason: Interrupted, Signal: s})
			}
		case <-r.ctx.Done():
			return
		}
	}
}
