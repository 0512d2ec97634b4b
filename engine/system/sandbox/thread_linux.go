//go:build amd64 || arm64

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ConfineThread permanently limits the calling thread to the layers' file access, for file
// operations on behalf of a confined process; programs it starts are limited too. The goroutine
// must be locked to its thread (runtime.LockOSThread) and must end with it. Goroutines it starts
// run unconfined. guarded is as in Check.
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
			return fmt.Errorf("sandbox: %w", l.wrapLayer(i, err))
		}
	}
	return nil
}

func confineThread(named paths, k kernel) error {
	set, err := newRuleset(unix.LandlockRulesetAttr{Handled_access_fs: rightsFor(1, openNetwork, k).Handled_access_fs})
	if err != nil {
		return err
	}
	defer set.close()
	if err := addRules(set, named); err != nil {
		return err
	}
	return set.restrict(0)
}
