package keeper

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/persist/procstat"
	"tandem/tests/leaks"
	"tandem/tests/places"
	"tandem/tests/wait"
)

// If roleVariable is set, the test binary runs one of the programs under test, which its first
// argument names.
const roleVariable = "TANDEM_KEEPER_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" || len(os.Args) < 2 {
		// Orphans of killed keepers become children of this process, so that tests decide when they
		// are reaped.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		leaks.Main(m)
	}
	var err error
	switch os.Args[1] {
	case "keeper":
		err = keeperProgram(os.Args[2:], os.NewFile(3, "ready"))
	case "keeper-signals":
		err = becomeKeeperWithSignals(os.Args[2:])
	case "keeper-stdout":
		err = keeperProgram(os.Args[2:], os.Stdout)
	case "engine":
		err = engineProgramOf(os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// keeperProgram runs `tandem keeper`. Its arguments are the data directory, the socket, the
// engine's pid and the engine's arguments.
func keeperProgram(args []string, ready *os.File) error {
	pid, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	endWithTest()
	o := Options{DataDir: args[0], Socket: args[1], EnginePID: pid, Engine: args[3:]}
	return Main(context.Background(), o, ready)
}

// endWithTest ends this program when the test closes descriptor 4, so that a test that panics
// leaves no keeper behind.
func endWithTest() {
	flags, err := unix.FcntlInt(4, unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		return // not inherited
	}
	fd, err := dupFD(4)
	if err != nil {
		return
	}
	go func() {
		_, _ = os.NewFile(uintptr(fd), "life").Read(make([]byte, 1))
		os.Exit(3)
	}()
}

// A rig is one data folder with its keepers.
type rig struct {
	t       testing.TB
	dir     string
	socket  string
	journal string // of the fake engines
}

func newRig(t testing.TB) *rig {
	t.Helper()
	places.Take(t)
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	before := openFDs(t)
	t.Cleanup(func() {
		defer os.RemoveAll(dir)
		reapOrphans(t)
		log, _ := os.ReadFile(filepath.Join(dir, "engine.log"))
		for _, bad := range []string{"DATA RACE", "panic: ", "fatal error: "} {
			if bytes.Contains(log, []byte(bad)) {
				t.Errorf("engine.log tells of a crash:\n%s", log)
			}
		}
		// A descriptor closed during a read stays open until that read has returned.
		wait.Poll(t, "every descriptor to be closed", func() (left int, done bool) {
			left = openFDs(t) - before
			return left, left <= 0
		})
	})
	return &rig{t: t, dir: dir, socket: filepath.Join(dir, "keeper.sock"), journal: filepath.Join(dir, "journal")}
}

// openFDs counts the open descriptors of the test, including the runtime poller's own.
func openFDs(t testing.TB) int {
	in, out, err := os.Pipe() // starts the poller
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// reapOrphans kills and reaps the processes left by keepers that tests killed, and then the
// processes those leave.
func reapOrphans(t testing.TB) {
	for pids := ownChildren(t); len(pids) > 0; pids = ownChildren(t) {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			collect(pid)
		}
	}
}

func ownChildren(t testing.TB) (pids []int) {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		b, _ := os.ReadFile(task)
		for _, field := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func threadsOf(t testing.TB, pid int) int {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(threads)
}

// collect reaps an orphan that came to the test.
func collect(pid int) (ws syscall.WaitStatus) {
	_, _ = syscall.Wait4(pid, &ws, 0, nil)
	return ws
}

// A running keeper process.
type running struct {
	rig   *rig
	cmd   *exec.Cmd
	ready *bufio.Reader
	exit  chan struct{} // closed when it has ended
}

// keeper starts a keeper process. With the engine mode "" the test itself is the engine.
func (r *rig) keeper(mode string) *running {
	r.t.Helper()
	pid := "0"
	if mode == "" {
		pid = strconv.Itoa(os.Getpid())
		mode = "fail"
	}
	args := []string{"keeper", r.dir, r.socket, pid, "engine", mode, r.socket, r.journal}
	exe, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	return r.run(exec.Command(exe, args...))
}

func (r *rig) run(cmd *exec.Cmd) *running {
	r.t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), roleVariable+"=1")
	lifeIn, life, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{out, lifeIn}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	out.Close()
	lifeIn.Close()
	k := &running{rig: r, cmd: cmd, ready: bufio.NewReader(in), exit: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(k.exit)
	}()
	r.t.Cleanup(func() {
		k.kill()
		in.Close()
		life.Close()
	})
	return k
}

// answer is what came through the ready pipe.
func (k *running) answer() string {
	k.rig.t.Helper()
	all, err := io.ReadAll(k.ready)
	if err != nil {
		k.rig.t.Fatal(err)
	}
	return string(all)
}

func (k *running) mustBeReady() *running {
	k.rig.t.Helper()
	if got := k.answer(); got != "ready\n" {
		k.rig.t.Fatalf("keeper said %q, want ready", got)
	}
	return k
}

// kill kills the keeper and waits for its exit.
func (k *running) kill() {
	_ = k.cmd.Process.Kill()
	<-k.exit
}

// dial makes the test the engine.
func (r *rig) dial() *Client {
	r.t.Helper()
	c, err := Dial(r.ctx(), r.socket)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		r.sweep(c)
		c.Close()
	})
	return c
}

