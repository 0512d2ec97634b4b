package terminal

import (
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/direct"
	"tandem/engine/api/outbox"
	"tandem/keys"
)

// An Attachment is the part of panes.Attachment that a Feed needs: it sends the input queued in an
// outbox.
type Attachment interface {
	SendFrom(o *outbox.Outbox, first ...api.Input) outbox.Loss
}

// A Feed connects a pane to its session: it passes output from the goroutine that receives it to
// the goroutine that draws it, and sends input. Its mutex guards only the fields.
type Feed struct {
	Screen     Screen
	Outbox     *outbox.Outbox // input for the session
	Keys       *direct.Path   // sends input to the outbox, or to the PTY
	Input      string         // names the stream of input, across all attachments
	Attached   chan struct{}  // capacity 1; full during an attachment, for whose end the next one waits
	awaitsEcho atomic.Bool    // input was sent, and no frame has arrived since

	mu      sync.Mutex
	size    api.Size
	display *api.Display // the user's terminal; nil if unknown
	status  feedStatus
	loss    outbox.Loss // input possibly lost; zero after TakeLoss
	clip    []byte      // last text the program put on the clipboard; nil after TakeClip
}

// A feedStatus is what a Feed has received, except for the screen's content.
type feedStatus struct {
	serial      int          // counts attachments
	sentDisplay *api.Display // display sent with this attachment
	replies     int          // counts replies to requests for lines
	mark        *api.Mark    // the last mark returned since the last takeStatus; nil without one
	markAt      time.Time    // time of its arrival
	kitty       uint8        // kitty keyboard flags of the program
	modes       keys.Modes   // modes in which the program gets keys; zero unless the engine lends the master
	exited      *api.Process
	err         error
}

// hasEnded reports whether no more output will come: the program has exited, or the session cannot
// be shown.
func (st *feedStatus) hasEnded() bool { return st.exited != nil || st.err != nil }

// Size returns the size for a new attachment.
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

// Connect starts to use an attachment. It sends the properties of the user's terminal and then the
// queued input.
func (f *Feed) Connect(v Attachment) {
	f.mu.Lock()
	display := f.display
	// The mutex must not be held during SendFrom, which is code of another package.
	f.mu.Unlock()
	var first []api.Input
	if display != nil {
		first = []api.Input{{Display: display}}
	}
	loss := v.SendFrom(f.Outbox, first...)
	f.mu.Lock()
	defer f.mu.Unlock()
	// What the previous attachment reported no longer holds.
	st := &f.status
	st.err, st.mark, st.kitty, st.modes, st.sentDisplay = nil, nil, 0, keys.Modes{}, display
	st.serial++
	f.loss.Add(loss)
	f.Screen.dropPictures()
}

// Disconnect ends an attachment. From now on input waits in the queue for the next attachment.
func (f *Feed) Disconnect() { f.Keys.Close() }

// Fail records why there will be no attachment.
func (f *Feed) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.err = err
}

// Receive handles one message of the session. shown reports whether the message is a frame that the
// user's terminal shows already. echo reports whether it is the first frame after input: it may be
// the echo, and should be drawn before anything else.
func (f *Feed) Receive(out api.Output) (shown, echo bool) {
	if out.Frame != nil {
		echo = f.awaitsEcho.Swap(false)
		return f.Screen.Show(out.Frame, echo), echo
	}
	f.receiveRest(out)
	return false, false
}

// receiveRest handles a message that is not a frame.
func (f *Feed) receiveRest(out api.Output) {
	if out.Picture != nil {
		f.Screen.AddPicture(out.Picture)
	}
	if out.Lines != nil {
		f.Screen.AddLines(out.Lines)
	}
	if out.Master != nil {
		f.Keys.Receive(out.Master)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if out.Lines != nil {
		f.status.replies++
	}
	if out.Mark != nil {
		f.status.mark, f.status.markAt = out.Mark, time.Now()
	}
	if out.Keyboard != nil {
		f.status.kitty = *out.Keyboard
	}
	if out.Modes != nil {
		f.status.modes = *out.Modes
	}
	if out.Clip != nil {
		f.clip = out.Clip
	}
	if out.Ended != nil {
		f.status.exited = out.Ended
	}
}

// Type sends input by the user to the session. If the engine lends the master of the PTY, a key
// goes directly to the PTY, encoded for the modes of the last frame.
func (f *Feed) Type(in api.Input) error {
	f.awaitsEcho.Store(true) // before the echo can arrive
	if in.Key == nil {
		return f.Keys.Send(in)
	}
	f.mu.Lock()
	modes := f.status.modes
	f.mu.Unlock()
	_, err := f.Keys.Type(keys.Encode(nil, *in.Key, modes), in)
	return err
}

// TypeNow sends a key to the program if that is possible without the pane; otherwise the pane must
// handle the key. It is safe for concurrent use.
func (f *Feed) TypeNow(k keys.Key) (typed bool) {
	// At ctrl+c the pane also drops waiting text.
	return f.Outbox.Connected() && !isInterrupt(k) && f.Type(api.Input{Key: &k}) == nil
}

// TakeClip returns the text that the program last put on the clipboard. It returns each text only
// once, and nil if there is none.
func (f *Feed) TakeClip() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	clip := f.clip
	f.clip = nil
	return clip
}

// TakeLoss returns how much input may have been lost since the last call of TakeLoss.
func (f *Feed) TakeLoss() outbox.Loss {
	f.mu.Lock()
	defer f.mu.Unlock()
	loss := f.loss
	f.loss = outbox.Loss{}
	return loss
}

func (f *Feed) takeStatus() feedStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.status
	f.status.mark = nil
	return st
}
