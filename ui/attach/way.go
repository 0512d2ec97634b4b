package attach

import (
	"slices"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/keys"
)

// maxPredicted is the maximum number of keys predicted for one piece of input. More were
// not typed by hand.
const maxPredicted = 32

// pendingInput records input not acknowledged yet. Its zero value is ready for use.
type pendingInput struct {
	mu          sync.Mutex
	decoder     keys.Decoder
	last        uint64     // last mark sent
	sent        []sentMark // unacknowledged marks
	unpredicted []sentKey  // keys not passed to the predictor yet
	confirmed   bool       // the engine acknowledges marks
}

// A sentKey is a key, or unknown input, sent before a mark.
type sentKey struct {
	key   keys.Key
	known bool
	mark  uint64
	at    time.Time
}

// A sentMark is a mark sent after a number of keys.
type sentMark struct {
	mark uint64
	at   time.Time
	keys int
}

// record records input about to be sent, and returns the mark to send after it. p is empty
// for a mark alone.
func (w *pendingInput) record(p []byte) (mark uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	now, before, count := time.Now(), len(w.unpredicted), 0
	w.decoder.Feed(p, func(e keys.Event) {
		if e.Kind == keys.EventKey && e.Key.Phase != keys.Release {
			count++
		}
		w.unpredicted = append(w.unpredicted, sentKey{e.Key, e.Kind == keys.EventKey, w.last, now})
	})
	if len(w.unpredicted)-before > maxPredicted {
		w.unpredicted = append(w.unpredicted[:before], sentKey{mark: w.last})
	}
	if !w.decoder.Idle() {
		w.unpredicted = append(w.unpredicted, sentKey{mark: w.last})
	}
	w.sent = append(w.sent, sentMark{w.last, now, count})
	if !w.confirmed {
		w.sent = w.sent[max(len(w.sent)-maxPredicted, 0):]
	}
	return w.last
}

// takeTyped returns the keys recorded since the previous call.
func (w *pendingInput) takeTyped() []sentKey {
	w.mu.Lock()
	defer w.mu.Unlock()
	typed := w.unpredicted
	w.unpredicted = nil
	return typed
}

// acknowledge removes the marks that m acknowledges. exact reports whether rtt is the
// measured round trip.
func (w *pendingInput) acknowledge(m api.Mark, now time.Time) (rtt time.Duration, exact bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.confirmed = true
	w.sent = slices.DeleteFunc(w.sent, func(s sentMark) bool {
		if s.mark == m.N {
			rtt, exact = max(now.Sub(s.at)-m.Held, 0), true
		}
		return s.mark <= m.N
	})
	return rtt, exact
}

// unanswered returns the number of unacknowledged keys, and the time of the oldest mark.
// ok is false if nothing is unacknowledged, or if the engine does not acknowledge marks.
func (w *pendingInput) unanswered() (keys int, since time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sent {
		keys += s.keys
	}
	if ok = w.confirmed && len(w.sent) > 0; ok {
		since = w.sent[0].at
	}
	return keys, since, ok
}
