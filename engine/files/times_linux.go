package files

import (
	"io/fs"
	"syscall"
	"time"
)

// accessed is when a file was last read.
func accessed(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Atim.Unix())
	}
	return info.ModTime()
}
