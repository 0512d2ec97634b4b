package terminal

import (
	"context"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/record/logs"
	"tandem/engine/screen/picture"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/scan"
	"tandem/engine/session/prompt"
	"tandem/keys"
)

// ReadOutput serves session.read. ended is set if no more output will follow.
func (s *Session) ReadOutput(ctx context.Context, in api.SessionReadInput, ended bool) (api.SessionReadOutput, error) {
	if err := s.IsReady(ctx); err != nil {
		return api.SessionReadOutput{}, err
	}
	limit := in.Max
	if limit <= 0 {
		limit = defaultReadOutput
	}
	if in.Plain {
		return s.readPlain(ctx, in.Since, min(limit, maxReadOutput))
	}
	return ReadLog(s.shownLog(), in.Since, min(limit, maxReadOutput), ended)
}

// shownLog returns the log with the nonce in the shell's marks hidden. A program that knew the
// nonce could forge marks.
func (s *Session) shownLog() prompt.Log { return logs.Hide(s.log, s.options.Secret) }

// readPlain returns the end of the output since an offset, as text that the terminal would show.
func (s *Session) readPlain(ctx context.Context, since int64, limit int) (out api.SessionReadOutput, err error) {
	// The last output of an exited program may not be on the screen yet.
	if err = s.onScreen(ctx, func(Emulator) { s.screen.catchUp() }); err == nil {
		out.AltScreen = s.Modes().Alt
		out.Data, out.NextCursor, out.Dropped, err = s.shell.PlainSince(since, limit)
	}
	return out, err
}

// Screen serves session.screen.
func (s *Session) Screen(ctx context.Context, in api.SessionScreenInput) (screen api.Screen, err error) {
	draw, err := painterFor(in.Picture)
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
		screen = ScreenOf(t, in.ANSI, min(in.Scrollback, maxScrollback))
		if in.Ends {
			screen.Ends = lineEnds(t, len(screen.Lines))
		}
		if draw != nil {
			shown, usage = picture.Of(t), t.PictureUsage()
		}
	})
	if err != nil || draw == nil {
		return screen, err
	}
	if len(shown.Printed) > 0 {
		if err := usage.WaitForQuota(ctx); err != nil {
			return screen, err
		}
	}
	screen.Picture, err = draw(shown)
	return screen, err
}

// Kept returns the range of offsets that the log still holds. The session must be ready.
func (s *Session) Kept() (start, end int64) { return s.log.Start(), s.log.End() }

// Shown returns the offset up to which the screen shows the log.
func (s *Session) Shown() int64 { return s.screen.shown.Load() }

// LogOpened returns a channel that is closed once the log is open, or opening it has failed.
func (s *Session) LogOpened() <-chan struct{} { return s.opened }

// Master returns the PTY master. It is nil if the program exited before this engine started.
func (s *Session) Master() *os.File { return s.options.Master }

// NoteUse records that the session is being used.
func (s *Session) NoteUse() { s.used.Store(time.Now().UnixNano()) }

func (s *Session) Shell() *prompt.Shell { return s.shell }

// Log returns the session's output. The session must be ready.
func (s *Session) Log() prompt.Log { return s.shownLog() }

// Size returns the terminal's size in cells.
func (s *Session) Size() (cols, rows int) {
	f := s.facts.all()
	return f.Cols, f.Rows
}

// SetCWD sets the directory of the program. It applies until the program reports one.
func (s *Session) SetCWD(path string) { s.facts.setCWD(path) }

// CWD returns the directory that the program reported last.
func (s *Session) CWD() string {
	return s.facts.all().CWD
}

// Modes returns the modes set by the program.
func (s *Session) Modes() vt.Modes { return *s.screen.modes.Load() }

// Cursor returns the screen's cursor.
func (s *Session) Cursor(ctx context.Context) (c styled.Cursor, err error) {
	err = s.onScreen(ctx, func(t Emulator) { c = t.Cursor() })
	return c, err
}

// Rows returns the rows of the screen, without trailing blanks.
func (s *Session) Rows(ctx context.Context) (rows []string, err error) {
	err = s.onScreen(ctx, func(t Emulator) { s.screen.catchUp(); rows = ScreenOf(t, false, 0).Lines })
	return rows, err
}

// ExitCode returns the program's exit status once the session is over. It is nil if the status is
// unknown.
func (s *Session) ExitCode() *int { return s.ended.ExitCode }

// KeyModes returns the modes to encode keys for.
func (s *Session) KeyModes() keys.Modes { return s.screen.modes.Load().Modes }

// Repaint returns the bytes that draw the screen, with its pictures in the kitty protocol. at is
// the offset in the log after the output shown.
func (s *Session) Repaint(ctx context.Context) (screen []byte, at int64, err error) {
	err = s.onScreen(ctx, func(t Emulator) {
		s.screen.catchUp()
		screen, at = t.AppendPictures(t.AppendRepaint(nil)), s.screen.findBoundary()
	})
	return screen, at, err
}

// ReadLog reads up to limit bytes of the log as text. It leaves an incomplete character at the end
// for the next call, unless ended is set: then no more output follows.
func ReadLog(log prompt.Log, since int64, limit int, ended bool) (api.SessionReadOutput, error) {
	start, end := log.Start(), log.End()
	if since < 0 {
		since = max(0, end+since)
	}
	since = min(since, end)
	from := max(since, start)
	p := make([]byte, min(int64(max(limit, utf8.UTFMax)), end-from))
	n, err := log.ReadAt(p, from)
	if n == 0 && len(p) > 0 {
		return api.SessionReadOutput{}, api.Errorf(api.CodeInternal, "read log: %v", err)
	}
	p = p[:n]
	if !(ended && from+int64(n) == end) {
		p = p[:scan.CompleteLen(p)]
	}
	return api.SessionReadOutput{
		Data:       strings.ToValidUTF8(string(p), "\uFFFD"),
		NextCursor: from + int64(len(p)),
		Dropped:    from - since,
	}, nil
}

const (
	defaultReadOutput = 64 << 10 // bytes
	maxReadOutput     = 1 << 20  // bytes
	maxScrollback     = 100_000  // lines
)

// pictureScale enlarges pictures so that agents can read small text.
const pictureScale = 2

// painterFor returns the function that draws screens in a format. It returns nil for format "".
func painterFor(format string) (func(picture.Screen) ([]byte, error), error) {
	switch format {
	case "":
		return nil, nil
	case "png":
		return func(s picture.Screen) ([]byte, error) { return picture.PNG(s, pictureScale) }, nil
	case "svg":
		return func(s picture.Screen) ([]byte, error) { return picture.SVG(s), nil }, nil
	}
	return nil, api.Errorf(api.CodeInvalid, "draw screen: unknown format %q", names.Shown(format)).WithHint("use png or svg")
}
