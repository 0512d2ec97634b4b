package screen

import (
	"context"
	"io"
	"os"
	"runtime"
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

func TestStopSignalIsHandledByTheOwnerOfTheTerminal(t *testing.T) {
	terminal, stops := openTerminal(t)
	terminal.stops <- syscall.SIGTSTP
	<-stops
	terminal.stops <- syscall.SIGCONT

	lent := terminal.Leave()
	terminal.stops <- syscall.SIGTSTP
	select {
	case s := <-lent:
		if s != syscall.SIGTSTP {
			t.Errorf("the session receives %s", s)
		}
	case <-stops:
		t.Error("the dashboard stops the program although a session has the terminal")
	}
	if err := terminal.Enter(); err != nil {
		t.Fatal(err)
	}
	terminal.stops <- syscall.SIGTSTP
	<-stops
	terminal.stops <- syscall.SIGCONT
}

// A session may end before it has handled a signal.
func TestSignalsTheSessionLeftAreHandledByTheDashboard(t *testing.T) {
	terminal, stops := openTerminal(t)
	lent := terminal.Leave()
	lent <- syscall.SIGTSTP
	if err := terminal.Enter(); err != nil {
		t.Fatal(err)
	}
	<-stops
	terminal.stops <- syscall.SIGCONT
}

func TestTerminalIsNotHandedOverWhileTheProgramIsStopped(t *testing.T) {
	terminal, stops := openTerminal(t)
	for range 100 {
		terminal.stops <- syscall.SIGTSTP
		<-stops
		left := make(chan chan os.Signal)
		go func() { left <- terminal.Leave() }()
		runtime.Gosched()
		terminal.stops <- syscall.SIGCONT
		lent := <-left
		terminal.stops <- syscall.SIGCONT
		<-lent // the stop before has been handled
		terminal.painter.busy.Lock()
		if !terminal.painter.inactive {
			t.Error("the dashboard takes the terminal back from the session")
		}
		terminal.painter.busy.Unlock()
		if err := terminal.Enter(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStopsDoNotBlockIfTheSessionReadsNone(t *testing.T) {
	terminal, stops := openTerminal(t)
	terminal.Leave()
	for range 100 {
		terminal.stops <- syscall.SIGCONT
	}
	if err := terminal.Enter(); err != nil {
		t.Fatal(err)
	}
	terminal.stops <- syscall.SIGTSTP
	<-stops
	terminal.stops <- syscall.SIGCONT
}
