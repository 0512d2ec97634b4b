//go:build !linux

package files

import (
	"context"
	"os"
	"time"
)

// lookAgain is how often a folder is looked at where the system does not tell.
const lookAgain = time.Second

// A watch tells of changes in a folder.
type watch struct {
	again func() (string, error)
	stamp string
}

func startWatch(_ *os.File, again func() (string, error)) (watch, error) {
	stamp, err := again()
	return watch{again, stamp}, err
}

// wait waits for a change; it is false when ctx ended before.
func (w watch) wait(ctx context.Context) bool {
	for ctx.Err() == nil {
		pause(ctx, lookAgain)
		if stamp, err := w.again(); err != nil || stamp != w.stamp {
			return true
		}
	}
	return false
}

func (w watch) close() {}
