package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/keeper"
	"tandem/engine/supervise"
	"tandem/persist/datadir"
)

// An engine that is replaced starts the next one itself, which inherits a duplicate of every
// terminal. So the engines hold all terminals throughout, whatever becomes of the keeper, and
// the keeper holds them whatever becomes of the engines. The old engine does that last, with
// everything on disk. The new one inherits the locks on the data folder too: between two
// engines no other may find the terminals of a keeper that died lost.

const (
	// terminalsVariable lists what an engine inherits: id:pid for each descriptor from
	// firstTerminal on, behind the two locks and a pipe that ends when the keeper knows the
	// new engine.
	terminalsVariable = "TANDEM_TERMINALS"
	firstLock         = 3
	turnPipe          = firstLock + 2
	firstTerminal     = turnPipe + 1
	// maxInherited bounds the variable's length; execve(2) allows 128 KiB.
	maxInherited = 4000
	// handOverTimeout is how long a replaced engine may take to finish.
	handOverTimeout = 5 * time.Second
)

// A passedTerminal is a duplicate of a session's PTY master.
type passedTerminal struct {
	name string // id:pid, the pid of its program
	fd   int
}

func terminalName(id string, pid int) string { return id + ":" + strconv.Itoa(pid) }

// handOver ends this engine in favour of an executable. It reports false, and does nothing,
// if the keeper is too old for that; then the keeper has to do it.
func (e *engine) handOver(ctx context.Context, executable *os.File) (bool, error) {
	client, err := e.host.link.get(ctx)
	if err != nil || !client.Succeeds() {
		return false, err
	}
	raw, err := executable.SyscallConn()
	if err != nil {
		return false, err
	}
	fd, dupErr := -1, error(nil)
	err = raw.Control(func(own uintptr) { fd, dupErr = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, firstTerminal) })
	if err = errors.Join(err, dupErr); err != nil {
		return false, err
	}
	next := os.NewFile(uintptr(fd), executable.Name())
	if !e.next.CompareAndSwap(nil, next) {
		next.Close() // somebody else has asked
		return true, nil
	}
	time.AfterFunc(handOverTimeout, func() {
		e.log.Error("the engine did not finish in time to be replaced")
		os.Exit(1)
	})
	e.stop()
	return true, nil
}

// passTerminals duplicates the terminals for the next engine. It is called when the control
// goroutine does not run any more, before sessions close.
func (e *engine) passTerminals() {
	if e.next.Load() == nil {
		return
	}
	supervise.Terminals{Of: e.host.control}.Each(func(child keeper.Child, session supervise.Session) {
		s, ok := session.(interface{ Master() *os.File })
		if !ok || s.Master() == nil || len(e.passed) == maxInherited {
			return
		}
		raw, err := s.Master().SyscallConn()
		if err != nil {
			return
		}
		_ = raw.Control(func(own uintptr) {
			// The next engine can still ask the keeper for what is not passed.
			if fd, err := unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, firstTerminal); err == nil {
				e.passed = append(e.passed, passedTerminal{terminalName(child.ID, child.PID), fd})
			}
		})
	})
}

// succeed starts the next engine and announces it to the keeper, if this one is being replaced.
func (e *engine) succeed() {
	next := e.next.Load()
	if next == nil {
		return
	}
	pid, turn, err := startNext(next, e.lock, e.passed)
	if err != nil {
		e.log.Error("start the next engine", "error", err)
		return
	}
	defer turn.Close()
	e.log.Info("replaced", "by", pid, "terminals", len(e.passed))
	ctx, cancel := context.WithTimeout(context.Background(), handOverTimeout)
	defer cancel()
	if client := e.host.link.current(); client != nil {
		err = client.Succeed(ctx, next, pid)
	}
	if err != nil { // the next engine starts a keeper if this one is gone
		e.log.Error("announce the next engine", "error", err)
	}
}

