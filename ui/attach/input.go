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
	// sequenceDelay is how many milliseconds the rest of an escape sequence may
	// take to arrive; then its start was typed.
	sequenceDelay = 25
)

// An input reads the terminal and sends what it reads, but for the prefix and
// the key after it. Offsets count the bytes that the decoder was fed.
type input struct {
	run     *run
	decoder keys.Decoder
	plain   []byte // what prefix keys are as control characters
	short   bool   // each prefix key is one

	pending []byte // fed to the decoder, and not dropped yet
	start   int64  // offset of pending
	decoded int64  // end of the last event
	done    int64  // up to here everything is sent or swallowed
	waiting bool   // the prefix was pressed
	over    bool   // the run has ended
	end     int64  // and where

	answering bool   // within a control string that the terminal sends by itself
	answer    []byte // of it

	wakeRead, wakeWrite int
}

func newInput(r *run) (*input, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	in := &input{run: r, wakeRead: fds[0], wakeWrite: fds[1], short: true}
	for _, k := range r.Prefix {
		if p := keys.Encode(nil, k, keys.Modes{}); len(p) == 1 {
			in.plain = append(in.plain, p[0])
		} else {
			in.short = false
		}
	}
	return in, nil
}

// wake ends loop.
func (in *input) wake() { _, _ = unix.Write(in.wakeWrite, []byte{0}) }

func (in *input) close() {
	unix.Close(in.wakeRead)
	unix.Close(in.wakeWrite)
}

// loop reads until wake or until the terminal is gone.
func (in *input) loop() {
	buffer := make([]byte, readSize)
	fd := int(in.run.In.Fd())
	for {
		timeout := -1
		if in.decoder.Pending() > 0 || in.answering {
			timeout = sequenceDelay
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(in.wakeRead), Events: unix.POLLIN}}
		n, err := poll(fds, timeout)
		switch {
		case err != nil || fds[1].Revents != 0:
			return
		case n == 0:
			in.flush()
			continue
		}
		n, err = unix.Read(fd, buffer)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil || n == 0:
			in.run.link.stop(Outcome{Reason: HungUp})
			return
		default:
			in.take(buffer[:n])
		}
		if in.over {
			return // what is typed now is for whoever has the terminal next
		}
	}
}

// take handles bytes that were read.
func (in *input) take(p []byte) {
	if in.decoder.Idle() && !in.waiting && !in.run.ReadOnly && in.boring(p) {
		in.run.forward(p)
		return
	}
	in.pending = append(in.pending, p...)
	in.decoder.Feed(p, in.event)
	if !in.over {
		in.pass()
	}
}

// unsent is what was read and is neither sent nor swallowed. Nothing reads any
// more.
func (in *input) unsent() []byte {
	from := in.done
	if in.over {
		from = in.end
	}
	return slices.Clone(in.pending[max(from-in.start, 0):])
}

// boring reports whether p cannot hold a prefix key, nor the start of one.
func (in *input) boring(p []byte) bool {
	if bytes.IndexByte(p, 0x1b) >= 0 {
		return false
	}
	for _, c := range in.plain {
		if bytes.IndexByte(p, c) >= 0 {
			return false
		}
	}
	return true
}

// flush takes an unfinished sequence for what was typed.
func (in *input) flush() {
	in.answering = false
	in.decoder.Flush(in.event)
	in.passUpTo(in.decoded)
	in.pass()
}

// pass sends what is decoded. What is not may be sent too, without waiting for
// its end, as long as no prefix key can be longer than one byte, and if it cannot
// become an answer.
func (in *input) pass() {
	end := in.decoded
	if in.short && !in.waiting && !in.run.link.extended.Load() && !beginsAnswer(in.pending[end-in.start:]) {
		end = in.start + int64(len(in.pending))
	}
	in.passUpTo(end)
	in.pending = slices.Delete(in.pending, 0, int(in.decoded-in.start))
	in.start = in.decoded
}

func (in *input) passUpTo(end int64) {
	if end > in.done {
		in.run.forward(in.pending[in.done-in.start : end-in.start])
		in.done = end
	}
}

// swallow keeps an event from the session, and sends what came before it.
func (in *input) swallow(e keys.Event) {
	in.passUpTo(e.Start)
	in.done = max(in.done, e.End)
}

