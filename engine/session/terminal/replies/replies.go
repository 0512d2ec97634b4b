// Package replies writes a terminal's replies to the queries of its programs. It drops a reply if
// the program has exited, because the shell would take it for typed text.
package replies

import (
	"slices"
	"time"
)

const (
	// firstLook is the delay before the first check whether the program now reads. Each further
	// delay is twice as long, up to lastLook.
	firstLook = time.Millisecond
	lastLook  = 100 * time.Millisecond
	// maxHeld is how long a reply is held until its program reads. Then it is written, because some
	// programs read without waiting and are never seen to read.
	maxHeld = time.Second
	// maxHeldReplies is how many replies are held. The oldest are dropped.
	maxHeldReplies = 64
)

// A Writer writes the emulator's replies to queries. It holds a reply until the program that was in
// the foreground at the query reads, and drops it if another program is there by then. A command of
// the shell itself, such as printf, ends at the shell's next mark. If the shell is at its prompt,
// or has no marks, it gets its replies at once. A Writer is not safe for concurrent use.
type Writer struct {
	write func([]byte)
	shell Shell
	due   chan struct{} // of 1
	next  *time.Timer   // raises due; nil before the first reply was held

	held  []heldReply
	pause time.Duration // before the next look
}

// A Shell tells a Writer about the program in the foreground and the shell's marks.
type Shell interface {
	IsRunning() bool                        // the shell runs a command
	IsBetween() bool                        // the shell is between a command and its prompt
	ForegroundGroup() (group int, own bool) // 0 if unknown; own: of the shell
	ForegroundReads() bool                  // of the shell itself, false while output is unparsed
}

// New returns a Writer that writes with write, which must not block.
func New(write func([]byte), shell Shell) *Writer {
	return &Writer{write: write, shell: shell, due: make(chan struct{}, 1)}
}

// Due returns a channel with a value when Settle should be called.
func (w *Writer) Due() <-chan struct{} { return w.due }

type heldReply struct {
	text    []byte
	group   int  // in the foreground at the query
	own     bool // that of the shell
	between bool // the shell was between a command and its prompt
	at      time.Time
}

// Add writes a reply, or holds it.
func (w *Writer) Add(p []byte) {
	group, own := w.shell.ForegroundGroup()
	between := w.shell.IsBetween()
	if group <= 0 || own && !between && !w.shell.IsRunning() {
		w.write(p)
		return
	}
	w.held = append(w.held, heldReply{slices.Clone(p), group, own, between, time.Now()})
	w.held = w.held[max(len(w.held)-maxHeldReplies, 0):]
	w.pause = firstLook
	w.Settle()
}

// Settle drops the held replies whose programs have exited, and writes those whose programs read or
// have not read for maxHeld. If any are left, it schedules another check.
func (w *Writer) Settle() {
	if len(w.held) == 0 {
		return
	}
	group, own := w.shell.ForegroundGroup()
	reads := w.shell.ForegroundReads()
	w.held = slices.DeleteFunc(w.held, func(h heldReply) bool {
		if w.isStale(h, group, own) {
			return true
		}
		heldTooLong := !h.own && time.Since(h.at) >= maxHeld
		if reads || heldTooLong {
			w.write(h.text)
			return true
		}
		return false
	})
	if len(w.held) > 0 {
		w.lookAgain()
	}
}

// isStale reports whether the program has exited since its query. group is the process group in the
// foreground now; own is set for the group of the shell.
func (w *Writer) isStale(h heldReply, group int, own bool) bool {
	switch {
	case !h.own:
		return group != h.group
	case !own:
		return false
	case h.between:
		return !w.shell.IsBetween()
	}
	return !w.shell.IsRunning()
}

func (w *Writer) lookAgain() {
	if w.next == nil {
		w.next = time.AfterFunc(w.pause, func() {
			select {
			case w.due <- struct{}{}:
			default:
			}
		})
	} else {
		w.next.Reset(w.pause)
	}
	w.pause = min(2*w.pause, lastLook)
}
