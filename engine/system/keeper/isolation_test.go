package keeper

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/persist/procstat"
	"tandem/tests/wait"
)

// descriptors maps the open descriptors of a process to the targets of their links in /proc.
func descriptors(t *testing.T, pid int) map[int]string {
	t.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	fds := map[int]string{}
	for _, name := range names {
		fd, _ := strconv.Atoi(name.Name())
		fds[fd], _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	}
	return fds
}

func keysOf(fds map[int]string) string {
	var keys []int
	for fd := range fds {
		keys = append(keys, fd)
	}
	sort.Ints(keys)
	return fmt.Sprint(keys)
}

func TestChildInheritsOnlyStandardFiles(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	first, _ := r.start(c, r.ttySpec("a", "exec sleep 1000"))
	second, _ := r.start(c, r.ttySpec("b", "exec sleep 1000"))
	third, _ := r.start(c, r.spec("c", "exec sleep 1000"))
	for _, child := range []Child{first, second, third} {
		// While a program is being loaded, its shared libraries are open for a moment.
		wait.Poll(t, "child with its standard files alone", func() (map[int]string, bool) {
			open := descriptors(t, child.PID)
			return open, comm(child.PID) == "sleep" && keysOf(open) == "[0 1 2]"
		})
	}
	log := filepath.Join(r.dir, "processes", "c", "process.log")
	if fds := descriptors(t, third.PID); fds[0] != "/dev/null" || fds[1] != log || fds[2] != log {
		t.Errorf("child without terminal has %v", fds)
	}
}

func comm(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(b))
}

func TestEngineInheritsOnlyStandardFiles(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	r.start(c, r.ttySpec("a", "exec sleep 1000"))
	// The engine of the keeper so far is the test. The fake engine of the next one reports the
	// descriptors it got.
	k.kill()
	k = r.keeper("fds").mustBeReady()
	if got := r.lines(1)[0]; got != "[0_1_2]" {
		t.Errorf("engine has descriptors %s", got)
	}
	k.kill()
}

// The keeper outlives its starter. If it kept an inherited descriptor of a pipe open, a reader of
// that pipe would never see the end of the file.
func TestKeeperClosesInheritedDescriptors(t *testing.T) {
	r := newRig(t)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	// The shell passes the pipe on to the keeper as descriptor 9.
	exe, _ := os.Executable()
	cmd := exec.Command("sh", "-c", `exec 9>&1; exec "$@"`, "sh", exe, "keeper", r.dir, r.socket, strconv.Itoa(os.Getpid()))
	cmd.Stdout, cmd.Stderr = out, out
	k := r.run(cmd)
	out.Close()
	k.mustBeReady()
	if n, err := in.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes", n)
	}
	fds := descriptors(t, cmd.Process.Pid)
	if fds[0] != "/dev/null" || filepath.Base(fds[1]) != "engine.log" || filepath.Base(fds[2]) != "engine.log" {
		t.Errorf("standard files are %v", fds)
	}
	if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", cmd.Process.Pid)); cwd != "/" {
		t.Errorf("keeper keeps %s busy", cwd)
	}
	if got := comm(cmd.Process.Pid); got != "tandem-keeper" {
		t.Errorf("keeper is called %s", got)
	}
}

func TestReadyMayBeStandardOutput(t *testing.T) {
	r := newRig(t)
	exe, _ := os.Executable()
	cmd := exec.Command("sh", "-c", `exec "$@" 3>&- `, "sh", exe, "keeper-stdout", r.dir, r.socket, strconv.Itoa(os.Getpid()))
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd.Stdout = out
	r.run(cmd)
	out.Close()
	buf := make([]byte, 100)
	n, _ := in.Read(buf)
	if string(buf[:n]) != "ready\n" {
		t.Errorf("keeper said %q", buf[:n])
	}
	if n, err := in.Read(buf); err == nil {
		t.Errorf("pipe stays open: %q", buf[:n])
	}
}

