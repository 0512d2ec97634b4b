package attach

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"tandem/ui/display"
)

// subscribe starts receiving signals in r.Signals.
func (r *run) subscribe() {
	if r.Signals == nil {
		r.Signals = make(chan os.Signal, 16)
		signal.Notify(r.Signals, unix.SIGWINCH, unix.SIGCONT)
		if !signal.Ignored(unix.SIGTSTP) {
			signal.Notify(r.Signals, unix.SIGTSTP)
		}
	}
	signal.Notify(r.Signals, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)
}

// watchSignals follows the terminal's size, and ends the run on signals that would
// terminate the program: the terminal must be restored first. It returns when the run
// ends.
func (r *run) watchSignals() {
	for {
		select {
		case s := <-r.Signals:
			r.handleSignal(s)
		case <-r.ctx.Done():
			return
		}
	}
}

func (r *run) handleSignal(s os.Signal) {
	switch s {
	case unix.SIGWINCH:
		r.sendSize()
	case unix.SIGTSTP:
		r.terminal.lendOut(r.link.awaitTerminal, func() {
			display.StopProgram()
			r.waitForContinue()
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
func (r *run) waitForContinue() {
	for {
		select {
		case s := <-r.Signals:
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
