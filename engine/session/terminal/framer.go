package terminal

import (
	"context"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt/graphics"
	"tandem/keys"
)

const (
	// frameGap is the minimum time between two frames to a viewer.
	frameGap = 8 * time.Millisecond
	// maxSync is how long a program may hold back the screen with mode 2026 (synchronized output).
	// tmux has the same limit.
	maxSync = time.Second
	// maxEchoes is how many frames in a row may be sent at once, each for at most maxEcho bytes of
	// output, to a viewer that writes keys to the PTY itself. Such frames may be echoes: the engine
	// is told of the keys only after their echo.
	maxEchoes = 64
	maxEcho   = 256
)

// A differ compares its screen with a former one.
type differ interface {
	Diff(since uint64) vt.Diff
	Changes() *styled.ColorChanges
}

// A framer sends frames to one viewer.
type framer struct {
	attachment
	state vt.Diff   // the last diff sent, without its lines
	sent  time.Time // time of the last frame
	held  time.Time // start of the program's synchronized update; zero if none
	owed  bool      // the screen has changed since
	end   int64     // of the output when the last frame was sent

	colors *styled.ColorChanges // the program's colour changes when its lines were last sent
}

// run sends changes of the screen. After a pause, or after the viewer has typed, it sends them at
// once, otherwise every frameGap. A slow viewer skips frames.
func (f *framer) run(ctx context.Context) error {
	for {
		if err := f.sendClip(); err != nil {
			return err
		}
		if err := f.sendMark(ctx); err != nil {
			return err
		}
		if err := f.sendAccepted(); err != nil {
			return err
		}
		if err := f.sendMaster(); err != nil {
			return err
		}
		wait, err := f.sendDue(ctx)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.viewer.dirty:
			f.owed = true
			if f.isEcho() {
				f.sent = time.Time{}
			}
		case <-wait:
		case r := <-f.viewer.lines:
			if r.Count == 0 {
				if err := f.sendLast(ctx); err != nil {
					return err
				}
			}
			if err := f.sendLines(ctx, r); err != nil {
				return err
			}
		case <-f.session.closed:
			return api.ErrEnding()
		case <-f.session.over:
			if err := f.sendLast(ctx); err != nil {
				return err
			}
			if err := f.sendClip(); err != nil {
				return err
			}
			return f.sendEnd(ctx)
		}
	}
}

// isEcho reports whether a change may be the echo of a key, which must not wait for frameGap.
func (f *framer) isEcho() bool {
	v := f.viewer
	switch {
	case v.eager.Swap(false):
		return true
	case !v.loan.held.Load() || f.session.log.End()-f.end > maxEcho || v.loan.echoes.Load() <= 0:
		return false
	}
	v.loan.echoes.Add(-1)
	return true
}

// sendMark answers a due mark of the viewer, after the output shown on the screen by then.
func (f *framer) sendMark(ctx context.Context) error {
	if f.session.Modes().Sync {
		return nil
	}
	due := f.viewer.marks.takeDue()
	if due == nil {
		return nil
	}
	if err := f.sendLast(ctx); err != nil {
		return err
	}
	f.owed, f.held = false, time.Time{}
	return f.to.Send(api.Output{Mark: due})
}

// sendDue sends a frame if one is owed and due. If it is owed but not due yet, wait receives a
// value when it is.
func (f *framer) sendDue(ctx context.Context) (wait <-chan time.Time, err error) {
	if !f.owed {
		return nil, nil
	}
	due := f.sent.Add(frameGap)
	if f.session.Modes().Sync {
		if f.held.IsZero() {
			f.held = time.Now()
		}
		due = f.held.Add(maxSync)
	} else {
		f.held = time.Time{}
	}
	if left := time.Until(due); left > 0 {
		return time.After(left), nil
	}
	f.owed, f.held = false, time.Time{}
	return nil, f.sendDiff(ctx, func(t differ) vt.Diff { return t.Diff(f.state.Seq) })
}

// sendLast sends the screen as it is after all the program's output.
func (f *framer) sendLast(ctx context.Context) error {
	return f.sendDiff(ctx, func(t differ) vt.Diff {
		f.session.screen.catchUp()
		return t.Diff(f.state.Seq)
	})
}

// sendDiff sends a diff unless it is empty.
func (f *framer) sendDiff(ctx context.Context, since func(differ) vt.Diff) error {
	var diff vt.Diff
	var lacks []*graphics.Picture
	err := f.session.onScreen(ctx, func(t Emulator) {
		diff = since(t)
		// As for a viewer far behind.
		resync := len(diff.Lines) > 0 && invariants.Sometimes("full frame", 8)
		resync = f.viewer.repaint.Swap(false) || resync
		resync = resync || t.Changes() != f.colors
		f.colors = t.Changes()
		if (resync || diff.Modes.ReverseScreen != f.state.Modes.ReverseScreen) && !diff.Full {
			diff = t.Diff(0)
		}
		if diff.Modes.ReverseScreen {
			reverseScreen(diff.Lines, diff.First, diff.Cols)
		}
		recolor(diff.Lines, diff.Cols, f.colors)
		lacks = f.missingPictures(t, diff.Lines)
	})
	if err != nil {
		return err
	}
	if !f.viewer.cursors.Load() {
		diff.Cursor.Own, diff.Cursor.Color = false, 0
	}
	news, before := differs(f.state, diff), f.state.Modes.Modes
	frame := newFrame(diff)
	if diff.Full {
		frame.Anchors = f.session.viewers.placesOf(f.viewer)
	}
	f.state, f.state.Lines = diff, nil
	if !news {
		return nil
	}
	if err := f.sendModes(before, diff.Modes.Modes); err != nil {
		return err
	}
	if f.gallery != nil {
		if err := f.gallery.send(f.to, lacks); err != nil {
			return err
		}
		f.retryPictures()
	}
	err = f.to.Send(api.Output{Frame: &frame})
	f.sent, f.end = time.Now(), f.session.log.End()
	return err
}

// sendModes sends the modes that decide how keys are encoded, if they have changed.
func (f *framer) sendModes(before, now keys.Modes) error {
	if now.Kitty != before.Kitty {
		if err := f.to.Send(api.Output{Keyboard: &now.Kitty}); err != nil {
			return err
		}
	}
	if f.viewer.options.Master && now != before {
		return f.to.Send(api.Output{Modes: &now})
	}
	return nil
}

// differs reports whether a viewer that has seen state a would see a difference in state b.
func differs(a, b vt.Diff) bool {
	return b.Full || len(b.Lines) > 0 || a.Cols != b.Cols || a.Rows != b.Rows ||
		a.Oldest != b.Oldest || a.First != b.First || a.Cursor != b.Cursor ||
		a.Modes != b.Modes || a.Title != b.Title || a.Bells != b.Bells
}