func (in *input) event(e keys.Event) {
	in.decoded = e.End
	if in.over {
		return
	}
	if in.isAnswer(e) {
		in.swallow(e)
	}
	switch {
	case e.Kind == keys.EventMouse && in.run.points():
		in.pointed(e)
	case e.Kind == keys.EventMouse && in.run.link.cells.Load() && in.run.link.pixels.Load():
		in.swallow(e)
		in.run.link.tell(api.Input{Mouse: &e.Mouse})
	case e.Kind == keys.EventFocusIn || e.Kind == keys.EventFocusOut:
		in.focused(e)
	case e.Kind == keys.EventKey:
		in.key(e)
	case e.Kind == keys.EventPaste:
		in.refuse()
	}
}

// refuse tells the user of a read-only run that the session gets no input.
func (in *input) refuse() {
	if in.run.ReadOnly {
		in.run.explain("read-only: what you type does not reach the session")
	}
}

func (in *input) key(e keys.Event) {
	switch {
	case in.waiting:
		in.afterPrefix(e)
	case in.isLate(e):
		in.swallow(e)
		in.run.forward(keys.Encode(nil, e.Key, keys.Modes{}))
	case e.Key.Phase == keys.Release:
	case !in.isPrefix(e.Key):
		if !e.Key.IsModifier() {
			in.refuse()
		}
	case in.run.Handoff:
		in.handBack(e)
	default:
		in.swallow(e)
		in.run.note.end()
		in.waiting = true
	}
}

// isLate reports whether a key that is not the prefix came as an escape code that nobody
// has asked for here: it was pressed while the terminal was somebody else's, and still had
// that one's modes.
func (in *input) isLate(e keys.Event) bool {
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

func (in *input) afterPrefix(e keys.Event) {
	k := e.Key
	switch {
	case k.Phase == keys.Release || k.IsModifier(), k.Phase == keys.Repeat && in.isPrefix(k):
		in.swallow(e)
	case in.isPrefix(k):
		in.waiting = false // and the second press goes to the session
	default:
		in.waiting = false
		in.swallow(e)
		in.command(k, e.End)
	}
}

// forward sends input to the session.
func (r *run) forward(p []byte) {
	if r.ReadOnly {
		return
	}
	r.note.end()
	if c := interrupt(p); c != nil {
		if n := r.link.discardText(); n > 0 {
			r.link.send(p[:len(p)-len(c)]) // dropped too, but for the end of a paste
			n += r.link.discardText()
			p = c
			defer r.explain(fmt.Sprintf("ctrl+c dropped %d kB of unsent text", (n+999)/1000))
		}
	}
	if r.over == nil {
		r.link.send(p)
		return
	}
	mark := r.over.way.add(p)
	r.link.send(p)
	r.link.tell(api.Input{Mark: &mark})
	r.over.poke()
}

// interrupt returns the ctrl+c at the end of p; nil if there is none. It does not wait behind
// text that the program does not read: what has not been sent of that is dropped.
func interrupt(p []byte) []byte {
	for _, c := range [...]string{"\x03", "\x1b[99;5u"} {
		if bytes.HasSuffix(p, []byte(c)) {
			return p[len(p)-len(c):]
		}
	}
	return nil
}

// command runs the command of k, pressed after the prefix; end is where k ends.
func (in *input) command(k keys.Key, end int64) {
	r := in.run
	switch {
	case k.Same(keys.Key{Code: 'd', Text: "d"}):
		r.link.stop(Outcome{Reason: Detached})
		in.over, in.end = true, end
	case k.Text == "?":
		r.note.show(r.help)
	case k.Text == "[":
		r.explain("no scrollback in attach: use `tandem` or `tandem logs`")
	default:
		r.terminal.bell()
		r.explain(r.Prefix[0].Show() + " " + k.Show() + " does nothing here")
	}
}

// explain shows why a key did nothing, and how to leave.
func (r *run) explain(why string) {
	r.note.show(func() string { return why + "; " + r.leaveKey() })
}

func (r *run) leaveKey() string { return r.Prefix[0].Show() + " d detaches" }

// help lists the keys of attach or, where typing is predicted, reports the round trip.
func (r *run) help() string {
	prefix := r.Prefix[0].Show()
	if r.over == nil {
		return r.leaveKey() + ", " + prefix + " " + prefix + " sends it; `tandem` has panes and scrollback"
	}
	return fmt.Sprintf("%s: round trip %s, prediction %v; %s", cmp.Or(r.away.machine, "the engine"), shortly(r.over.rtt()), r.Predict, r.leaveKey())
}
