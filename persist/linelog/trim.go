package linelog

import (
	"errors"
	"fmt"
	"os"

	"tandem/persist/sparse"
)

// Trim frees the head of the file if it has outgrown its limit by Excess. It
// never touches what is written meanwhile: offsets stay, and the file keeps its
// length. Where the file system cannot, it does nothing and Bounded tells.
func (l *File) Trim() error {
	l.trimming.Lock()
	defer l.trimming.Unlock()
	if l.limit == 0 || l.unbounded.Load() {
		return nil
	}
	hole, end := l.hole(), l.End()
	if end-hole <= l.limit+sparse.Excess(l.limit) {
		return nil
	}
	unit := int64(os.Getpagesize())
	from, to := hole-hole%unit, (end-l.limit)-(end-l.limit)%unit
	if to <= from {
		return nil
	}
	err := l.disk.Punch(l.f, from, to-from)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		l.unbounded.Store(true)
		return nil
	case err != nil:
		return fmt.Errorf("trim log %s: %w", l.f.Name(), err)
	}
	// Where a hole cannot be told from NULs there must not be a second one.
	if l.hole() < to {
		l.unbounded.Store(true)
	}
	return nil
}
