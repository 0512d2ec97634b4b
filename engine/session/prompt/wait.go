package prompt

import (
	"context"
	"regexp"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/sleep"
	"tandem/engine/record/logs"
	"tandem/engine/session/conditions"
)

// screenGap is the minimum time between two reads of a changing screen.
const screenGap = 20 * time.Millisecond

// logChunk is how many bytes of a log are read at once.
const logChunk = 32 << 10

// A finding says which condition of session.wait was met.
type finding struct {
	met    string
	text   string
	need   Need
	cursor int64 // offset after the match; 0: after all output
	err    error
}

// Conditions are the conditions of one session.wait.
type Conditions struct {
	in             api.SessionWaitInput
	output, screen *regexp.Regexp
	port           func(context.Context) error // waits until something listens on in.Port
}

// NewConditions checks the conditions of a request. port is called to wait until a program listens
// on the requested port.
func NewConditions(in api.SessionWaitInput, port func(context.Context) error) (w Conditions, err error) {
	w.in, w.port = in, port
	switch {
	case !in.Exit && in.Output == "" && in.Screen == "" && !in.Input && !in.Prompt && !in.Settled && in.Port == 0 && in.IdleMS == 0:
		return w, api.Errorf(api.CodeInvalid, "wait for %s: no condition given", names.Shown(in.ID)).
			WithHint("give exit, output, screen, input, prompt, settled, port or idle_ms")
	case in.Port < 0 || in.Port > 65535:
		return w, api.Errorf(api.CodeInvalid, "wait for port %d: must be between 1 and 65535", in.Port)
	case in.IdleMS < 0 || in.TimeoutMS < 0:
		return w, api.Errorf(api.CodeInvalid, "wait for %s: idle_ms and timeout_ms cannot be negative", names.Shown(in.ID))
	}
	if w.output, err = lineExpression("output", in.Output); err == nil {
		w.screen, err = lineExpression("screen", in.Screen)
	}
	return w, err
}

// lineExpression compiles a regular expression in which ^ and $ match at lines. It returns nil if
// text is empty.
func lineExpression(what, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	if err := names.CheckPattern("wait for "+what, text); err != nil {
		return nil, api.Invalid(err)
	}
	re, err := regexp.Compile("(?m)" + text)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "wait for %s: %v", what, err)
	}
	return re, nil
}

// build returns the requested conditions in the form that package conditions waits for.
func (w Conditions) build(s *Shell) (all []conditions.Condition[finding]) {
	add := func(wanted, outlives bool, look func(context.Context) finding) {
		if wanted {
			all = append(all, conditions.Condition[finding]{Outlives: outlives, Look: func(ctx context.Context) (finding, bool) {
				f := look(ctx)
				return f, f.met != "" || f.err != nil
			}})
		}
	}
	add(w.in.Exit, true, func(ctx context.Context) finding { return s.waitExit(ctx) })
	add(w.output != nil, true, func(ctx context.Context) finding { return s.waitOutput(ctx, w.output, w.in.Since) })
	add(w.screen != nil, true, func(ctx context.Context) finding { return s.waitScreen(ctx, w.screen) })
	add(w.in.Input, false, func(ctx context.Context) finding {
		return s.waitNeed(ctx, "input", func(n Need) bool { return n != NeedNothing })
	})
	add(w.in.Prompt, false, func(ctx context.Context) finding {
		return s.waitNeed(ctx, "prompt", func(n Need) bool { return n == NeedPrompt })
	})
	add(w.in.Settled, false, func(ctx context.Context) finding { return s.waitSettled(ctx) })
	add(w.in.Port != 0, false, func(ctx context.Context) finding {
		if w.port(ctx) != nil {
			return finding{}
		}
		return finding{met: "port"}
	})
	add(w.in.IdleMS != 0, false, func(ctx context.Context) finding {
		return s.waitIdle(ctx, time.Duration(w.in.IdleMS)*time.Millisecond)
	})
	return all
}

func (s *Shell) waitExit(ctx context.Context) finding {
	select {
	case <-s.o.Over:
		return finding{met: "exit"}
	case <-ctx.Done():
		return finding{}
	}
}

func (s *Shell) waitNeed(ctx context.Context, met string, accept func(Need) bool) finding {
	n, err := s.awaitNeed(ctx, accept)
	if err != nil || n == NeedNothing {
		return finding{}
	}
	return finding{met: met, need: n}
}

