package keeper

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Logs are the files that a child without a terminal appends to. While an engine
// is connected it keeps them within Limit bytes each; otherwise the keeper does.
// Without a limit nobody does.
type Logs struct {
	Paths []string
	Limit int64
}

// A log is looked at again this soon: the sooner the faster it grows.
const (
	trimSoonest = 100 * time.Millisecond
	trimFirst   = time.Second // an engine that is only replaced is back by then
	trimLatest  = 5 * time.Second
)

// connect makes s, which may be nil, the engine's connection. Without one, no
// child is started or adopted, so those that live now are all whose logs grow.
func (k *keeper) connect(s *session) {
	k.engine.session = s
	k.writeAllLate()
	k.stopTrimming()
	var logs []Logs
	for _, c := range k.byPID {
		if c.logs.Limit > 0 {
			logs = append(logs, c.logs)
		}
	}
	if s != nil || len(logs) == 0 {
		return
	}
	var ctx context.Context
	ctx, k.untrim = context.WithCancel(context.Background())
	go trimAll(ctx, logs)
}

func (k *keeper) stopTrimming() {
	if k.untrim != nil {
		k.untrim()
		k.untrim = nil
	}
}

// trimAll keeps logs within their limits until ctx ends.
func trimAll(ctx context.Context, logs []Logs) {
	freed := map[string]int64{} // bytes at the head of each
	gap := trimFirst
	for {
		select {
		case <-time.After(gap):
		case <-ctx.Done():
			return
		}
		gap = min(2*gap, trimLatest)
		for _, l := range logs {
			for _, path := range l.Paths {
				before := freed[path]
				if freed[path] = trim(path, l.Limit, before); freed[path] > before {
					gap = trimSoonest
				}
			}
		}
	}
}

// trim frees the head of a file that has outgrown its limit by an eighth. Offsets
// stay, and whoever appends does not notice. freed is what it has freed before,
// and what it gives is what is free now. Where it fails, the log grows on.
func trim(path string, limit, freed int64) int64 {
	fd, err := openFD(path, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return freed
	}
	defer closeFD(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return freed
	}
	to := st.Size - limit
	to -= to % int64(unix.Getpagesize())
	freed = min(freed, max(to, 0)) // it may have been cut
	if to-freed <= limit/8 {
		return freed
	}
	for {
		err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, to)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return freed
		}
		return to
	}
}
