package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"tandem/engine/system/proctree"
	"time"

	"golang.org/x/sys/unix"
)

// A family is a command and everything it starts. Orphans become children of this process, which
// reaps them as init would.
type family struct {
	pid    int
	cgroup string        // parent of the cgroups of its engines; "" if this user may not create any
	exited chan struct{} // closed after status and cpu are set
	status int
	cpu    time.Duration
}

// adopt starts cmd and reaps children until it exits. Nothing else in this process may wait for
// children.
func adopt(cmd *exec.Cmd) (*family, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	f := &family{exited: make(chan struct{})}
	if folder := proctree.CgroupFolder(); folder != "" {
		f.cgroup = filepath.Join(folder, fmt.Sprintf("report-%d", os.Getpid()))
		if err := os.Mkdir(f.cgroup, 0o755); err != nil {
			return nil, err
		}
		dir, err := os.Open(f.cgroup)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f.pid = cmd.Process.Pid
	go f.reap()
	return f, nil
}

// wait waits for the command. It returns the exit status, and the processor time of the command and
// of all children it waited for.
func (f *family) wait() (status int, cpu time.Duration) {
	<-f.exited
	return f.status, f.cpu
}

func (f *family) reap() {
	defer close(f.exited)
	for {
		var ws unix.WaitStatus
		var use unix.Rusage
		pid, err := unix.Wait4(-1, &ws, 0, &use)
		if err == nil && pid == f.pid {
			// x
			f.status, f.cpu = ws.ExitStatus(), time.Duration(use.Utime.Nano()+use.Stime.Nano())
			if ws.Signaled() {
				f.status = 128 + int(ws.Signal())
			}
			return
		}
		if err != nil && err != unix.EINTR {
			f.status = 1
			return
		}
	}
}

// leftovers returns the processes that are still running once grace has passed.
func (f *family) leftovers(grace time.Duration) (found []string) {
	deadline := time.Now().Add(grace)
	for {
		_, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err == unix.ECHILD {
			break
		}
		if time.Now().After(deadline) {
			// All remaining descendants, not only direct children, are leaks.
			found = describeProcesses(descendants(os.Getpid()))
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.removeCgroups()
	return found
}

// removeCgroups removes the empty cgroups of killed engines. Such cgroups are not leaks.
func (f *family) removeCgroups() {
	if f.cgroup == "" {
		return
	}
	cgroups, _ := filepath.Glob(filepath.Join(f.cgroup, "*", "cgroup.procs"))
	for _, path := range cgroups {
		_ = os.Remove(filepath.Dir(path))
	}
	_ = os.Remove(f.cgroup) // fails if a process remains
}

// descendants returns the children of a process, their children, and so on
// (proc(5), /proc/pid/task/tid/children).
func descendants(pid int) (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				pids = append(append(pids, child), descendants(child)...)
			}
		}
	}
	return pids
}

func describeProcesses(pids []int) (lines []string) {
	for _, pid := range pids {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		lines = append(lines, fmt.Sprintf("process %d: %s", pid, bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	}
	return lines
}
