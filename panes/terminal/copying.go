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

// A Copier copies text of a session, and overwrites it wherever it is kept.
type Copier struct {
	env    Env
	id     func() string // of the session
	scroll *ScrollMode
	open   func() tea.Cmd // opens what is under the cursor
}

func (c *Copier) actions() panes.Actions {
	return panes.Actions{
		keymap.ScrollSwap:     c.swapOrOpen,
		keymap.ScrollOpen:     c.copyOrOpen,
		keymap.ScrollCopy:     c.copySelection,
		keymap.ScrollCopyLine: c.copyLine,
		keymap.ScrollScrub:    c.askScrub,
	}
}

func (c *Copier) swapOrOpen() tea.Cmd {
	if c.scroll.SwapEnds() {
		return nil
	}
	return c.open()
}

func (c *Copier) copyOrOpen() tea.Cmd {
	if c.scroll.HasSelection() {
		return c.copySelection()
	}
	return c.open()
}

// copySelection copies the selection and leaves scroll mode.
func (c *Copier) copySelection() tea.Cmd {
	if !c.scroll.HasSelection() {
		return c.env.Say("nothing is selected", false)
	}
	copying := c.Copy(c.scroll.Selection())
	c.scroll.Stop()
	return copying
}

func (c *Copier) copyLine() tea.Cmd {
	copying := c.Copy(c.scroll.LineRange())
	c.scroll.Stop()
	return copying
}

// Copy copies a range of the session's text. If the pane holds all its lines, the engine is not
// asked.
func (c *Copier) Copy(in api.SessionTextInput) tea.Cmd {
	in.ID = c.id()
	if c.scroll.screen.HasLost(in) {
		return c.env.Say("nothing copied: those lines are gone from the scrollback", true)
	}
	// Fast path without the engine; it also works for lines the session has dropped.
	if text, held := c.scroll.screen.HeldText(in); held {
		return c.env.Copy(text, "")
	}
	return c.env.CopyRead(func(ctx context.Context, e panes.Engine) (string, bool, error) { return readRange(ctx, e, in) })
}

// readRange returns a range of a session's text; cut reports whether it has more than maxCopyBytes.
func readRange(ctx context.Context, e panes.Engine, in api.SessionTextInput) (text string, cut bool, err error) {
	var b strings.Builder
	for {
		out, err := api.SessionText.Call(ctx, e, in)
		b.WriteString(out.Text)
		if err != nil || out.Next == nil || b.Len() >= maxCopyBytes {
			return b.String(), out.Next != nil, err
		}
		in.From = *out.Next
	}
}
