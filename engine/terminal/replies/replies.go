// Package replies writes a terminal's replies to the queries of its programs. It drops a reply to an
// exited program, since the shell would take it for typed text.
package replies

import (
	"os"
	"slices"
	"time"

	"tandem/engine/pty"
)

const (
	// firstLook is the delay before the second look at a program that does not read its reply yet. It
	// doubles up to lastLook.
	firstLook = time.Millisecond
	lastLook  = 100 * time.Millisecond
	// maxHeld is how long a reply waits for its program to read. Programs that read without waiting
	// are never seen to read.
	maxHeld = time.Second
	// maxHeldReplies bounds the held replies; the oldest are dropped.
	maxHeldReplies = 64
)

// A Writer writes the emulator's replies to queries. It holds a reply until the program in the
// foreground at the query reads, and drops it once another program is there. A command of the shell
// itself, such as printf, has ended at the shell's next mark. At its prompt, or without marks, the
// shell gets its replies at once. A Writer is not safe for concurrent use.
type Writer struct {
	Options
	programs foregroundPrograms
	due      chan struct{} // of 1

	held  []heldReply
	pause time.Duration // before the next look
}

// Options describe a terminal.
type Options struct {
	Write    func([]byte) // writes to the terminal; must not block
	Shell    Shell
	Child    int         // pid of the session's child
	Unparsed func() bool // reports whether the log has output not parsed yet
}

// A Shell is the state of a shell according to its marks.
type Shell interface {
	IsRunning() bool // it runs a command
	IsBetween() bool // it is between a command and its prompt
}

// New returns a writer for the PTY with this master, which is nil if the program has exited.
func New(master *os.File, o Options) *Writer {
	return &Writer{Options: o, programs: ptyPrograms{master}, due: make(chan struct{}, 1)}
}

// Due returns a channel with a value when it is time to call Settle.
func (w *Writer) Due() <-chan struct{} { return w.due }

// foregroundPrograms are the programs of a terminal.
type foregroundPrograms interface {
	group() int // the process group in the foreground; 0 if unknown
	inspect(child int) pty.Look
	hasOutput() bool // there is unread output
}

// ptyPrograms are the programs of the PTY with this master.
type ptyPrograms struct{ master *os.File }

func (p ptyPrograms) group() int {
	if p.master == nil {
		return 0
	}
	group, err := pty.Foreground(p.master)
	if err != nil {
		return 0
	}
	return group
}

func (p ptyPrograms) inspect(child int) pty.Look { return pty.InspectForeground(p.master, child) }

func (p ptyPrograms) hasOutput() bool { return pty.HasOutput(p.master) }

type heldReply struct {
	text    []byte
	group   int  // in the foreground at the query
	between bool // the shell was between a command and its prompt
	at      time.Time
}

// Add writes a reply, or holds it.
func (w *Writer) Add(p []byte) {
	group := w.programs.group()
	running, between := w.Shell.IsRunning(), w.Shell.IsBetween()
	if group <= 0 || group == w.Child && !running && !between {
		w.Write(p)
		return
	}
	w.held = append(w.held, heldReply{slices.Clone(p), group, between, time.Now()})
	w.held = w.held[max(len(w.held)-maxHeldReplies, 0):]
	w.pause = firstLook
	w.Settle()
}

// Settle writes or drops the held replies if the state of their programs is known, and looks at the
// others again later.
func (w *Writer) Settle() {
	if len(w.held) == 0 {
		return
	}
	group, look := w.programs.group(), w.programs.inspect(w.Child)
	// A shell that reads may be at its prompt, with the marks still unparsed.
	reads := look.Reads && !(look.Own && (w.Unparsed() || w.programs.hasOutput()))
	w.held = slices.DeleteFunc(w.held, func(h heldReply) bool {
		if w.isStale(h, group) {
			return true
		}
		if reads || group != w.Child && time.Since(h.at) >= maxHeld {
			w.Write(h.text)
			return true
		}
		return false
	})
	if len(w.held) > 0 {
		time.AfterFunc(w.pause, func() { w.raiseDue() })
		w.pause = min(2*w.pause, lastLook)
	}
}

// isStale reports whether the program has exited since its query. group is in the foreground.
func (w *Writer) isStale(h heldReply, group int) bool {
	if h.group != w.Child {
		return group != h.group
	}
	return group == w.Child && (h.between && !w.Shell.IsBetween() || !h.between && !w.Shell.IsRunning())
}

func (w *Writer) raiseDue() {
	select {
	case w.due <- struct{}{}:
	default:
	}
}
