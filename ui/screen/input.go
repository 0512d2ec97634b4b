package screen

import (
	"bytes"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"tandem/engine/screen/vt/scan"
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

// An Input decodes what is read from the terminal. It types keys at once, by its shortcut, or
// queues events in order for Update: keys, mouse events and pastes. It passes only the terminal's
// replies on to Bubble Tea. Therefore only a lone escape waits for a timeout, alt+key is one key,
// and a paste keeps its bytes.
type Input struct {
	Notify  func() // called when the queue has grown; must not block
	decoder keys.Decoder
	raw     []byte // read but not claimed by an event yet
	base    int64  // offset of raw[0] in the stream
	reply   []byte // replies not taken yet
	paste   bytes.Buffer
	typed   []byte // plain characters of the current read, not queued yet

	mu       sync.Mutex
	queue    []Event
	shortcut func(keys.Key) (typed bool) // nil unless the queue is empty and handled
}

// isUnfinished reports whether an unfinished sequence was read.
func (in *Input) isUnfinished() bool { return in.decoder.Pending() > 0 }

// unfinishedWait returns how long to wait for the rest of an unfinished sequence.
func (in *Input) unfinishedWait() time.Duration {
	if len(in.raw) > 2 || len(in.raw) > 0 && in.raw[0] >= utf8.RuneSelf {
		return pieceWait
	}
	return escapeWait
}

// flush takes an unfinished sequence as it is.
func (in *Input) flush() {
	in.decoder.Flush(in.sortEvent)
	in.queueTyped()
}

// takeReplies returns the terminal's replies read since the last call.
func (in *Input) takeReplies() []byte {
	replies := in.reply
	in.reply = nil
	return replies
}

// Feed handles bytes read from the terminal.
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

// SetShortcut sets the function that types keys at once, without Update, as long as nothing is
// queued: a key must not overtake an event that may change its target. shortcut returns false for a
// key that must be queued; if it is nil, all keys are queued. The goroutine that reads the terminal
// calls shortcut, which must not block.
func (in *Input) SetShortcut(shortcut func(keys.Key) (typed bool)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.shortcut = nil
	if len(in.queue) == 0 {
		in.shortcut = shortcut
	}
}

// Add types a key by the shortcut, or appends an event to the queue.
func (in *Input) Add(e Event) {
	if !in.typeAtOnce(e) {
		// Notify after each event, because an event returned by Unread may be waiting for this one.
		in.Notify()
	}
}

func (in *Input) typeAtOnce(e Event) (typed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.shortcut != nil && e.Kind == keys.EventKey && e.Typed == "" && in.shortcut(e.Key) {
		return true
	}
	in.shortcut = nil
	in.queue = append(in.queue, e)
	return false
}

// Unread returns events to the front of the queue.
func (in *Input) Unread(events []Event) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queue = append(slices.Clone(events), in.queue...)
	if len(in.queue) > 0 {
		in.shortcut = nil
	}
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
