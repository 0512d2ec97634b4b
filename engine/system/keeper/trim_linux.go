package keeper

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Logs are the files a child without a terminal appends to, limited to Limit bytes each. The
// engine trims them while it is connected, otherwise the keeper does. Without a limit they are not
// trimmed.
type Logs struct {
	Paths []string
	Limit int64
}

// Intervals between trims: the faster the logs grow, the shorter.
const (
	minTrimInterval   = 100 * time.Millisecond
	firstTrimInterval = time.Second // time for a replaced engine to reconnect
	maxTrimInterval   = 5 * time.Second
)

// setSession makes s the engine's connection, or none if nil. Without an engine no child is started
// or adopted, so only the logs of the children living now need trimming.
func (k *keeper) setSession(s *session) {
	k.engine.session = s
	// The previous engine can no longer record the exits it was sent.
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
	ctx, k.cancelTrim = context.WithCancel(context.Background())
	go trimAll(ctx, logs)
}

func (k *keeper) stopTrimming() {
	if k.cancelTrim != nil {
		k.cancelTrim()
		k.cancelTrim = nil
	}
}

// trimAll keeps logs within their limits until ctx ends.
func trimAll(ctx context.Context, logs []Logs) {
	freed := map[string]int64{} // bytes freed at the head of each file
	gap := firstTrimInterval
	for {
		select {
		case <-time.After(gap):
		case <-ctx.Done():
			return
		}
		// Back off, unless a log had to be trimmed.
		gap = min(2*gap, maxTrimInterval)
		for _, l := range logs {
			for _, path := range l.Paths {
				before := freed[path]
				if freed[path] = trimLog(path, l.Limit, before); freed[path] > before {
					gap = minTrimInterval
				}
			}
		}
	}
}

// trimLog frees the head of a file that exceeds its limit by an eighth. Offsets and writers are
// unaffected. freed is the number of bytes freed before; the result is the new number. If trim
// fails, the log keeps growing.
func trimLog(path string, limit, freed int64) int64 {
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
	freed = min(freed, max(to, 0)) // the file may have been truncated
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
