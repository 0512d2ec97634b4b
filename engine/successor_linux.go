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

	"tandem/engine/control/launch"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/persist/datadir"
)

// A replaced engine starts the next one itself, as its last act, when everything is on disk.
// The next engine inherits a duplicate of every terminal, so both the engines and the keeper
// hold all terminals throughout, and either side may be killed. It inherits the locks on the
// data directory too: otherwise a third engine could start in between and declare the
// terminals of a dead keeper lost.

const (
	// terminalsVariable lists the inherited terminals: id:pid for each descriptor from
	// firstTerminal on. Before them come the two locks and a pipe that closes once the keeper
	// knows the new engine.
	terminalsVariable = "TANDEM_TERMINALS"
	firstLock         = 3
	turnPipe          = firstLock + 2
	firstTerminal     = turnPipe + 1
	// maxInherited bounds the variable's length; execve(2) allows 128 KiB.
	maxInherited = 4000
	// handOverTimeout is how long a replaced engine may take to stop.
	handOverTimeout = 5 * time.Second
)

// A passedTerminal is a duplicate of a session's PTY master.
type passedTerminal struct {
	name string // id:pid, the pid of its program
	fd   int
}

func terminalName(id string, pid int) string { return id + ":" + strconv.Itoa(pid) }

// handOver stops this engine and has executable replace it. It returns false, and does nothing, if
// the keeper is too old: then the keeper must replace the engine.
func (e *engine) handOver(ctx context.Context, executable *os.File) (bool, error) {
	client, err := e.host.link.Await(ctx)
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
		next.Close() // another client asked first
		return true, nil
	}
	// A stuck worker must not keep the next engine from starting: the keeper starts it then.
	time.AfterFunc(handOverTimeout, func() {
		e.log.Error("the engine did not finish in time to be replaced")
		os.Exit(1)
	})
	e.stop()
	return true, nil
}

// passTerminals duplicates the terminals for the next engine. It must run after the control
// goroutine has stopped and before sessions close.
func (e *engine) passTerminals() {
	if e.next.Load() == nil {
		return
	}
	supervise.Terminals{Of: e.host.control}.Each(func(child keeper.Child, session supervise.Session) {
		s, ok := session.(interface{ Master() *os.File })
		if !ok || s.Master() == nil || len(e.passedTerminals) == maxInherited {
			return
		}
		raw, err := s.Master().SyscallConn()
		if err != nil {
			return
		}
		_ = raw.Control(func(own uintptr) {
			// The next engine can get the others from the keeper.
			if fd, err := unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, firstTerminal); err == nil {
				e.passedTerminals = append(e.passedTerminals, passedTerminal{terminalName(child.ID, child.PID), fd})
			}
		})
	})
}

// startSuccessor starts the next engine and announces it to the keeper, if this one is being
// replaced.
func (e *engine) startSuccessor() {
	next := e.next.Load()
	if next == nil {
		return
	}
	pid, turn, err := startNext(next, e.lock, e.passedTerminals)
	if err != nil {
		e.log.Error("start the next engine", "error", err)
		return
	}
	defer turn.Close()
	e.log.Info("replaced", "by", pid, "terminals", len(e.passedTerminals))
	ctx, cancel := context.WithTimeout(context.Background(), handOverTimeout)
	defer cancel()
	if client := e.host.link.Current(); client != nil {
		err = client.Succeed(ctx, next, pid)
	}
	if err != nil { // the next engine starts a keeper if this one is gone
		e.log.Error("announce the next engine", "error", err)
	}
}

// startNext starts executable with this process's arguments. The new process waits until turn is
// closed, or this process has exited.
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

// pathOf returns an open file's own path if it still leads to the file, and otherwise a path
// through the descriptor.
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

// An inheritance holds the terminals passed on by the previous engine, by terminalName.
type inheritance map[string]*os.File

// inherit returns the locks and terminals passed on by the previous engine; nil without one. It
// marks them close-on-exec.
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
	_, _ = turn.Read(make([]byte, 1)) // returns at the end of file
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

// handTo gives inherited terminals to a keeper started after the handover, which lacks them.
func (i inheritance) handTo(ctx context.Context, client launch.Keeper, h *host) error {
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
	records, _ := h.store.Load() // terminals of unreadable records stay open here
	for _, r := range records {
		if r.Identity == nil || !r.TTY || held[r.ID] {
			continue
		}
		master := i[terminalName(r.ID, r.Identity.PID)]
		if master == nil {
			continue
		}
		child := keeper.Child{ID: r.ID, PID: r.Identity.PID, StartTime: r.Identity.StartTime, BootID: r.Identity.BootID, TTY: true}
		err := client.Adopt(ctx, child, h.store.Dir(r.ID), h.observer.LogsOf(r), master)
		if errors.Is(err, keeper.ErrLost) {
			return err
		}
		if err != nil {
			h.log.Error("hand child to keeper", "id", r.ID, "error", err)
		}
	}
	return nil
}

// takeMaster removes and returns the terminal of a child; nil if it was not inherited.
func (i inheritance) takeMaster(child keeper.Child) *os.File {
	name := terminalName(child.ID, child.PID)
	master := i[name]
	delete(i, name)
	return master
}

// close closes the remaining terminals.
func (i inheritance) close() {
	for name, master := range i {
		master.Close()
		delete(i, name)
	}
}
