package attach

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"tandem/engine/api"
	"tandem/keys"

	"golang.org/x/sys/unix"
)

const (
	readSize = 64 << 10
	// sequenceDelay is how many milliseconds the rest of an escape sequence may take.
	// After that, its start counts as typed.
	sequenceDelay = 25
)

// An input reads the terminal and sends what it reads, except the prefix and the key after
// it. Offsets count the bytes passed to the decoder.
type input struct {
	run         *run
	decoder     keys.Decoder
	prefixBytes []byte // prefix keys that are control characters
	shortPrefix bool   // all prefix keys are such

	pending       []byte // passed to the decoder and not discarded yet
	start         int64  // offset of pending
	decoded       int64  // end of the last event
	handledTo     int64  // everything before it is sent or consumed
	prefixPressed bool   // the prefix was pressed
	stopped       bool   // the run has ended

	inAnswer bool   // inside a control string sent by the terminal
	answer   []byte // the string so far

	wakeRead, wakeWrite int
}

func newInput(r *run) (*input, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	in := &input{run: r, wakeRead: fds[0], wakeWrite: fds[1], shortPrefix: true}
	for _, k := range r.Prefix {
		if p := keys.Encode(nil, k, keys.Modes{}); len(p) == 1 {
			in.prefixBytes = append(in.prefixBytes, p[0])
		} else {
			in.shortPrefix = false
		}
	}
	return in, nil
}

// stopLoop makes readLoop return.
func (in *input) stopLoop() { _, _ = unix.Write(in.wakeWrite, []byte{0}) }

func (in *input) close() {
	unix.Close(in.wakeRead)
	unix.Close(in.wakeWrite)
}

// readLoop reads until stopLoop is called or the terminal hangs up.
func (in *input) readLoop() {
	buffer := make([]byte, readSize)
	fd := int(in.run.In.Fd())
	for {
		timeout := -1
		if in.decoder.Pending() > 0 || in.inAnswer {
			timeout = sequenceDelay
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(in.wakeRead), Events: unix.POLLIN}}
		n, err := pollFDs(fds, timeout)
		switch {
		case err != nil || fds[1].Revents != 0:
			return
		case n == 0:
			in.flushSequence()
			continue
		}
		n, err = unix.Read(fd, buffer)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil || n == 0:
			in.run.link.stopRun(Outcome{Reason: HungUp})
			return
		default:
			in.handleBytes(buffer[:n])
		}
		if in.stopped {
			// Later input is for the terminal's next owner.
			return
		}
	}
}

// handleBytes handles bytes read from the terminal.
func (in *input) handleBytes(p []byte) {
	// Fast path: ordinary text needs no decoding.
	if in.decoder.Idle() && !in.prefixPressed && !in.run.ReadOnly && in.lacksPrefix(p) {
		in.run.forwardInput(p)
		return
	}
	in.pending = append(in.pending, p...)
	in.decoder.Feed(p, in.handleEvent)
	if !in.stopped {
		in.sendDecoded()
	}
}

// lacksPrefix reports whether p contains neither a prefix key nor the start of one.
func (in *input) lacksPrefix(p []byte) bool {
	if bytes.IndexByte(p, 0x1b) >= 0 {
		return false
	}
	for _, c := range in.prefixBytes {
		if bytes.IndexByte(p, c) >= 0 {
			return false
		}
	}
	return true
}

// flushSequence treats an unfinished sequence as typed.
func (in *input) flushSequence() {
	in.inAnswer = false
	in.decoder.Flush(in.handleEvent)
	in.sendUpTo(in.decoded)
	in.sendDecoded()
}

// sendDecoded sends the decoded bytes. It also sends an unfinished sequence without
// waiting for its end, unless that may become a prefix key or an answer.
func (in *input) sendDecoded() {
	end := in.decoded
	if in.shortPrefix && !in.prefixPressed && !in.run.link.extended.Load() && !mayBeginAnswer(in.pending[end-in.start:]) {
		end = in.start + int64(len(in.pending))
	}
	in.sendUpTo(end)
	in.pending = slices.Delete(in.pending, 0, int(in.decoded-in.start))
	in.start = in.decoded
}

func (in *input) sendUpTo(end int64) {
	if end > in.handledTo {
		in.run.forwardInput(in.pending[in.handledTo-in.start : end-in.start])
		in.handledTo = end
	}
}

// consumeEvent withholds an event from the session, and sends what came before it.
func (in *input) consumeEvent(e keys.Event) {
	in.sendUpTo(e.Start)
	in.handledTo = max(in.handledTo, e.End)
}

func (in *input) handleEvent(e keys.Event) {
	in.decoded = e.End
	if in.stopped {
		return
	}
	if in.isAnswer(e) {
		in.consumeEvent(e)
	}
	switch {
	case e.Kind == keys.EventMouse && in.run.link.cellMouse.Load() && in.run.link.wantsPixels.Load():
		in.consumeEvent(e)
		in.run.link.sendEvent(api.Input{Mouse: &e.Mouse})
	case e.Kind == keys.EventFocusIn || e.Kind == keys.EventFocusOut:
		in.handleFocus(e)
	case e.Kind == keys.EventKey:
		in.handleKey(e)
	case e.Kind == keys.EventPaste:
		in.noteReadOnly()
	}
}

