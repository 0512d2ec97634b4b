package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/base/panics"
	"tandem/engine/control/host"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/persist/datadir"
)

// An engine is upgraded in place. When it has stopped and everything is on disk, it executes the
// next program in its own process. The locks on the data directory stay held, so no other engine
// can start in between. The terminals stay open as well, so nothing is lost if the keeper or the
// engine is killed meanwhile.

const (
	// inheritedVariable lists the descriptors that stay open, as name=descriptor, separated by
	// commas. The name is inheritedLock or inheritedRecords for a lock, and id:pid for a terminal.
	inheritedVariable = "TANDEM_INHERITED"
	inheritedLock     = "lock"
	inheritedRecords  = "records"
	// maxInherited bounds the variable's length; execve(2) allows 128 KiB.
	maxInherited = 4000
	// stopTimeout is how long an engine may take to stop before its upgrade.
	stopTimeout = 5 * time.Second
	// serveTimeout is how long the next program may take to serve clients, on a busy machine.
	serveTimeout = 15 * time.Second
)

// An upgrade replaces the program of this process.
type upgrade struct {
	executable *os.File
	terminals  map[string]int // named as host.KeepTerminals does
	before     func()         // called first
	stopped    atomic.Bool    // everything has stopped
}

// requestUpgrade stops this engine and then executes executable. It returns false and does nothing
// if the keeper is too old to follow. Then the keeper must replace the engine.
func (e *engine) requestUpgrade(ctx context.Context, executable *os.File) (bool, error) {
	return e.requestUpgradeAfter(ctx, executable, func() {})
}

// requestUpgradeAfter is like requestUpgrade, but calls before once everything has stopped. If another
// client has asked for an upgrade first, before is not called.
func (e *engine) requestUpgradeAfter(ctx context.Context, executable *os.File, before func()) (bool, error) {
	client, err := e.host.Link.Await(ctx)
	if err != nil || !client.Upgrades() {
		return false, err
	}
	raw, err := executable.SyscallConn()
	if err != nil {
		return false, err
	}
	fd, dupErr := -1, error(nil)
	err = raw.Control(func(own uintptr) { fd, dupErr = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 3) })
	if err = errors.Join(err, dupErr); err != nil {
		return false, err
	}
	next := os.NewFile(uintptr(fd), executable.Name())
	u := &upgrade{executable: next, before: before}
	if !e.upgrade.CompareAndSwap(nil, u) {
		next.Close() // another client asked first
		return true, nil
	}
	time.AfterFunc(stopTimeout, func() {
		if e.upgrade.Load() == u && !u.stopped.Load() {
			e.upgradeByForce(next)
		}
	})
	e.stop()
	return true, nil
}

// upgradeByForce asks the keeper to replace an engine that does not stop. Without a keeper, the
// engine goes on, because no other process has the terminals.
func (e *engine) upgradeByForce(next *os.File) {
	e.log.Error("the engine did not stop in time for the upgrade; the keeper replaces it")
	client := e.host.Link.Current()
	if client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := client.Replace(ctx, next); err != nil {
		e.log.Error("announce the next program", "error", err)
		return
	}
	os.Exit(1)
}

// execute executes the next program or, if that fails, the present one again. It returns only if
// that fails as well, or if the keeper refuses.
func (u *upgrade) execute(e *engine) error {
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	for _, program := range []*os.File{u.executable, own} {
		e.log.Info("upgrade", "program", program.Name(), "terminals", len(u.terminals))
		if err := e.announceProgram(program); err != nil && !keeper.IsGone(err) {
			return err // a keeper that has refused starts the former program, or none after a stop
		}
		err = execute(program, e.lock, u.terminals)
		e.log.Error("upgrade", "error", err)
	}
	return err
}

// announceProgram tells the keeper which program this process is about to execute.
func (e *engine) announceProgram(program *os.File) error {
	client := e.host.Link.Current()
	if client == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return client.Upgrade(ctx, program)
}

