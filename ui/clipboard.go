package ui

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/terminal"
)

// maxClipboard bounds what is offered to the terminal's clipboard; many terminals
// take less.
const maxClipboard = api.MaxClip

// A clipboard is what was copied last, in whichever pane, and is pasted next.
type clipboard struct {
	m       *model
	text    string
	copies  int  // counts what was copied or is to be
	reading bool // what is to be copied is on its way
	pasting bool // and to be pasted when it is there
}

// readMsg is text that was to be copied.
type readMsg struct {
	serial int // of the copies
	text   string
	cut    bool // there was more than is kept
	err    error
}

func (msg readMsg) take(m *model) tea.Cmd { return m.clip.wasRead(msg) }

// copyRead copies what read gives, unless something newer was copied meanwhile.
func (c *clipboard) copyRead(read terminal.Read) tea.Cmd {
	c.copies++
	serial := c.copies
	c.reading = true
	return c.m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		text, cut, err := read(ctx, e)
		return readMsg{serial, text, cut, err}
	}, func(err error) tea.Msg { return readMsg{serial: serial, err: err} })
}

// wasRead takes what was copied; what something newer has overtaken counts no
// more.
func (c *clipboard) wasRead(msg readMsg) tea.Cmd {
	if msg.serial != c.copies {
		return nil
	}
	paste := c.pasting
	c.reading, c.pasting = false, false
	if msg.err != nil {
		return c.m.notices.say(panes.ErrorText(msg.err), true)
	}
	say := c.copy(msg.text, "", msg.cut)
	if paste && msg.text != "" {
		return tea.Batch(say, c.m.input.paste(msg.text))
	}
	return say
}

// copy makes text what is pasted next, here and in other programs. much says in
// words how much it is, "" if that is to be counted; cut, that there was more.
func (c *clipboard) copy(text, much string, cut bool) tea.Cmd {
	c.copies++
	c.reading, c.pasting = false, false
	if text == "" {
		return c.m.notices.say("nothing to copy", false)
	}
	if much == "" {
		much = howMuch(text)
	}
	c.text = text
	what := "copied " + much
	switch {
	case cut:
		what += ", the rest is too much"
	case len(text) > maxClipboard:
		what += "; too long for the clipboard"
	}
	if len(text) <= maxClipboard {
		c.offer(text)
	}
	return c.m.notices.say(what, cut)
}

// take passes on to the person's terminal what a program put on the clipboard.
// While another window has the keyboard, no program has business there.
func (c *clipboard) take(clip []byte) tea.Cmd {
	if c.m.input.blurred || c.m.zoom.away || c.m.o.NoClipboard || len(clip) > maxClipboard {
		return nil
	}
	text := string(clip)
	c.offer(text)
	if text == "" {
		return nil
	}
	c.text = text
	return c.m.notices.say("the program copied "+howMuch(text), false)
}

// offer puts text on the clipboard of the person's terminal.
func (c *clipboard) offer(text string) {
	if c.m.terminal != nil {
		c.m.terminal.Copy(text)
	}
}

// howMuch counts lines, or the characters of one.
func howMuch(text string) string {
	lines := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		lines++
	}
	n, unit := lines, "line"
	if !strings.Contains(text, "\n") {
		n, unit = utf8.RuneCountInString(text), "character"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// pasteLast pastes what was copied last.
func (c *clipboard) pasteLast() tea.Cmd {
	if c.reading {
		c.pasting = true
		return nil
	}
	if c.text == "" {
		return c.m.notices.say("nothing was copied yet", false)
	}
	return c.m.input.paste(c.text)
}
