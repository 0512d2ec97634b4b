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

// maxClipboard is the maximum number of bytes sent to the terminal's clipboard. Many
// terminals accept less.
const maxClipboard = api.MaxClip

// A clipboard holds the text copied last, in any pane. It is the text to paste next.
type clipboard struct {
	m       *model
	text    string
	serial  int  // counts copies, to drop the result of an older one
	reading bool // text to copy is being read
	pasting bool // paste it once it is read
}

// clipReadMsg carries text that was read in order to be copied.
type clipReadMsg struct {
	serial int // of the copy
	text   string
	cut    bool // text was truncated
	err    error
}

func (msg clipReadMsg) applyTo(m *model) tea.Cmd { return m.clip.finishRead(msg) }

// copyRead copies the text that read returns, unless a newer copy overtakes it.
func (c *clipboard) copyRead(read terminal.Read) tea.Cmd {
	c.serial++
	serial := c.serial
	c.reading = true
	return c.m.callEngine(func(ctx context.Context, e panes.Engine) tea.Msg {
		text, cut, err := read(ctx, e)
		return clipReadMsg{serial, text, cut, err}
	}, func(err error) tea.Msg { return clipReadMsg{serial: serial, err: err} })
}

// finishRead copies text once it is read, and pastes it if that was requested meanwhile.
func (c *clipboard) finishRead(msg clipReadMsg) tea.Cmd {
	if msg.serial != c.serial {
		return nil
	}
	paste := c.pasting
	c.reading, c.pasting = false, false
	if msg.err != nil {
		return c.m.notices.showToast(panes.ErrorText(msg.err), true)
	}
	say := c.copyText(msg.text, "", msg.cut)
	if paste && msg.text != "" {
		return tea.Batch(say, c.m.input.pasteText(msg.text))
	}
	return say
}

// copyText makes text the next paste, here and in other programs. much describes its size;
// empty counts it. cut reports whether text was truncated.
func (c *clipboard) copyText(text, much string, cut bool) tea.Cmd {
	c.serial++
	c.reading, c.pasting = false, false
	if text == "" {
		return c.m.notices.showToast("nothing to copy", false)
	}
	if much == "" {
		much = describeSize(text)
	}
	c.text = text
	what := "copied " + much
	switch {
	case cut:
		what += ", the rest is too long"
	case len(text) > maxClipboard:
		what += "; too long for the clipboard"
	}
	if len(text) <= maxClipboard {
		c.sendToTerminal(text)
	}
	return c.m.notices.showToast(what, cut)
}

// acceptClip passes text that a program put on the clipboard to the user's terminal. It is
// ignored while another window has the keyboard.
func (c *clipboard) acceptClip(clip []byte) tea.Cmd {
	if c.m.input.blurred || c.m.zoom.away || !c.m.o.Clipboard || len(clip) > maxClipboard {
		return nil
	}
	text := string(clip)
	c.sendToTerminal(text)
	if text == "" {
		return nil
	}
	c.text = text
	return c.m.notices.showToast("the program copied "+describeSize(text), false)
}

// sendToTerminal puts text on the clipboard of the user's terminal.
func (c *clipboard) sendToTerminal(text string) {
	if c.m.terminal != nil {
		c.m.terminal.Copy(text)
	}
}

// describeSize counts the lines of text, or the characters of a single line.
func describeSize(text string) string {
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

// pasteLast pastes the text copied last, waiting for it if it is still being read.
func (c *clipboard) pasteLast() tea.Cmd {
	if c.reading {
		c.pasting = true
		return nil
	}
	if c.text == "" {
		return c.m.notices.showToast("nothing copied yet", false)
	}
	return c.m.input.pasteText(c.text)
}
