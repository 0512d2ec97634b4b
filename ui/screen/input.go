package screen

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"tandem/engine/vt/scan"
	"tandem/keys"
)

// escapeWait is how long an escape that ends a read may still turn out to
// begin a sequence. Terminals write a sequence in one piece; only a slow line
// takes it apart. What can be no key any more, half of a mouse report or of a
// character, has pieceWait for its rest, which would be taken for text else.
const (
	escapeWait = 20 * time.Millisecond
	pieceWait  = time.Second
)

// maxPaste is where a longer paste is passed on in pieces.
const maxPaste = 4 << 20

// An Event is one thing that the person did: a key, a mouse event, a paste, or
// giving the terminal the keyboard or taking it away.
type Event struct {
	Kind  keys.EventKind
	Key   keys.Key
	Mouse keys.Mouse
	Paste string
	Typed string // for EventKey in place of Key: many plain characters of one read
}

// minTyped is how many characters of one read become one event. Nobody types so many at
// once: they are pasted without brackets.
const minTyped = 64

// Split returns the keys of an event with Typed, and other events as they are.
func (e Event) Split() []Event {
	if e.Typed == "" {
		return []Event{e}
	}
	var d keys.Decoder
	var all []Event
	d.Feed([]byte(e.Typed), func(k keys.Event) { all = append(all, Event{Kind: k.Kind, Key: k.Key}) })
	return all
}

// An Input stands between the terminal and Bubble Tea's reader. It decodes
// keys, mouse and pastes itself and keeps them in order for Update; only what
// is left, the terminal's replies, goes on to Bubble Tea. So no key waits for
// a time-out but a lone escape, an alt+key is one key at once, and a paste
// keeps its bytes.
type Input struct {
	*os.File
	Notify  func() // called when there is more in the queue; must not block
	decoder keys.Decoder
	raw     []byte // read and not yet claimed by an event
	base    int64  // offset of raw[0] in the stream
	reply   []byte // replies that Read has not returned yet
	paste   bytes.Buffer
	typed   []byte // plain characters of this read that are not queued yet
	buf     [16 << 10]byte

	mu    sync.Mutex
	queue []Event
}

// Read reads from the terminal and returns the replies in what it got, which
// may be none.
func (in *Input) Read(p []byte) (int, error) {
	if len(in.reply) == 0 {
		n, err := in.File.Read(in.buf[:])
		if err != nil {
			return 0, err
		}
		in.Feed(in.buf[:n])
		if in.decoder.Pending() > 0 && !in.more() {
			in.decoder.Flush(in.take)
		}
	}
	n := copy(p, in.reply)
	in.reply = in.reply[n:]
	return n, nil
}

// more waits a moment for what may follow an unfinished sequence.
func (in *Input) more() bool {
	fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
	wait := escapeWait
	if len(in.raw) > 2 || len(in.raw) > 0 && in.raw[0] >= utf8.RuneSelf {
		wait = pieceWait
	}
	for end := time.Now().Add(wait); ; {
		n, err := unix.Poll(fds, int(max(time.Until(end), 0).Milliseconds()))
		if !errors.Is(err, unix.EINTR) { // the runtime's own signals count for nothing
			return n > 0 && err == nil
		}
	}
}

// Feed takes in bytes that somebody else has read.
func (in *Input) Feed(p []byte) {
	in.raw = append(in.raw, p...)
	in.decoder.Feed(p, in.take)
	in.addTyped()
}

// take sorts one event.
func (in *Input) take(e keys.Event) {
	text := in.raw[e.Start-in.base : e.End-in.base]
	plain := e.Kind == keys.EventKey && (text[0] >= ' ' && text[0] != 0x7f || text[0] == '\r' || text[0] == '\t')
	if !plain {
		in.addTyped()
	}
	switch e.Kind {
	case keys.EventOther:
		in.reply = append(in.reply, text...)
	case keys.EventPaste:
		in.takePaste(e)
	default:
		if plain {
			in.typed = append(in.typed, text...)
			break
		}
		in.Add(Event{Kind: e.Kind, Key: e.Key, Mouse: e.Mouse})
	}
	in.raw = in.raw[e.End-in.base:]
	in.base = e.End
	if len(in.raw) == 0 {
		in.raw = nil
	}
}

// addTyped queues the plain characters read so far.
func (in *Input) addTyped() {
	if len(in.typed) == 0 {
		return
	}
	e := Event{Kind: keys.EventKey, Typed: string(in.typed)}
	in.typed = in.typed[:0]
	if utf8.RuneCountInString(e.Typed) >= minTyped {
		in.Add(e)
		return
	}
	for _, key := range e.Split() {
		in.Add(key)
	}
}

// takePaste collects a paste, so that it reaches the program as one.
func (in *Input) takePaste(e keys.Event) {
	in.paste.Write(e.Paste)
	for in.paste.Len() > maxPaste {
		piece := in.paste.Bytes()[:maxPaste]
		in.Add(Event{Kind: keys.EventPaste, Paste: string(in.paste.Next(scan.CompleteLen(piece)))})
	}
	if e.Last {
		in.Add(Event{Kind: keys.EventPaste, Paste: in.paste.String()})
		in.paste = bytes.Buffer{}
	}
}

// Add puts an event behind those that wait.
func (in *Input) Add(e Event) {
	in.mu.Lock()
	in.queue = append(in.queue, e)
	in.mu.Unlock()
	in.Notify() // each time: what was put back may wait for just this
}

// Unread puts back what was taken, in front of what came since.
func (in *Input) Unread(events []Event) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queue = append(slices.Clone(events), in.queue...)
}

// Len returns the number of queued events.
func (in *Input) Len() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.queue)
}

// Drain takes what was typed since the last call, in order.
func (in *Input) Drain() []Event {
	in.mu.Lock()
	defer in.mu.Unlock()
	queue := in.queue
	in.queue = nil
	return queue
}