// execute replaces this process's program, with the same arguments. It returns only if that fails.
func execute(program *os.File, lock *folderLock, terminals map[string]int) error {
	// A process forked meanwhile must not inherit the terminals and locks.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	var kept []string
	keep := func(name string, fd int) error {
		kept = append(kept, name+"="+strconv.Itoa(fd))
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
		return os.NewSyscallError("keep "+name+" open", err)
	}
	err := errors.Join(keep(inheritedLock, int(lock.file.Fd())), keep(inheritedRecords, int(lock.records.Fd())))
	for name, fd := range terminals {
		if len(kept) < maxInherited { // the next program can get the others from the keeper
			err = errors.Join(err, keep(name, fd))
		}
	}
	if err != nil {
		return err
	}
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, inheritedVariable+"=") })
	env = append(env, inheritedVariable+"="+strings.Join(kept, ","))
	path := pathOf(program)
	err = unix.Exec(path, os.Args, env)
	for _, fd := range terminals {
		unix.CloseOnExec(fd)
	}
	unix.CloseOnExec(int(lock.file.Fd()))
	unix.CloseOnExec(int(lock.records.Fd()))
	return &os.PathError{Op: "execute", Path: path, Err: err}
}

// pathOf returns the path of an open file. If that path no longer leads to the file, it returns a
// path through the descriptor.
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

// An inheritance holds what the previous program of this process has left open for the upgraded
// one.
type inheritance struct {
	lock      *folderLock
	terminals host.InheritedTerminals
	deadline  *time.Timer // ends this process unless it serves in time
}

// inherit returns what the previous program of this process left open, or nil if there was none.
// The descriptors are closed on the next exec.
func inherit(log *slog.Logger) *inheritance {
	list, passed := os.LookupEnv(inheritedVariable)
	os.Unsetenv(inheritedVariable)
	if !passed {
		list, passed = inheritAsSuccessor()
	}
	if !passed {
		return nil
	}
	i := &inheritance{lock: new(folderLock), terminals: host.InheritedTerminals{}}
	for _, pair := range strings.Split(list, ",") {
		name, number, _ := strings.Cut(pair, "=")
		fd, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		unix.CloseOnExec(fd)
		switch name {
		case inheritedLock:
			i.lock.file = os.NewFile(uintptr(fd), lockName)
		case inheritedRecords:
			i.lock.records = os.NewFile(uintptr(fd), datadir.Processes)
		default:
			if unix.SetNonblock(fd, true) == nil {
				i.terminals[name] = os.NewFile(uintptr(fd), "pty of "+name)
			}
		}
	}
	i.deadline = time.AfterFunc(serveTimeout, func() {
		log.Error("not ready in time after the upgrade; the keeper starts the former program", "limit", serveTimeout)
		os.Exit(1)
	})
	reapFormerChildren(log)
	return i
}

// openTerminals returns the terminals left open.
func (i *inheritance) openTerminals() host.InheritedTerminals {
	if i == nil {
		return nil
	}
	return i.terminals
}

// takeLock returns the locks; nil if they were not inherited.
func (i *inheritance) takeLock() *folderLock {
	if i == nil || i.lock.file == nil || i.lock.records == nil {
		return nil
	}
	return i.lock
}

// stopDeadline lets this process take longer than serveTimeout to serve clients.
func (i *inheritance) stopDeadline() {
	if i != nil {
		i.deadline.Stop()
	}
}

// reapFormerChildren waits in the background for the children of the previous program, such as a
// keeper that it started.
func reapFormerChildren(log *slog.Logger) {
	all, err := proctree.All()
	if err != nil {
		return
	}
	for _, p := range all {
		if p.Parent != os.Getpid() {
			continue
		}
		if child, err := os.FindProcess(p.PID); err == nil {
			go panics.Logged(log, "child of the former program", func() { _, _ = child.Wait() })()
		}
	}
}
