package terminal

import (
	"context"
	"regexp"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/logs"
	"tandem/engine/names"
)

// screenGap is the least time between two looks at a screen that changes.
const screenGap = 20 * time.Millisecond

// An onset is a condition of session.wait that holds.
type onset struct {
	met    string
	text   string
	need   need
	cursor int64 // behind what matched; 0: behind all that was printed
	err    error
}

// sessionWaits are the conditions of one session.wait.
type sessionWaits struct {
	in             api.SessionWaitInput
	output, screen *regexp.Regexp
	port           func(context.Context) error // waits until something listens on in.Port
}

// NewWaits checks conditions; port waits for the one of a port.
func NewWaits(in api.SessionWaitInput, port func(context.Context) error) (w sessionWaits, err error) {
	w.in, w.port = in, port
	switch {
	case !in.Exit && in.Output == "" && in.Screen == "" && !in.Input && !in.Prompt && in.Port == 0 && in.IdleMS == 0:
		return w, api.Errorf(api.CodeInvalid, "wait for %s: no condition is given", names.Shown(in.ID)).
			WithHint("give exit, output, screen, input, prompt, port or idle_ms")
	case in.Port < 0 || in.Port > 65535:
		return w, api.Errorf(api.CodeInvalid, "wait for port %d: it must be 1 to 65535", in.Port)
	case in.IdleMS < 0 || in.TimeoutMS < 0:
		return w, api.Errorf(api.CodeInvalid, "wait for %s: idle_ms and timeout_ms cannot be negative", names.Shown(in.ID))
	}
	if w.output, err = lineExpression("output", in.Output); err == nil {
		w.screen, err = lineExpression("screen", in.Screen)
	}
	return w, err
}

// lineExpression compiles an expression in which ^ and $ are those of lines;
// nil if there is none.
func lineExpression(what, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	if err := names.CheckPattern("wait for "+what, text); err != nil {
		return nil, err
	}
	re, err := regexp.Compile("(?m)" + text)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "wait for %s: %v", what, err)
	}
	return re, nil
}

// lookOut starts a goroutine for each condition and takes what the first sees.
// It returns when all of them have ended.
func (w sessionWaits) lookOut(ctx context.Context, s *Session) onset {
	ctx, cancel := context.WithCancel(ctx)
	looks := w.looks(s)
	seen := make(chan onset, len(looks))
	for _, look := range looks {
		go func() { seen <- look(ctx) }()
	}
	var first onset
	over := s.over
	for left := len(looks); left > 0; {
		select {
		case g := <-seen:
			left--
			if first.met == "" && first.err == nil && (g.met != "" || g.err != nil) {
				first = g
				cancel()
			}
		case <-over: // what is printed already may hold what is waited for
			over = nil
			if w.in.Port != 0 || w.output == nil {
				cancel()
			}
		}
	}
	cancel()
	if first.met == "" && first.err == nil && w.in.Exit && s.isOver() {
		first.met = "exit"
	}
	return first
}

// looks are the functions that wait for the conditions; each ends with its
// context, and when the session has.
func (w sessionWaits) looks(s *Session) (looks []func(context.Context) onset) {
	add := func(wanted bool, look func(context.Context) onset) {
		if wanted {
			looks = append(looks, look)
		}
	}
	add(w.in.Exit, func(ctx context.Context) onset { return s.seeExit(ctx) })
	add(w.output != nil, func(ctx context.Context) onset { return s.seeOutput(ctx, w.output, w.in.Since) })
	add(w.screen != nil, func(ctx context.Context) onset { return s.seeScreen(ctx, w.screen) })
	add(w.in.Input, func(ctx context.Context) onset {
		return s.seeNeed(ctx, "input", func(n need) bool { return n != needNothing })
	})
	add(w.in.Prompt, func(ctx context.Context) onset {
		return s.seeNeed(ctx, "prompt", func(n need) bool { return n == needPrompt })
	})
	add(w.in.Port != 0, func(ctx context.Context) onset {
		if w.port(ctx) != nil {
			return onset{}
		}
		return onset{met: "port"}
	})
	add(w.in.IdleMS != 0, func(ctx context.Context) onset {
		return s.seeIdle(ctx, time.Duration(w.in.IdleMS)*time.Millisecond)
	})
	return looks
}

