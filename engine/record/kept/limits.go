package kept

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// checkGap is the interval between checks of the limits. They are also checked whenever output is
	// added.
	checkGap = time.Minute
	// removeStep is how many runs are removed in one transaction.
	removeStep = 500
)

// limits are the bounds of what is kept.
type limits struct {
	age     time.Duration // since the exit; 0 keeps nothing
	runs    int
	bytes   int64 // of all
	run     int64 // of one run, its end
	minFree int64 // of the file system; 2 % of it if that is more
}

func defaultLimits() limits {
	return limits{age: 30 * 24 * time.Hour, runs: 100_000, bytes: 4 << 30, run: 256 << 20, minFree: 1 << 30}
}

// total is an amount of kept output.
type total struct {
	runs  int
	bytes int64
}

// plus adds another amount, n times.
func (t total) plus(other total, n int) total {
	return total{t.runs + n*other.runs, t.bytes + int64(n)*other.bytes}
}

// enforce deletes the oldest output until the limits are met.
func (o *Output) enforce() {
	o.changing.Lock()
	defer o.changing.Unlock()
	o.enforceNow()
}

// enforceNow is enforce while o.changing is held.
func (o *Output) enforceNow() {
	if o.keepsNothing() {
		o.removeAll()
		return
	}
	db, err := o.database(false)
	for db != nil && err == nil {
		lacking := o.lackingSpace()
		if lacking == 0 && !o.exceeds(total{}, 0) {
			return
		}
		var first []row
		if first, err = db.oldest(removeStep); err != nil {
			break
		}
		var ids []string
		sum := total{}
		for _, r := range first {
			if sum.bytes >= lacking && !o.exceeds(sum, r.endedUS) {
				break
			}
			ids, sum = append(ids, r.id), sum.plus(total{1, r.size}, 1)
		}
		if len(ids) < len(first) {
			o.mu.Lock()
			o.oldestUS = first[len(ids)].endedUS
			o.mu.Unlock()
		}
		if len(ids) == 0 {
			return
		}
		if err = o.remove(db, ids); err == nil && lacking > 0 {
			err = db.reclaim()
		}
	}
	if err != nil {
		_ = o.failed("limit", err)
	}
	if errors.Is(err, errDiskFull) { // deleting rows needs space, deleting files does not
		o.removeAll()
	}
}

// exceeds reports whether there is too much without what was removed, or a run that ended at a time is
// too old; 0 is that of the oldest one.
func (o *Output) exceeds(removed total, endedUS int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	rest := o.total.plus(removed, -1)
	endedUS = cmp.Or(endedUS, o.oldestUS)
	return rest.runs > o.limits.runs || rest.bytes > o.limits.bytes ||
		rest.runs > 0 && time.Since(time.UnixMicro(endedUS)) > o.limits.age
}

// removeAll deletes everything, with the database.
func (o *Output) removeAll() {
	o.mu.Lock()
	if o.db != nil {
		_ = o.db.db.Close() // its file is deleted
		o.db = nil
	}
	o.total, o.oldestUS = total{}, 0
	o.mu.Unlock() // the disk may be slow
	if err := os.RemoveAll(o.dir); err != nil {
		o.log.Warn("remove kept output", "error", err)
	}
}

// lackingSpace returns how many bytes must become free on a nearly full disk; 0 on another one.
func (o *Output) lackingSpace() int64 {
	free, size, err := o.free(filepath.Dir(o.dir))
	if err != nil {
		return 0
	}
	return max(max(o.limits.minFree, size/50)-free, 0)
}

// freeSpace returns how many bytes of the file system of a directory are free, and its size.
func freeSpace(dir string) (free, size int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}

func (o *Output) keepsNothing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.limits.age <= 0
}
