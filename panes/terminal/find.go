package terminal

import (
	"context"
	"math"
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
)

// A Search is the last search, shared by all terminals.
type Search struct {
	pattern  api.Pattern
	backward bool // searches above the cursor
}

// A finder searches a session's output in scroll mode.
type finder struct {
	env    panes.Env
	id     func() string // of the session
	scroll *ScrollMode
	last   *Search

	cancel context.CancelFunc // cancels the running search; nil without one
	serial int                // of the last search
	line   *dialog.Find       // opened last
}

func (f *finder) actions() panes.Actions {
	return panes.Actions{
		keymap.ScrollSearch:       func() tea.Cmd { return f.askPattern(false) },
		keymap.ScrollSearchBack:   func() tea.Cmd { return f.askPattern(true) },
		keymap.ScrollNext:         func() tea.Cmd { return f.findNext(false) },
		keymap.ScrollPrevious:     func() tea.Cmd { return f.findNext(true) },
		keymap.ScrollCommand:      func() tea.Cmd { return f.findCommand(false) },
		keymap.ScrollCommandBack:  func() tea.Cmd { return f.findCommand(true) },
		keymap.ScrollSelectOutput: f.selectOutput,
	}
}

func (f *finder) askPattern(backward bool) tea.Cmd {
	f.scroll.CoverRows(dialog.FindRows)
	origin, previous := f.scroll.SavePosition(), f.scroll.matches.pattern
	l := dialog.NewFind(&f.last.pattern)
	l.Backward, l.Say = backward, f.env.Say
	l.Closed = func(accept bool) {
		if f.scroll.CoverRows(0); accept {
			f.last.backward = backward
			f.awaitEnd()
		}
	}
	l.Restore = func() {
		f.cancelSearch()
		f.scroll.matches = matches{pattern: previous}
		f.scroll.RestorePosition(origin)
	}
	l.Search = func(re *regexp.Regexp) tea.Cmd {
		if f.scroll.matches = (matches{pattern: re}); re == nil {
			return nil
		}
		return f.findMatch(api.SessionFindInput{Pattern: l.Pattern(), From: origin.cursor, Backward: backward, Wrap: true}, 1)
	}
	l.Repeat = func() tea.Cmd { return f.findNext(false) }
	f.line = l
	f.env.Ask(l)
	return nil
}

// findMatch searches for the n-th match from a place and moves the cursor there. It cancels a
// running search.
func (f *finder) findMatch(in api.SessionFindInput, n int) tea.Cmd {
	in.ID = f.id()
	ctx, serial := f.startSearch()
	return panes.Call(ctx, f.env, func(ctx context.Context, e panes.Engine) (found api.SessionFindOutput, err error) {
		return findNth(ctx, e, in, n)
	}, func(found api.SessionFindOutput, err error) tea.Cmd {
		switch {
		case !f.endSearch(serial), !f.scroll.Active():
			return nil
		case err != nil:
			return f.env.Say(panes.ErrorText(err), true)
		}
		return f.showMatch(in, found)
	})
}

// findNth returns the n-th match from a place, or the last one if there are fewer.
func findNth(ctx context.Context, e api.Engine, in api.SessionFindInput, n int) (found api.SessionFindOutput, err error) {
	for range n {
		out, err := api.SessionFind.Call(ctx, e, in)
		if err != nil || out.Match == nil {
			return found, err
		}
		found, in.From = out, out.Match.From
	}
	return found, nil
}

// ShowLine goes to a line of the scrollback in scroll mode: the n-th match of line, counted from the
// end. The matches of mark are marked, and the keys for the next match go to them. If there is no such
// line, ShowLine calls missing.
func (p *Pane) ShowLine(line api.Pattern, n int, mark api.Pattern, missing func() tea.Cmd) tea.Cmd {
	return p.env.Await(panes.Pending{
		Ready: func() bool { return p.State().Known || p.FinalState() != nil || p.Err() != nil },
		Then:  func() tea.Cmd { return p.find.showLine(line, n, mark, missing) },
	})
}

func (f *finder) showLine(line api.Pattern, n int, mark api.Pattern, missing func() tea.Cmd) tea.Cmd {
	in := api.SessionFindInput{ID: f.id(), Pattern: line, From: api.Place{Line: math.MaxInt64}, Backward: true}
	return panes.AwaitAnswer(f.env.Context(), f.env, func(ctx context.Context, e panes.Engine) (api.SessionFindOutput, error) {
		return findNth(ctx, e, in, n)
	}, panes.ReportErrors(f.env.Say, func(found api.SessionFindOutput) tea.Cmd {
		if f.scroll.Start(); found.Match == nil || found.Total-found.Number != n-1 || !f.scroll.Active() {
			f.scroll.Stop()
			return missing()
		}
		re, _ := mark.Compile() // it was searched for
		f.last.pattern, f.last.backward = mark, true
		f.scroll.matches = matches{pattern: re}
		f.scroll.GoTo(found.Match.From)
		return nil
	}))
}

// maxSteps limits how many matches one key may skip.
const maxSteps = 1000

// findStep searches for the n-th match from the cursor.
func (f *finder) findStep(in api.SessionFindInput, n int) tea.Cmd {
	in.From = f.scroll.CursorPlace()
	if in.Mark != "" {
		in.From.Cell = 0
	}
	return tea.Batch(f.findMatch(in, min(n, maxSteps)), f.awaitEnd())
}

