package pty

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/engine/proctree"
)

const (
	ttyMajor    = 5   // of /dev/tty
	slaveMajor  = 136 // of /dev/pts
	polledMost  = 256 // descriptors of a poll that are looked at
	threadsMost = 64  // threads of a process that are looked at
	groupMost   = 32  // processes of a foreground group that are looked at
)

// A Look is what a look at the program in the foreground of a terminal has found.
type Look struct {
	Reads  bool // it waits for input
	Hidden bool // which is not echoed, as a password
	Own    bool // it is the child that the terminal was made for

	PID       int  // of the process that waits
	Polls     bool // it waits for a key among other things, and may be busy with those
	Alone     bool // it polls the terminal for a line, and nothing else: a question with a time limit, or a pause
	Canonical bool // input goes line by line
}

// LookAt looks at the program in the foreground of the terminal with this
// master; child is the process that the terminal was made for.
func LookAt(master *os.File, child int) Look {
	fg, err := foregroundOf(master)
	if err != nil || fg.group <= 0 {
		return Look{}
	}
	look := Look{Own: fg.group == child, Canonical: fg.canonical}
	for _, pid := range GroupMembers(fg.group, child) {
		if how := fg.waits(pid); how != waitsNot {
			look.Reads, look.Hidden = true, fg.canonical && !fg.echo
			look.PID, look.Polls, look.Alone = pid, how == waitsPolling || how == waitsAlone, how == waitsAlone
			break
		}
	}
	return look
}

// ReadsPipe reports whether a process, or one that it has started in its group, is blocked
// in a read of the FIFO at path.
func ReadsPipe(path string, child int) bool {
	var pipe unix.Stat_t
	if err := unix.Stat(path, &pipe); err != nil {
		return false
	}
	input := foreground{canonical: true, echo: true, pipe: &pipe}
	return slices.ContainsFunc(GroupMembers(child, child), func(pid int) bool { return input.waits(pid) != waitsNot })
}