// startNext starts an executable as this one was started. It waits until turn is closed, or
// this process has exited.
func startNext(executable *os.File, lock *folderLock, terminals []passedTerminal) (pid int, turn *os.File, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, nil, err
	}
	defer null.Close()
	await, turn, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer await.Close()
	files := []uintptr{null.Fd(), 2, 2, lock.file.Fd(), lock.records.Fd(), await.Fd()}
	var names []string
	for _, t := range terminals {
		files, names = append(files, uintptr(t.fd)), append(names, t.name)
	}
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, terminalsVariable+"=") })
	env = append(env, terminalsVariable+"="+strings.Join(names, ","))
	pid, err = syscall.ForkExec(pathOf(executable), os.Args, &syscall.ProcAttr{Env: env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		turn.Close()
	}
	return pid, turn, err
}

// pathOf names an open file by its own path if that still leads to it, else through the
// descriptor.
func pathOf(f *os.File) string {
	through := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	path, err := os.Readlink(through)
	if err != nil {
		return through
	}
	held, err := f.Stat()
	if err != nil {
		return through
	}
	if named, err := os.Stat(path); err != nil || !os.SameFile(held, named) {
		return through
	}
	return path
}

// An inheritance is the terminals that the engine before has passed on, by terminalName.
type inheritance map[string]*os.File

// inherit returns what the engine before has passed on: the locks, or nil, and the terminals, by
// terminalName. No program that this engine starts inherits them.
func inherit() (lock *folderLock, terminals inheritance) {
	names, passed := os.LookupEnv(terminalsVariable)
	os.Unsetenv(terminalsVariable)
	if !passed {
		return nil, nil
	}
	for fd := firstLock; fd < firstTerminal; fd++ {
		unix.CloseOnExec(fd)
	}
	turn := os.NewFile(turnPipe, "turn")
	_, _ = turn.Read(make([]byte, 1)) // nothing is written: it is this engine's turn when the pipe ends
	turn.Close()
	lock = &folderLock{file: os.NewFile(firstLock, lockName), records: os.NewFile(firstLock+1, datadir.Processes)}
	if names == "" {
		return lock, nil
	}
	terminals = inheritance{}
	for i, name := range strings.Split(names, ",") {
		fd := firstTerminal + i
		unix.CloseOnExec(fd)
		if unix.SetNonblock(fd, true) == nil {
			terminals[name] = os.NewFile(uintptr(fd), "pty of "+name)
		}
	}
	return lock, terminals
}

// hand gives a keeper the terminals that only this engine holds, if that keeper came
// after the engines changed.
func (i inheritance) hand(ctx context.Context, client keeperClient, h *host) error {
	if len(i) == 0 {
		return nil
	}
	children, err := client.List(ctx)
	if err != nil {
		return err
	}
	held := make(map[string]bool, len(children))
	for _, c := range children {
		held[c.ID] = true
	}
	records, _ := h.store.Load() // the terminals of unread records stay open here
	for _, r := range records {
		if r.Identity == nil || !r.TTY || held[r.ID] {
			continue
		}
		master := i[terminalName(r.ID, r.Identity.PID)]
		if master == nil {
			continue
		}
		child := keeper.Child{ID: r.ID, PID: r.Identity.PID, StartTime: r.Identity.StartTime, BootID: r.Identity.BootID, TTY: true}
		err := client.Adopt(ctx, child, h.store.Dir(r.ID), h.logsOf(r), master)
		if errors.Is(err, keeper.ErrLost) {
			return err
		}
		if err != nil {
			h.log.Error("hand child to keeper", "id", r.ID, "error", err)
		}
	}
	return nil
}

// master takes the terminal of a child out of those that were inherited.
func (i inheritance) master(child keeper.Child) *os.File {
	name := terminalName(child.ID, child.PID)
	master := i[name]
	delete(i, name)
	return master
}

// close closes what no session needs.
func (i inheritance) close() {
	for name, master := range i {
		master.Close()
		delete(i, name)
	}
}
