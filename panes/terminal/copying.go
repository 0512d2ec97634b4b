package terminal

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
)

// maxCopyBytes limits the copied text.
const maxCopyBytes = 16 << 20

// A Read fetches text to copy. cut reports whether the text was longer than the limit.
type Read func(context.Context, panes.Engine) (text string, cut bool, err error)

// makeActions returns the actions of scroll and copy mode.
func (p *Pane) makeActions() panes.Actions {
	do := func(what func()) func() tea.Cmd {
		return func() tea.Cmd {
			what()
			return nil
		}
	}
	selects := func(kind SelectKind) func() tea.Cmd { return do(func() { p.Scroll.ToggleSelection(kind) }) }
	all := panes.Actions{
		keymap.ScrollMode:        do(p.Scroll.Start),
		keymap.TerminalReset:     p.resetModes,
		keymap.ScrollLeave:       do(p.Scroll.Stop),
		keymap.ScrollCancel:      p.cancelCopy,
		keymap.ScrollSelect:      selects(SelectText),
		keymap.ScrollSelectLine:  selects(SelectLines),
		keymap.ScrollSelectBlock: selects(SelectBlock),

		keymap.ScrollSwap:     p.whileScrolling(p.swapOrOpen),
		keymap.ScrollOpen:     p.whileScrolling(p.copyOrOpen),
		keymap.ScrollCopy:     p.whileScrolling(p.copySelection),
		keymap.ScrollCopyLine: p.whileScrolling(p.copyLine),
		keymap.ScrollSave:     p.whileScrolling(p.askSave),
	}
	for action, act := range p.find.actions() {
		all[action] = p.whileScrolling(act)
	}
	for action, motion := range motions() {
		all[action] = do(func() { p.Scroll.MoveCursor(motion) })
	}
	return all
}

// whileScrolling restricts an action to scroll mode.
func (p *Pane) whileScrolling(act func() tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if !p.Scroll.Active() {
			return nil
		}
		return act()
	}
}

// motions maps the actions that move the cursor of scroll mode.
func motions() map[keymap.Action]Motion {
	return map[keymap.Action]Motion{
		keymap.ScrollDown: LineDown, keymap.ScrollUp: LineUp,
		keymap.ScrollPageDown: PageDown, keymap.ScrollPageUp: PageUp,
		keymap.ScrollHalfDown: HalfDown, keymap.ScrollHalfUp: HalfUp,
		keymap.ScrollFirst: Oldest, keymap.ScrollLast: Newest,
		keymap.ScrollLeft: CellLeft, keymap.ScrollRight: CellRight,
		keymap.ScrollWord: NextWord, keymap.ScrollWordBack: PreviousWord, keymap.ScrollWordEnd: WordEnd,
		keymap.ScrollLineStart: LineStart, keymap.ScrollLineText: LineText, keymap.ScrollLineEnd: LineEnd,
		keymap.ScrollTop: ScreenTop, keymap.ScrollMiddle: ScreenMiddle, keymap.ScrollBottom: ScreenBottom,
		keymap.ScrollParagraph: NextParagraph, keymap.ScrollParagraphBack: PreviousParagraph,
	}
}

// cancelCopy cancels whatever was started last, and in the end scroll mode.
func (p *Pane) cancelCopy() tea.Cmd {
	p.find.abandonSearch()
	if p.Scroll.Active() && !p.Scroll.CancelLast() {
		p.Scroll.Stop()
	}
	return nil
}

func (p *Pane) swapOrOpen() tea.Cmd {
	if p.Scroll.SwapEnds() {
		return nil
	}
	return p.opener.openTarget()
}

func (p *Pane) copyOrOpen() tea.Cmd {
	if p.Scroll.HasSelection() {
		return p.copySelection()
	}
	return p.opener.openTarget()
}

// copySelection copies the selection and leaves scroll mode.
func (p *Pane) copySelection() tea.Cmd {
	if !p.Scroll.HasSelection() {
		return p.env.Say("nothing is selected", false)
	}
	copying := p.Copy(p.Scroll.Selection())
	p.Scroll.Stop()
	return copying
}

func (p *Pane) copyLine() tea.Cmd {
	copying := p.Copy(p.Scroll.LineRange())
	p.Scroll.Stop()
	return copying
}

// Copy copies a range of the session's text, if possible from the lines held.
func (p *Pane) Copy(in api.SessionTextInput) tea.Cmd {
	in.ID = p.ID
	if p.Feed.Screen.HasLost(in) {
		return p.env.Say("nothing copied: those lines are gone from the scrollback", true)
	}
	// Fast path without the engine; it also works for lines the session has dropped.
	if text, held := p.Feed.Screen.HeldText(in); held {
		return p.env.Copy(text, "")
	}
	return p.env.CopyRead(func(ctx context.Context, e panes.Engine) (string, bool, error) {
		var text strings.Builder
		for {
			out, err := api.SessionText.Call(ctx, e, in)
			text.WriteString(out.Text)
			if err != nil || out.Next == nil || text.Len() >= maxCopyBytes {
				return text.String(), out.Next != nil, err
			}
			in.From = *out.Next
		}
	})
}

// Fetch requests the missing lines of an exited session. It has no attachment to send them.
func (p *Pane) Fetch() tea.Cmd {
	if p.FinalState() == nil {
		return nil
	}
	lacks := p.Scroll.missingLines()
	if lacks.Count == 0 || lacks == p.Scroll.requested {
		return nil
	}
	p.Scroll.requested = lacks
	o := api.AttachOptions{ID: p.ID, ReadOnly: true, Client: panes.ClientName, Lines: lacks}
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) ([]api.NumberedLine, error) {
		return fetchLines(ctx, e, o)
	}, func(lines []api.NumberedLine, err error) tea.Cmd {
		if err != nil {
			return p.env.Say(panes.ErrorText(err), true)
		}
		p.Feed.Screen.AddLines(lines)
		return nil
	})
}

// fetchLines reads lines of an exited session through a short attachment.
func fetchLines(ctx context.Context, e panes.Engine, o api.AttachOptions) (lines []api.NumberedLine, err error) {
	v, err := e.Attach(ctx, o)
	if err != nil {
		return nil, err
	}
	// Receive has no context, so closing the attachment is the only way to end it.
	stop := context.AfterFunc(ctx, func() { v.Close() })
	defer stop()
	defer v.Close()
	for {
		out, err := v.Receive()
		if err != nil || out.Ended != nil {
			return lines, err
		}
		lines = append(lines, out.Lines...)
	}
}
