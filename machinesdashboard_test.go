package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/api"
)

// opens opens a session of another machine in a dashboard, by its name.
func opens(t *testing.T, screen *terminal, machine, name string) {
	t.Helper()
	types(t, screen, "ctrl+b", "s")
	await(t, screen, "enter open")
	types(t, screen, "/", "ctrl+u", ":"+name, "enter")
	await(t, screen, "● "+name)
	types(t, screen, "G", "enter")
	await(t, screen, "─ "+machine+"/"+name)
}

func types(t *testing.T, screen *terminal, keys ...string) {
	t.Helper()
	if err := screen.press(keys...); err != nil {
		t.Fatal(err)
	}
}

// While the engine of one machine of twenty is stopped, nothing in a dashboard waits for
// it: all that is asked of others here is answered before it goes on.
func TestOneStoppedMachineHoldsUpNoOtherInADashboard(t *testing.T) {
	const count = 20
	p := newPark(t, count)
	p.must("exec", "--all-hosts", "--", "true")
	p.must("--host", "m1", "new", "--name", "near", "--", "sh", "-c", "echo near-shown; exec cat")
	p.must("--host", "m20", "new", "--name", "stuck", "--", "sh", "-c", "echo stuck-shown; exec cat")
	screen, err := startTerminal(120, 60, p.env, p.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.close)
	await(t, screen, "ready>")
	await(t, screen, fmt.Sprintf("%d machines", count))
	opens(t, screen, "m20", "stuck")
	await(t, screen, "stuck-shown")
	pid := p.pidOf("m20")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	types(t, screen, ":typed-meanwhile", "enter")

	opens(t, screen, "m1", "near")
	await(t, screen, "near-shown")
	for i := range 20 {
		types(t, screen, fmt.Sprintf(":k%d;", i))
		await(t, screen, fmt.Sprintf("k%d;", i))
	}
	p.must("--host", "m2", "start", "--name", "seen", "--", "sleep", "1000")
	await(t, screen, "3 running")
	await(t, screen, fmt.Sprintf("%d machines, 1 away", count))
	types(t, screen, "enter")
	if err := screen.waitFor(func(s string) bool { return strings.Count(s, "k18;k19;") == 2 }); err != nil {
		t.Fatal(err) // the row typed and cat's, which would else come between the next keys
	}
	types(t, screen, ":after-away")
	await(t, screen, "after-away")
	types(t, screen, "ctrl+b", "M")
	await(t, screen, "enter choose what to do")
	if err := screen.waitFor(func(s string) bool { return rowWith(s, "m20", "away") && rowWith(s, "m1 ", "connected") }); err != nil {
		t.Error(err)
	}
	types(t, screen, "esc")
	if !isStopped(pid) {
		t.Fatal("the engine of m20 has not stayed stopped")
	}

	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, "it to be back", func() bool { return p.state("m20").State == api.MachineConnected })
	until(t, "what was typed meanwhile to be there, once", func() bool {
		return rowWith(p.must("--host", "m20", "screen", "stuck"), "typed-meanwhile")
	})
}

// rowWith reports whether one line of a text has all of these in it.
func rowWith(text string, parts ...string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(row string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(row, part) })
	})
}

// A transfer to another machine goes on over the next link when one is killed in the middle
// of it: the file is whole, and has its name only then.
func TestATransferOutlivesItsLink(t *testing.T) {
	p := newPark(t, 1)
	from, to := filepath.Join(p.dir, "from"), filepath.Join(p.dir, "to")
	for _, dir := range []string{from, to} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := []byte(numbered(64 << 20))
	if err := os.WriteFile(filepath.Join(from, "big"), want, 0o600); err != nil {
		t.Fatal(err)
	}
	p.must("--host", "m1", "ps")
	screen, err := startTerminal(120, 30, p.env, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.close)
	await(t, screen, "1 machine")
	types(t, screen, "ctrl+b", "4")
	await(t, screen, "big")
	types(t, screen, "C", "ctrl+u", ":m1:"+to+"/", "enter")
	whole := filepath.Join(to, "big")
	for _, least := range []int64{1, 20 << 20, 40 << 20} {
		until(t, "a part to be there", func() bool {
			parts, _ := filepath.Glob(filepath.Join(to, ".big.*.tmp"))
			info, err := os.Stat(strings.Join(parts, ""))
			_, done := os.Stat(whole)
			return done == nil || err == nil && info.Size() >= least
		})
		if _, err := os.Stat(whole); err == nil && least < 40<<20 {
			t.Errorf("it had its name before %d bytes were there", least)
		}
		for _, pid := range bridges(p.data("m1")) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // or it has ended
		}
	}
	until(t, "the file to be whole", func() bool { _, err := os.Stat(whole); return err == nil })
	if got, err := os.ReadFile(whole); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d arrived: %v", len(got), len(want), err)
	}
	if left, _ := os.ReadDir(to); len(left) != 1 {
		t.Errorf("left beside it: %v", left)
	}
}
