package conn

import (
	"context"
	"time"
)

// A Waking is the reason for waking a program.
type Waking int

const (
	WakeTyped Waking = iota // typed input is queued
	WakeEcho                // a pane received the echo of a key
	WakeNews                // there is other news
)

// newsInterval is the minimum time between two notifications of new output.
const newsInterval = 4 * time.Millisecond

// A Waker notifies a program of events in other goroutines. At most one event of each kind
// is pending. A goroutine of its own delivers them, as that may block.
type Waker struct {
	typed chan struct{}
	echo  chan struct{}
	news  chan struct{}
}

// NewWaker returns a waker without pending events.
func NewWaker() *Waker {
	return &Waker{make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)}
}

// NotifyTyped records typed input, NotifyEcho an echo, and NotifyNews other news. None of them
// blocks.
func (w *Waker) NotifyTyped() { notifyChan(w.typed) }
func (w *Waker) NotifyEcho()  { notifyChan(w.echo) }
func (w *Waker) NotifyNews()  { notifyChan(w.news) }

func notifyChan(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run calls tell with each event until ctx is done. It does so at once for typed input and its
// echo, and at most every newsInterval for other news.
func (w *Waker) Run(ctx context.Context, tell func(Waking)) {
	// A nil channel blocks: news waits while free has not fired.
	var free <-chan time.Time
	news := w.news
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.typed:
			tell(WakeTyped)
			news, free = w.news, nil
		case <-w.echo:
			tell(WakeEcho)
			news, free = nil, time.After(newsInterval)
		case <-news:
			tell(WakeNews)
			news, free = nil, time.After(newsInterval)
		case <-free:
			news, free = w.news, nil
		}
	}
}
