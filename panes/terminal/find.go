package terminal

import (
	"context"
	"math"
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
)

// A searchLine is the open search line, with the view to return to.
type searchLine struct {
	dialog.Find
	pane     *Pane
	origin   Position
	from     api.Place
	previous *regexp.Regexp // the pattern marked before
}

func (p *Pane) askFind(backward bool) tea.Cmd {
	p.Scroll.CoverRows(dialog.FindRows - p.rowsBelow)
	f := &searchLine{pane: p, origin: p.Scroll.SavePosition(), from: p.Scroll.CursorPlace(), previous: p.Scroll.Pattern()}
	// The switches of the line start as in the last search.
	f.Backward, f.Regexp, f.Exact = backward, p.last.pattern.Regexp, p.last.pattern.Exact
	f.Changed, f.Done = f.searchTyped, f.finish
	p.find.line = f
	p.env.Ask(f)
	return nil
}

// finish stays at the match, or returns to the view before.
func (f *searchLine) finish(accept bool) tea.Cmd {
	f.pane.Scroll.CoverRows(0)
	switch {
	case !accept:
		f.pane.cancelFind()
		f.pane.Scroll.SetPattern(f.previous)
		f.pane.Scroll.RestorePosition(f.origin)
		return nil
	case f.Pattern().Text == "":
		f.pane.last.backward = f.Backward
		return f.pane.findNext(false)
	}
	f.pane.last.pattern, f.pane.last.backward = f.Pattern(), f.Backward
	if f.Problem != "" {
		return f.pane.env.Say(f.Problem, true)
	}
	return nil
}

// searchTyped searches for the typed pattern from the origin of the search.
func (f *searchLine) searchTyped() tea.Cmd {
	f.pane.cancelFind()
	f.pane.Scroll.RestorePosition(f.origin)
	if f.Pattern().Text == "" {
		f.pane.Scroll.SetPattern(nil)
		return nil
	}
	re, err := f.Pattern().Compile()
	if err != nil {
		f.Problem = panes.ErrorText(err)
		f.pane.Scroll.SetPattern(nil)
		return nil
	}
	f.pane.Scroll.SetPattern(re)
	return f.pane.findMatch(api.SessionFindInput{Pattern: f.Pattern(), From: f.from, Backward: f.Backward, Wrap: true}, 1)
}

// findState is a search in a pane.
type findState struct {
	cancel   context.CancelFunc // cancels the running search; nil without one
	serial   int                // of the last search
	heldKeys []keys.Key         // typed during the search
	line     *searchLine        // opened last
}

// foundMsg is the reply to a search.
type foundMsg struct {
	serial int
	pane   *Pane
	input  api.SessionFindInput
	out    api.SessionFindOutput
	err    error
}

func (msg foundMsg) For() *Pane  { return msg.pane }
func (msg outputMsg) For() *Pane { return msg.pane }

// findMatch searches for the n-th match from a place and moves the cursor there. It cancels a
// running search.
func (p *Pane) findMatch(in api.SessionFindInput, n int) tea.Cmd {
	in.ID = p.ID
	ctx, serial := p.startFind()
	return func() tea.Msg {
		msg := foundMsg{serial: serial, pane: p, input: in}
		e, err := p.env.Engine(ctx)
		for range n {
			if err != nil {
				break
			}
			var out api.SessionFindOutput
			if out, err = api.SessionFind.Call(ctx, e, in); err != nil || out.Match == nil {
				break
			}
			msg.out, in.From = out, out.Match.From
		}
		msg.err = err
		return msg
	}
}

// maxSteps limits how many matches one key may skip.
const maxSteps = 1000

// findStep searches for the n-th match from the cursor.
func (p *Pane) findStep(in api.SessionFindInput, n int) tea.Cmd {
	in.From = p.Scroll.CursorPlace()
	if in.Mark != "" {
		in.From.Cell = 0
	}
	return p.findMatch(in, min(n, maxSteps))
}

const maxHeldKeys = 1000

// holdKey queues a key typed in scroll mode during a search, because it applies to the match. Keys
// leaving scroll mode and the prefix are not queued.
func (p *Pane) holdKey(k keys.Key) (held bool) {
	f, b := &p.find, p.env.Bindings()
	switch {
	case f.cancel == nil || !p.Scroll.Active():
		return false
	case b.Is(k, keymap.ScopeGlobal, keymap.Prefix):
		return false
	case b.Is(k, keymap.ScopeScroll, keymap.ScrollCancel), b.Is(k, keymap.ScopeScroll, keymap.ScrollLeave):
		f.heldKeys = nil
		return false
	}
	if len(f.heldKeys) < maxHeldKeys {
		f.heldKeys = append(f.heldKeys, k)
	}
	return true
}

// replayKeys handles the queued keys.
func (p *Pane) replayKeys() tea.Cmd {
	held := p.find.heldKeys
	p.find.heldKeys = nil
	var cmds []tea.Cmd
	for _, k := range held {
		cmds = append(cmds, p.env.Press(k))
	}
	return tea.Batch(cmds...)
}

