package pty

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/engine/system/proctree"
	"tandem/persist/procstat"
)

const (
	ttyMajor   = 5   // device major number of /dev/tty
	slaveMajor = 136 // device major number of /dev/pts
	maxPolled  = 256 // descriptors examined per poll
	maxThreads = 64  // threads examined per process
	maxGroup   = 32  // processes examined per foreground group
)

// A Look describes the program in the foreground of a terminal.
type Look struct {
	Reads  bool // it waits for input
	Hidden bool // input is not echoed, as for a password
	Own    bool // it is the child the terminal was created for

	PID       int  // pid of the waiting process
	Polls     bool // it waits for a key among other events, so it may be busy
	Alone     bool // it polls only the terminal, for a line: a question with a timeout, or a pause
	Canonical bool // input is read line by line
}

// InspectForeground inspects the program in the foreground of the terminal with this master. child
// is the process the terminal was created for.
func InspectForeground(master *os.File, child int) Look {
	fg, err := foregroundOf(master)
	if err != nil || fg.group <= 0 {
		return Look{}
	}
	look := Look{Own: fg.group == child, Canonical: fg.canonical}
	for _, pid := range GroupMembers(fg.group, child) {
		if how := fg.waitKindOf(pid); how != waitsNot {
			look.Reads, look.Hidden = true, fg.canonical && !fg.echo
			look.PID, look.Polls, look.Alone = pid, how == waitsPolling || how == waitsAlone, how == waitsAlone
			break
		}
	}
	return look
}

