package attach

import (
	"slices"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/keys"
)

// mostGuessed bounds how many keys of one piece of input are guessed: more are no
// typing.
const mostGuessed = 32

// A way is what was typed and has had no answer yet. Its zero value is ready.
type way struct {
	mu      sync.Mutex
	decoder keys.Decoder
	last    uint64     // mark
	sent    []sentMark // marks without an answer
	typed   []sentKey  // not handed on yet
	heard   bool       // the engine answers marks
}

// A sentKey is a key, or input that is not known to be one, before a mark.
type sentKey struct {
	key   keys.Key
	known bool
	mark  uint64
	at    time.Time
}

// A sentMark has so many keys before it.
type sentMark struct {
	mark uint64
	at   time.Time
	keys int
}

// add notes what is about to be sent, nothing for a mark alone, and gives the mark
// that follows it.
func (w *way) add(p []byte) (mark uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	now, before, count := time.Now(), len(w.typed), 0
	w.decoder.Feed(p, func(e keys.Event) {
		if e.Kind == keys.EventKey && e.Key.Phase != keys.Release {
			count++
		}
		w.typed = append(w.typed, sentKey{e.Key, e.Kind == keys.EventKey, w.last, now})
	})
	if len(w.typed)-before > mostGuessed {
		w.typed = append(w.typed[:before], sentKey{mark: w.last})
	}
	if !w.decoder.Idle() {
		w.typed = append(w.typed, sentKey{mark: w.last})
	}
	w.sent = append(w.sent, sentMark{w.last, now, count})
	if !w.heard {
		w.sent = w.sent[max(len(w.sent)-mostGuessed, 0):]
	}
	return w.last
}

// take gives what was typed since the last time.
func (w *way) take() []sentKey {
	w.mu.Lock()
	defer w.mu.Unlock()
	typed := w.typed
	w.typed = nil
	return typed
}

// answered forgets what a mark answers; exact says that the round trip is known.
func (w *way) answered(m api.Mark, now time.Time) (rtt time.Duration, exact bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = true
	w.sent = slices.DeleteFunc(w.sent, func(s sentMark) bool {
		if s.mark == m.N {
			rtt, exact = max(now.Sub(s.at)-m.Held, 0), true
		}
		return s.mark <= m.N
	})
	return rtt, exact
}

// open is how many keys have had no answer, and since when something waits for one;
// ok is false if nothing does, or if the engine gives none.
func (w *way) open() (keys int, since time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sent {
		keys += s.keys
	}
	if ok = w.heard && len(w.sent) > 0; ok {
		since = w.sent[0].at
	}
	return keys, since, ok
}
