package keeper

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tandem/tests/wait"
)

func TestFirstKeeperStartsEngineAndReportsReady(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	pid := r.pidLine(0)
	if !alive(pid) {
		t.Error("engine does not live")
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || !strings.Contains(string(stat), fmt.Sprintf(" %d %d %d ", k.cmd.Process.Pid, pid, pid)) {
		t.Errorf("engine %d is not the keeper's child in a session of its own: %s", pid, stat)
	}
	r.endEngine(pid, k)
}

// endEngine kills an engine. It kills the keeper first, which would start another engine.
func (r *rig) endEngine(pid int, k *running) {
	k.kill()
	syscall.Kill(pid, syscall.SIGKILL)
	collect(pid)
}

func TestKeeperRestartsKilledEngine(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	for i := range 5 {
		if err := syscall.Kill(r.pidLine(i), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	r.endEngine(r.pidLine(5), k)
}

func TestDisconnectDoesNotRestartTheEngine(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	pid := r.pidLine(0)
	r.must("hangup")
	if err := r.wake(); err != nil {
		t.Error(err)
	}
	if got := r.lines(1); len(got) != 1 || !alive(pid) {
		t.Errorf("another engine was started: %q", got)
	}
	r.endEngine(pid, k)
}

func (r *rig) wake() error { return wakeAt(r.ctx(), r.socket) }

func TestKeeperOfFailingEngineExitsWithItsError(t *testing.T) {
	r := newRig(t)
	k := r.keeper("fail")
	if got := k.answer(); got != "engine: no luck today\n" {
		t.Errorf("keeper said %q", got)
	}
	<-k.exit
	if k.cmd.ProcessState.ExitCode() != 1 {
		t.Error("keeper did not fail")
	}
	if _, err := os.Lstat(r.socket); err == nil {
		t.Error("socket was left")
	}
}

func TestKeeperStartsNoEngineBesideLivingOne(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	r.dial()
	if err := r.wakeAfterReady(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.journal); err == nil {
		t.Error("an engine was started beside the one that lives")
	}
}

func (r *rig) wakeAfterReady() error {
	if err := r.dial().Ready(); err != nil {
		return err
	}
	return r.wake()
}

func TestSecondKeeperWakesTheFirst(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	second := r.keeper("run").mustBeReady()
	<-second.exit
	if !second.cmd.ProcessState.Success() {
		t.Error("second keeper failed")
	}
	if got := r.lines(1); len(got) != 1 {
		t.Errorf("%d engines were started", len(got))
	}
	r.endEngine(r.pidLine(0), k)
}

func TestSimultaneousKeepersStartOneEngine(t *testing.T) {
	r := newRig(t)
	var all []*running
	for range 8 {
		all = append(all, r.keeper("run"))
	}
	for _, k := range all {
		k.mustBeReady()
	}
	if got := r.lines(1); len(got) != 1 {
		t.Errorf("%d engines were started", len(got))
	}
	pid := r.pidLine(0)
	for _, k := range all {
		k.kill()
	}
	r.endEngine(pid, all[0])
}

func TestKeeperReplacesStaleSocket(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	k.kill()
	if _, err := os.Lstat(r.socket); err != nil {
		t.Fatal("the killed keeper left no socket, the test tests nothing")
	}
	r.keeper("").mustBeReady()
	r.dial()
	st, err := os.Lstat(r.socket)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("socket has mode %v, %v", st.Mode(), err)
	}
}

func TestKeeperKeepsOtherFileAtSocketPath(t *testing.T) {
	r := newRig(t)
	if err := os.WriteFile(r.socket, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.keeper("").answer(); !strings.Contains(got, "the file there is not a socket") {
		t.Errorf("keeper said %q", got)
	}
	if b, _ := os.ReadFile(r.socket); string(b) != "mine" {
		t.Error("the file is gone")
	}
}

func TestKeeperReportsUncreatableDataDirectory(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.dir, "file")
	os.WriteFile(file, nil, 0o600)
	r.dir = filepath.Join(file, "data")
	if got := r.keeper("").answer(); !strings.Contains(got, "make folder: ") || !strings.Contains(got, "not a directory") {
		t.Errorf("keeper said %q", got)
	}
}

func TestPausedKeeperWithoutChildrenExits(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	r.must("pause")
	r.tell("exit")
	<-k.exit
	if !k.cmd.ProcessState.Success() {
		t.Error("keeper failed")
	}
	if _, err := os.Lstat(r.socket); err == nil {
		t.Error("socket was left")
	}
}

func TestPausedKeeperWithChildrenWaitsForWake(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	child := r.helped()
	first := r.pidLine(0)
	r.must("pause")
	r.tell("exit")
	wait.Exit(t, first)
	if !alive(child) {
		t.Error("child ended with the engine")
	}
	r.keeper("run").mustBeReady()
	if got := r.lines(2); len(got) != 2 || !alive(child) {
		t.Errorf("%d engines were started", len(got))
	}
	r.endEngine(r.pidLine(1), k)
}

func TestClientsWaitForTheEngineAfterOneThatExitsAtOnce(t *testing.T) {
	r := newRig(t)
	k := r.keeper("relapse").mustBeReady()
	child := r.helped()
	r.must("pause")
	r.tell("exit")
	if err := r.wake(); err != nil {
		t.Errorf("wake: %v", err)
	}
	pid := r.pidLine(3)
	if !alive(child) {
		t.Error("the child exited")
	}
	r.endEngine(pid, k)
}

func TestWakeDuringPauseStartsTheNextEngine(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	r.must("pause")
	l := r.raw()
	l.send(packet{body: []byte(`{"v":1,"id":1,"op":"wake"}`)})
	l.send(packet{body: []byte(`nonsense`)})
	if m, _, err := l.receive(); err != nil || m.ID != 0 {
		t.Fatalf("the wake was answered first: %+v, %v", m, err)
	}
	r.tell("exit")
	if m, _, err := l.receive(); err != nil || m.ID != 1 || m.Error != "" {
		t.Errorf("wake was answered with %+v, %v", m, err)
	}
	r.endEngine(r.pidLine(1), k)
}

func TestPausedKeeperExitsWithItsLastChild(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	child := r.helped()
	r.must("pause")
	r.tell("exit")
	syscall.Kill(child, syscall.SIGKILL)
	<-k.exit
	if _, err := os.Stat(filepath.Join(r.dir, "processes", "helped", "exit.json")); err != nil {
		t.Errorf("exit of the last child: %v", err)
	}
}

func TestReplaceStartsTheNewProgram(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	child := r.helped()
	program := filepath.Join(r.dir, "tandem-new")
	r.copyExecutable(program)
	r.tell("replace " + program) // ends the engine, which may not get to answer
	pid := r.pidLine(1)
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil || exe != program {
		t.Errorf("the new engine runs %s, %v", exe, err)
	}
	if !alive(child) || alive(r.pidLine(0)) {
		t.Error("the child ended or the old engine lives")
	}
	r.endEngine(pid, k)
}

func TestReplaceRollsBackFailingProgram(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	bad := filepath.Join(r.dir, "bad")
	os.WriteFile(bad, []byte("#!/bin/sh\nexit 1\n"), 0o700)
	r.tell("replace " + bad)
	pid := r.pidLine(1)
	if err := r.wake(); err != nil {
		t.Error(err)
	}
	r.endEngine(pid, k)
}

func TestReplaceRejectsNonExecutable(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	folder, err := os.Open(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := c.Replace(r.ctx(), folder); err == nil || !strings.Contains(err.Error(), "not an executable file") {
		t.Errorf("replace by a folder: %v", err)
	}
}

func (r *rig) copyExecutable(to string) {
	r.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := os.ReadFile(exe)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(to, body, 0o700); err != nil {
		r.t.Fatal(err)
	}
}

func TestKeeperStartsEngineFromDeletedFile(t *testing.T) {
	r := newRig(t)
	program := filepath.Join(r.dir, "tandem")
	r.copyExecutable(program)
	k := r.run(exec.Command(program, "keeper", r.dir, r.socket, "0", "engine", "run", r.socket, r.journal)).mustBeReady()
	first := r.pidLine(0)
	if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", first)); string(comm) != "tandem\n" {
		t.Errorf("the engine's process is called %q", comm)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(first, syscall.SIGKILL)
	r.endEngine(r.pidLine(1), k)
}

func TestBackoffGrowsUntilAnEngineRunsWell(t *testing.T) {
	code := 1
	now := time.Now()
	e := engine{}
	var got []time.Duration
	for range 9 {
		got = append(got, e.nextDelay(false, Exit{Code: &code}, now))
	}
	const ms = time.Millisecond
	want := []time.Duration{0, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 10000 * ms}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("death %d: delay %v, want %v", i+1, got[i], want[i])
		}
	}
	e.readyAt = now.Add(-time.Millisecond)
	if d := e.nextDelay(true, Exit{Signal: "SIGKILL"}, now); d > 100*ms {
		t.Errorf("engine that was killed waits %v", d)
	}
	e.readyAt = now.Add(-time.Minute)
	if d := e.nextDelay(true, Exit{Code: &code}, now); d != 0 || e.failures != 0 {
		t.Errorf("well engine: delay %v, %d failures", d, e.failures)
	}
	for range 100 {
		if d := e.nextDelay(false, Exit{Code: &code}, now); d < 0 || d > maxDelay {
			t.Fatalf("delay %v", d)
		}
	}
}

func TestBackoffIsShortWhileClientsWait(t *testing.T) {
	e := engine{failures: 20, waiting: make([]waiter, 1)}
	if d := e.nextDelay(false, Exit{Signal: "SIGKILL"}, time.Now()); d != maxAwaitedDelay {
		t.Errorf("the engine starts after %v, want %v", d, maxAwaitedDelay)
	}
}

func TestPanicOrLastLineIsTheInformativeOne(t *testing.T) {
	for out, want := range map[string]string{
		"":                                     "",
		"one\ntwo\n\n":                         "two",
		"x\npanic: oh no\n\ngoroutine 1\nexit": "panic: oh no",
		"fatal error: all asleep\nmore":        "fatal error: all asleep",
		"\x1b[31mred\x1b[0m\r\n":               "[31mred [0m",
	} {
		if got := informativeLine([]byte(out)); got != want {
			t.Errorf("%q: %q, want %q", out, got, want)
		}
	}
}

func TestKeeperRenamesLargeEngineLog(t *testing.T) {
	r := newRig(t)
	log := filepath.Join(r.dir, "engine.log")
	os.WriteFile(log, make([]byte, maxLog+1), 0o600)
	k := r.keeper("run").mustBeReady()
	if st, err := os.Stat(log); err != nil || st.Size() > maxLog {
		t.Errorf("engine.log was not put aside: %v", err)
	}
	if st, err := os.Stat(log + ".old"); err != nil || st.Size() != maxLog+1 {
		t.Errorf("no old log: %v", err)
	}
	r.endEngine(r.pidLine(0), k)
}

// The engine is a real process that ignores SIGTERM, but the five seconds until it is killed pass
// in fake time.
func TestReplaceKillsEngineThatIgnoresSIGTERM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cmd := exec.Command("sh", "-c", `trap "" TERM; echo up; read x`)
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out.Read(make([]byte, 3))
		k, _ := idleKeeper(t)
		k.done = make(chan struct{})
		k.engine.announced, k.engine.spawned = cmd.Process.Pid, cmd.Process.Pid
		exe, err := openFD("/proc/self/exe", unix.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer k.engine.close()
		asked := time.Now()
		if err := k.replaceEngine([]int{exe}); err != nil {
			t.Fatal(err)
		}
		(<-k.calls)()
		if waited := time.Since(asked); waited != 5*time.Second {
			t.Errorf("engine got %v", waited)
		}
		cmd.Wait()
		if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != syscall.SIGKILL {
			t.Errorf("engine ended with %v", got)
		}
	})
}

