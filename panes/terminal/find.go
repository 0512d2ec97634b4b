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
	"tandem/ui/overlay"
)

// A findLine is the line in which is typed what to look for, and where the view was
// before.
type findLine struct {
	overlay.Find
	pane   *Pane
	origin Position
	from   api.Place
	before *regexp.Regexp // what was marked
}

func (p *Pane) askFind(backward bool) tea.Cmd {
	p.Scroll.Cover(overlay.FindRows - p.below)
	f := &findLine{pane: p, origin: p.Scroll.Position(), from: p.Scroll.Place(), before: p.Scroll.Marked()}
	f.Backward, f.Regexp, f.Exact = backward, p.last.pattern.Regexp, p.last.pattern.Exact
	f.Changed, f.Done = f.changed, f.done
	p.find.line = f
	p.env.Ask(f)
	return nil
}

// done stays where the search has led to, or goes back.
func (f *findLine) done(accept bool) tea.Cmd {
	f.pane.Scroll.Cover(0)
	switch {
	case !accept:
		f.pane.endFind()
		f.pane.Scroll.MarkMatches(f.before)
		f.pane.Scroll.Return(f.origin)
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

// changed looks for what is typed now, from where the search began.
func (f *findLine) changed() tea.Cmd {
	f.pane.endFind()
	f.pane.Scroll.Return(f.origin)
	if f.Pattern().Text == "" {
		f.pane.Scroll.MarkMatches(nil)
		return nil
	}
	re, err := f.Pattern().Compile()
	if err != nil {
		f.Problem = panes.ErrorText(err)
		f.pane.Scroll.MarkMatches(nil)
		return nil
	}
	f.pane.Scroll.MarkMatches(re)
	return f.pane.findMatch(api.SessionFindInput{Pattern: f.Pattern(), From: f.from, Backward: f.Backward, Wrap: true}, 1)
}

// finding is a search in a pane.
type finding struct {
	stop   context.CancelFunc // of the one that is under way; nil without one
	serial int                // of the last one
	held   []keys.Key         // typed while it is under way
	line   *findLine          // that was opened last
}

// foundMsg is the answer to a search.
type foundMsg struct {
	serial int
	pane   *Pane
	input  api.SessionFindInput
	out    api.SessionFindOutput
	err    error
}

func (msg foundMsg) For() *Pane  { return msg.pane }
func (msg outputMsg) For() *Pane { return msg.pane }

// findMatch looks for the n-th match from a place, and puts the cursor there when it
// is found. A search that was under way is given up.
func (p *Pane) findMatch(in api.SessionFindInput, n int) tea.Cmd {
	in.ID = p.ID
	ctx, serial := p.beginFind()
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

// maxSteps bounds how often one key goes on to another match.
const maxSteps = 1000

// findStep goes on to the n-th match from the cursor.
func (p *Pane) findStep(in api.SessionFindInput, n int) tea.Cmd {
	in.From = p.Scroll.Place()
	if in.Mark != "" {
		in.From.Cell = 0
	}
	return p.findMatch(in, min(n, maxSteps))
}

// maxHeld bounds how many keys wait for the end of a search.
const maxHeld = 1000

// holdKey keeps a key back that was typed in scroll mode while a search is under
// way: it is about the place where that leads to. What leaves or begins a
// command of the dashboard is not held.
func (p *Pane) holdKey(k keys.Key) (held bool) {
	f, b := &p.find, p.env.Bindings()
	switch {
	case f.stop == nil || !p.Scroll.Active():
		return false
	case b.Is(k, keymap.ScopeGlobal, keymap.Prefix):
		return false
	case b.Is(k, keymap.ScopeScroll, keymap.ScrollCancel), b.Is(k, keymap.ScopeScroll, keymap.ScrollLeave):
		f.held = nil
		return false
	}
	if len(f.held) < maxHeld {
		f.held = append(f.held, k)
	}
	return true
}

// letKeys handles the keys that were held.
func (p *Pane) letKeys() tea.Cmd {
	held := p.find.held
	p.find.held = nil
	var cmds []tea.Cmd
	for _, k := range held {
		cmds = append(cmds, p.env.Press(k))
	}
	return tea.Batch(cmds...)
}

// beginFind begins a search, and gives up one that was under way.
func (p *Pane) beginFind() (ctx context.Context, serial int) {
	p.endFind()
	ctx, p.find.stop = context.WithCancel(p.env.Context())
	return ctx, p.find.serial
}

// wrapped reports whether a match is on the side that was not looked at first.
func (msg *foundMsg) wrapped() bool {
	from, match := msg.input.From, msg.out.Match.From
	return !msg.input.Backward && !from.Before(match) || msg.input.Backward && !match.Before(from)
}

func (p *Pane) endFind() {
	p.find.serial++
	if p.find.stop != nil {
		p.find.stop()
		p.find.stop = nil
	}
}

func (p *Pane) found(msg foundMsg) tea.Cmd {
	if msg.serial != p.find.serial {
		return nil
	}
	p.endFind()
	if !p.Scroll.Active() {
		return p.letKeys()
	}
	return tea.Batch(p.showFound(msg), p.letKeys())
}

// showFound goes to a match, or says that there is none.
func (p *Pane) showFound(msg foundMsg) tea.Cmd {
	typing := p.find.line != nil && p.env.Shows(p.find.line)
	switch {
	case msg.err != nil:
		return p.env.Say(panes.ErrorText(msg.err), true)
	case msg.out.Match == nil && typing:
		p.find.line.Tell(0, 0)
		p.Scroll.Found(0, 0)
	case msg.out.Match == nil && msg.input.Mark != "":
		return p.env.Say("no other prompt on this side; the shell has to mark its prompts", false)
	case msg.out.Match == nil:
		return p.env.Say("no match", false)
	default:
		p.Scroll.Go(msg.out.Match.From)
		if msg.input.Mark == "" {
			p.Scroll.Found(msg.out.Number, msg.out.Total)
		}
		if typing {
			p.find.line.Tell(msg.out.Number, msg.out.Total)
		}
		if !typing && msg.wrapped() {
			return p.env.Say("search wrapped", false)
		}
	}
	return nil
}

// findNext goes to the next match, or to one on the other side.
func (p *Pane) findNext(other bool) tea.Cmd {
	re, err := p.last.pattern.Compile()
	if p.last.pattern.Text == "" || err != nil {
		return p.askFind(other)
	}
	p.Scroll.MarkMatches(re)
	n, _ := p.Scroll.Count()
	backward := p.last.backward != other
	return p.findStep(api.SessionFindInput{Pattern: p.last.pattern, Backward: backward, Wrap: true}, n)
}

// findCommand goes to the prompt of another command.
func (p *Pane) findCommand(above bool) tea.Cmd {
	n, _ := p.Scroll.Count()
	return p.findStep(api.SessionFindInput{Mark: api.MarkedPrompt, Backward: above}, n)
}

// outputMsg is where the output of a command is.
type outputMsg struct {
	serial      int
	pane        *Pane
	first, last int64
	none        bool
	err         error
}

// selectOutput selects the output of the command at the cursor, or of the last
// one before that had any.
func (p *Pane) selectOutput() tea.Cmd {
	line := p.Scroll.Place().Line
	ctx, serial := p.beginFind()
	return func() tea.Msg {
		e, err := p.env.Engine(ctx)
		if err != nil {
			return outputMsg{serial: serial, pane: p, err: err}
		}
		msg := outputOf(ctx, e, p.ID, line)
		msg.serial, msg.pane = serial, p
		return msg
	}
}

func outputOf(ctx context.Context, e panes.Engine, id string, line int64) (msg outputMsg) {
	next := func(mark string, from api.Place, backward bool) *api.SessionMatch {
		if msg.err != nil {
			return nil
		}
		out, err := api.SessionFind.Call(ctx, e, api.SessionFindInput{ID: id, Mark: mark, From: from, Backward: backward})
		msg.err = err
		return out.Match
	}
	prompt := next(api.MarkedPrompt, api.Place{Line: line + 1}, true)
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

func (p *Pane) outputFound(msg outputMsg) tea.Cmd {
	if msg.serial != p.find.serial {
		return nil
	}
	p.endFind()
	var say tea.Cmd
	switch {
	case msg.err != nil:
		say = p.env.Say(panes.ErrorText(msg.err), true)
	case msg.none:
		say = p.env.Say("no command with output here; the shell has to mark its prompts", false)
	default:
		p.Scroll.SelectBetween(msg.first, msg.last)
	}
	return tea.Batch(say, p.letKeys())
}
