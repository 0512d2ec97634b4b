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

	"tandem/engine/httplimit"
	"tandem/persist/datadir"
)

const (
	endTime = 2 * time.Second // for answers under way when it ends

	lockTime = time.Second // until another program counts as serving the page
	lockPace = 5 * time.Millisecond
)

// A Serving is a page that is served now, as other programs find it.
type Serving struct {
	PID         int    `json:"pid"`
	URL         string `json:"url"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

func servingPath(dataDir string) string { return filepath.Join(dataDir, datadir.Page, "serving.json") }

// Served is the page of a data folder that is served now, if one is.
func Served(dataDir string) (s Serving, ok bool, err error) {
	lock := flock.New(servingPath(dataDir) + ".lock")
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
	case errors.Is(err, fs.ErrNotExist), err == nil && errors.Is(syscall.Kill(s.PID, 0), syscall.ESRCH): // it is about to be
		return Serving{}, false, nil
	case err != nil:
		return Serving{}, false, err
	}
	return s, true, nil
}

// lastServed is the page of a data folder that is served, or was the last time.
func lastServed(dataDir string) (s Serving, err error) {
	text, err := os.ReadFile(servingPath(dataDir))
	if err != nil {
		return s, fmt.Errorf("read where the page is served: %w", err)
	}
	return s, json.Unmarshal(text, &s)
}

// ErrServed says that another program serves the page of this data folder.
var ErrServed = errors.New("the page of this data folder is served already")

// take takes the lock. Whoever looks whether the page is served has it for a moment.
func take(ctx context.Context, lock *flock.Flock) bool {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	free, err := lock.TryLockContext(ctx, lockPace)
	return err == nil && free
}

// Serve serves a page until ctx ends. There is one for a data folder.
func Serve(ctx context.Context, dataDir string, at Place, p *Page) error {
	path := servingPath(dataDir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := flock.New(path + ".lock")
	if !take(ctx, lock) {
		return ErrServed
	}
	defer lock.Close()
	text, err := json.Marshal(Serving{os.Getpid(), at.URL, at.Fingerprint})
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("tell where the page is served: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	var telling sync.WaitGroup
	telling.Go(func() { p.notify(ctx) })
	defer telling.Wait()
	defer end()
	s := p.Server()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(httplimit.Connections(at, httplimit.MaxConnections)) }()
	select {
	case err := <-ended:
		p.Close()
		return err
	case <-ctx.Done():
	}
	p.Close() // what goes on for ever ends with this
	late, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if s.Shutdown(late) != nil {
		_ = s.Close()
	}
	<-ended
	return nil
}
