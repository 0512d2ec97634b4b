package conn

import (
	"context"
	"errors"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/panes"
	"tandem/panes/terminal"
)

// Waits between attempts to connect to the engine.
const (
	firstWait = 20 * time.Millisecond
	maxWait   = time.Second
	// steadyTime is how long a connection must last before its loss starts the waits at firstWait
	// again.
	steadyTime = time.Second
)

// A Link keeps the dashboard connected to the engine. It follows the events of all machines,
// feeds the panes, and reconnects after the engine dies. Its goroutines store what they learn under the mutex and call Notify.
type Link struct {
	connect func(context.Context) (panes.Engine, error)
	Notify  func()    // something has changed; must not block
	Echoed  func()    // a pane received the echo of a key; must not block
	Crash   func(any) // a goroutine panicked
	tasks   sync.WaitGroup

	mu     sync.Mutex
	engine panes.Engine
	ready  chan struct{} // closed while engine is set
	news   panes.News
	latest panes.News // last result of Latest
}

// New returns a link to first, an engine that is connected already. After a loss it calls connect.
func New(first panes.Engine, connect func(context.Context) (panes.Engine, error)) *Link {
	l := &Link{connect: connect, ready: make(chan struct{}), Notify: func() {}, Echoed: func() {}}
	l.SetEngine(first)
	return l
}

// SetEngine makes e the current engine.
func (l *Link) SetEngine(e panes.Engine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		close(l.ready)
	}
	l.engine = e
}

// AwaitEngine waits for a connected engine.
func (l *Link) AwaitEngine(ctx context.Context) (panes.Engine, error) {
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

// StartTask runs a task in a goroutine; Wait waits for it.
func (l *Link) StartTask(task func()) {
	l.tasks.Go(func() { l.Guard(task) })
}

// Wait waits until all tasks have ended.
func (l *Link) Wait() { l.tasks.Wait() }

// Guard runs a task and reports its panic to Crash. Ending the program right away would
// leave the terminal in raw mode.
func (l *Link) Guard(task func()) {
	defer func() {
		if p := recover(); p != nil {
			l.Crash(p)
		}
	}()
	task()
}

// Run follows the engine's events until ctx is done, reconnecting as often as necessary.
func (l *Link) Run(ctx context.Context) {
	wait := firstWait
	for ctx.Err() == nil {
		e, err := l.connectEngine(ctx)
		since := time.Now()
		if err == nil {
			err = l.followEvents(ctx, e)
		}
		if ctx.Err() != nil { // nothing is lost: the dashboard has yet to save its layout
			return
		}
		if time.Since(since) > steadyTime {
			wait = firstWait
		}
		l.recordLoss(err)
		if l.hasStopped() {
			return
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, maxWait)
	}
}

// connectEngine returns the current engine, or connects to a new one.
func (l *Link) connectEngine(ctx context.Context) (panes.Engine, error) {
	if e := l.CurrentEngine(); e != nil {
		return e, nil
	}
	e, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	l.SetEngine(e)
	return e, nil
}

// followEvents applies events until the stream ends.
func (l *Link) followEvents(ctx context.Context, e panes.Engine) error {
	for event, err := range e.Watch(ctx) {
		if err != nil {
			return err
		}
		l.updateNews(func(n *panes.News) { n.Apply(event) })
		l.Notify()
	}
	return errors.New("the engine ended the stream of events")
}

// AddProcesses adds processes returned by an operation, ahead of the events about them.
func (l *Link) AddProcesses(started ...api.Process) {
	for _, p := range started {
		l.updateNews(func(n *panes.News) { n.AddProcess(p) })
	}
}

// RecordExit records an exit reported by a session's attachment, in case its event is
// still to come.
func (l *Link) RecordExit(p api.Process) {
	l.updateNews(func(n *panes.News) { n.RecordExit(p) })
}

func (l *Link) updateNews(change func(*panes.News)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.news)
}

// recordLoss records that the connection is lost, and clears the current engine.
func (l *Link) recordLoss(err error) {
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

// hasStopped reports whether the engine was stopped on purpose.
func (l *Link) hasStopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news.Stopped != ""
}

// Latest returns what is known now. Notices and requests to show something are returned
// once.
func (l *Link) Latest() panes.News {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.news.Serial == l.latest.Serial {
		return l.latest
	}
	n := l.news
	l.news.Notices, l.news.RemoteNotices, l.news.Show = nil, nil, ""
	l.latest = l.news
	return n
}

// Attach feeds a pane from its session until ctx is done or the session exits, attaching
// again after each loss.
func (l *Link) Attach(ctx context.Context, id string, feed *terminal.Feed) {
	select {
	case feed.Attached <- struct{}{}:
		defer func() { <-feed.Attached }()
	case <-ctx.Done(): // the next one may already run
		return
	}
	wait := firstWait
	for ctx.Err() == nil {
		e, err := l.AwaitEngine(ctx)
		if err != nil {
			return
		}
		since := time.Now()
		if l.runAttachment(ctx, e, id, feed) {
			return
		}
		if time.Since(since) > steadyTime {
			wait = firstWait
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, maxWait)
	}
}

// runAttachment runs one attachment. done reports whether there is no point in another
// one.
func (l *Link) runAttachment(ctx context.Context, e panes.Engine, id string, feed *terminal.Feed) (done bool) {
	size := feed.Size()
	v, err := e.Attach(ctx, api.AttachOptions{
		ID: id, Cols: size.Cols, Rows: size.Rows, Clips: true, Pictures: true, Client: panes.ClientName, Input: feed.Input, Master: true,
	})
	if err != nil {
		return l.isFinal(err, feed)
	}
	feed.Connect(v)
	stop := context.AfterFunc(ctx, func() {
		feed.Disconnect()
		v.Close()
	})
	defer stop()
	defer l.Notify()
	defer v.Close()
	defer feed.Disconnect()
	l.Notify()
	for {
		out, err := v.Receive()
		if err != nil {
			return ctx.Err() != nil
		}
		shown, echo := feed.Receive(out)
		if shown {
			continue
		}
		if echo {
			l.Echoed()
		}
		l.Notify()
		if out.Ended != nil {
			return true
		}
	}
}

// isFinal reports whether a failed attachment cannot succeed later, and passes such an
// error to the pane.
func (l *Link) isFinal(err error, feed *terminal.Feed) (done bool) {
	for _, code := range []api.Code{api.CodeNotFound, api.CodeEnded, api.CodeInvalid, api.CodeConflict} {
		if errors.Is(err, code) {
			feed.Fail(err)
			l.Notify()
			return true
		}
	}
	return false
}

// CurrentEngine returns the current engine; nil while there is none.
func (l *Link) CurrentEngine() panes.Engine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine
}
