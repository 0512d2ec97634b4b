package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"tandem/engine/base/httplimit"
	"tandem/persist/datadir"
	"tandem/persist/regular"
)

const (
	shutdownTimeout = 2 * time.Second // for pending responses at shutdown

	lockTimeout  = time.Second // maximum wait for the lock
	lockInterval = 5 * time.Millisecond
)

// A Serving describes a page being served, for other programs.
type Serving struct {
	PID         int    `json:"pid"`
	URL         string `json:"url"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

func servingPath(dataDir string) string { return filepath.Join(dataDir, datadir.Page, "serving.json") }

// Served returns the page being served for a data directory; ok is false if there is none.
func Served(dataDir string) (s Serving, ok bool, err error) {
	lock := flock.New(servingPath(dataDir) + ".lock")
	// A server holds the lock as long as it runs, so a free lock means there is none.
	free, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if free || err != nil {
		lock.Close()
		return s, false, err
	}
	s, err = lastServed(dataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && errors.Is(syscall.Kill(s.PID, 0), syscall.ESRCH): // it is about to start
		return Serving{}, false, nil
	case err != nil:
		return Serving{}, false, err
	}
	return s, true, nil
}

// lastServed returns the page being served for a data directory, or the last one served.
func lastServed(dataDir string) (s Serving, err error) {
	text, err := regular.ReadFile(servingPath(dataDir))
	if err != nil {
		return s, fmt.Errorf("read the page's address: %w", err)
	}
	return s, json.Unmarshal(text, &s)
}

// ErrServed is returned if another program serves the page of this data directory.
var ErrServed = errors.New("the page of this data folder is already being served")

// takeLock takes the lock. It retries, because Served holds the lock briefly.
func takeLock(ctx context.Context, lock *flock.Flock) bool {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	free, err := lock.TryLockContext(ctx, lockInterval)
	return err == nil && free
}

// Serve serves a page until ctx ends. Only one program can serve the page of a data directory.
func Serve(ctx context.Context, dataDir string, at Place, p *Page) error {
	path := servingPath(dataDir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := flock.New(path + ".lock")
	// Lock before writing serving.json, which would otherwise describe the wrong server.
	if !takeLock(ctx, lock) {
		return ErrServed
	}
	defer lock.Close()
	text, err := json.Marshal(Serving{os.Getpid(), at.URL, at.Fingerprint})
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("save the page's address: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	var telling sync.WaitGroup
	telling.Go(func() { p.notifyDevices(ctx) })
	defer telling.Wait()
	defer end()
	s := p.Server()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(httplimit.LimitConnections(at, httplimit.MaxConnections)) }()
	select {
	case err := <-ended:
		p.Close()
		return err
	case <-ctx.Done():
	}
	p.Close() // end streams, which Shutdown would wait for
	late, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if s.Shutdown(late) != nil {
		_ = s.Close()
	}
	<-ended
	return nil
}
