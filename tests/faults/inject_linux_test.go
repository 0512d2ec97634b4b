package faults

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/notify"
)

// The kernel stops the program at chosen system calls and asks the test what to do (package
// notify): let the call through, fail it, or kill the calling process. The engine and the keeper inherit the filter. The program under test is
// unmodified and needs no hooks.

// injectorSocket names the variable with the injector's socket. If it is set, the test binary
// installs the filter, sends the listener to the socket and execs tandem.
const injectorSocket = "TANDEM_TEST_INJECTOR"

// A fault is an error or a kill at one system call of one role.
type fault struct {
	role  string // "engine" or "keeper"
	n     int    // index of the call, from 1
	errno int    // index into the target's errnos, modulo their number; -1 kills the role
	seen  int    // calls so far
	call  string // description of the call, set when the fault is injected

	inPlace bool // calls of pwrite64 count too
}

// An injector answers seccomp notifications.
type injector struct {
	dir string // counts calls on files below dir, on sockets and without a file

	mu    sync.Mutex
	fault *fault // nil: let everything through
}

// Values of target.by: how a call names its file.
const (
	byPathAt = iota // in args[1], relative to args[0]
	byFile          // args[0] is a descriptor of a file
	bySocket        // args[0] is a descriptor of a socket
	byNone          // no file: always counted
)

type target struct {
	name   string
	by     int
	errnos []unix.Errno
}

var (
	tableFull = []unix.Errno{unix.EMFILE, unix.EIO, unix.ENOMEM, unix.EACCES}
	diskFull  = []unix.Errno{unix.ENOSPC, unix.EIO}
	broken    = []unix.Errno{unix.EIO}
	memory    = []unix.Errno{unix.ENOMEM}
)

// targets are the counted calls with the possible errors of each for valid arguments.
var targets = map[int32]target{
	unix.SYS_OPENAT:     {"openat", byPathAt, tableFull},
	unix.SYS_MKDIRAT:    {"mkdirat", byPathAt, diskFull},
	unix.SYS_UNLINKAT:   {"unlinkat", byPathAt, broken},
	unix.SYS_RENAMEAT:   {"renameat", byPathAt, diskFull},
	unix.SYS_RENAMEAT2:  {"renameat2", byPathAt, diskFull},
	unix.SYS_GETDENTS64: {"getdents64", byFile, broken},
	unix.SYS_READ:       {"read", byFile, broken},
	unix.SYS_WRITE:      {"write", byFile, diskFull},
	unix.SYS_PWRITE64:   {"pwrite64", byFile, diskFull},
	unix.SYS_FTRUNCATE:  {"ftruncate", byFile, broken},
	unix.SYS_FALLOCATE:  {"fallocate", byFile, diskFull},
	unix.SYS_FSYNC:      {"fsync", byFile, diskFull},
	unix.SYS_SENDMSG:    {"sendmsg", bySocket, memory},
	unix.SYS_RECVMSG:    {"recvmsg", bySocket, memory},
	unix.SYS_ACCEPT4:    {"accept4", bySocket, []unix.Errno{unix.EMFILE}},
	unix.SYS_PIPE2:      {"pipe2", byNone, []unix.Errno{unix.EMFILE}},
	unix.SYS_PIDFD_OPEN: {"pidfd_open", byNone, []unix.Errno{unix.EMFILE}},
	unix.SYS_SOCKET:     {"socket", byNone, []unix.Errno{unix.EMFILE}},
}

// newInjector returns an injector and the socket on which it accepts listeners.
func newInjector(t *testing.T, dir string) (i *injector, socket string) {
	t.Helper()
	i = &injector{dir: dir}
	return i, serveListeners(t, dir, i.decide)
}

// serveListeners returns the socket on which listeners are accepted. decide answers their calls.
func serveListeners(t *testing.T, dir string, decide func(notify.Call) unix.Errno) (socket string) {
	t.Helper()
	socket = filepath.Join(dir, "injector")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			if fd, err := receiveDescriptor(c); err == nil {
				go notify.Serve(fd, decide)
			}
			c.Close()
		}
	}()
	return socket
}

