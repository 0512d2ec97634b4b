// Package bench measures the whole program, and tmux in the same run if it is installed:
//
//	go test -bench . -benchtime 1x -timeout 30m ./bench
//
// Absolute figures depend on the machine. Compare the ratios.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A program is a tandem with its own data folder.
type program struct {
	path string
	dir  string // of its data and configuration
	env  []string
}

// build compiles tandem, or takes the program named by $TANDEM_BENCH_PROGRAM, and gives it an empty
// data folder. Everything it starts is stopped with the benchmark.
func build(b *testing.B) program {
	b.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		b.Fatal(err)
	}
	p := program{path: os.Getenv("TANDEM_BENCH_PROGRAM"), dir: dir}
	if p.path == "" {
		p.path = filepath.Join(dir, "tandem")
		if out, err := exec.Command("go", "build", "-o", p.path, "tandem").CombinedOutput(); err != nil {
			b.Fatalf("build: %v\n%s", err, out)
		}
	}
	p.env = append(os.Environ(), "TANDEM_DATA_DIR="+filepath.Join(dir, "d"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
		"SHELL=/bin/sh", "ENV=", "PS1=ready> ", "TERM=xterm-256color", "LANG=C.UTF-8", "TMUX=")
	b.Cleanup(func() {
		p.command("shutdown", "--all", "--yes").Run()
		os.RemoveAll(dir)
	})
	return p
}

// withNewData returns the same program with another data folder.
func (p program) withNewData(b *testing.B) program {
	b.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		b.Fatal(err)
	}
	q := program{path: p.path, dir: dir, env: append(slices.Clone(p.env), "TANDEM_DATA_DIR="+filepath.Join(dir, "d"))}
	b.Cleanup(func() {
		q.command("shutdown", "--all", "--yes").Run()
		os.RemoveAll(dir)
	})
	return q
}

func (p program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Env = p.env
	return cmd
}

func (p program) run(b *testing.B, args ...string) string {
	b.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		b.Fatalf("tandem %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

type info struct {
	EnginePID int `json:"engine_pid"`
	KeeperPID int `json:"keeper_pid"`
}

func (p program) info(b *testing.B) (i info) {
	b.Helper()
	if err := json.Unmarshal([]byte(p.run(b, "info", "--json")), &i); err != nil {
		b.Fatal(err)
	}
	return i
}

// A peer is a tmux server with its own socket and an empty configuration.
type peer struct{ socket string }

// tmux returns a peer without starting it. ok is false if tmux is not installed.
func tmux(b *testing.B) (peer, bool) {
	b.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		b.Log("tmux is not installed: no figures to compare with")
		return peer{}, false
	}
	p := peer{fmt.Sprintf("tandem-bench-%d", os.Getpid())}
	b.Cleanup(func() { endTmux(b, p.command) })
	return p, true
}

// endTmux stops a tmux server, if one runs, and removes its socket.
func endTmux(b *testing.B, command func(args ...string) *exec.Cmd) {
	b.Helper()
	out, err := command("display-message", "-p", "#{pid} #{socket_path}").Output()
	if err == nil {
		pid, socket, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
		endDaemon(b, func() { _ = command("kill-server").Run() }, pid)
		_ = os.Remove(socket)
	}
}

// endDaemon calls end and waits until the processes with these pids have exited. They are not
// children of the benchmark.
func endDaemon(b *testing.B, end func(), pids ...string) {
	b.Helper()
	var all []unix.PollFd
	for _, text := range pids {
		pid := parseNumber(b, text)
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			b.Logf("process %d: %v", pid, err)
			continue
		}
		defer unix.Close(fd)
		all = append(all, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	end()
	for i := range all {
		if n, err := unix.Poll(all[i:i+1], 10_000); n == 0 {
			b.Errorf("a process of %v is still running: %v", pids, err)
		}
	}
}

func (p peer) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "tmux", append([]string{"-u", "-L", p.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8", "TMUX=", "SHELL=/bin/sh", "ENV=", "PS1=ready> ")
	return cmd
}

func (p peer) run(b *testing.B, args ...string) string {
	b.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		b.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
