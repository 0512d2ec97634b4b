package attach

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// watchSignals follows the terminal's size, and ends the run on signals that would
// terminate the program: the terminal must be restored first. It returns when the run
// ends.
func (r *run) watchSignals() (done chan struct{}) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGWINCH, unix.SIGCONT, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)
	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(signals, unix.SIGTSTP)
	}
	return r.spawnGuarded(func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				r.handleSignal(s, signals)
			case <-r.ctx.Done():
				return
			}
		}
	})
}

func (r *run) handleSignal(s os.Signal, next <-chan os.Signal) {
	switch s {
	case unix.SIGWINCH:
		r.sendSize()
	case unix.SIGTSTP:
		r.terminal.lendOut(r.link.awaitTerminal, func() {
			_ = unix.Kill(os.Getpid(), unix.SIGSTOP) // cannot fail
			r.waitForContinue(next)
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

// waitForContinue returns when the stopped program continues.
func (r *run) waitForContinue(signals <-chan os.Signal) {
	for {
		select {
		case s := <-signals:
			switch s {
			case unix.SIGCONT:
				return
			case unix.SIGWINCH, unix.SIGTSTP:
			default:
				r.link.stopRun(Outcome{Reason: Interrupted, Signal: s})
			}
		case <-r.ctx.Done():
			return
		}
	}
}