func (s *Session) seeExit(ctx context.Context) onset {
	select {
	case <-s.over:
		return onset{met: "exit"}
	case <-ctx.Done():
		return onset{}
	}
}

func (s *Session) seeNeed(ctx context.Context, met string, counts func(need) bool) onset {
	n, err := s.awaitNeed(ctx, counts)
	if err != nil || n == needNothing {
		return onset{}
	}
	return onset{met: met, need: n}
}

// seeScreen waits until the screen's text matches.
func (s *Session) seeScreen(ctx context.Context, re *regexp.Regexp) onset {
	changed, leave := s.watch.join()
	defer leave()
	for {
		over := s.isOver()
		var lines []string
		err := s.onScreen(ctx, func(t Emulator) { lines = ScreenOf(t, false, 0).Lines })
		if ctx.Err() != nil {
			return onset{}
		}
		if err != nil {
			return onset{err: err}
		}
		if text := re.FindString(strings.Join(lines, "\n")); text != "" || re.MatchString(strings.Join(lines, "\n")) {
			return onset{met: "screen", text: text}
		}
		if over {
			return onset{}
		}
		if !s.nextChange(ctx, changed, screenGap) {
			return onset{}
		}
	}
}

// nextChange waits until the screen has changed or the session has ended, and
// a little longer; it is false when ctx ends first.
func (s *Session) nextChange(ctx context.Context, changed <-chan struct{}, pause time.Duration) bool {
	select {
	case <-changed:
	case <-s.over:
		return true
	case <-ctx.Done():
		return false
	}
	if pause == 0 {
		return true
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// seeIdle waits until nothing was printed for d, nor typed.
func (s *Session) seeIdle(ctx context.Context, d time.Duration) onset {
	for {
		last := time.Unix(0, max(s.used.output.Load(), s.used.input.Load()))
		left := time.Until(last.Add(d))
		if s.parsed.Load() < s.log.End() {
			left = max(left, lookGap)
		}
		if left <= 0 {
			return onset{met: "idle"}
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-s.over:
			timer.Stop()
			return onset{}
		case <-ctx.Done():
			timer.Stop()
			return onset{}
		}
	}
}

// seeOutput waits until what is printed from an offset on matches as plain
// text. A match that ends where the output does may become longer, so it counts
// once nothing follows for a moment.
func (s *Session) seeOutput(ctx context.Context, re *regexp.Regexp, since *int64) onset {
	changed, leave := s.watch.join()
	defer leave()
	at := s.parsed.Load()
	if since != nil {
		if at = *since; at < 0 {
			at = max(0, s.parsed.Load()+at)
		}
	}
	text := newPlainWindow(max(at, s.log.Start()))
	for {
		over := s.isOver()
		end := s.parsed.Load()
		if over {
			end = s.log.End()
		}
		for text.at < end {
			p, _, err := readRange(s.log, text.at, min(end, text.at+parseChunk), parseChunk)
			if err != nil || len(p) == 0 {
				break
			}
			text.add(p)
			if g, ok := text.match(re, false); ok {
				return g
			}
		}
		if g, ok := text.match(re, true); ok && (over || s.settles(ctx, changed)) {
			return g
		} else if ok && ctx.Err() == nil {
			continue
		}
		if over || !s.nextChange(ctx, changed, 0) {
			return onset{}
		}
	}
}

// settles reports whether the screen stays as it is for a moment.
func (s *Session) settles(ctx context.Context, changed <-chan struct{}) bool {
	timer := time.NewTimer(logs.LineSettles)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-changed:
		return false
	case <-s.over:
		return false
	case <-ctx.Done():
		return false
	}
}

// Await waits until one of the conditions holds, none ever will, or ctx ends.
// What it gives has no Process yet.
func (s *Session) Await(ctx context.Context, w sessionWaits) (out api.SessionWaitOutput, err error) {
	if err := s.IsReady(ctx); err != nil {
		return out, err
	}
	s.used.note()
	defer s.used.note()
	seen := w.lookOut(ctx, s)
	if seen.err != nil {
		return out, seen.err
	}
	out = api.SessionWaitOutput{Met: seen.met, Text: seen.text, Secret: seen.need == needSecret, NextCursor: seen.cursor}
	if out.NextCursor == 0 {
		out.NextCursor = s.parsed.Load()
	}
	return out, nil
}
