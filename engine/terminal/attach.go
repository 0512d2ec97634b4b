package terminal

import (
	"context"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/vt"
)

const (
	// frameGap is the least time between two frames to one viewer.
	frameGap = 8 * time.Millisecond
	// syncLimit is how long a program may hold the screen back (mode 2026).
	syncLimit = 100 * time.Millisecond
	// rawLead is how far a viewer of bytes may be behind before it gets a
	// repaint instead of everything it missed.
	rawLead = 1 << 20
	// rawChunk is how many bytes go to a viewer in one message.
	rawChunk = 64 << 10
	// linesLimit bounds how many lines one answer holds.
	linesLimit = 5000
)

// A stream is a viewer's connection; server.Viewer is one.
type stream interface {
	Receive() (api.Input, error)
	Send(out api.Output) error
}

// Attach serves a viewer until it leaves, the session ends or ctx does.
// outside says that what the viewer types would leave its agent's sandbox.
func (s *Session) Attach(ctx context.Context, o api.AttachOptions, outside bool, to stream) error {
	if err := s.IsReady(ctx); err != nil {
		return err
	}
	v := newViewer(o)
	v.agent, v.outside = server.CallerOf(ctx).Agent(), outside
	s.viewers.add(v)
	s.pace.touch()
	defer func() {
		s.viewers.remove(v)
		s.DecideSize(context.WithoutCancel(ctx))
		s.pace.touch()
	}()
	s.DecideSize(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends when the connection does, which is when attach returns
		defer cancel()
		s.receive(ctx, v, to)
	}()
	if v.raw {
		return s.sendBytes(ctx, v, to)
	}
	return s.sendFrames(ctx, v, to)
}

// DecideSize gives the terminal the size of the viewer that decides it.
func (s *Session) DecideSize(ctx context.Context) {
	select {
	case <-s.options.Ending:
		return
	default:
	}
	size, ok := s.viewers.size(s.locked.Load())
	if !ok || s.options.Master == nil {
		return
	}
	if err := s.Resize(ctx, size.Cols, size.Rows); err != nil && ctx.Err() == nil {
		s.options.Log.Debug("resize", "id", s.options.ID, "error", err)
	}
}

// sendFrames sends what changed on the screen, at once after a pause or after
// the viewer typed, else every frameGap. What a viewer is too slow for is skipped.
func (s *Session) sendFrames(ctx context.Context, v *viewer, to stream) error {
	f := framer{session: s, viewer: v, to: to}
	for {
		if err := sendClip(v, to); err != nil {
			return err
		}
		wait, err := f.sendDue(ctx)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-v.dirty:
			f.owed = true
			if v.eager.Swap(false) {
				f.sent = time.Time{}
			}
		case <-wait:
		case r := <-v.lines:
			if err := s.sendLines(ctx, r, to); err != nil {
				return err
			}
		case <-s.closed:
			return api.ErrEnding()
		case <-s.over:
			if err := f.sendLast(ctx); err != nil {
				return err
			}
			if err := sendClip(v, to); err != nil {
				return err
			}
			return s.sendEnd(ctx, v, to)
		}
	}
}

// A framer sends frames to one viewer.
type framer struct {
	session *Session
	viewer  *viewer
	to      stream
	state   vt.Diff   // the last diff that was sent, without its lines
	sent    time.Time // when
	held    time.Time // since when the program holds the screen back; zero if not
	owed    bool      // the screen has changed since
}

// sendDue sends a frame if one is owed and due; if it is owed and not due, wait
// tells when to look again.
func (f *framer) sendDue(ctx context.Context) (wait <-chan time.Time, err error) {
	if !f.owed {
		return nil, nil
	}
	due := f.sent.Add(frameGap)
	if f.session.modes.Load().Sync {
		if f.held.IsZero() {
			f.held = time.Now()
		}
		due = f.held.Add(syncLimit)
	} else {
		f.held = time.Time{}
	}
	if left := time.Until(due); left > 0 {
		return time.After(left), nil
	}
	f.owed, f.held = false, time.Time{}
	return nil, f.send(ctx, func(t Emulator) vt.Diff { return t.Diff(f.state.Seq) })
}

// sendLast sends what the program left on the screen.
func (f *framer) sendLast(ctx context.Context) error {
	return f.send(ctx, func(t Emulator) vt.Diff {
		f.session.catchUp()
		return t.Diff(f.state.Seq)
	})
}

// send sends what a diff holds, if that is anything.
func (f *framer) send(ctx context.Context, take func(Emulator) vt.Diff) error {
	var diff vt.Diff
	if err := f.session.onScreen(ctx, func(t Emulator) { diff = take(t) }); err != nil {
		return err
	}
	news := changed(f.state, diff)
	frame := newFrame(diff)
	if diff.Full {
		frame.Anchors = f.session.viewers.placesOf(f.viewer)
	}
	f.state, f.state.Lines = diff, nil
	if !news {
		return nil
	}
	err := f.to.Send(api.Output{Frame: &frame})
	f.sent = time.Now()
	return err
}

// sendClip sends what the program put on the clipboard since the last time.
func sendClip(v *viewer, to stream) error {
	clip := v.clip.Swap(nil)
	if clip == nil {
		return nil
	}
	return to.Send(api.Output{Clip: *clip})
}

// changed reports whether a viewer that has seen state a would see anything
// new in b.
func changed(a, b vt.Diff) bool {
	return b.Full || len(b.Lines) > 0 || a.Cols != b.Cols || a.Rows != b.Rows ||
		a.Oldest != b.Oldest || a.First != b.First || a.Cursor != b.Cursor ||
		a.Modes != b.Modes || a.Title != b.Title || a.Bells != b.Bells
}

func (s *Session) sendLines(ctx context.Context, r api.LineRange, to stream) error {
	lines := []api.NumberedLine{} // an answer without any is one, too
	err := s.onScreen(ctx, func(t Emulator) { lines = append(lines, t.Lines(r.From, min(max(r.Count, 0), linesLimit))...) })
	if err != nil {
		return err
	}
	return to.Send(api.Output{Lines: lines})
}

// sendEnd sends the lines that were asked for so far, and how the session has
// ended.
func (s *Session) sendEnd(ctx context.Context, v *viewer, to stream) error {
	for {
		select {
		case r := <-v.lines:
			if err := s.sendLines(ctx, r, to); err != nil {
				return err
			}
		default:
			return to.Send(api.Output{Ended: &s.ended})
		}
	}
}

// sendBytes sends a repaint of the screen and then what the program writes.
func (s *Session) sendBytes(ctx context.Context, v *viewer, to stream) error {
	v.repaint.Store(true)
	var at int64
	buffer := make([]byte, rawChunk)
	for {
		if v.repaint.Swap(false) || s.log.End()-at > rawLead {
			var screen []byte
			err := s.onScreen(ctx, func(t Emulator) {
				s.catchUp()
				screen, at = t.AppendRepaint(nil), s.boundary()
			})
			if err == nil {
				err = to.Send(api.Output{Bytes: screen})
			}
			if err != nil {
				return err
			}
		}
		n, _ := s.log.ReadAt(buffer, at)
		if n > 0 {
			at += int64(n)
			if err := to.Send(api.Output{Bytes: buffer[:n:n]}); err != nil {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-v.dirty:
		case r := <-v.lines:
			if err := s.sendLines(ctx, r, to); err != nil {
				return err
			}
		case <-s.closed:
			return api.ErrEnding()
		case <-s.over:
			if at == s.log.End() {
				return s.sendEnd(ctx, v, to)
			}
		}
	}
}
