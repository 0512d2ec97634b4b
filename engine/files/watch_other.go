//go:build !linux

package files

import (
	"context"
	"time"
)

// lookAgain is how often a folder is looked at where the system does not tell.
const lookAgain = time.Second

// A watch tells of changes in a folder.
type watch struct{ dir, stamp string }

func startWatch(dir string) (watch, error) {
	stamp, err := stampOf(dir)
	return watch{dir, stamp}, err
}

// wait waits for a change; it is false when ctx ended before.
func (w watch) wait(ctx context.Context) bool {
	for ctx.Err() == nil {
		pause(ctx, lookAgain)
		if stamp, err := stampOf(w.dir); err != nil || stamp != w.stamp {
			return true
		}
	}
	return false
}

func (w watch) close() {}
