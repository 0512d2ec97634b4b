package linelog

import (
	"errors"
	"fmt"
	"os"

	"tandem/persist/sparse"
)

// Trim frees the start of the file if the file exceeds its limit by Excess. Offsets, the file's
// length and concurrent appends are not affected. If the file system cannot free it, Trim does
// nothing, and Bounded returns false.
func (l *File) Trim() error {
	l.trimming.Lock()
	defer l.trimming.Unlock()
	if l.limit == 0 || l.unbounded.Load() {
		return nil
	}
	hole, end := l.holeEnd(), l.End()
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
	// The file system does not support holes. A second one would be read as data, so stop freeing.
	if l.holeEnd() < to {
		l.unbounded.Store(true)
	}
	return nil
}