// Foreground is the process group in the foreground of the terminal with this
// master; 0 if there is none.
func Foreground(master *os.File) (group int, err error) {
	err = onDescriptor(master, func(fd int) error {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group, err
}

// HasOutput reports whether a program has printed what nobody has read yet from its
// terminal's master.
func HasOutput(master *os.File) (has bool) {
	err := onDescriptor(master, func(fd int) error {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		has = n > 0 && poll[0].Revents&unix.POLLIN != 0
		return err
	})
	return err == nil && has
}

// A foreground is what is known of the programs that have a terminal, or read from a pipe.
type foreground struct {
	pipe      *unix.Stat_t // in the place of a terminal
	group     int
	slave     uint64 // device of the terminal
	canonical bool   // input goes line by line
	echo      bool
}

// foregroundOf asks a PTY's master about its other side.
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

// GroupMembers are the processes of a group: its leader, and what the leader
// or the child that the terminal was made for has started in it.
func GroupMembers(group, child int) []int {
	members := []int{group}
	look := []int{group}
	if child != group {
		look = append(look, child)
	}
	for i := 0; i < len(look) && i < groupMost; i++ {
		for _, pid := range childrenOf(look[i]) {
			s, ok := proctree.Read(pid)
			if !ok || s.Group != group || len(members) == groupMost {
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

// childrenOf are the children of a process, whichever of its threads has started them.
func childrenOf(pid int) (all []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil
	}
	for _, thread := range threads {
		text, _ := os.ReadFile(tasks + "/" + thread.Name() + "/children") // it may have ended
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// A waitKind is how a process waits for input.
type waitKind int

const (
	waitsNot waitKind = iota
	waitsAlone
	waitsPolling
	waitsReading
)

// waits reports how a process waits for input: in a read of the terminal, or polling it, alone
// or, where input goes key by key, among other descriptors.
func (fg foreground) waits(pid int) waitKind {
	dir := "/proc/" + strconv.Itoa(pid)
	tasks, err := os.ReadDir(dir + "/task")
	if err != nil {
		return waitsNot
	}
	how := waitsNot
	for _, task := range tasks[:min(len(tasks), threadsMost)] {
		state := threadState(dir + "/task/" + task.Name())
		if state == 'R' || state == 'D' {
			return waitsNot // it computes
		}
		if state == 'S' {
			how = max(how, fg.threadWaits(dir+"/task/"+task.Name(), pid))
		}
	}
	return how
}

func threadState(dir string) byte {
	text, err := os.ReadFile(dir + "/stat")
	end := bytes.LastIndexByte(text, ')')
	if err != nil || end < 0 || end+2 >= len(text) {
		return 0
	}
	return text[end+2]
}

// threadWaits looks at the system call that a thread is blocked in. Where that
// may not be seen, as of another user's program, the function in the kernel or
// the terminal's mode must do.
func (fg foreground) threadWaits(dir string, pid int) waitKind {
	text, err := os.ReadFile(dir + "/syscall")
	if err != nil {
		return fg.seemsToWait(dir)
	}
	call, args, ok := parseSyscall(string(text))
	if !ok {
		return waitsNot
	}
	switch call {
	case unix.SYS_READ, unix.SYS_READV:
		return fg.ifInput(dir, int(args[0]), waitsReading)
	}
	fds := awaited(dir, pid, call, args)
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

// isInternal reports whether a process waits on a descriptor only to wake itself: an event
// counter, another poll, or a pipe of which it holds both ends, as node does.
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

// holdsWriteEnd reports whether a process could write to one of its pipes.
func holdsWriteEnd(dir, pipe string) bool {
	files, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return false
	}
	for _, file := range files {
		if name, err := os.Readlink(dir + "/fd/" + file.Name()); err != nil || name != pipe {
			continue
		}
		// The owner's permission of the link is the mode of opening, proc_pid_fd(5).
		if info, err := os.Lstat(dir + "/fd/" + file.Name()); err == nil && info.Mode().Perm()&0o200 != 0 {
			return true
		}
	}
	return false
}

// seemsToWait judges by what anybody may see.
func (fg foreground) seemsToWait(dir string) waitKind {
	where, err := os.ReadFile(dir + "/wchan")
	if err != nil || string(where) == "0" || len(where) == 0 {
		if fg.canonical && !fg.echo { // another user's program, as one that asks for a password
			return waitsReading
		}
		return waitsNot
	}
	switch function := string(where); {
	case function == "n_tty_read":
		return waitsReading
	case function == "wait_woken":
		return fg.ifInput(dir, 0, waitsReading)
	case strings.HasPrefix(function, "poll_schedule_timeout"), function == "do_poll", function == "do_select", function == "ep_poll":
		if !fg.canonical {
			return fg.ifInput(dir, 0, waitsPolling)
		}
	}
	return waitsNot
}

// ifInput is how, if a descriptor of a process is this terminal or pipe.
func (fg foreground) ifInput(dir string, fd int, how waitKind) waitKind {
	if fg.isInput(dir, fd) {
		return how
	}
	return waitsNot
}

// parseSyscall reads /proc/<pid>/syscall: the number and six arguments.
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

// isInput reports whether a descriptor of a process is this terminal or pipe.
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

// awaited are the descriptors that a thread waits to read from.
func awaited(dir string, pid, call int, args [6]uint64) []int {
	switch {
	case isPoll(call):
		return polled(pid, args[0], int(min(args[1], polledMost)))
	case isSelect(call):
		return selected(pid, args[1], int(min(args[0], 1024)))
	case isEpoll(call):
		return epolled(dir, int(args[0]))
	}
	return nil
}

// polled reads the array of poll(2).
func polled(pid int, at uint64, n int) (fds []int) {
	p := peek(pid, at, n*8)
	for ; len(p) >= 8; p = p[8:] {
		fd, events := *(*int32)(unsafe.Pointer(&p[0])), *(*int16)(unsafe.Pointer(&p[4]))
		if fd >= 0 && events&unix.POLLIN != 0 {
			fds = append(fds, int(fd))
		}
	}
	return fds
}

// selected reads the bits of select(2).
func selected(pid int, at uint64, n int) (fds []int) {
	p := peek(pid, at, (n+63)/64*8)
	for fd := range min(n, len(p)*8) {
		if p[fd/8]>>(fd%8)&1 != 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

// epolled are the descriptors of an epoll instance, proc_pid_fdinfo(5).
func epolled(dir string, fd int) (fds []int) {
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
		if err == nil && eventsErr == nil && events&unix.EPOLLIN != 0 && len(fds) < polledMost {
			fds = append(fds, target)
		}
	}
	return fds
}

// peek reads another process's memory; nil if that is not allowed.
func peek(pid int, at uint64, n int) []byte {
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