// arm sets the fault to inject; disarm clears it.
func (i *injector) arm(f *fault) (disarm func()) {
	i.set(f)
	return func() { i.set(nil) }
}

func (i *injector) set(f *fault) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fault = f
}

// decide injects the fault if c is its call. It returns the errno of the failed call, or 0.
func (i *injector) decide(c notify.Call) unix.Errno {
	i.mu.Lock()
	defer i.mu.Unlock()
	f := i.fault
	if f == nil || f.call != "" {
		return 0
	}
	role, pid := roleOf(c.Thread)
	if role != f.role {
		return 0
	}
	t := targets[c.Number]
	file, counts := i.fileOf(t, c)
	if !counts || c.Number == unix.SYS_PWRITE64 && !f.inPlace {
		return 0
	}
	if f.seen++; f.seen != f.n {
		return 0
	}
	f.call = t.name + " " + file
	if f.errno < 0 {
		_ = unix.Kill(pid, unix.SIGKILL)
		f.call += ": killed"
		return unix.EINTR
	}
	errno := t.errnos[f.errno%len(t.errnos)]
	f.call += ": " + errno.Error()
	return errno
}

// roleOf returns the role and pid of a thread. The role is "" for a client, for a role's program,
// and for a role's child between fork and exec.
func roleOf(thread int) (role string, pid int) {
	role = firstArgument(thread)
	if role != "engine" && role != "keeper" {
		return "", 0
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status")
	if err != nil {
		return "", 0
	}
	pid = number(status, "\nTgid:")
	if firstArgument(number(status, "\nPPid:")) == role {
		return "", 0
	}
	return role, pid
}

func firstArgument(pid int) string {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	words := bytes.Split(line, []byte{0})
	if err != nil || len(words) < 2 {
		return ""
	}
	return string(words[1])
}

func number(status []byte, field string) int {
	_, rest, _ := bytes.Cut(status, []byte(field))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(line)))
	return n
}

// fileOf returns the file of a call, relative to i.dir, and whether the call counts.
func (i *injector) fileOf(t target, c notify.Call) (file string, counts bool) {
	opened := fmt.Sprintf("/proc/%d/fd/%d", c.Thread, int32(c.Args[0]))
	switch t.by {
	case byNone:
		return "", true
	case byPathAt:
		file = c.ReadString(c.Args[1])
		if !filepath.IsAbs(file) {
			at, _ := os.Readlink(opened)
			file = filepath.Join(at, file)
		}
	default:
		file, _ = os.Readlink(opened)
	}
	if t.by == bySocket {
		return "", strings.HasPrefix(file, "socket:")
	}
	name, below := strings.CutPrefix(file, i.dir+"/")
	return name, below
}

func receiveDescriptor(c *net.UnixConn) (int, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(err, errors.New("no descriptor"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return fds[0], nil
}

// submit puts this process and its descendants under the injector, then execs tandem.
func submit(socket string) {
	runtime.LockOSThread() // the filter applies to this thread, and to the process after execve
	calls := slices.Collect(maps.Keys(targets))
	if os.Getenv(onlyWrites) != "" {
		calls = writeCalls
	}
	fd, err := notify.Install(calls)
	if err == nil {
		sent := make(chan error)
		go func() { sent <- sendDescriptor(socket, fd) }() // on a thread without the filter
		err = <-sent
	}
	if err == nil {
		os.Unsetenv(injectorSocket)
		err = unix.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, installError, err)
	os.Exit(125)
}

const installError = "install the injector:"

// sendDescriptor sends fd to the injector.
func sendDescriptor(socket string, fd int) error {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Connect(s, &unix.SockaddrUnix{Name: socket}); err != nil {
		return err
	}
	return unix.Sendmsg(s, []byte{0}, unix.UnixRights(fd), nil, 0)
}
