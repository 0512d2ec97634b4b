package terminal

import (
	"context"
	"os"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/base/panics"
	"tandem/engine/screen/picture"
	"tandem/engine/screen/vt/graphics"
)

const (
	// rawLead is how many bytes of output a raw viewer may lag behind. A viewer that lags further
	// gets a repaint instead of the output it missed.
	rawLead = 1 << 20
	// rawChunk is the maximum number of bytes of output in one message to a viewer.
	rawChunk = 64 << 10
	// handoverTimeout is how long a viewer may take to hand over the terminal that it has offered.
	handoverTimeout = 5 * time.Second
	// maxLines is how many lines one answer holds.
	maxLines = 5000
)

// A repainter returns bytes that draw its screen on another terminal.
type repainter interface {
	AppendRepaint(dst []byte) []byte
	AppendPictures(dst []byte) []byte
}

// A stream is the connection to a viewer. It is implemented by server.Viewer.
type stream interface {
	// Resume tells the viewer what has become of its earlier input. It is called before anything
	// else.
	Resume(api.InputState)
	Receive() (api.Input, error)
	Send(out api.Output) error
}

// Attach serves a viewer until it leaves, the session ends or ctx is done. outside is set if the
// viewer is an agent and the session runs outside its sandbox.
func (s *Session) Attach(ctx context.Context, o api.AttachOptions, outside bool, to stream) error {
	if err := s.IsReady(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := newViewer(o)
	to.Resume(s.keyboard.takeOver(v, cancel))
	defer s.keyboard.disconnect(v)
	if v.options.Master {
		lender, ok := to.(interface{ CanPass() bool })
		v.options.Master = ok && lender.CanPass() && s.options.Master != nil
	}
	caller := api.CallerOf(ctx)
	v.as, v.agent, v.outside = typistOf(caller), caller.Agent(), outside
	s.viewers.add(v)
	s.facts.touch()
	defer func() {
		if s.viewers.remove(v) {
			s.sendFocus(false)
		}
		s.DecideSize(context.WithoutCancel(ctx))
		s.facts.touch()
	}()
	s.DecideSize(ctx)
	at := attachment{session: s, viewer: v, to: to}
	if o.Pictures && (!o.Raw || o.Apart) {
		at.gallery = &gallery{}
	}
	caught := make(chan *panics.Caught, 1)
	// This goroutine ends with the connection, when Attach returns.
	go func() {
		defer cancel()
		caught <- panics.Catch(func() { at.receiveInput(ctx) })
	}()
	err := at.serveOutput(ctx)
	select {
	case c := <-caught:
		c.Raise()
	default:
	}
	return err
}

// serveOutput sends the viewer its output until ctx ends.
func (a attachment) serveOutput(ctx context.Context) error {
	if a.viewer.options.Raw {
		d, err := a.takeTerminal(ctx)
		switch {
		case err != nil:
			return err
		case d != nil:
			return a.sendDirect(ctx, d)
		}
		return a.sendBytes(ctx)
	}
	f := framer{attachment: a}
	return f.run(ctx)
}

// DecideSize applies the size and display of the viewer that decides them.
func (s *Session) DecideSize(ctx context.Context) {
	select {
	case <-s.options.Ending:
		return
	default:
	}
	decider, ok := s.viewers.decider(s.keyboard.locked.Load())
	if !ok || s.options.Master == nil {
		return
	}
	if decider.display != nil && !decider.agent {
		s.options.Displays.remember(*decider.display)
	}
	if err := s.fitViewer(ctx, decider.size, decider.display); err != nil && ctx.Err() == nil {
		s.options.Log.Debug("resize", "id", s.options.ID, "error", err)
	}
}

// An attachment is a viewer with its connection.
type attachment struct {
	session *Session
	viewer  *viewer
	to      stream
	gallery *gallery // pictures held by the viewer; nil if it wants none
}

// missingPictures returns the pictures in lines that the viewer does not have yet. It removes the
// pictures from lines if the viewer wants none.
func (a attachment) missingPictures(t picture.Terminal, lines []api.NumberedLine) []*graphics.Picture {
	if a.gallery == nil {
		withoutPictures(lines)
		return nil
	}
	return a.gallery.missing(t, lines)
}

// sendClip sends what the program last copied to the clipboard, unless it was sent before.
func (a attachment) sendClip() error {
	clip := a.viewer.clip.Swap(nil)
	if clip == nil {
		return nil
	}
	return a.to.Send(api.Output{Clip: *clip})
}

// sendAccepted tells the viewer up to which message the terminal has accepted its input, if that
// has changed.
func (a attachment) sendAccepted() error {
	input := &a.viewer.input
	if input.from == nil {
		return nil
	}
	n := input.from.done.Load()
	if n == input.reported {
		return nil
	}
	input.reported = n
	return a.to.Send(api.Output{Accepted: &n})
}

// sendLines sends the requested lines.
func (a attachment) sendLines(ctx context.Context, r api.LineRange) error {
	// Even without lines, the request must be answered.
	lines := []api.NumberedLine{}
	var lacks []*graphics.Picture
	err := a.session.onScreen(ctx, func(t Emulator) {
		lines = append(lines, t.Lines(r.From, min(max(r.Count, 0), maxLines))...)
		cols, _ := t.Size()
		recolor(lines, cols, t.Changes())
		lacks = a.missingPictures(t, lines)
	})
	if err == nil && a.gallery != nil {
		err = a.gallery.send(a.to, lacks)
	}
	if err != nil {
		return err
	}
	return a.to.Send(api.Output{Lines: lines})
}

// sendEnd sends the lines that were requested so far, and then how the session ended.
func (a attachment) sendEnd(ctx context.Context) error {
	for {
		select {
		case r := <-a.viewer.lines:
			if err := a.sendLines(ctx, r); err != nil {
				return err
			}
		default:
			return a.to.Send(api.Output{Ended: &a.session.ended})
		}
	}
}

// buildRepaint returns the bytes that draw the screen. If pictures are sent apart from it, they are
// in apart. at is the offset in the log after the output shown.
func (a attachment) buildRepaint(ctx context.Context) (screen []byte, apart pictured, at int64, err error) {
	s := a.session
	err = s.onScreen(ctx, func(t Emulator) {
		s.screen.catchUp()
		screen, at = t.AppendRepaint(nil), s.screen.findBoundary()
		switch {
		case a.gallery != nil:
			apart = a.gallery.picturedOf(t)
		case a.viewer.options.Pictures:
			screen = t.AppendPictures(screen)
		}
	})
	return screen, apart, at, err
}

// awaitNews waits until there is something to send. Meanwhile it answers requests for lines. over
// is set if the session is over.
func (a attachment) awaitNews(ctx context.Context) (over bool, err error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-a.viewer.dirty:
		return false, nil
	case r := <-a.viewer.lines:
		return false, a.sendLines(ctx, r)
	case <-a.session.closed:
		return false, api.ErrEnding()
	case <-a.session.over:
		return true, nil
	}
}