// awaitEnd makes typed input wait until the running search, if any, has ended, because the input
// applies to the match.
func (f *finder) awaitEnd() tea.Cmd {
	if f.cancel == nil {
		return nil
	}
	return f.env.Await(panes.Pending{
		Ready:  func() bool { return f.cancel == nil },
		Then:   func() tea.Cmd { return nil },
		Cancel: f.cancelSearch,
	})
}

// startSearch starts a search and cancels a running one.
func (f *finder) startSearch() (ctx context.Context, serial int) {
	f.cancelSearch()
	ctx, f.cancel = context.WithCancel(f.env.Context())
	return ctx, f.serial
}

// endSearch ends a search whose answer has arrived. ok is false if it was cancelled meanwhile.
func (f *finder) endSearch(serial int) (ok bool) {
	if serial != f.serial {
		return false
	}
	f.cancelSearch()
	return true
}

func (f *finder) cancelSearch() {
	f.serial++
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// showMatch moves the cursor to the match found, or reports that there is none.
func (f *finder) showMatch(in api.SessionFindInput, found api.SessionFindOutput) tea.Cmd {
	typing := f.line != nil && f.env.Shows(f.line)
	switch {
	case found.Match == nil && typing:
		f.line.Tell(0, 0)
		f.scroll.matches.number, f.scroll.matches.total = 0, 0
	case found.Match == nil && in.Mark != "":
		return f.env.Say("no other prompt in this direction; the shell must mark its prompts", false)
	case found.Match == nil:
		return f.env.Say("no match", false)
	default:
		f.scroll.GoTo(found.Match.From)
		if in.Mark == "" {
			f.scroll.matches.number, f.scroll.matches.total = found.Number, found.Total
		}
		if typing {
			f.line.Tell(found.Number, found.Total)
		}
		if !typing && hasWrapped(in, found.Match.From) {
			return f.env.Say("search wrapped", false)
		}
	}
	return nil
}

// hasWrapped reports whether a search has wrapped around the end of the text, so that its match is
// on the other side of where it started.
func hasWrapped(in api.SessionFindInput, match api.Place) bool {
	return !in.Backward && !in.From.Before(match) || in.Backward && !match.Before(in.From)
}

// findNext goes to the next match in the direction of the last search or, if other is set, in the
// other direction.
func (f *finder) findNext(other bool) tea.Cmd {
	re, err := f.last.pattern.Compile()
	if f.last.pattern.Text == "" || err != nil {
		return f.askPattern(other)
	}
	f.scroll.matches = matches{pattern: re}
	n, _ := f.scroll.count.consume()
	backward := f.last.backward != other
	return f.findStep(api.SessionFindInput{Pattern: f.last.pattern, Backward: backward, Wrap: true}, n)
}

// findCommand goes to the prompt of another command.
func (f *finder) findCommand(above bool) tea.Cmd {
	n, _ := f.scroll.count.consume()
	return f.findStep(api.SessionFindInput{Mark: api.MarkedPrompt, Backward: above}, n)
}

// selectOutput selects the output of the command at the cursor or, if it has none, of the closest
// command above that has some.
func (f *finder) selectOutput() tea.Cmd {
	id, line := f.id(), f.scroll.CursorPlace().Line
	ctx, serial := f.startSearch()
	return tea.Batch(panes.Call(ctx, f.env, func(ctx context.Context, e panes.Engine) (*outputLines, error) {
		return findOutput(ctx, e, id, line)
	}, func(output *outputLines, err error) tea.Cmd {
		switch {
		case !f.endSearch(serial):
		case err != nil:
			return f.env.Say(panes.ErrorText(err), true)
		case output == nil:
			return f.env.Say("no command with output here; the shell must mark its prompts", false)
		default:
			f.scroll.SelectBetween(output.first, output.last)
		}
		return nil
	}), f.awaitEnd())
}

// outputLines are the lines of a command's output.
type outputLines struct{ first, last int64 }

// findOutput returns the lines with the output of the command at a line or, if it has none, of the
// closest command above that has some. It returns nil if no command has output.
func findOutput(ctx context.Context, e api.Engine, id string, line int64) (output *outputLines, err error) {
	next := func(mark string, from api.Place, backward bool) *api.SessionMatch {
		if err != nil {
			return nil
		}
		var out api.SessionFindOutput
		out, err = api.SessionFind.Call(ctx, e, api.SessionFindInput{ID: id, Mark: mark, From: from, Backward: backward})
		return out.Match
	}
	prompt := next(api.MarkedPrompt, api.Place{Line: line + 1}, true)
	// Walk up from prompt to prompt until output starts before the next prompt.
	for prompt != nil {
		output := next(api.MarkedOutput, prompt.From, false)
		after := next(api.MarkedPrompt, prompt.From, false)
		if output != nil && (after == nil || output.From.Line < after.From.Line) {
			lines := &outputLines{output.From.Line, math.MaxInt64}
			if after != nil {
				lines.last = after.From.Line - 1
			}
			return lines, err
		}
		prompt = next(api.MarkedPrompt, prompt.From, true)
	}
	return nil, err
}
