package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/panes"
)

// Waits between attempts to reach the engine.
const (
	firstWait = 20 * time.Millisecond
	longWait  = time.Second
	// steady is how long a connection has to hold for the waits to begin anew.
	steady = time.Second
)

// A link keeps the dashboard connected: it holds the engine at hand, follows
// its events, feeds the panes, and connects again when the engine goes. Its
// goroutines leave what they learn under the mutex and call notify.
type link struct {
	connect func(context.Context) (engine, error)
	notify  func()    // something has changed; must not block
	crash   func(any) // a goroutine panicked
	tasks   sync.WaitGroup

	mu     sync.Mutex
	engine engine
	ready  chan struct{} // closed while engine is set
	news   news
	gone   []string // ids of processes that were removed last
}

// news is what is known of the engine. A copy shares nothing that changes.
type news struct {
	serial    int  // counts changes
	connected bool // a snapshot has arrived on the present connection
	snapshots int  // one for each connection so far
	attempts  int  // to connect that failed since the last one that did not
	err       error
	info      api.Info
	processes []api.Process // oldest first; never changed in place
	requests  []api.Request // of agents, that nobody has answered, oldest first; never changed in place
	history   int64         // changes of the history, as far as the engine told
	notices   []string
	layout    *api.Layout // that a dashboard had last
	revision  int64       // its number
	show      *api.Layout // that shall be shown now; handed out once
	stopped   string      // why the engine will not come back; empty if it will
}

func newLink(first engine, connect func(context.Context) (engine, error)) *link {
	l := &link{connect: connect, ready: make(chan struct{})}
	l.set(first)
	return l
}

// set makes e the engine at hand.
func (l *link) set(e engine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		close(l.ready)
	}
	l.engine = e
}