// sendBytes sends a repaint of the screen, and then the program's output as it comes.
func (a attachment) sendBytes(ctx context.Context) error {
	s, v := a.session, a.viewer
	shown := s.shownLog()
	v.repaint.Store(true)
	var at int64
	buffer := make([]byte, rawChunk)
	for {
		behind := s.log.End() - at
		if v.repaint.Swap(false) || behind > rawLead || behind > 0 && invariants.Sometimes("repaint", 16) {
			screen, apart, from, err := a.buildRepaint(ctx)
			if at = from; err == nil {
				err = a.to.Send(api.Output{Bytes: screen})
			}
			if err == nil && a.gallery != nil {
				err = a.gallery.sendApart(a.to, apart)
				a.retryPictures()
			}
			if err != nil {
				return err
			}
		}
		due := v.marks.takeDue()
		n, _ := shown.ReadAt(buffer, at)
		if n > 0 {
			at += int64(n)
			if err := a.to.Send(api.Output{Bytes: buffer[:n:n]}); err != nil {
				return err
			}
		}
		if due != nil {
			if err := a.to.Send(api.Output{Mark: due}); err != nil {
				return err
			}
		}
		if err := a.sendAccepted(); err != nil {
			return err
		}
		if err := a.sendMaster(); err != nil {
			return err
		}
		if n > 0 || due != nil {
			continue
		}
		over, err := a.awaitNews(ctx)
		if err != nil {
			return err
		}
		if over && at == s.log.End() {
			return a.sendEnd(ctx)
		}
	}
}

// A handoverStream is a stream over which a viewer can pass its terminal. It is implemented by
// server.Viewer.
type handoverStream interface {
	Offer(master *os.File) (ok bool, err error)
	// Passed returns the viewer's terminal, or nil if it passed none. Later calls return nil.
	Passed() *os.File
}

// takeTerminal offers to take over the viewer's terminal, and waits for it. It returns nil if the
// viewer does not hand it over and gets bytes instead.
func (a attachment) takeTerminal(ctx context.Context) (*direct, error) {
	to, ok := a.to.(handoverStream)
	if !ok || !a.viewer.options.Direct {
		return nil, nil
	}
	var master *os.File
	if !a.viewer.options.ReadOnly && !a.viewer.options.Master {
		master = a.session.options.Master
	}
	if ok, err := to.Offer(master); !ok || err != nil {
		return nil, err
	}
	var d *direct
	select {
	case in := <-a.viewer.handed:
		tty := to.Passed()
		if tty == nil {
			return nil, api.Errorf(api.CodeInvalid, "attach to session: the handover came without a terminal")
		}
		var err error
		if d, err = newDirect(tty, in.NoClipboard); err != nil {
			a.session.options.Log.Warn("attach", "id", a.session.options.ID, "error", err)
		} else {
			d.kinds = a.viewer.options.Kinds
		}
	case <-time.After(handoverTimeout):
		return nil, api.Errorf(api.CodeInvalid, "attach to session: the terminal was not handed over")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	err := a.to.Send(api.Output{Direct: &api.Direct{Keys: master != nil && a.session.keyboard.isIdle()}})
	if err != nil && d != nil {
		d.close()
	}
	return d, err
}

// acceptHandover handles a message with which the viewer hands over its terminal, or asks for it
// back.
func (a attachment) acceptHandover(in api.Hand) error {
	if d := a.viewer.handedOver.Load(); d != nil && in.Back {
		d.clearProgress()
	}
	if in.Back || !a.viewer.options.Direct {
		return errBack
	}
	// The stream keeps the terminal until takeTerminal takes it. If that never happens, it closes
	// the terminal.
	select {
	case a.viewer.handed <- in:
	default: // already handed over
	}
	return nil
}

// errBack ends an attachment whose viewer wants its terminal back.
var errBack = api.Errorf(api.CodeUnavailable, "the viewer has its terminal back")