// waitSettled waits until the last input has had its effect.
func (s *Shell) waitSettled(ctx context.Context) finding {
	e := &execution{s: s}
	tick := time.NewTicker(pollGap)
	defer tick.Stop()
	for {
		need, err := e.pollNeed(ctx)
		if s.marks.snapshot().atPrompt() && s.t.Shown() == s.t.Log().End() && s.isSettled() {
			need, err = NeedPrompt, nil
		}
		if err == nil && need != NeedNothing {
			return finding{met: "settled", need: need}
		}
		select {
		case <-tick.C:
		case <-s.o.Over:
			return finding{}
		case <-ctx.Done():
			return finding{}
		}
	}
}

func (s *Shell) waitScreen(ctx context.Context, re *regexp.Regexp) finding {
	changed, leave := s.screen.join()
	defer leave()
	for {
		over := s.isOver()
		// This comes after the check for the end: the last output arrives before the end.
		lines, err := s.t.Rows(ctx)
		if ctx.Err() != nil {
			return finding{}
		}
		if err != nil {
			return finding{err: err}
		}
		if at := re.FindStringIndex(strings.Join(lines, "\n")); at != nil {
			return finding{met: "screen", text: strings.Join(lines, "\n")[at[0]:at[1]]}
		}
		if over {
			return finding{}
		}
		if !s.waitChange(ctx, changed, screenGap) {
			return finding{}
		}
	}
}

// waitChange returns true once the screen has changed and the duration pause has passed since the
// change. If the session exits before a change, it returns true at once. It returns false if ctx
// ends first.
func (s *Shell) waitChange(ctx context.Context, changed <-chan struct{}, pause time.Duration) bool {
	select {
	case <-changed:
	case <-s.o.Over:
		return true
	case <-ctx.Done():
		return false
	}
	return pause == 0 || sleep.For(ctx, pause) == nil
}

// waitIdle waits until there has been no output or input for d.
func (s *Shell) waitIdle(ctx context.Context, d time.Duration) finding {
	for {
		left := time.Until(s.LastActive().Add(d))
		if s.t.Shown() < s.t.Log().End() {
			left = max(left, pollGap)
		}
		if left <= 0 {
			return finding{met: "idle"}
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-s.o.Over:
			timer.Stop()
			return finding{}
		case <-ctx.Done():
			timer.Stop()
			return finding{}
		}
	}
}

// waitOutput waits until the plain text of the output since an offset matches re. A match at the
// very end of the output may still become longer, so it counts only after a short pause in the
// output.
func (s *Shell) waitOutput(ctx context.Context, re *regexp.Regexp, since *int64) finding {
	changed, leave := s.screen.join()
	defer leave()
	at := s.t.Shown()
	if since != nil {
		if at = *since; at < 0 {
			at = max(0, s.t.Shown()+at)
		}
	}
	text := newPlainWindow(max(at, s.t.Log().Start()))
	for {
		over := s.isOver()
		end := outputEnd(s.t, over)
		for text.at < end {
			p, _, err := readRange(s.t.Log(), text.at, min(end, text.at+logChunk), logChunk)
			if err != nil || len(p) == 0 {
				break
			}
			text.addOutput(p)
			if g, ok := text.findMatch(re, false); ok {
				return g
			}
		}
		if g, ok := text.findMatch(re, true); ok && (over || s.staysUnchanged(ctx, changed)) {
			return g
		} else if ok && ctx.Err() == nil {
			continue
		}
		if over || !s.waitChange(ctx, changed, 0) {
			return finding{}
		}
	}
}

// staysUnchanged reports whether the screen does not change for a short time.
func (s *Shell) staysUnchanged(ctx context.Context, changed <-chan struct{}) bool {
	timer := time.NewTimer(logs.LineSettles)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-changed:
		return false
	case <-s.o.Over:
		return false
	case <-ctx.Done():
		return false
	}
}

// Await waits until a condition is met, no condition can be met any more, or ctx ends. It does not
// set Process in the result.
func (s *Shell) Await(ctx context.Context, w Conditions) (out api.SessionWaitOutput, err error) {
	if err := s.t.IsReady(ctx); err != nil {
		return out, err
	}
	s.t.NoteUse()
	defer s.t.NoteUse()
	seen, _ := conditions.First(ctx, s.o.Over, w.build(s))
	if seen.err != nil {
		return out, seen.err
	}
	out = api.SessionWaitOutput{Met: seen.met, Text: seen.text, Secret: seen.need == NeedSecret, NextCursor: seen.cursor}
	if out.NextCursor == 0 {
		out.NextCursor = outputEnd(s.t, s.isOver())
	}
	return out, nil
}

// outputEnd returns the offset after the output that the screen shows. If the session is over, the
// screen may still lag behind, so it returns the end of all output.
func outputEnd(t Terminal, over bool) int64 {
	if over {
		return t.Log().End()
	}
	return t.Shown()
}
