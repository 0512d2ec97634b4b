package conn

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/ui/conn/machines"
)

// Waits between attempts to reach the engine.
const (
	firstWait = 20 * time.Millisecond
	longWait  = time.Second
	// steady is how long a connection has to hold for the waits to start over.
	steady = time.Second
)

// A Link keeps the dashboard connected: it holds the engine at hand and, through
// it, those of other machines, follows their events, feeds the panes, and connects again when the engine goes. Its
// goroutines leave what they learn under the mutex and call Notify.
type Link struct {
	connect func(context.Context) (panes.Engine, error)
	Notify  func()    // something has changed; must not block
	Echoed  func()    // so has what was typed into; must not block
	Crash   func(any) // a goroutine panicked
	tasks   sync.WaitGroup

	mu     sync.Mutex
	engine panes.Engine
	ready  chan struct{} // closed while engine is set
	news   panes.News    // of the engine itself
	latest panes.News    // what Latest gave, those of other machines with it

	machines *machines.Set
}

// New is a link that begins with an engine at hand and reaches others by connect.
func New(first panes.Engine, connect func(context.Context) (panes.Engine, error)) *Link {
	l := &Link{connect: connect, ready: make(chan struct{}), Notify: func() {}, Echoed: func() {}}
	l.machines = machines.New(func() { l.Notify() }, l.Start)
	l.Set(first)
	return l
}

// Set makes e the engine at hand.
func (l *Link) Set(e panes.Engine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		close(l.ready)
	}
	l.engine = e
}

// At waits until there is an engine. What is called on a machine is done there.
func (l *Link) At(ctx context.Context) (panes.Engine, error) {
	for {
		l.mu.Lock()
		e, ready := l.engine, l.ready
		l.mu.Unlock()
		if e != nil {
			return l.machines.Over(e), nil
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Start runs a task of the link in a goroutine that ends with it.
func (l *Link) Start(task func()) {
	l.tasks.Go(func() { l.Guard(task) })
}

// Wait waits until all tasks have ended.
func (l *Link) Wait() { l.tasks.Wait() }

// Guard runs a task and tells of its panic, instead of ending the program with
// the terminal as it is.
func (l *Link) Guard(task func()) {
	defer func() {
		if p := recover(); p != nil {
			l.Crash(p)
		}
	}()
	task()
}

// Run follows the engine's events until ctx ends, connecting again as often as
// it takes.
func (l *Link) Run(ctx context.Context) {
	l.machines.Begin(ctx)
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
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, longWait)
	}
}

// reach is the engine at hand, or a new connection.
func (l *Link) reach(ctx context.Context) (panes.Engine, error) {
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
	l.Set(e)
	return e, nil
}

// follow takes in events until the stream ends.
func (l *Link) follow(ctx context.Context, e panes.Engine) error {
	for event, err := range e.Watch(ctx) {
		if err != nil {
			return err
		}
		if event.Type == api.EventSnapshot {
			l.machines.Through(ctx, e) // so that what the layout names there is known to be there
		}
		l.take(event)
		l.Notify()
	}
	return errors.New("the engine ended the stream of events")
}

func (l *Link) take(e api.Event) {
	switch {
	case e.Machine != nil:
		l.machines.Tell(*e.Machine)
	case e.Type == api.EventMachine:
		l.machines.Refresh()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.news.Apply(e)
}

// Learn takes in processes that an operation has answered with.
func (l *Link) Learn(started ...api.Process) {
	for _, p := range started {
		l.about(p.ID, func(n *panes.News) { n.Learn(p) })
	}
}

// Ended takes in how a session has ended, as its attachment has told, in case the
// event is still to come.
func (l *Link) Ended(p api.Process) {
	l.about(p.ID, func(n *panes.News) { n.RecordExit(p) })
}

// about changes what is known where a process is.
func (l *Link) about(id string, change func(*panes.News)) {
	if l.machines.Learn(id, change) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.news)
}

// lose records that the connection is gone and clears the engine at hand.
func (l *Link) lose(err error) {
	l.machines.Through(context.Background(), nil)
	l.mu.Lock()
	if l.engine != nil {
		l.engine = nil
		l.ready = make(chan struct{})
	}
	n := &l.news
	n.Serial++
	n.Attempts++
	if n.Connected {
		n.Attempts = 0
	}
	n.Connected, n.Err = false, err
	l.mu.Unlock()
	l.Notify()
}

// stopped reports whether the engine ended because somebody asked.
func (l *Link) stopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news.Stopped != ""
}

// Latest is what is known now; notices and what shall be shown are handed
// out once.
func (l *Link) Latest() panes.News {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.news.Serial+l.machines.Serial() == l.latest.Serial {
		return l.latest
	}
	n := l.news
	l.news.Notices, l.news.Show = nil, nil
	l.machines.Add(&n)
	l.latest = n
	l.latest.Notices, l.latest.RemoteNotices, l.latest.Show = nil, nil, nil
	return n
}

// Attach feeds a pane from its session until ctx ends or the session does, and
// attaches again whenever the attachment is lost.
func (l *Link) Attach(ctx context.Context, id string, feed *terminal.Feed) {
	wait, input := firstWait, rand.Text()
	for ctx.Err() == nil {
		e, err := l.At(ctx)
		if err != nil {
			return
		}
		since := time.Now()
		if l.receive(ctx, e, id, input, feed) {
			return
		}
		if time.Since(since) > steady {
			wait = firstWait
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, longWait)
	}
}

// receive is one attachment; it reports whether there is no point in another.
func (l *Link) receive(ctx context.Context, e panes.Engine, id, input string, feed *terminal.Feed) (done bool) {
	size := feed.Size()
	v, err := e.Attach(ctx, api.AttachOptions{
		ID: id, Cols: size.Cols, Rows: size.Rows, Clips: true, Pictures: true, Client: panes.ClientName, Input: input, Progress: true,
	})
	if err != nil {
		return l.refused(err, feed)
	}
	feed.Connect(v)
	stop := context.AfterFunc(ctx, func() { v.Close() })
	defer stop()
	defer l.Notify()
	defer v.Close()
	l.Notify()
	for {
		out, err := v.Receive()
		if err != nil {
			return ctx.Err() != nil
		}
		feed.Receive(out)
		if feed.TakeEcho(out) {
			l.Echoed()
		}
		l.Notify()
		if out.Ended != nil {
			return true
		}
	}
}

// refused handles an attachment that could not be opened: what the engine says
// for good is final.
func (l *Link) refused(err error, feed *terminal.Feed) (done bool) {
	for _, code := range []api.Code{api.CodeNotFound, api.CodeEnded, api.CodeInvalid, api.CodeConflict} {
		if errors.Is(err, code) {
			feed.Fail(err)
			l.Notify()
			return true
		}
	}
	return false
}

// Now is the engine at hand, nil while there is none.
func (l *Link) Now() panes.Engine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine
}
