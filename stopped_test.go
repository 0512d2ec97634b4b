package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// shape is what a terminal keeps of a program that has left it, or has not.
type shape struct {
	alt   bool
	kitty uint8 // of the alternate screen, where the program pushes its flags
	title string
}

func (t *terminal) shape() (s shape) {
	t.update(func() {
		s.alt, s.title = t.screen.Modes().Alt, t.screen.Title()
		if !s.alt {
			t.screen.Write([]byte("\x1b[?47h"))
			s.kitty = t.screen.Modes().Kitty
			t.screen.Write([]byte("\x1b[?47l"))
		}
	})
	return s
}

// isStopped reports whether a process is stopped (proc(5), state T).
func isStopped(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return bytes.Contains(stat, []byte(") T "))
}

// until looks again and again, because nothing tells when a process is stopped.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !cond() {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestATerminalIsGivenBackWhileTheProgramIsStopped(t *testing.T) {
	env, dir := stage(t)
	first := exec.Command(os.Args[0], "new", "--name", "work")
	first.Env, first.Dir = env, dir
	if out, err := first.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, who := range []struct {
		name string
		args []string
		keys []string
	}{
		{"dashboard", nil, nil},
		{"attach", []string{"attach", "work"}, nil},
		{"zoomed", nil, []string{"ctrl+b", "z"}},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGSTOP} {
			t.Run(fmt.Sprint(who.name, " ", signal), func(t *testing.T) { stopAndGoOn(t, env, dir, who.args, who.keys, signal) })
		}
	}
}

func stopAndGoOn(t *testing.T, env []string, dir string, args, keys []string, signal syscall.Signal) {
	screen, err := startTerminal(120, 36, env, dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.close)
	await(t, screen, "ready>")
	if err := screen.press(keys...); err != nil {
		t.Fatal(err)
	}
	press := func(keys ...string) {
		t.Helper()
		if err := screen.press(keys...); err != nil {
			t.Fatal(err)
		}
	}
	press(`:printf '\033[>5u'; clear; echo here-$((1+1))`, "enter")
	await(t, screen, "here-2")
	pid := screen.cmd.Process.Pid
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
	until(t, "it is stopped", func() bool { return isStopped(pid) })
	if signal == syscall.SIGTSTP {
		until(t, "the terminal is given back", func() bool { return screen.shape() == shape{} })
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await(t, screen, "here-2")
	press(`:clear; printf '\033[<u'; echo back-$((1+1))`, "enter")
	await(t, screen, "back-2")
	press("ctrl+b", "d")
	<-screen.ended
	if got := screen.shape(); got != (shape{}) {
		t.Errorf("it has left %+v", got)
	}
}
