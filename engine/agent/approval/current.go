package approval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/agent/policy"
	"tandem/engine/api"
	"tandem/persist/regular"
	"tandem/persist/store"
	"tandem/persist/trust"
)

// An editor that saves policy.toml may truncate it, rename it or write it in parts, and an agent
// may call at that moment. So the arbiter keeps the last valid policy, across restarts too, and
// policy.InEffect decides what applies meanwhile.

const (
	// maxPolicy bounds policy.toml, in bytes.
	maxPolicy = 1 << 20
	// policyInterval is the interval between polls of policy.toml while no agent calls.
	policyInterval = time.Second
	// sameTime is the resolution of file times: two changes within it may have the same time.
	sameTime = 100 * time.Millisecond
	// unreadable replaces a saved policy that cannot be read. It is no valid policy, so it allows
	// nothing.
	unreadable = "\x00"
)

// A fileVersion identifies the content of a file.
type fileVersion struct {
	modified time.Time
	size     int64
	mode     fs.FileMode
	exists   bool
	fresh    bool // the file may change again without a change of its time
}

// Keep makes the arbiter save the last valid policy in the data directory, and restores the one
// saved there. Call it before the first Check.
func (a *Arbiter) Keep(data *store.Store) {
	text, err := data.LoadPolicy()
	if err != nil {
		a.log.Error("load policy", "error", err)
		text = []byte(unreadable)
	}
	a.reading.Lock()
	a.data, a.kept = data, text
	a.reading.Unlock()
	a.currentPolicy()
}

// Follow polls the policy until ctx ends, so that the last valid version is known and a fault is
// reported before an agent calls.
func (a *Arbiter) Follow(ctx context.Context) {
	tick := time.NewTicker(policyInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			a.currentPolicy()
		}
	}
}

// currentPolicy returns the policy in effect now.
func (a *Arbiter) currentPolicy() policy.Policy {
	a.reading.Lock()
	defer a.reading.Unlock()
	if a.path == "" {
		return policy.Policy{}
	}
	now := versionOf(a.path)
	// Fast path: agents call often, and the file rarely changes.
	if a.loaded && now == a.read && !now.fresh && !a.unsaved {
		return a.policy
	}
	text, readErr := readPolicy(a.path)
	if !bytes.Equal(text, a.text) {
		a.text = text
		a.forgetCalls()
	}
	p, keep, err := policy.InEffect(text, readErr, a.kept)
	if keep && (a.unsaved || !bytes.Equal(text, a.kept)) {
		a.savePolicy(text)
	}
	a.reportFault(err)
	a.policy, a.read, a.loaded = p, now, readErr == nil
	return p
}

// savePolicy saves text as the last valid policy.
func (a *Arbiter) savePolicy(text []byte) {
	a.kept = text
	if a.data == nil {
		return
	}
	err := a.data.SavePolicy(text)
	if a.unsaved = err != nil; a.unsaved {
		a.log.Error("keep policy", "error", err)
	}
}

// reportFault announces the fault of the policy file, if it has changed.
func (a *Arbiter) reportFault(err error) {
	fault := ""
	if err != nil {
		place, _, _ := strings.Cut(err.Error(), "\n")
		fault = filepath.Base(a.path) + ": " + place
	}
	a.mu.Lock()
	known := fault == a.lastFault
	a.lastFault = fault
	a.mu.Unlock()
	if known {
		return
	}
	a.announce(api.Event{Type: api.EventPolicy, Fault: fault})
	if err != nil {
		a.log.Error("read policy", "path", a.path, "error", err)
	}
}

// Fault returns why the file's policy does not apply, or "" if it does.
func (a *Arbiter) Fault() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lastFault
}

func versionOf(path string) fileVersion {
	info, err := os.Stat(path)
	if err != nil {
		return fileVersion{exists: !errors.Is(err, fs.ErrNotExist)}
	}
	return fileVersion{modified: info.ModTime(), size: info.Size(), mode: info.Mode(), exists: true, fresh: time.Since(info.ModTime()) < sameTime}
}

// readPolicy reads policy.toml; it returns nil if the file does not exist.
func readPolicy(path string) ([]byte, error) {
	f, _, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, store.Cause(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	switch {
	case err != nil:
		return nil, store.Cause(err)
	case len(text) > maxPolicy:
		return nil, fmt.Errorf("it is larger than %d bytes", maxPolicy)
	}
	return text, trust.File(path)
}
