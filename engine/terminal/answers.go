package terminal

import (
	"context"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/logs"
	"tandem/engine/picture"
	"tandem/engine/prompt"
	"tandem/engine/styled"
	"tandem/engine/vt"
	"tandem/engine/vt/graphics"
	"tandem/engine/vt/scan"
	"tandem/keys"
)

// output serves session.read; ended says that nothing follows.
func (s *Session) Printed(ctx context.Context, in api.SessionReadInput, ended bool) (api.SessionReadOutput, error) {
	if err := s.IsReady(ctx); err != nil {
		return api.SessionReadOutput{}, err
	}
	most := in.Max
	if most <= 0 {
		most = readDefault
	}
	if in.Plain {
		return s.plain(in.Since, min(most, readMost))
	}
	return ReadLog(s.shownLog(), in.Since, min(most, readMost), ended)
}

// shownLog returns the log without the nonce in the shell's marks: a program that knows it could
// forge marks.
func (s *Session) shownLog() prompt.Log { return logs.Hide(s.log, s.options.Secret) }

// plain is the end of what was printed from an offset on, as the terminal shows it.
func (s *Session) plain(since int64, most int) (out api.SessionReadOutput, err error) {
	out.AltScreen = s.Modes().Alt
	out.Data, out.NextCursor, out.Dropped, err = s.shell.PlainSince(since, most)
	return out, err
}

// Screen serves session.screen.
func (s *Session) Screen(ctx context.Context, in api.SessionScreenInput) (screen api.Screen, err error) {
	draw, err := painter(in.Picture)
	if err != nil {
		return screen, err
	}
	var shown picture.Screen
	var usage *graphics.Usage
	if draw != nil {
		select {
		case s.drawing <- struct{}{}:
			defer func() { <-s.drawing }()
		case <-ctx.Done():
			return screen, ctx.Err()
		}
	}
	err = s.onScreen(ctx, func(t Emulator) {
		s.screen.catchUp()
		screen = ScreenOf(t, in.ANSI, min(in.Scrollback, scrollbackMost))
		if in.Ends {
			screen.Ends = endsOf(t, len(screen.Lines))
		}
		if draw != nil {
			shown, usage = picture.Of(t), t.PictureUsage()
		}
	})
	if err != nil || draw == nil {
		return screen, err
	}
	if len(shown.Printed) > 0 {
		if err := usage.Rested(ctx); err != nil {
			return screen, err
		}
	}
	screen.Picture, err = draw(shown)
	return screen, err
}

// Kept tells which part of the log is there. The session is ready.
func (s *Session) Kept() (start, end int64) { return s.log.Start(), s.log.End() }

// Shown is how much of the log the screen shows.
func (s *Session) Shown() int64 { return s.screen.shown.Load() }

// LogOpened is closed once the log is open, or cannot be opened.
func (s *Session) LogOpened() <-chan struct{} { return s.opened }

// Master is the PTY's; nil when the program had ended before.
func (s *Session) Master() *os.File { return s.options.Master }

// NoteUse notes that somebody uses the session now.
func (s *Session) NoteUse() { s.used.Store(time.Now().UnixNano()) }

// Shell is the session's program at its prompt.
func (s *Session) Shell() *prompt.Shell { return s.shell }

// Log is the session's output. The session is ready.
func (s *Session) Log() prompt.Log { return s.shownLog() }

// Size is that of the terminal.
func (s *Session) Size() (cols, rows int) {
	f := s.facts.all()
	return f.Cols, f.Rows
}

// SetCWD says which folder the program is in, before it tells one.
func (s *Session) SetCWD(path string) { s.facts.setCWD(path) }

// CWD is the folder that the program has told of last.
func (s *Session) CWD() string {
	return s.facts.all().CWD
}

// Modes are those that the program has set.
func (s *Session) Modes() vt.Modes { return *s.screen.modes.Load() }

// Cursor is that of the screen.
func (s *Session) Cursor(ctx context.Context) (c styled.Cursor, err error) {
	err = s.onScreen(ctx, func(t Emulator) { c = t.Cursor() })
	return c, err
}

// Rows is what the screen shows, without blanks at the ends of rows.
func (s *Session) Rows(ctx context.Context) (rows []string, err error) {
	err = s.onScreen(ctx, func(t Emulator) { rows = ScreenOf(t, false, 0).Lines })
	return rows, err
}

// ExitCode is the program's, once the session is over; nil if it is not known.
func (s *Session) ExitCode() *int { return s.ended.ExitCode }

// KeyModes are the modes that keys are encoded for.
func (s *Session) KeyModes() keys.Modes { return s.screen.modes.Load().Modes }

// Repainted is what draws the screen with the pictures on it, these by kitty's protocol, and
// the offset behind what it shows.
func (s *Session) Repainted(ctx context.Context) (screen []byte, at int64, err error) {
	err = s.onScreen(ctx, func(t Emulator) {
		s.screen.catchUp()
		screen, at = t.AppendPictures(t.AppendRepaint(nil)), s.screen.boundary()
	})
	return screen, at, err
}

// ReadLog reads up to most bytes as text. A character that is not complete yet
// is left for the next call, unless nothing more comes.
func ReadLog(log prompt.Log, since int64, most int, ended bool) (api.SessionReadOutput, error) {
	start, end := log.Start(), log.End()
	if since < 0 {
		since = max(0, end+since)
	}
	since = min(since, end)
	from := max(since, start)
	p := make([]byte, min(int64(max(most, utf8.UTFMax)), end-from))
	n, err := log.ReadAt(p, from)
	if n == 0 && len(p) > 0 {
		return api.SessionReadOutput{}, api.Errorf(api.CodeInternal, "read log: %v", err)
	}
	p = p[:n]
	if !(ended && from+int64(n) == end) {
		p = p[:scan.Whole(p)]
	}
	return api.SessionReadOutput{
		Data:       strings.ToValidUTF8(string(p), "\uFFFD"),
		NextCursor: from + int64(len(p)),
		Dropped:    from - since,
	}, nil
}

const readDefault = 64 << 10

const readMost = 1 << 20

const scrollbackMost = 100_000
