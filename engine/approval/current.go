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
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/policy"
	"tandem/persist/store"
	"tandem/persist/trust"
)

// An editor that saves policy.toml may truncate it, rename it away or write it in parts, and
// an agent may call just then. So the last valid policy is kept, across restarts too, and
// policy.InEffect decides what applies meanwhile.

const (
	// maxPolicy bounds policy.toml.
	maxPolicy = 1 << 20
	// policyLook is the time between looks at policy.toml while no agent calls.
	policyLook = time.Second
	// sameTime is within what two changes of a file may carry the same time.
	sameTime = 100 * time.Millisecond
	// unreadable stands for a kept policy that cannot be read: it is none, so that nothing
	// is allowed because of it.
	unreadable = "\x00"
)

// A fileVersion tells one content of a file from another.
type fileVersion struct {
	modified time.Time
	size     int64
	mode     fs.FileMode
	exists   bool
	fresh    bool // it may change again without another time
}

// Keep has the arbiter keep the last valid policy in the data folder, and go by the one that
// was kept there. Call it before the first check.
func (a *Arbiter) Keep(data *store.Store) {
	text, err := data.LoadPolicy()
	if err != nil {
		a.log.Error("load policy", "error", err)
		text = []byte(unreadable)
	}
	a.reading.Lock()
	a.data, a.kept = data, text
	a.reading.Unlock()
	a.current()
}

// Follow reads the policy whenever it has changed, until ctx ends, so that the last valid one
// is known and a fault is told before an agent calls.
func (a *Arbiter) Follow(ctx context.Context) {
	tick := time.NewTicker(policyLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			a.current()
		}
	}
}

// current returns the policy that applies now.
func (a *Arbiter) current() policy.Policy {
	a.reading.Lock()
	defer a.reading.Unlock()
	if a.path == "" {
		return policy.Policy{}
	}
	now := versionOf(a.path)
	if a.loaded && now == a.read && !now.fresh && !a.unsaved {
		return a.policy
	}
	text, readErr := readPolicy(a.path)
	p, keep, err := policy.InEffect(text, readErr, a.kept)
	if keep && (a.unsaved || !bytes.Equal(text, a.kept)) {
		a.keep(text)
	}
	a.tell(err)
	a.policy, a.read, a.loaded = p, now, readErr == nil
	return p
}

// keep replaces the last valid policy.
func (a *Arbiter) keep(text []byte) {
	a.kept = text
	if a.data == nil {
		return
	}
	err := a.data.SavePolicy(text)
	if a.unsaved = err != nil; a.unsaved {
		a.log.Error("keep policy", "error", err)
	}
}

// tell announces the fault that keeps the policy file from applying, if that has changed.
func (a *Arbiter) tell(err error) {
	fault := ""
	if err != nil {
		place, _, _ := strings.Cut(err.Error(), "\n")
		fault = filepath.Base(a.path) + ": " + place
	}
	a.mu.Lock()
	known := fault == a.fault
	a.fault = fault
	a.mu.Unlock()
	if known {
		return
	}
	a.announce(api.Event{Type: api.EventPolicy, Fault: fault})
	if err != nil {
		a.log.Error("read policy", "path", a.path, "error", err)
	}
}

// Fault says why the policy that applies is another than that of the file; "" if it is not.
func (a *Arbiter) Fault() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fault
}

func versionOf(path string) fileVersion {
	info, err := os.Stat(path)
	if err != nil {
		return fileVersion{exists: !errors.Is(err, fs.ErrNotExist)}
	}
	return fileVersion{modified: info.ModTime(), size: info.Size(), mode: info.Mode(), exists: true, fresh: time.Since(info.ModTime()) < sameTime}
}

// readPolicy reads policy.toml; nil if there is none.
func readPolicy(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a FIFO waits
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, store.Cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	switch {
	case err != nil:
		return nil, store.Cause(err)
	case len(text) > maxPolicy:
		return nil, fmt.Errorf("it is larger than %d bytes", maxPolicy)
	}
	return text, trust.File(path)
}