func TestChildStartsWithCleanSignals(t *testing.T) {
	r := newRig(t)
	exe, _ := os.Executable()
	r.run(exec.Command(exe, "keeper-signals", r.dir, r.socket, strconv.Itoa(os.Getpid()))).mustBeReady()
	c := r.dial()
	for _, s := range []Spec{r.spec("a", "exec sleep 1000"), r.ttySpec("b", "exec sleep 1000")} {
		s.Argv = []string{"sleep", "1000"}
		child, _ := r.start(c, s)
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", child.PID))
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"SigBlk", "SigIgn"} {
			if !strings.Contains(string(status), field+":\t0000000000000000") {
				t.Errorf("child %s: %s is not empty:\n%s", s.ID, field, status)
			}
		}
	}
}

// becomeKeeperWithSignals runs the keeper's program with signals ignored and blocked, as if started
// by nohup or by a careless parent.
func becomeKeeperWithSignals(args []string) error {
	runtime.LockOSThread()
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGTSTP, syscall.SIGTTIN,
		syscall.SIGTTOU, syscall.SIGCHLD, syscall.SIGQUIT, syscall.SIGCONT)
	all := unix.Sigset_t{Val: [16]uint64{^uint64(0)}}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, nil); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", append([]string{"tandem", "keeper"}, args...), os.Environ())
}

func TestChildLeadsASessionWithItsTerminal(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	tty, master := r.start(c, r.ttySpec("a", "echo up; exec sleep 1000"))
	r.readUntil(master, "up")
	plain, _ := r.start(c, r.spec("b", "exec sleep 1000"))
	for _, child := range []Child{tty, plain} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child.PID))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(b[strings.LastIndex(string(b), ")")+1:]))
		group, session, terminal := fields[2], fields[3], fields[4]
		if own := strconv.Itoa(child.PID); group != own || session != own || (terminal != "0") != child.TTY {
			t.Errorf("child %s: group %s, session %s, terminal %s", child.ID, group, session, terminal)
		}
	}
	master.WriteString("\x03")
	if got := r.ended(c); got.ID != "a" || got.Exit.Signal != "SIGINT" {
		t.Errorf("ctrl+c: %s ended with %v", got.ID, got.Exit)
	}
}

func TestChildIsKilledForMemoryBeforeTheKeeper(t *testing.T) {
	score := func(pid string) int {
		t.Helper()
		text, err := os.ReadFile("/proc/" + pid + "/oom_score_adj")
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	want := min(score(strconv.Itoa(k.cmd.Process.Pid))+100, 1000)
	for _, spec := range []Spec{r.spec("a", "exec sleep 1000"), r.ttySpec("b", "exec sleep 1000")} {
		child, master := r.start(r.dial(), spec)
		if got := score(strconv.Itoa(child.PID)); got != want {
			t.Errorf("child %s: oom_score_adj %d, want %d", spec.ID, got, want)
		}
		if master != nil {
			master.Close()
		}
	}
	if own := score("self"); score(strconv.Itoa(k.cmd.Process.Pid)) != own {
		t.Errorf("keeper's oom_score_adj is not this program's, %d", own)
	}
}

func TestOnlySIGTERMStopsTheKeeper(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	child, _ := r.start(c, r.ttySpec("a", "exec sleep 1000"))
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGUSR1} {
		k.cmd.Process.Signal(s)
		if _, err := c.List(r.ctx()); err != nil {
			t.Fatalf("after %v: %v", s, err)
		}
	}
	k.cmd.Process.Signal(syscall.SIGTERM)
	<-k.exit
	if !k.cmd.ProcessState.Success() {
		t.Errorf("keeper ended with %v", k.cmd.ProcessState)
	}
	syscall.Kill(child.PID, syscall.SIGKILL)
}

func TestKeeperReapsOrphans(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	s := r.spec("a", "sh -c 'echo $$; exec sleep 1000' & exit 0")
	r.start(c, s)
	r.ended(c)
	orphan := wait.Poll(t, "pid of the orphan", func() (int, bool) {
		b, _ := os.ReadFile(s.Stdout)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return pid, pid != 0
	})
	syscall.Kill(orphan, syscall.SIGKILL)
	wait.Poll(t, "collected orphan", func() (procstat.Process, bool) {
		stat, err := procstat.Read(orphan)
		return stat, err != nil
	})
}