// Foreground returns the process group in the foreground of the terminal with this master, or 0.
func Foreground(master *os.File) (group int, err error) {
	err = onDescriptor(master, func(fd int) error {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group, err
}

// HasOutput reports whether unread output is available from the terminal's master.
func HasOutput(master *os.File) (has bool) {
	err := onDescriptor(master, func(fd int) error {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		has = n > 0 && poll[0].Revents&unix.POLLIN != 0
		return err
	})
	return err == nil && has
}

// A foreground describes how a process group reads its input, a terminal or a pipe.
type foreground struct {
	pipe      *unix.Stat_t // the pipe, if input is not a terminal
	group     int
	slave     uint64 // device number of the terminal
	canonical bool   // input is read line by line
	echo      bool
}

// foregroundOf queries a PTY's master for its foreground group and modes.
func foregroundOf(master *os.File) (fg foreground, err error) {
	err = onDescriptor(master, func(fd int) error {
		group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		if err != nil {
			return err
		}
		number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
		if err != nil {
			return err
		}
		mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err != nil {
			return err
		}
		fg = foreground{
			group:     group,
			slave:     unix.Mkdev(slaveMajor, number),
			canonical: mode.Lflag&unix.ICANON != 0,
			echo:      mode.Lflag&unix.ECHO != 0,
		}
		return nil
	})
	return fg, err
}

// GroupMembers returns the processes of a group: its leader, and descendants of the leader or of
// child in the group. child is the process the terminal was created for.
func GroupMembers(group, child int) []int {
	members := []int{group}
	look := []int{group}
	if child != group {
		look = append(look, child)
	}
	for i := 0; i < len(look) && i < maxGroup; i++ {
		for _, pid := range childrenOf(look[i]) {
			s, ok := proctree.Read(pid)
			if !ok || s.Group != group || len(members) == maxGroup {
				continue
			}
			if pid != group {
				members = append(members, pid)
				look = append(look, pid)
			}
		}
	}
	return members
}

// childrenOf returns the children of all threads of a process.
func childrenOf(pid int) (all []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil
	}
	for _, thread := range threads {
		text, _ := os.ReadFile(tasks + "/" + thread.Name() + "/children") // the thread may have exited
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// A waitKind is the way a process waits for input.
type waitKind int

const (
	waitsNot waitKind = iota
	waitsAlone
	waitsPolling
	waitsReading
)

// waitKindOf returns how a process waits for input: reading the terminal; polling it alone; or, if
// input is read key by key, polling it among other descriptors.
func (fg foreground) waitKindOf(pid int) waitKind {
	dir := "/proc/" + strconv.Itoa(pid)
	tasks, err := os.ReadDir(dir + "/task")
	if err != nil {
		return waitsNot
	}
	how := waitsNot
	for _, task := range tasks[:min(len(tasks), maxThreads)] {
		thread, _ := procstat.ReadFile(dir + "/task/" + task.Name() + "/stat") // it may have exited
		switch thread.State {
		case 'R', 'D':
			return waitsNot // running, so not waiting
		case 'S':
			how = max(how, fg.threadWait(dir+"/task/"+task.Name(), pid))
		}
	}
	return how
}

// threadWait examines the system call a thread is blocked in. If that is hidden, as for another
// user's program, it falls back to the kernel function and the terminal's mode.
func (fg foreground) threadWait(dir string, pid int) waitKind {
	text, err := os.ReadFile(dir + "/syscall")
	if err != nil {
		return fg.guessWait(dir)
	}
	call, args, ok := parseSyscall(string(text))
	if !ok {
		return waitsNot
	}
	switch call {
	// Reading is certain; a poll needs a look at all its descriptors.
	case unix.SYS_READ, unix.SYS_READV:
		return fg.waitsIfInput(dir, int(args[0]), waitsReading)
	}
	fds := descriptorsWaitedFor(dir, pid, call, args)
	switch {
	case !slices.ContainsFunc(fds, func(fd int) bool { return fg.isInput(dir, fd) }):
		return waitsNot
	case !fg.canonical:
		return waitsPolling
	case fg.pipe == nil && !slices.ContainsFunc(fds, func(fd int) bool { return !fg.isInput(dir, fd) && !isInternal(dir, fd) }):
		return waitsAlone
	}
	return waitsNot
}

// isInternal reports whether a process waits on fd only to wake itself: an event counter, another
// poll, or a pipe with both ends in the process, as in node.
func isInternal(dir string, fd int) bool {
	name, err := os.Readlink(dir + "/fd/" + strconv.Itoa(fd))
	if err != nil {
		return false
	}
	switch name {
	case "anon_inode:[eventfd]", "anon_inode:[eventpoll]", "anon_inode:[io_uring]":
		return true
	}
	return strings.HasPrefix(name, "pipe:") && holdsWriteEnd(dir, name)
}

// holdsWriteEnd reports whether a process has the write end of the pipe open.
func holdsWriteEnd(dir, pipe string) bool {
	files, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return false
	}
	for _, file := range files {
		if name, err := os.Readlink(dir + "/fd/" + file.Name()); err != nil || name != pipe {
			continue
		}
		// The owner's permissions of the link are the open mode, see proc_pid_fd(5).
		if info, err := os.Lstat(dir + "/fd/" + file.Name()); err == nil && info.Mode().Perm()&0o200 != 0 {
			return true
		}
	}
	return false
}

// guessWait guesses how a process waits for input, from information that every user can read.
func (fg foreground) guessWait(dir string) waitKind {
	where, err := os.ReadFile(dir + "/wchan")
	if err != nil || string(where) == "0" || len(where) == 0 {
		// Another user's program that reads without echo asks for a password.
		if fg.canonical && !fg.echo {
			return waitsReading
		}
		return waitsNot
	}
	switch function := string(where); {
	case function == "n_tty_read":
		return waitsReading
	case function == "wait_woken":
		return fg.waitsIfInput(dir, 0, waitsReading)
	case strings.HasPrefix(function, "poll_schedule_timeout"), function == "do_poll", function == "do_select", function == "ep_poll":
		if !fg.canonical {
			return fg.waitsIfInput(dir, 0, waitsPolling)
		}
	}
	return waitsNot
}

// waitsIfInput returns kind if descriptor fd of a process refers to this terminal or pipe, and
// waitsNot otherwise.
func (fg foreground) waitsIfInput(dir string, fd int, kind waitKind) waitKind {
	if fg.isInput(dir, fd) {
		return kind
	}
	return waitsNot
}

// parseSyscall parses /proc/<pid>/syscall: the call's number and six arguments.
func parseSyscall(text string) (call int, args [6]uint64, ok bool) {
	words := strings.Fields(text)
	if len(words) < 7 {
		return 0, args, false
	}
	call, err := strconv.Atoi(words[0])
	for i := range args {
		v, argErr := strconv.ParseUint(strings.TrimPrefix(words[i+1], "0x"), 16, 64)
		if argErr != nil {
			err = argErr
		}
		args[i] = v
	}
	return call, args, err == nil && call >= 0
}

// isInput reports whether fd of a process refers to this terminal or pipe.
func (fg foreground) isInput(dir string, fd int) bool {
	info, err := os.Stat(dir + "/fd/" + strconv.Itoa(fd))
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if ok && fg.pipe != nil {
		return s.Dev == fg.pipe.Dev && s.Ino == fg.pipe.Ino
	}
	if !ok || s.Mode&unix.S_IFMT != unix.S_IFCHR {
		return false
	}
	return s.Rdev == fg.slave || s.Rdev == unix.Mkdev(ttyMajor, 0)
}

// descriptorsWaitedFor returns the descriptors a thread waits to read from.
func descriptorsWaitedFor(dir string, pid, call int, args [6]uint64) []int {
	switch {
	case isPoll(call):
		return readPollArray(pid, args[0], int(min(args[1], maxPolled)))
	case isSelect(call):
		return readSelectSet(pid, args[1], int(min(args[0], 1024)))
	case isEpoll(call):
		return readEpollSet(dir, int(args[0]))
	}
	return nil
}

// readPollArray decodes the array of poll(2).
func readPollArray(pid int, at uint64, n int) (fds []int) {
	p := readMemory(pid, at, n*8)
	for ; len(p) >= 8; p = p[8:] {
		fd, events := *(*int32)(unsafe.Pointer(&p[0])), *(*int16)(unsafe.Pointer(&p[4]))
		if fd >= 0 && events&unix.POLLIN != 0 {
			fds = append(fds, int(fd))
		}
	}
	return fds
}

// readSelectSet decodes the bit set of select(2).
func readSelectSet(pid int, at uint64, n int) (fds []int) {
	p := readMemory(pid, at, (n+63)/64*8)
	for fd := range min(n, len(p)*8) {
		if p[fd/8]>>(fd%8)&1 != 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

// readEpollSet returns the descriptors in an epoll instance, see proc_pid_fdinfo(5).
func readEpollSet(dir string, fd int) (fds []int) {
	text, err := os.ReadFile(dir + "/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[0] != "tfd:" || f[2] != "events:" {
			continue
		}
		target, err := strconv.Atoi(f[1])
		events, eventsErr := strconv.ParseUint(f[3], 16, 32)
		if err == nil && eventsErr == nil && events&unix.EPOLLIN != 0 && len(fds) < maxPolled {
			fds = append(fds, target)
		}
	}
	return fds
}

// readMemory reads another process's memory; it returns nil if that is not allowed.
func readMemory(pid int, at uint64, n int) []byte {
	if n <= 0 || at == 0 {
		return nil
	}
	p := make([]byte, n)
	local := []unix.Iovec{{Base: &p[0], Len: uint64(n)}}
	got, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: n}}, 0)
	if err != nil {
		return nil
	}
	return p[:got]
}
