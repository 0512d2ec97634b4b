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

// escapeWait is how long an escape at the end of a read may still start a sequence.
// Terminals write a sequence in one piece; only a slow link splits it. An unfinished
// sequence that cannot be a key, such as half a mouse report or half a character, waits
// for pieceWait: otherwise the rest would be taken for text.
const (
	escapeWait = 20 * time.Millisecond
	pieceWait  = time.Second
)

// maxPaste is the size in bytes above which a paste is passed on in pieces.
const maxPaste = 4 << 20

// An Event is one action of the user: a key, a mouse event, a paste, or a change of focus.
type Event struct {
	Kind  keys.EventKind
	Key   keys.Key
	Mouse keys.Mouse
	Paste string
	Typed string // for EventKey instead of Key: many plain characters of one read
}

// minTyped is the number of characters in one read that become a single event. That many
// are pasted without brackets, not typed.
const minTyped = 64

// Split splits an event with Typed into its keys. It returns other events unchanged.
func (e Event) Split() []Event {
	if e.Typed == "" {
		return []Event{e}
	}
	var d keys.Decoder
	var all []Event
	d.Feed([]byte(e.Typed), func(k keys.Event) { all = append(all, Event{Kind: k.Kind, Key: k.Key}) })
	return all
}

// An Input sits between the terminal and Bubble Tea's reader. It decodes keys, mouse
// events and pastes and queues them in order for Update. Only the rest, the terminal's
// replies, goes on to Bubble Tea. So only a lone escape waits for a timeout, alt+key is
// one key, and a paste keeps its bytes.
type Input struct {
	*os.File
	Notify  func() // called when the queue has grown; must not block
	decoder keys.Decoder
	raw     []byte // read but not claimed by an event yet
	base    int64  // offset of raw[0] in the stream
	reply   []byte // replies not returned by Read yet
	paste   bytes.Buffer
	typed   []byte // plain characters of the current read, not queued yet
	buf     [16 << 10]byte

	mu    sync.Mutex
	queue []Event
}

// Read reads from the terminal and returns the replies in what it read, possibly none.
func (in *Input) Read(p []byte) (int, error) {
	if len(in.reply) == 0 {
		n, err := in.File.Read(in.buf[:])
		if err != nil {
			return 0, err
		}
		in.Feed(in.buf[:n])
		if in.decoder.Pending() > 0 && !in.awaitMore() {
			in.decoder.Flush(in.sortEvent)
		}
	}
	n := copy(p, in.reply)
	in.reply = in.reply[n:]
	return n, nil
}

// awaitMore waits briefly for the rest of an unfinished sequence, and reports whether
// there is one.
func (in *Input) awaitMore() bool {
	fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
	wait := escapeWait
	if len(in.raw) > 2 || len(in.raw) > 0 && in.raw[0] >= utf8.RuneSelf {
		wait = pieceWait
	}
	for end := time.Now().Add(wait); ; {
		n, err := unix.Poll(fds, int(max(time.Until(end), 0).Milliseconds()))
		// The Go runtime's own signals interrupt the call.
		if !errors.Is(err, unix.EINTR) {
			return n > 0 && err == nil
		}
	}
}

// Feed handles bytes that someone else has read from the terminal.
func (in *Input) Feed(p []byte) {
	in.raw = append(in.raw, p...)
	in.decoder.Feed(p, in.sortEvent)
	in.queueTyped()
}

// sortEvent queues an event, or collects a reply.
func (in *Input) sortEvent(e keys.Event) {
	text := in.raw[e.Start-in.base : e.End-in.base]
	plain := e.Kind == keys.EventKey && (text[0] >= ' ' && text[0] != 0x7f || text[0] == '\r' || text[0] == '\t')
	if !plain {
		in.queueTyped()
	}
	switch e.Kind {
	case keys.EventOther:
		in.reply = append(in.reply, text...)
	case keys.EventPaste:
		in.collectPaste(e)
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

// queueTyped queues the plain characters read so far.
func (in *Input) queueTyped() {
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

// collectPaste collects the pieces of a paste, to pass it on as one.
func (in *Input) collectPaste(e keys.Event) {
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

// Add appends an event to the queue.
func (in *Input) Add(e Event) {
	in.mu.Lock()
	in.queue = append(in.queue, e)
	in.mu.Unlock()
	// Notify is called each time, as an event returned by Unread may wait for exactly this
	// one.
	in.Notify()
}

// Unread returns events to the front of the queue.
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

// Drain removes and returns all queued events, in order.
func (in *Input) Drain() []Event {
	in.mu.Lock()
	defer in.mu.Unlock()
	queue := in.queue
	in.queue = nil
	return queue
}
