package observe

import (
	"context"
	"errors"
	"syscall"
	"time"

	"tandem/engine/base/sleep"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

const (
	// lateExitWait is how long to wait for the exit status of a child after its tree is gone.
	lateExitWait = 2 * time.Second
	// maxReadRetries is how often reading an exit file is tried again.
	maxReadRetries = 5
	// readRetryPause is the time before the first retry. It doubles with each further one.
	readRetryPause = 10 * time.Millisecond
)

// FindLateExit waits until the keeper has reported the exit of a child.
func (o *Observer) FindLateExit(ctx context.Context, r store.Record) supervise.Ending {
	for end := time.Now().Add(lateExitWait); ; {
		e, ok := o.Read(r.ID)
		if ok && r.Identity != nil && e.Identity == *r.Identity {
			return supervise.EndingFrom(e)
		}
		if time.Now().After(end) {
			return supervise.Ending{Exit: keeper.Exit{Unknown: true}, At: time.Now()}
		}
		if sleep.For(ctx, 50*time.Millisecond) != nil {
			return supervise.Ending{Exit: keeper.Exit{Unknown: true}}
		}
	}
}

// Report passes an exit reported by the keeper to the control loop.
func (o *Observer) Report(c keeper.Child) {
	end := supervise.Ending{Exit: keeper.Exit{Unknown: true}, At: time.Now()}
	if c.Exit != nil {
		end.Exit = *c.Exit
	}
	// If the keeper adopted the child, it may know less than the exit file.
	if e, ok := o.Read(c.ID); end.Exit.Unknown && ok && e.Identity == supervise.IdentityOf(c) {
		end = supervise.EndingFrom(e)
	}
	o.Control.ReportExit(c, end)
}

// Read returns the exit of a child from its exit file. It returns false if there is none.
func (o *Observer) Read(id string) (store.Exit, bool) {
	e, ok, err := o.Store.Exit(id)
	var errno syscall.Errno
	for i := 0; errors.As(err, &errno) && i < maxReadRetries; i++ { // the file may exist
		time.Sleep(readRetryPause << i)
		e, ok, err = o.Store.Exit(id)
	}
	if err != nil {
		o.Log.Warn("read exit", "id", id, "error", err)
	}
	return e, ok && err == nil
}
