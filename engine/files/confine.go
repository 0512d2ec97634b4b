package files

import (
	"errors"
	"runtime"

	"tandem/engine/panics"
)

// confined does what touches the disk: at once, or, if the tree is confined, on
// a thread of its own, which Confine has confined and which ends with it.
func (t *Tree) confined(do func() error) error {
	if t.Confine == nil {
		return do()
	}
	var err error
	var thread panics.Group
	thread.Start(func() {
		runtime.LockOSThread() // without an end: a thread that is confined must not do anything else
		if onMainThread() {    // it cannot end, so it is kept while another one is found
			defer runtime.UnlockOSThread()
			err = t.confined(do)
			return
		}
		if err = t.Confine(); err != nil {
			err = errorf(Failed, "confine a file operation: %v", err)
			return
		}
		err = hinted(do())
	})
	thread.Wait()
	return err
}

// hinted says why an agent's operation was refused.
func hinted(err error) error {
	var e *Error
	if errors.As(err, &e) && e.refused && e.Hint == "" {
		e.Hint = "the sandbox for agents does not allow it"
	}
	return err
}
