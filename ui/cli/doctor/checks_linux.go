package doctor

import (
	"bufio"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// examineKernel checks kernel features; dir must be on the data folder's file system.
func examineKernel(dir string) []Finding {
	return []Finding{examinePidfd(), examinePunch(dir), examineFiles()}
}

func examinePidfd() Finding {
	const check = "pidfd"
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return Finding{check, Fail, fmt.Sprintf("processes cannot be watched: %v", err), "Tandem needs Linux 5.3 or later"}
	}
	defer unix.Close(fd)
	if !reportsExit(fd) {
		return Finding{check, Warn, "works, but does not report exit statuses",
			"from Linux 6.15 on, the exit status of a process that outlived its keeper is known"}
	}
	return Finding{check, OK, "works, and reports exit statuses", ""}
}

// reportsExit reports whether a pidfd provides its process's exit status. It checks the call and
// for Linux 6.15, because a live process has no status to test with.
func reportsExit(fd int) bool {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	var name unix.Utsname
	if unix.IoctlPidfdInfo(fd, &info) != nil || unix.Uname(&name) != nil {
		return false
	}
	var major, minor int
	n, _ := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	return n == 2 && (major > 6 || major == 6 && minor >= 15)
}

func examinePunch(dir string) Finding {
	const check = "bounded logs"
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return Finding{check, Warn, fmt.Sprintf("unknown: %v", err), "see the data folder"}
	}
	defer os.Remove(f.Name())
	defer f.Close()
	const size = 64 << 10
	// A hole needs allocated blocks.
	err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	if err == nil {
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, size/2)
	}
	if err != nil {
		return Finding{check, Warn, fmt.Sprintf("the file system of %s cannot punch holes in files (%v), so logs keep growing", dir, err),
			"put the data folder on ext4, xfs, btrfs or tmpfs, with TANDEM_DATA_DIR"}
	}
	return Finding{check, OK, "the file system can punch holes in files", ""}
}

// examineFiles checks the limit of open files; each session needs a few.
func examineFiles() Finding {
	const minFiles = 1024
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return Finding{"open files", Warn, err.Error(), "see `ulimit -n`"}
	}
	if limit.Max < minFiles {
		return Finding{"open files", Warn, fmt.Sprintf("at most %d", limit.Max), fmt.Sprintf("raise the hard limit to %d or more", minFiles)}
	}
	return Finding{"open files", OK, fmt.Sprintf("up to %d", limit.Max), ""}
}

// examineLogin checks whether the login manager kills processes at logout.
func examineLogin() []Finding {
	const check = "logout"
	if _, err := os.Stat("/run/systemd/seats"); err != nil {
		return nil // no logind
	}
	if !killsUserProcesses("/etc/systemd/logind.conf") {
		return []Finding{{check, OK, "sessions keep running after you log out", ""}}
	}
	if u, err := user.Current(); err == nil {
		if _, err := os.Stat(filepath.Join("/var/lib/systemd/linger", u.Username)); err == nil {
			return []Finding{{check, OK, "lingering is on; an engine started by `tandem service` keeps running after you log out", ""}}
		}
	}
	return []Finding{{check, Warn, "the login manager kills everything when you log out (KillUserProcesses)",
		"`tandem service install --linger` starts the engine outside your login from the next boot on; until then, start it with `systemd-run --user --scope tandem`"}}
}

// killsUserProcesses reads KillUserProcesses from logind.conf and the files in the directory beside
// it. The last setting wins (logind.conf(5)).
func killsUserProcesses(path string) bool {
	more, _ := filepath.Glob(path + ".d/*.conf") // fails only for an invalid pattern
	kills := false
	for _, p := range append([]string{path}, more...) {
		f, err := os.Open(p)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), "=")
			if strings.TrimSpace(name) == "KillUserProcesses" {
				value = strings.ToLower(strings.TrimSpace(value))
				kills = value == "yes" || value == "true" || value == "on" || value == "1"
			}
		}
		f.Close()
	}
	return kills
}
