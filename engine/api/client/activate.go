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

	"tandem/engine/api/sockets"

	"github.com/gofrs/flock"

	"tandem/engine/api"
	"tandem/engine/api/wire"
	"tandem/persist/datadir"
	"tandem/persist/regular"
)

const (
	// activateTimeout is how long starting a keeper and its engine may take, or replacing an old
	// engine. On a busy machine either may take more than ten seconds.
	activateTimeout = 30 * time.Second
	// activatePoll is the interval between two checks whether the engine answers.
	activatePoll = 10 * time.Millisecond
	// startPatience is how long a newly started engine may take to answer before it is started
	// again. It doubles with each attempt.
	startPatience = 50 * time.Millisecond
	// replacePatience is how long an older engine may take to exit before it is asked again.
	replacePatience = 500 * time.Millisecond
	// maxReplaces is how often an older engine is asked to be replaced.
	maxReplaces = 3
)

// Activate connects to the engine of a data directory. If necessary, it first starts the keeper and
// the engine. It asks an engine of an older version to let this program take its place; the
// sessions keep running. An older program never replaces a newer engine. Any number of clients may
// call Activate at once. Errors are *api.Error, or wrap ctx.Err() after ctx is done.
func Activate(ctx context.Context, o Options) (*Client, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	a := activation{Options: o, client: newClient(o)}
	if err := a.run(limited); err != nil {
		a.client.Close()
		if isOwnTimeout(ctx, err) {
			err = a.timeoutError()
		}
		return nil, err
	}
	return a.client, nil
}

// timeoutError describes the step that timed out.
func (a *activation) timeoutError() *api.Error {
	e := api.Errorf(api.CodeUnavailable, "activate: no engine of %s answered within %v", a.DataDir, a.timeout)
	if a.older.Version != "" {
		e = api.Errorf(api.CodeUnavailable, "activate: the engine of version %s was not replaced by %s within %v",
			a.older.Version, a.Version, a.timeout)
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
	older  api.Info // of the engine asked to step down; one without StartedAt does not know InPlace
	holder int      // pid of the client holding the lock while this one waits; 0 if unknown
}

// A verdict is the next step of an activation.
type verdict int

const (
	verdictReady   verdict = iota // a usable engine answers
	verdictAbsent                 // no engine answers
	verdictReplace                // an engine of an older version answers
)

func (a *activation) run(ctx context.Context) error {
	// Fast path: usually the engine is running, and no lock is needed.
	v, err := a.inspectEngine(ctx)
	if err != nil || v == verdictReady {
		return err
	}
	lock, v, err := a.acquireLock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	return a.bringUp(ctx, v)
}

// bringUp starts or replaces the engine until a recent enough one answers. It tries again if
// necessary, because the keeper or the engine may be killed before it is ready.
func (a *activation) bringUp(ctx context.Context, v verdict) (err error) {
	replaced := 0
	for patience := startPatience; v != verdictReady; patience *= 2 {
		switch {
		case v == verdictAbsent:
			err = a.startKeeper(ctx)
		case replaced < maxReplaces:
			replaced++
			err = a.replaceEngine(ctx)
		}
		if err != nil {
			return err
		}
		if v, err = a.awaitEngine(ctx, patience); err != nil {
			return err
		}
	}
	return nil
}

// inspectEngine asks the engine for its version. It returns an error only if starting or replacing
// an engine would not help.
func (a *activation) inspectEngine(ctx context.Context) (verdict, error) {
	info, err := api.EngineInfo.Call(ctx, a.client, api.Empty{})
	switch {
	case errors.Is(err, api.CodeUnavailable):
		return verdictAbsent, nil
	case err != nil:
		return verdictAbsent, err
	case IsNewer(a.Version, info.Version):
		a.older = info
		return verdictReplace, nil
	}
	return verdictReady, a.client.useProtocol(info)
}

// acquireLock takes the lock for starting and replacing engines, and then inspects the engine
// again. If another client holds the lock, it waits until that client has finished. The verdict is
// then ready, and no lock is held. It does not wait for a suspended client: the lock only avoids
// duplicate work, and keeper.lock decides in the end.
func (a *activation) acquireLock(ctx context.Context) (*flock.Flock, verdict, error) {
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
		// Inspect the engine after trying the lock, because its last holder may just have started
		// one.
		v, err := a.inspectEngine(ctx)
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

// readHolder reads the PID of the client that holds the lock from the lock file at path. It returns
// 0 if that is unknown.
func readHolder(path string) int {
	text, _ := regular.ReadFile(path)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// startKeeper runs the keeper, and waits until it reports that the engine is ready.
func (a *activation) startKeeper(ctx context.Context) error {
	engineSocket, keeperSocket := sockets.Paths(a.DataDir)
	for _, socket := range []string{engineSocket, keeperSocket} {
		// The keeper uses a spare path if the runtime directory cannot be created.
		if err := wire.PrivateFolder(filepath.Dir(socket)); err != nil && !errors.Is(err, api.CodeUnavailable) {
			return err
		}
	}
	for tries := 1; ; tries++ {
		var silent *silentError
		err := runKeeper(ctx, a.Options)
		if !errors.As(err, &silent) || tries == maxSilentKeepers || ctx.Err() != nil {
			return err
		}
	}
}

// replaceEngine asks an older engine to let this executable take its place. It is no error if the
// answer is lost, because the engine may exit before it sends the answer.
func (a *activation) replaceEngine(ctx context.Context) error {
	// The path through /proc leads to this executable even after its file was replaced.
	in := api.EngineStopInput{Replace: fmt.Sprintf("/proc/%d/exe", os.Getpid()), InPlace: !a.older.StartedAt.IsZero()}
	_, err := api.EngineStop.Call(ctx, a.client, in)
	if errors.Is(err, api.CodeUnavailable) {
		return nil
	}
	return err
}

// awaitEngine waits until a recent enough engine answers. It gives up after patience if no engine
// answers, and after replacePatience if only an older one does.
func (a *activation) awaitEngine(ctx context.Context, patience time.Duration) (verdict, error) {
	poll := time.NewTicker(activatePoll)
	defer poll.Stop()
	for begin := time.Now(); ; {
		v, err := a.inspectEngine(ctx)
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