// sweep kills the keeper's living children, so that a test leaves none behind.
func (r *rig) sweep(c *Client) {
	children, err := c.List(context.Background())
	if err != nil {
		return
	}
	for _, child := range children {
		if child.Exit == nil {
			_ = syscall.Kill(-child.PID, syscall.SIGKILL)
		}
	}
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout)
	r.t.Cleanup(cancel)
	return ctx
}

// spec creates a child's directory and returns a spec that runs a shell script.
func (r *rig) spec(id, script string) Spec {
	r.t.Helper()
	dir := filepath.Join(r.dir, "processes", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	return Spec{
		ID: id, Dir: dir, Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "A=b"}, CWD: r.dir,
		Stdout: filepath.Join(dir, "process.log"), Stderr: filepath.Join(dir, "process.log"),
	}
}

func (r *rig) ttySpec(id, script string) Spec {
	s := r.spec(id, script)
	s.TTY, s.Cols, s.Rows, s.Stdout, s.Stderr = true, 100, 30, "", ""
	return s
}

// start starts a child that must start.
func (r *rig) start(c *Client, s Spec) (Child, *os.File) {
	r.t.Helper()
	child, master, err := c.Start(r.ctx(), s)
	if err != nil {
		r.t.Fatal(err)
	}
	if master != nil {
		r.t.Cleanup(func() { master.Close() })
	}
	return child, master
}

// ended waits for the next exit.
func (r *rig) ended(c *Client) Child {
	r.t.Helper()
	child := wait.Receive(r.t, "the exit of a child", c.Exits())
	if child.ID == "" {
		r.t.Fatal("connection to the keeper is lost")
	}
	return child
}

// lines waits until the journal has n lines.
func (r *rig) lines(n int) []string {
	r.t.Helper()
	return wait.Poll(r.t, fmt.Sprintf("journal of %d lines", n), func() ([]string, bool) {
		b, _ := os.ReadFile(r.journal)
		lines := strings.Fields(strings.ReplaceAll(string(b), " ", "_"))
		return lines, len(lines) >= n
	})
}

func (r *rig) pidLine(i int) int {
	r.t.Helper()
	pid, err := strconv.Atoi(r.lines(i + 1)[i])
	if err != nil {
		r.t.Fatal(err)
	}
	return pid
}

// readUntil reads from a terminal until its output contains want.
func (r *rig) readUntil(master *os.File, want string) string {
	r.t.Helper()
	if err := master.SetReadDeadline(time.Now().Add(wait.Timeout)); err != nil {
		r.t.Fatal(err)
	}
	var got strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(got.String(), want) {
		n, err := master.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			r.t.Fatalf("read %q, want %q: %v", got.String(), want, err)
		}
	}
	return got.String()
}

// alive reports whether a process is running. A zombie is not.
func alive(pid int) bool {
	stat, err := procstat.Read(pid)
	return err == nil && !stat.IsZombie()
}
