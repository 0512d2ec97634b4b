package files

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// gather is how long a watch gathers changes that come together.
const gather = 60 * time.Millisecond

// Watch waits until an entry of a folder changes, comes or goes, or for as long
// as ctx lasts. The stamp stands for what the folder is; if it is not the one
// that was seen, Watch returns at once.
func (t *Tree) Watch(ctx context.Context, path, seen string) (stamp string, changed bool, err error) {
	p, err := t.locate(path, way{verb: "watch"})
	if err != nil {
		return "", false, err
	}
	p.close()
	w, err := startWatch(p.real)
	if err != nil {
		return "", false, failure("watch", p.path, err)
	}
	defer w.close()
	stamp, err = stampOf(p.real)
	if err != nil || seen != "" && seen != stamp {
		return stamp, seen != "", failure("watch", p.path, err)
	}
	if !w.wait(ctx) {
		return stamp, false, nil
	}
	pause(ctx, gather)
	stamp, err = stampOf(p.real)
	return stamp, true, failure("watch", p.path, err)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// stampOf changes when names come to a folder or go.
func stampOf(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	inode := uint64(0)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = stat.Ino
	}
	return fmt.Sprintf("%x-%x", inode, info.ModTime().UnixNano()), nil
}
