package keeper

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"tandem/persist/procstat"
)

// A watcher waits with one goroutine for the exit of processes that are not our children. Their
// pidfds are in an epoll set, which is in the runtime's poller. Methods other than run must be
// called on the loop.
type watcher struct {
	set   *os.File
	do    func(func()) bool
	ended map[int32]func() // by pidfd
}

func newWatcher(do func(func()) bool) (*watcher, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make epoll set: %w", err)
	}
	set, err := fileOf(fd, "pidfds")
	if err != nil {
		return nil, err
	}
	return &watcher{set: set, do: do, ended: map[int32]func(){}}, nil
}

func (w *watcher) close() { w.set.Close() }

// add makes the watcher call onExit on the loop once the process exits.
func (w *watcher) add(pidfd int, onExit func()) error {
	raw, err := w.set.SyscallConn()
	if err != nil {
		return err
	}
	var addErr error
	err = raw.Control(func(set uintptr) {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(pidfd)}
		addErr = unix.EpollCtl(int(set), unix.EPOLL_CTL_ADD, pidfd, &event)
	})
	if err = errors.Join(err, addErr); err != nil {
		return fmt.Errorf("watch process: %w", err)
	}
	w.ended[int32(pidfd)] = onExit
	return nil
}

// run reports exits until the watcher is closed.
func (w *watcher) run() {
	raw, err := w.set.SyscallConn()
	if err != nil {
		return
	}
	events := make([]unix.EpollEvent, 32)
	for {
		n := 0
		err := raw.Read(func(set uintptr) bool {
			n, _ = unix.EpollWait(int(set), events, 0)
			return n > 0
		})
		if err != nil {
			return
		}
		for _, e := range events[:n] {
			if !w.do(func() { w.runCallback(e.Fd) }) {
				return
			}
		}
	}
}

func (w *watcher) runCallback(pidfd int32) {
	if ended := w.ended[pidfd]; ended != nil {
		delete(w.ended, pidfd)
		ended()
	}
}

// errGone means that the process has exited, or its pid was reused.
var errGone = errors.New("process is gone")

// openProcess returns a pidfd for the process with this pid and start time.
func openProcess(pid int, startTime uint64) (int, error) {
	// Open first: the descriptor stays on its process while the start time is compared.
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH || err == unix.EINVAL {
		return -1, errGone
	}
	if err != nil {
		return -1, fmt.Errorf("open process %d: %w", pid, err)
	}
	stat, err := procstat.Read(pid)
	if err != nil || stat.StartTime != startTime {
		closeFD(fd)
		return -1, errGone
	}
	return fd, nil
}

// exitOfOther returns the exit of a process that is not our child; ok is false if it is not
// available now. Since Linux 6.15 a pidfd has it once the process was reaped (ioctl_pidfd(2),
// PIDFD_INFO_EXIT); before, the stat file of a zombie has it.
func exitOfOther(pidfd, pid int, startTime uint64) (Exit, bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if err := unix.IoctlPidfdInfo(pidfd, &info); err == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0 {
		return exitFromStatus(syscall.WaitStatus(info.Exit_code)), true
	}
	stat, err := procstat.Read(pid)
	if err == nil && stat.StartTime == startTime && stat.State == 'Z' && mayKnowExit(pid) {
		return exitFromStatus(syscall.WaitStatus(stat.ExitCode)), true
	}
	return Exit{Unknown: true}, false
}

// mayKnowExit reports whether the exit code in a zombie's stat file is real: the kernel shows 0 to
// other users, which would look like success.
func mayKnowExit(pid int) bool {
	own := strconv.Itoa(os.Geteuid())
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || own == "0" {
		return err == nil
	}
	for line := range strings.Lines(string(status)) {
		if ids, ok := strings.CutPrefix(line, "Uid:"); ok {
			return !slices.ContainsFunc(strings.Fields(ids), func(id string) bool { return id != own })
		}
	}
	return false
}

// checkMaster returns an error unless fd is the master of a PTY.
func checkMaster(fd int) error {
	if _, err := unix.IoctlGetInt(fd, unix.TIOCGPTN); err != nil {
		return errors.New("descriptor is not the master of a terminal")
	}
	return nil
}

func readBootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %v", err)
	}
	return strings.TrimSpace(string(b)), nil
}
