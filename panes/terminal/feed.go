package terminal

import (
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
)

// An Attachment sends what is queued in an outbox, as panes.Attachment does.
type Attachment interface {
	SendFrom(o *outbox.Outbox, first ...api.Input) (unsure int64)
}

// A Feed is where the goroutine that receives from a session leaves what it
// got for the goroutine that draws. Its mutex guards the fields alone.
type Feed struct {
	Screen Screen
	Outbox *outbox.Outbox // what the session gets
	typed  atomic.Bool    // something was, and no frame has come since

	mu      sync.Mutex
	size    api.Size
	display *api.Display // what the person's terminal is like; nil if that is not known
	serial  int          // counts attachments
	told    *api.Display // display that the present attachment began with
	answers int          // counts answers to what the session was asked for
	mark    *api.Mark
	markAt  time.Time
	kitty   uint8 // keyboard flags set by the program
	ended   *api.Process
	err     error
	unsure  int64  // bytes of typed text that may be lost; 0 after TakeUnsure
	clip    []byte // what the program put on the clipboard; nil if nothing since TakeClip
}

// Size is the size that a new attachment should name.
func (f *Feed) Size() api.Size {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

func (f *Feed) setSize(s api.Size) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.size = s
}

func (f *Feed) setDisplay(d *api.Display) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.display = d
}

// Connect tells of a new attachment. It is sent what the terminal is like, and then the input that
// waits.
func (f *Feed) Connect(v Attachment) {
	f.mu.Lock()
	display := f.display
	f.mu.Unlock()
	var first []api.Input
	if display != nil {
		first = []api.Input{{Display: display}}
	}
	unsure := v.SendFrom(f.Outbox, first...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.mark, f.kitty, f.told = nil, nil, 0, display
	f.unsure += unsure
	f.serial++
	f.Screen.forgetPictures()
}

// Fail tells why there will be no attachment.
func (f *Feed) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// Receive takes in one message of the session.
func (f *Feed) Receive(out api.Output) {
	if out.Frame != nil {
		f.Screen.Apply(out.Frame)
	}
	if out.Picture != nil {
		f.Screen.AddPicture(out.Picture)
	}
	if out.Lines != nil {
		f.Screen.AddLines(out.Lines)
		f.mu.Lock()
		f.answers++
		f.mu.Unlock()
	}
	if out.Mark != nil {
		f.mu.Lock()
		f.mark, f.markAt = out.Mark, time.Now()
		f.mu.Unlock()
	}
	if out.Keyboard != nil {
		f.mu.Lock()
		f.kitty = *out.Keyboard
		f.mu.Unlock()
	}
	if out.Clip != nil {
		f.mu.Lock()
		f.clip = out.Clip
		f.mu.Unlock()
	}
	if out.Ended != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended = out.Ended
	}
}

// NoteTyped says that something was typed into the session.
func (f *Feed) NoteTyped() { f.typed.Store(true) }

// TakeEcho reports whether a message may be the echo of what was typed: the first frame
// since then. It is to be seen before anything else that waits to be drawn.
func (f *Feed) TakeEcho(out api.Output) bool { return out.Frame != nil && f.typed.Swap(false) }

// TakeClip hands out what the program put on the clipboard last, once; nil if
// nothing.
func (f *Feed) TakeClip() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	clip := f.clip
	f.clip = nil
	return clip
}

// TakeUnsure returns how many bytes of typed text may be lost since the last call, because the
// engine exited before it reported them as accepted.
func (f *Feed) TakeUnsure() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.unsure
	f.unsure = 0
	return n
}

// feedStatus is a copy of what a Feed tells beside the screen.
type feedStatus struct {
	serial  int
	told    *api.Display // by the attachment of that serial
	answers int
	mark    *api.Mark // the last one that came back; nil if none has since it was asked last
	markAt  time.Time // when it came
	kitty   uint8
	ended   *api.Process
	err     error
}

func (f *Feed) status() feedStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := feedStatus{f.serial, f.told, f.answers, f.mark, f.markAt, f.kitty, f.ended, f.err}
	f.mark = nil
	return st
}
