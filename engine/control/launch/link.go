package launch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A Keeper is the part of keeper.Client that the engine uses. In tests, keepers can run out of
// descriptors and refuse adoptions.
type Keeper interface {
	Children
	PID() int
	Upgrades() bool
	Ready() error
	Replace(ctx context.Context, executable *os.File) error
	Upgrade(ctx context.Context, executable *os.File) error
	Pause(ctx context.Context) error
	Exits() <-chan keeper.Child
	Close() error
}

var _ Keeper = (*keeper.Client)(nil)

// Children are what a keeper holds.
type Children interface {
	Start(ctx context.Context, s keeper.Spec) (keeper.Child, *os.File, error)
	List(ctx context.Context) ([]keeper.Child, error)
	Master(ctx context.Context, id string) (*os.File, error)
	Adopt(ctx context.Context, child keeper.Child, dir string, logs keeper.Logs, master *os.File) error
	Forget(ctx context.Context, id string) error
}

const (
	// keeperTimeout is how long a start waits for a new keeper.
	keeperTimeout = 5 * time.Second
	// keeperRetry is the time between the first attempts to start a keeper. It doubles up to
	// maxKeeperRetry.
	keeperRetry    = 50 * time.Millisecond
	maxKeeperRetry = 10 * time.Second
)

// An Offer describes a child with everything that a keeper needs to look after it.
type Offer struct {
	Child  keeper.Child
	Dir    string
	Logs   keeper.Logs
	Master *os.File
}

// A Link is the connection to the current keeper. When the keeper exits, the link starts a new one
// and offers it every child.
type Link struct {
	Log        *slog.Logger
	Start      func(ctx context.Context) error           // starts a keeper process
	Dial       func(ctx context.Context) (Keeper, error) // connects to it
	ListOffers func(ctx context.Context) []Offer         // lists all live children
	OnExit     func(keeper.Child)
	Notify     func(text string)

	mu     sync.Mutex
	client Keeper          // nil while disconnected
	who    *store.Identity // of the client's keeper; nil if unknown
	up     chan struct{}   // closed when client is set

	refused chan struct{}   // holds one signal: a child has to be offered again
	again   map[string]bool // the ids of such children
}

// NewLink returns a link that uses the connection client.
func NewLink(client Keeper) *Link {
	l := &Link{up: make(chan struct{}), refused: make(chan struct{}, 1), again: map[string]bool{}}
	l.setClient(client)
	return l
}

// Await returns the connection to the keeper. Between two keepers, it waits up to keeperTimeout for
// the new one.
func (l *Link) Await(ctx context.Context) (Keeper, error) {
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

// Current returns the connection to the keeper, or nil between two keepers.
func (l *Link) Current() Keeper {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client
}

// PID returns the keeper's PID, or 0 between two keepers.
func (l *Link) PID() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client == nil {
		return 0
	}
	return l.client.PID()
}

func (l *Link) setClient(client Keeper) {
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

// Identity returns the keeper's identity. It is nil between two keepers, or if it is unknown.
func (l *Link) Identity() *store.Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.who
}

// Run passes on the exits reported by the keeper, and replaces a keeper that has exited. It returns
// when ctx ends.
func (l *Link) Run(ctx context.Context) {
	client := l.client
	for ctx.Err() == nil {
		l.forwardExits(ctx, client)
		if ctx.Err() != nil {
			return
		}
		client.Close()
		l.setClient(nil)
		// client is nil now, so starts wait for the next keeper instead of failing.
		l.Notify("the keeper exited; starting another one")
		if client = l.reconnect(ctx); client == nil {
			return
		}
		l.Notify("a new keeper has taken over all sessions")
	}
}

// forwardExits passes on exits until the connection is lost. It also offers children again that the
// keeper has refused, for example because it had too many files open.
func (l *Link) forwardExits(ctx context.Context, client Keeper) {
	pause, again := keeperRetry, make(<-chan time.Time)
	for {
		select {
		case <-l.refused:
			again = time.After(pause)
			pause = min(2*pause, maxKeeperRetry)
		case <-again:
			l.mu.Lock()
			refused := l.again
			l.again = map[string]bool{}
			l.mu.Unlock()
			if err := l.offer(ctx, client, func(id string) bool { return refused[id] }); err != nil {
				l.Log.Warn("offer children to keeper again", "error", err)
			}
		case child, ok := <-client.Exits():
			if !ok {
				return
			}
			l.OnExit(child)
		case <-ctx.Done():
			return
		}
	}
}

// reconnect gets a new keeper, however long that takes. It returns nil if ctx ends.
func (l *Link) reconnect(ctx context.Context) Keeper {
	for wait := keeperRetry; ; wait = min(2*wait, maxKeeperRetry) {
		client, err := l.startNewKeeper(ctx)
		if err == nil {
			return client
		}
		l.Log.Error("start keeper", "error", err)
		if sleep.For(ctx, wait) != nil {
			return nil
		}
	}
}

// startNewKeeper starts a keeper and offers it every child. If the keeper rejects a child, nothing
// is lost, because the child's terminal stays open here.
func (l *Link) startNewKeeper(ctx context.Context) (Keeper, error) {
	if err := l.Start(ctx); err != nil {
		return nil, err
	}
	client, err := l.Dial(ctx)
	if err != nil {
		return nil, err
	}
	err = l.OfferChildren(ctx, client)
	if err == nil {
		err = client.Ready()
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	l.setClient(client)
	return client, nil
}

// OfferChildren offers every child to a keeper, which may have them already if only the connection
// was lost. It also passes on all exits known to the keeper, because their reports may have been
// lost.
func (l *Link) OfferChildren(ctx context.Context, client Children) error {
	return l.offer(ctx, client, func(string) bool { return true })
}

// offer offers the children with a wanted id to a keeper.
func (l *Link) offer(ctx context.Context, client Children, wanted func(id string) bool) error {
	for _, c := range l.ListOffers(ctx) {
		if !wanted(c.Child.ID) {
			continue
		}
		err := client.Adopt(ctx, c.Child, c.Dir, c.Logs, c.Master)
		switch {
		case errors.Is(err, keeper.ErrLost):
			return err
		case err != nil:
			l.Log.Error("offer child to keeper", "id", c.Child.ID, "error", err)
			l.OfferAgain(c.Child.ID)
		}
	}
	children, err := client.List(ctx)
	for _, c := range children {
		if c.Exit != nil {
			l.OnExit(c)
		}
	}
	return err
}

// OfferAgain makes Run offer a child again soon, because the keeper has refused it.
func (l *Link) OfferAgain(id string) {
	l.mu.Lock()
	l.again[id] = true
	l.mu.Unlock()
	select {
	case l.refused <- struct{}{}:
	default:
	}
}

// Close closes the connection. The keeper and its children keep running.
func (l *Link) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil {
		l.client.Close()
	}
}