func TestLockWithoutKeeperTimesOut(t *testing.T) {
	r := newRig(t)
	lock, err := takeLock(filepath.Join(r.dir, "keeper.lock"))
	if err != nil || lock == nil {
		t.Fatal(lock, err)
	}
	defer lock.Close()
	synctest.Test(t, func(t *testing.T) {
		asked := time.Now()
		err := run(t.Context(), Options{DataDir: r.dir, Socket: r.socket}, &readiness{})
		if err == nil || !strings.Contains(err.Error(), "locked: keeper does not answer") {
			t.Errorf("run gives %v", err)
		}
		if waited := time.Since(asked).Round(time.Second); waited != time.Minute {
			t.Errorf("waited for %v", waited)
		}
	})
}

func TestWaitingKeeperTakesFreedLock(t *testing.T) {
	r := newRig(t)
	lock, err := takeLock(filepath.Join(r.dir, "keeper.lock"))
	if err != nil || lock == nil {
		t.Fatal(lock, err)
	}
	dying, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: r.socket, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	k := r.keeper("run")
	conn, err := dying.Accept()
	if err != nil {
		t.Fatal(err)
	}
	dying.Close()
	lock.Close()
	conn.Close()
	k.mustBeReady()
	r.endEngine(r.pidLine(0), k)
}
