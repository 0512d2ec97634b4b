package engine

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/sleep"
	"tandem/persist/store"
)

// A keeperClient is what the engine needs of keeper.Client. Tests of regaining have keepers that
// run out of descriptors and refuse adoptions.
type keeperClient interface {
	PID() int
	Succeeds() bool
	Ready() error
	Start(ctx context.Context, s keeper.Spec) (keeper.Child, *os.File, error)
	List(ctx context.Context) ([]keeper.Child, error)
	Master(ctx context.Context, id string) (*os.File, error)
	Adopt(ctx context.Context, child keeper.Child, dir string, logs keeper.Logs, master *os.File) error
	Forget(ctx context.Context, id string) error
	Replace(ctx context.Context, executable *os.File) error
	Succeed(ctx context.Context, executable *os.File, pid int) error
	Pause(ctx context.Context) error
	Exits() <-chan keeper.Child
	Close() error
}

const (
	// keeperTimeout is how long a start waits for a keeper while there is none.
	keeperTimeout = 5 * time.Second
	// keeperRetry is the time between attempts to get a new keeper, at first;
	// it doubles up to keeperRetryMost.
	keeperRetry     = 50 * time.Millisecond
	keeperRetryMost = 10 * time.Second
)

// A handover is a child with what a keeper needs to look after it.
type handover struct {
	child  keeper.Child
	dir    string
	logs   keeper.Logs
	master *os.File
}

// A link is the connection to whichever keeper there is. When the keeper dies
// it gets a new one and hands it every child.
type link struct {
	log       *slog.Logger
	start     func(ctx context.Context) error                 // starts a keeper process
	dial      func(ctx context.Context) (keeperClient, error) // connects to it
	handovers func(ctx context.Context) []handover            // all children that live
	refused   func(keeper.Child)                              // called if a keeper rejects the child
	exited    func(keeper.Child)
	notice    func(text string)

	mu     sync.Mutex
	client keeperClient    // nil while disconnected
	who    *store.Identity // of the client's keeper; nil if unknown
	up     chan struct{}   // closed when client is set
}

func newLink(client keeperClient) *link {
	l := &link{up: make(chan struct{})}
	l.set(client)
	return l
}

// get gives the connection, after a while if there is none at the moment.
func (l *link) get(ctx context.Context) (keeperClient, error) {
	ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
	defer cancel()
	for {
		l.mu.Lock()
		client, up := l.client, l.up
		l.mu.Unlock()
		if client != nil {
			return client, nil
		}
		select {
		case <-up:
		case <-ctx.Done():
			return nil, api.Errorf(api.CodeUnavailable, "reach keeper: it exited, and a new one has not started yet").
				WithHint("try again; engine.log has the reason")
		}
	}
}

// current returns the connection; nil while disconnected.
func (l *link) current() keeperClient {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client
}

// pid is the keeper's, 0 while there is none.
func (l *link) pid() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client == nil {
		return 0
	}
	return l.client.PID()
}

func (l *link) set(client keeperClient) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client, l.who = client, nil
	if client == nil {
		l.up = make(chan struct{})
		return
	}
	if who, err := store.Identify(client.PID()); err == nil {
		l.who = &who
	}
	close(l.up)
}

// keeper returns the keeper's identity; nil while disconnected or if it is unknown.
func (l *link) keeper() *store.Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.who
}

// run passes exits on and replaces a keeper that died, until ctx ends.
func (l *link) run(ctx context.Context) {
	client := l.client
	for ctx.Err() == nil {
		l.passExits(ctx, client)
		if ctx.Err() != nil {
			return
		}
		client.Close()
		l.set(nil)
		l.notice("the keeper exited; starting another one")
		if client = l.reconnect(ctx); client == nil {
			return
		}
		l.notice("a new keeper holds all sessions")
	}
}

func (l *link) passExits(ctx context.Context, client keeperClient) {
	for {
		select {
		case child, ok := <-client.Exits():
			if !ok {
				return
			}
			l.exited(child)
		case <-ctx.Done():
			return
		}
	}
}

// reconnect gets a new keeper, however long that takes; nil when ctx ends.
func (l *link) reconnect(ctx context.Context) keeperClient {
	for wait := keeperRetry; ; wait = min(2*wait, keeperRetryMost) {
		client, err := l.renew(ctx)
		if err == nil {
			return client
		}
		l.log.Error("start keeper", "error", err)
		if sleep.For(ctx, wait) != nil {
			return nil
		}
	}
}

// renew starts a keeper and hands it every child. A child that it does not
// take is not lost with it: the terminal stays open here.
func (l *link) renew(ctx context.Context) (keeperClient, error) {
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	client, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	err = l.handOver(ctx, client)
	if err == nil {
		err = client.Ready()
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	l.set(client)
	return client, nil
}

// handOver gives every child to a keeper. If only the connection to the previous keeper
// was lost, it still has them, and may have reported exits that were not received.
func (l *link) handOver(ctx context.Context, client keeperClient) error {
	for _, c := range l.handovers(ctx) {
		err := client.Adopt(ctx, c.child, c.dir, c.logs, c.master)
		switch {
		case errors.Is(err, keeper.ErrLost):
			return err
		case err != nil:
			l.log.Error("hand child to keeper", "id", c.child.ID, "error", err)
			l.refused(c.child)
		}
	}
	children, err := client.List(ctx)
	for _, c := range children {
		if c.Exit != nil {
			l.exited(c)
		}
	}
	return err
}

// close ends the connection; the keeper and its children go on.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil {
		l.client.Close()
	}
}
