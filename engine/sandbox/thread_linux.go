//go:build amd64 || arm64

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ConfineThread holds the calling thread to what the layers say of files, for
// good: what is done on it to files is what a process confined by them could do,
// and programs that it starts are held to the same. The goroutine has to be
// locked to its thread (runtime.LockOSThread) and must end with it, and other
// goroutines that it starts run elsewhere. guarded is as with Check.
func (l Layers) ConfineThread(guarded ...string) error {
	k := currentKernel()
	if err := k.check(l); err != nil {
		return err
	}
	table, err := readMounts()
	if err != nil {
		return err
	}
	all, err := resolveLayers(l, table, guarded)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("sandbox: set no_new_privs: %w", err)
	}
	for i, named := range all {
		if err := confineThread(named, k); err != nil {
			return fmt.Errorf("sandbox: %w", l.at(i, err))
		}
	}
	return nil
}

func confineThread(named paths, k kernel) error {
	set, err := newRuleset(unix.LandlockRulesetAttr{Handled_access_fs: handled(1, openNetwork, k).Handled_access_fs})
	if err != nil {
		return err
	}
	defer set.close()
	if err := addRules(set, named); err != nil {
		return err
	}
	return set.restrict(0)
}
