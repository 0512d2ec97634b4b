package store

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// beginWriteback starts to write a file to disk. The sync that follows reports any error.
func beginWriteback(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}

// syncData makes the content of a file, or the entries of a folder, durable.
func syncData(f *os.File) (err error) {
	for {
		if err = unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync "+f.Name(), err)
		}
	}
}

// birthTime returns the time at which a folder was created, or zero if it is unknown.
func birthTime(path string) time.Time {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}

// bootTime returns the time at which the system was booted, by the present clock, or zero if it is
// unknown.
func bootTime() time.Time {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return time.Time{}
	}
	return time.Now().Add(-time.Duration(info.Uptime) * time.Second)
}
