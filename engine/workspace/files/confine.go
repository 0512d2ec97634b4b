package files

import (
	"errors"
	"runtime"

	"tandem/engine/base/panics"
)

// runConfined calls do, which touches the disk: directly, or, if the tree has a Confine, on a new
// thread confined by it, which exits afterwards.
func (t *Tree) runConfined(do func() error) error {
	if t.Confine == nil {
		return do()
	}
	var err error
	var thread panics.Group
	thread.Start(func() {
		// The thread is never unlocked. A confined thread must not run anything else, so it exits
		// with its goroutine.
		runtime.LockOSThread()
		// The first thread cannot exit: keep it busy until the operation has run on another one.
		if onMainThread() {
			defer runtime.UnlockOSThread()
			err = t.runConfined(do)
			return
		}
		if err = t.Confine(); err != nil {
			err = errorf(Failed, "confine a file operation: %v", err)
			return
		}
		err = addSandboxHint(do())
	})
	thread.Wait()
	return err
}

// addSandboxHint adds a hint to the error of an agent's operation refused by the sandbox.
func addSandboxHint(err error) error {
	var e *Error
	if errors.As(err, &e) && e.denied && e.Hint == "" {
		e.Hint = "the sandbox for agents does not allow it"
	}
	return err
}