// startFind starts a search and cancels a running one.
func (p *Pane) startFind() (ctx context.Context, serial int) {
	p.cancelFind()
	ctx, p.find.cancel = context.WithCancel(p.env.Context())
	return ctx, p.find.serial
}

// hasWrapped reports whether the match is on the other side of the start.
func (msg *foundMsg) hasWrapped() bool {
	from, match := msg.input.From, msg.out.Match.From
	return !msg.input.Backward && !from.Before(match) || msg.input.Backward && !match.Before(from)
}

func (p *Pane) cancelFind() {
	p.find.serial++
	if p.find.cancel != nil {
		p.find.cancel()
		p.find.cancel = nil
	}
}

func (p *Pane) handleFound(msg foundMsg) tea.Cmd {
	if msg.serial != p.find.serial {
		return nil
	}
	p.cancelFind()
	if !p.Scroll.Active() {
		return p.replayKeys()
	}
	return tea.Batch(p.showMatch(msg), p.replayKeys())
}

// showMatch moves the cursor to a match, or says that there is none.
func (p *Pane) showMatch(msg foundMsg) tea.Cmd {
	typing := p.find.line != nil && p.env.Shows(p.find.line)
	switch {
	case msg.err != nil:
		return p.env.Say(panes.ErrorText(msg.err), true)
	case msg.out.Match == nil && typing:
		p.find.line.Tell(0, 0)
		p.Scroll.SetMatchNumber(0, 0)
	case msg.out.Match == nil && msg.input.Mark != "":
		return p.env.Say("no other prompt on this side; the shell has to mark its prompts", false)
	case msg.out.Match == nil:
		return p.env.Say("no match", false)
	default:
		p.Scroll.GoTo(msg.out.Match.From)
		if msg.input.Mark == "" {
			p.Scroll.SetMatchNumber(msg.out.Number, msg.out.Total)
		}
		if typing {
			p.find.line.Tell(msg.out.Number, msg.out.Total)
		}
		if !typing && msg.hasWrapped() {
			return p.env.Say("search wrapped", false)
		}
	}
	return nil
}

// findNext goes to the next match, or in the other direction.
func (p *Pane) findNext(other bool) tea.Cmd {
	re, err := p.last.pattern.Compile()
	if p.last.pattern.Text == "" || err != nil {
		return p.askFind(other)
	}
	p.Scroll.SetPattern(re)
	n, _ := p.Scroll.TakeCount()
	backward := p.last.backward != other
	return p.findStep(api.SessionFindInput{Pattern: p.last.pattern, Backward: backward, Wrap: true}, n)
}

// findCommand goes to the prompt of another command.
func (p *Pane) findCommand(above bool) tea.Cmd {
	n, _ := p.Scroll.TakeCount()
	return p.findStep(api.SessionFindInput{Mark: api.MarkedPrompt, Backward: above}, n)
}

// outputMsg has the lines of a command's output.
type outputMsg struct {
	serial      int
	pane        *Pane
	first, last int64
	none        bool
	err         error
}

// selectOutput selects the output of the command at the cursor, or of the last one above with any.
func (p *Pane) selectOutput() tea.Cmd {
	line := p.Scroll.CursorPlace().Line
	ctx, serial := p.startFind()
	return func() tea.Msg {
		e, err := p.env.Engine(ctx)
		if err != nil {
			return outputMsg{serial: serial, pane: p, err: err}
		}
		msg := findOutput(ctx, e, p.ID, line)
		msg.serial, msg.pane = serial, p
		return msg
	}
}

// findOutput returns the lines of the output of the command at a line, or of the last one above
// with any.
func findOutput(ctx context.Context, e panes.Engine, id string, line int64) (msg outputMsg) {
	next := func(mark string, from api.Place, backward bool) *api.SessionMatch {
		if msg.err != nil {
			return nil
		}
		out, err := api.SessionFind.Call(ctx, e, api.SessionFindInput{ID: id, Mark: mark, From: from, Backward: backward})
		msg.err = err
		return out.Match
	}
	prompt := next(api.MarkedPrompt, api.Place{Line: line + 1}, true)
	// Walk up from prompt to prompt until output starts before the next prompt.
	for prompt != nil {
		output := next(api.MarkedOutput, prompt.From, false)
		after := next(api.MarkedPrompt, prompt.From, false)
		if output != nil && (after == nil || output.From.Line < after.From.Line) {
			msg.first, msg.last = output.From.Line, math.MaxInt64
			if after != nil {
				msg.last = after.From.Line - 1
			}
			return msg
		}
		prompt = next(api.MarkedPrompt, prompt.From, true)
	}
	msg.none = true
	return msg
}

func (p *Pane) handleOutput(msg outputMsg) tea.Cmd {
	if msg.serial != p.find.serial {
		return nil
	}
	p.cancelFind()
	var say tea.Cmd
	switch {
	case msg.err != nil:
		say = p.env.Say(panes.ErrorText(msg.err), true)
	case msg.none:
		say = p.env.Say("no command with output here; the shell has to mark its prompts", false)
	default:
		p.Scroll.SelectBetween(msg.first, msg.last)
	}
	return tea.Batch(say, p.replayKeys())
}