// handleFocus passes a focus event to the program. When focus returns, the terminal's colours are
// queried again, because they may have changed.
func (in *input) handleFocus(e keys.Event) {
	on := e.Kind == keys.EventFocusIn
	in.consumeEvent(e)
	if !in.run.ReadOnly {
		in.run.link.sendEvent(api.Input{Focus: &on})
	}
	if on && !in.run.known.reportsChanges() {
		in.run.askColors()
	}
}

// noteReadOnly tells the user of a read-only run that input is ignored.
func (in *input) noteReadOnly() {
	if in.run.ReadOnly {
		in.run.showNote("read-only: what you type does not reach the session")
	}
}

func (in *input) handleKey(e keys.Event) {
	switch {
	case in.prefixPressed:
		in.handlePrefixKey(e)
	case in.isStaleKey(e):
		in.consumeEvent(e)
		in.run.forwardInput(keys.Encode(nil, e.Key, keys.Modes{}))
	case e.Key.Phase == keys.Release:
	case !in.isPrefix(e.Key):
		if !e.Key.IsModifier() {
			in.noteReadOnly()
		}
	default:
		in.consumeEvent(e)
		in.run.note.endNote()
		in.prefixPressed = true
	}
}

// isStaleKey reports whether a key other than the prefix arrived in an encoding nobody
// requested here: it was pressed while the terminal still had the modes of its previous
// owner.
func (in *input) isStaleKey(e keys.Event) bool {
	if in.run.link.extended.Load() || in.isPrefix(e.Key) {
		return false
	}
	p := in.pending[e.Start-in.start : e.End-in.start]
	return bytes.HasPrefix(p, []byte("\x1b[")) && bytes.HasSuffix(p, []byte("u")) ||
		bytes.HasPrefix(p, []byte("\x1b[27;")) && bytes.HasSuffix(p, []byte("~"))
}

func (in *input) isPrefix(k keys.Key) bool {
	return slices.ContainsFunc(in.run.Prefix, k.Same)
}

func (in *input) handlePrefixKey(e keys.Event) {
	k := e.Key
	switch {
	case k.Phase == keys.Release || k.IsModifier(), k.Phase == keys.Repeat && in.isPrefix(k):
		in.consumeEvent(e)
	case in.isPrefix(k):
		// The second press goes to the session.
		in.prefixPressed = false
	default:
		in.prefixPressed = false
		in.consumeEvent(e)
		in.runCommand(k)
	}
}

// forwardInput sends input to the session.
func (r *run) forwardInput(p []byte) {
	if r.ReadOnly {
		return
	}
	r.note.endNote()
	if c := trailingCtrlC(p); c != nil {
		if n := r.link.discardText(); n > 0 {
			// The text before ctrl+c is dropped as well, except for the end of a paste.
			r.link.sendInput(p[:len(p)-len(c)])
			n += r.link.discardText()
			p = c
			defer r.showNote(fmt.Sprintf("ctrl+c dropped %d kB of unsent text", (n+999)/1000))
		}
	}
	if r.overlay == nil {
		r.link.sendInput(p)
		return
	}
	mark := r.overlay.pending.record(p)
	r.link.sendInput(p)
	r.link.sendNow(api.Input{Mark: &mark})
	r.overlay.wakeUp()
}

// trailingCtrlC returns the ctrl+c at the end of p; nil if there is none. A ctrl+c must not queue
// behind text that the program does not read, so the caller drops unsent text first.
func trailingCtrlC(p []byte) []byte {
	for _, c := range [...]string{"\x03", "\x1b[99;5u"} {
		if bytes.HasSuffix(p, []byte(c)) {
			return p[len(p)-len(c):]
		}
	}
	return nil
}

// runCommand runs the command of k, the key after the prefix.
func (in *input) runCommand(k keys.Key) {
	r := in.run
	switch {
	case k.Same(keys.Key{Code: 'd', Text: "d"}):
		r.link.stopRun(Outcome{Reason: Detached})
		in.stopped = true
	case k.Text == "?":
		r.note.showText(r.helpText)
	case k.Text == "[":
		r.showNote("no scrollback in attach: use `tandem` or `tandem logs`")
	default:
		r.terminal.ringBell()
		r.showNote(r.Prefix[0].Show() + " " + k.Show() + " does nothing here")
	}
}

// showNote shows why a key did nothing, and how to detach.
func (r *run) showNote(why string) {
	r.note.showText(func() string { return why + "; " + r.leaveHint() })
}

func (r *run) leaveHint() string { return r.Prefix[0].Show() + " d detaches" }

// helpText lists the keys of attach, or, with predictions, reports the round trip.
func (r *run) helpText() string {
	prefix := r.Prefix[0].Show()
	if r.overlay == nil {
		return r.leaveHint() + ", " + prefix + " " + prefix + " sends it; `tandem` has panes and scrollback"
	}
	return fmt.Sprintf("%s: round trip %s, prediction %v; %s", cmp.Or(r.remote.machine, "the engine"), formatRTT(r.overlay.roundTrip()), r.Predict, r.leaveHint())
}
