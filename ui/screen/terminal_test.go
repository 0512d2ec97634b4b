package screen

import (
	"context"
	"io"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// openTerminal opens a terminal whose output is discarded. Each stop of the program is sent
// to stops.
func openTerminal(t *testing.T) (terminal *Terminal, stops chan struct{}) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, master) // until the slave is closed
	}()
	if terminal, err = Open(slave, slave); err != nil {
		t.Fatal(err)
	}
	terminal.unsubscribe() // from the signals of the test's own terminal
	stops = make(chan struct{})
	terminal.suspend = func() { stops <- struct{}{} }
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		terminal.WatchStops(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-watched
		terminal.Close()
		slave.Close()
		<-read
		master.Close()
	})
	return terminal, stops
}

func TestStopGivesTheTerminalBackUntilTheProgramContinues(t *testing.T) {
	terminal, stops := openTerminal(t)
	isInactive := func() bool {
		terminal.painter.busy.Lock()
		defer terminal.painter.busy.Unlock()
		return terminal.painter.inactive
	}
	for range 2 {
		terminal.stops <- syscall.SIGTSTP
		<-stops
		if !isInactive() {
			t.Error("the program stops, but keeps the terminal")
		}
		terminal.stops <- syscall.SIGCONT
		<-terminal.resizes
		if isInactive() {
			t.Error("the program continues without the terminal")
		}
	}
}