// at waits until there is an engine.
func (l *link) at(ctx context.Context) (engine, error) {
	for {
		l.mu.Lock()
		e, ready := l.engine, l.ready
		l.mu.Unlock()
		if e != nil {
			return e, nil
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// start runs a task of the link in a goroutine that ends with it.
func (l *link) start(task func()) {
	l.tasks.Go(func() {
		defer rescue(l.crash)
		task()
	})
}

// rescue, deferred, tells crash of a panic instead of ending the program with
// the terminal as it is.
func rescue(crash func(any)) {
	if p := recover(); p != nil {
		crash(p)
	}
}

// run follows the engine's events until ctx ends, connecting again as often as
// it takes.
func (l *link) run(ctx context.Context) {
	wait := firstWait
	for ctx.Err() == nil {
		e, err := l.reach(ctx)
		since := time.Now()
		if err == nil {
			err = l.follow(ctx, e)
		}
		if time.Since(since) > steady {
			wait = firstWait
		}
		l.lose(err)
		if l.stopped() {
			return
		}
		pause(ctx, wait)
		wait = min(2*wait, longWait)
	}
}

// reach is the engine at hand, or a new connection.
func (l *link) reach(ctx context.Context) (engine, error) {
	l.mu.Lock()
	e := l.engine
	l.mu.Unlock()
	if e != nil {
		return e, nil
	}
	e, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	l.set(e)
	return e, nil
}

// follow takes in events until the stream ends.
func (l *link) follow(ctx context.Context, e engine) error {
	for event, err := range e.Watch(ctx) {
		if err != nil {
			return err
		}
		l.take(event)
		l.notify()
	}
	return errors.New("the engine ended the stream of events")
}

func (l *link) take(e api.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := &l.news
	n.serial++
	switch e.Type {
	case api.EventSnapshot:
		n.connected, n.attempts, n.err = true, 0, nil
		n.snapshots++
		n.requests = nil
		n.layout, n.revision = e.Layout, e.Revision
		n.processes = slices.Clone(e.Processes)
		slices.SortStableFunc(n.processes, older)
		if e.Info != nil {
			n.info = *e.Info
		}
	case api.EventProcess:
		if e.Process != nil {
			n.processes = with(n.processes, *e.Process)
		}
	case api.EventRemoved:
		n.processes = without(n.processes, e.ID)
		l.gone = append(l.gone[max(len(l.gone)-mostGone, 0):], e.ID)
	case api.EventRequest:
		if e.Request != nil {
			n.requests = asked(n.requests, *e.Request)
		}
	case api.EventHistory:
		n.history = e.History
	case api.EventKept:
		if e.Revision > n.revision {
			n.layout, n.revision = e.Layout, e.Revision
		}
	case api.EventLayout:
		n.show = e.Layout
	case api.EventStopped:
		n.stopped = e.Notice
	case api.EventNotice:
		n.notices = append(slices.Clip(n.notices), e.Notice)
	}
}

// mostGone is how many of the removed processes are remembered.
const mostGone = 100

// learn takes in processes that an operation has answered with, unless events
// have told more of them already: the answer and the events come on their own
// ways, and either may be first.
func (l *link) learn(started ...api.Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := &l.news
	for _, p := range started {
		if !slices.Contains(l.gone, p.ID) {
			n.processes = withMissing(n.processes, p)
			n.serial++
		}
	}
}

// ended takes in how a session has ended, as its attachment has told, in case the
// event is still to come.
func (l *link) ended(p api.Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.news.processes = withEnd(l.news.processes, p)
}

// withEnd is list with p in the place of the same run of it, if that is not known
// to have ended.
func withEnd(list []api.Process, p api.Process) []api.Process {
	for i := range list {
		if was := &list[i]; was.ID == p.ID && !was.State.Ended() && was.StartedAt.Equal(p.StartedAt) {
			return with(list, p)
		}
	}
	return list
}

// lose records that the connection is gone and clears the engine at hand.
func (l *link) lose(err error) {
	l.mu.Lock()
	if l.engine != nil {
		l.engine = nil
		l.ready = make(chan struct{})
	}
	n := &l.news
	n.serial++
	n.attempts++
	if n.connected {
		n.attempts = 0
	}
	n.connected, n.err = false, err
	l.mu.Unlock()
	l.notify()
}

// stopped reports whether the engine ended because somebody asked.
func (l *link) stopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news.stopped != ""
}

// latest is what is known now; notices and what shall be shown are handed
// out once.
func (l *link) latest() news {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.news
	l.news.notices, l.news.show = nil, nil
	return n
}

// attach feeds a pane from its session until ctx ends or the session does, and
// attaches again whenever the attachment is lost.
func (l *link) attach(ctx context.Context, id string, feed *panes.Feed) {
	wait := firstWait
	var v viewer
	for ctx.Err() == nil {
		e, err := l.at(ctx)
		if err != nil {
			return
		}
		since := time.Now()
		next, done := l.receive(ctx, e, id, feed, v)
		if done {
			return
		}
		if next != nil {
			v = next
		}
		if time.Since(since) > steady {
			wait = firstWait
		}
		pause(ctx, wait)
		wait = min(2*wait, longWait)
	}
}

// receive is one attachment, v, after the one that was lost last, if any; it
// reports whether there is no point in another.
func (l *link) receive(ctx context.Context, e engine, id string, feed *panes.Feed, last viewer) (v viewer, done bool) {
	size := feed.Size()
	v, err := e.Attach(ctx, api.AttachOptions{ID: id, Cols: size.Cols, Rows: size.Rows, Clips: true, Client: clientName})
	if err != nil {
		return nil, l.refused(err, feed)
	}
	if last != nil {
		v.Inherit(last)
	}
	stop := context.AfterFunc(ctx, func() { v.Close() })
	defer stop()
	defer v.Close()
	defer l.notify()
	defer feed.Disconnect()
	feed.Connect(v)
	l.notify()
	for {
		out, err := v.Receive()
		if err != nil {
			return v, ctx.Err() != nil
		}
		feed.Receive(out)
		l.notify()
		if out.Ended != nil {
			return v, true
		}
	}
}

// refused handles an attachment that could not be opened: what the engine says
// for good is final.
func (l *link) refused(err error, feed *panes.Feed) (done bool) {
	for _, code := range []api.Code{api.CodeNotFound, api.CodeEnded, api.CodeInvalid, api.CodeConflict} {
		if errors.Is(err, code) {
			feed.Fail(err)
			l.notify()
			return true
		}
	}
	return false
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func older(a, b api.Process) int {
	if c := a.StartedAt.Compare(b.StartedAt); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// with is list with p in it, in the place of its former state or at the end.
func with(list []api.Process, p api.Process) []api.Process {
	for i := range list {
		if list[i].ID == p.ID {
			list = slices.Clone(list)
			list[i] = p
			return list
		}
	}
	return append(slices.Clip(list), p)
}

// without is list less the process with that id.
func without(list []api.Process, id string) []api.Process {
	for i := range list {
		if list[i].ID == id {
			return slices.Delete(slices.Clone(list), i, i+1)
		}
	}
	return list
}
