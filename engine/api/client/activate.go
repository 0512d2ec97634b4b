package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"tandem/engine/api"
	"tandem/engine/api/wire"
	"tandem/persist/datadir"
)

const (
	// activateTimeout is how long a keeper and its engine may take to start,
	// and an old engine to hand over.
	activateTimeout = 10 * time.Second
	// activatePoll is how often a client that waits for another one's
	// activation looks again.
	activatePoll = 10 * time.Millisecond
	// startPatience is how long to wait for a newly started engine to answer before starting
	// it again; the wait doubles with each retry.
	startPatience = 50 * time.Millisecond
	// replacePatience is how long to wait for an older engine to step down before asking
	// again.
	replacePatience = 500 * time.Millisecond
	// maxReplaces is how many times an older engine is asked to step down.
	maxReplaces = 3
)

// Activate reaches the engine of a data folder and starts keeper and engine
// first if they are not running. An engine of an older version is asked to
// step down in favour of this program; its sessions go on. An older program
// never replaces a newer engine. Any number of clients may activate at once.
// Errors are *Error, or wrap ctx's when that has ended.
func Activate(ctx context.Context, o Options) (*Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	a := activation{Options: o, client: newClient(o)}
	if err := a.run(limited); err != nil {
		a.client.Close()
		if timedOut(ctx, err) {
			err = a.late()
		}
		return nil, err
	}
	return a.client, nil
}

// late says what did not happen in time.
func (a *activation) late() *api.Error {
	e := api.Errorf(api.CodeUnavailable, "activate: no engine of %s answered within %v", a.DataDir, a.timeout)
	if a.older != "" {
		e = api.Errorf(api.CodeUnavailable, "activate: the engine of version %s did not hand over to %s within %v",
			a.older, a.Version, a.timeout)
	}
	if a.holder != 0 {
		e.Message += fmt.Sprintf("; process %d holds %s", a.holder, datadir.ActivateLock)
	}
	return e.WithHint(hintLog(a.DataDir))
}

// An activation is one run of Activate.
type activation struct {
	Options
	client *Client
	older  string // version of the engine that is asked to step down
	holder int    // pid of the client holding the lock while this one waits; 0 if unknown
}

// A verdict says what an activation has to do next.
type verdict int

const (
	verdictReady   verdict = iota // an engine that this program can use answers
	verdictAbsent                 // no engine answers
	verdictReplace                // an engine of an older version answers
)

func (a *activation) run(ctx context.Context) error {
	v, err := a.look(ctx)
	if err != nil || v == verdictReady {
		return err
	}
	lock, v, err := a.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	return a.bring(ctx, v)
}

// bring starts or replaces the engine until a recent enough one answers. It retries because
// the keeper or engine may be killed by something else before it finishes.
func (a *activation) bring(ctx context.Context, v verdict) (err error) {
	replaced := 0
	for patience := startPatience; v != verdictReady; patience *= 2 {
		switch {
		case v == verdictAbsent:
			err = a.start(ctx)
		case replaced < maxReplaces:
			replaced++
			err = a.replace(ctx)
		}
		if err != nil {
			return err
		}
		if v, err = a.await(ctx, patience); err != nil {
			return err
		}
	}
	return nil
}

// look asks the engine who it is. Errors are those that starting or replacing
// an engine would not mend.
func (a *activation) look(ctx context.Context) (verdict, error) {
	info, err := api.EngineInfo.Call(ctx, a.client, api.Empty{})
	switch {
	case errors.Is(err, api.CodeUnavailable):
		return verdictAbsent, nil
	case err != nil:
		return verdictAbsent, err
	case newer(a.Version, info.Version):
		a.older = info.Version
		return verdictReplace, nil
	}
	return verdictReady, a.client.speak(info)
}

// lock takes the lock under which engines are started and replaced, and looks
// again. If another client holds the lock, it waits for that client to finish; the
// verdict is then ready and no lock is held. It does not wait for a suspended client:
// the lock only avoids duplicate work, keeper.lock decides.
func (a *activation) lock(ctx context.Context) (*flock.Flock, verdict, error) {
	if err := wire.PrivateFolder(a.DataDir); err != nil {
		return nil, verdictAbsent, err
	}
	path := filepath.Join(a.DataDir, datadir.ActivateLock)
	lock := flock.New(path, flock.SetPermissions(0o600))
	poll := time.NewTicker(activatePoll)
	defer poll.Stop()
	for {
		locked, err := lock.TryLock()
		if err != nil {
			return nil, verdictAbsent, api.Errorf(api.CodeUnavailable, "use data folder %s: lock activate.lock: %v", a.DataDir, wire.Root(err)).
				WithHint(wire.HintWritable)
		}
		if locked {
			_ = os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600) // shown in other clients' errors
			a.holder = 0
		} else {
			a.holder = readHolder(path)
		}
		v, err := a.look(ctx)
		if err != nil || locked || v == verdictReady || isStopped(a.holder) {
			if err != nil {
				lock.Close()
			}
			return lock, v, err
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return nil, v, fmt.Errorf("activate: %w", ctx.Err())
		}
	}
}

// readHolder reads the pid of the client holding the lock file at path; 0 if unknown.
func readHolder(path string) int {
	text, _ := os.ReadFile(path)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// start runs the keeper and waits until it says that the engine is ready.
func (a *activation) start(ctx context.Context) error {
	engineSocket, keeperSocket := api.Sockets(a.DataDir)
	for _, socket := range []string{engineSocket, keeperSocket} {
		// The keeper uses a spare path if the runtime directory cannot be created.
		if err := wire.PrivateFolder(filepath.Dir(socket)); err != nil && !errors.Is(err, api.CodeUnavailable) {
			return err
		}
	}
	for tries := 1; ; tries++ {
		var silent *silentError
		err := runKeeper(ctx, a.Options)
		if !errors.As(err, &silent) || tries == maxSilent || ctx.Err() != nil {
			return err
		}
	}
}

// replace asks an older engine to step down in favour of this executable. That
// the answer is lost is no failure: the engine may be gone before it is read.
func (a *activation) replace(ctx context.Context) error {
	in := api.EngineStopInput{Replace: fmt.Sprintf("/proc/%d/exe", os.Getpid())}
	_, err := api.EngineStop.Call(ctx, a.client, in)
	if errors.Is(err, api.CodeUnavailable) {
		return nil
	}
	return err
}

// await polls until a recent enough engine answers. It gives up after patience if no engine
// answers, and after replacePatience if an older one does.
func (a *activation) await(ctx context.Context, patience time.Duration) (verdict, error) {
	poll := time.NewTicker(activatePoll)
	defer poll.Stop()
	for begin := time.Now(); ; {
		v, err := a.look(ctx)
		waited := time.Since(begin)
		if err != nil || v == verdictReady || v == verdictAbsent && waited > patience || waited > replacePatience {
			return v, err
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return v, fmt.Errorf("activate: %w", ctx.Err())
		}
	}
}

func logPath(dataDir string) string { return filepath.Join(dataDir, datadir.EngineLog) }
