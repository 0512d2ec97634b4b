package conn

import (
	"context"
	"time"
)

// A Waking is why a program is woken.
type Waking int

const (
	Typed   Waking = iota // typed input waits
	Echoed                // what was typed into has answered
	Changed               // the link has other news
)

// newsEvery is the least time between two wakings of a program by what sessions print.
const newsEvery = 4 * time.Millisecond

// A Waker tells a program what other goroutines notice: at most one notice of each kind
// waits, and its own goroutine tells them, because telling blocks.
type Waker struct {
	typed chan struct{}
	echo  chan struct{}
	news  chan struct{}
}

// NewWaker is a waker without any notice.
func NewWaker() *Waker {
	return &Waker{make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)}
}

// Typed, Echoed and Changed notice something; they never block.
func (w *Waker) Typed()   { ring(w.typed) }
func (w *Waker) Echoed()  { ring(w.echo) }
func (w *Waker) Changed() { ring(w.news) }

func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run tells until ctx ends. Typed input is told at once, and so is its echo; other news
// every newsEvery.
func (w *Waker) Run(ctx context.Context, tell func(Waking)) {
	var free <-chan time.Time
	news := w.news
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.typed:
			tell(Typed)
			news, free = w.news, nil
		case <-w.echo:
			tell(Echoed)
			news, free = nil, time.After(newsEvery)
		case <-news:
			tell(Changed)
			news, free = nil, time.After(newsEvery)
		case <-free:
			news, free = w.news, nil
		}
	}
}
