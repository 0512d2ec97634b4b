package ui

import (
	"context"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/text"
	"tandem/panes/terminal"
)

// maxClipboard is the maximum number of bytes sent to the terminal's clipboard. Many
// terminals accept less.
const maxClipboard = api.MaxClip

// A clipboard holds the text copied last, in any pane. It is the text to paste next.
type clipboard struct {
	caller  panes.Waiter
	say     func(text string, bad bool) tea.Cmd
	paste   func(text string) tea.Cmd // into the pane or dialog with the keyboard
	focus   func() any                // that pane or dialog
	send    func(text string)         // to the clipboard of the user's terminal
	accepts func() bool               // what programs copy may go there
	text    string
	serial  int  // counts copies, to drop the result of an older one
	reading bool // text to copy is being read
	failed  bool // the last text could not be read
}

// A clipText is text read for the clipboard, perhaps only a part of the selected text.
type clipText struct {
	text string
	cut  bool // it was truncated
}

// copyRead calls read for the text to copy. The result is dropped if something else was copied
// meanwhile.
func (c *clipboard) copyRead(read terminal.Read) tea.Cmd {
	c.serial++
	serial := c.serial
	c.reading = true
	return panes.Call(c.caller.Context(), c.caller, func(ctx context.Context, e panes.Engine) (clipText, error) {
		text, cut, err := read(ctx, e)
		return clipText{text, cut}, err
	}, func(t clipText, err error) tea.Cmd {
		// A newer copy has overtaken this one.
		if serial != c.serial {
			return nil
		}
		return c.finishRead(t, err)
	})
}

// finishRead copies text once it is read.
func (c *clipboard) finishRead(t clipText, err error) tea.Cmd {
	if c.reading, c.failed = false, err != nil; c.failed {
		return c.say(panes.ErrorText(err), true)
	}
	return c.copyText(t.text, "", t.cut)
}

// copyText makes text the next paste, here and in other programs. much describes the text's size to
// the user; if it is empty, copyText counts the lines or characters. cut is set if text is only the
// start of what was selected.
func (c *clipboard) copyText(text, much string, cut bool) tea.Cmd {
	c.serial++
	c.reading, c.failed = false, false
	if text == "" {
		return c.say("nothing to copy", false)
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
		c.send(text)
	}
	return c.say(what, cut)
}

// acceptClip passes text that a program put on the clipboard to the user's terminal. The text is
// ignored while another window has the keyboard.
func (c *clipboard) acceptClip(clip []byte) tea.Cmd {
	if !c.accepts() || len(clip) > maxClipboard {
		return nil
	}
	text := string(clip)
	c.send(text)
	if text == "" {
		return nil
	}
	c.text = text
	return c.say("the program copied "+describeSize(text), false)
}

// describeSize counts the lines of s, or the characters of a single line.
func describeSize(s string) string {
	lines := strings.Count(s, "\n")
	if !strings.HasSuffix(s, "\n") {
		lines++
	}
	if lines == 1 && !strings.HasSuffix(s, "\n") {
		return text.Count(utf8.RuneCountInString(s), "character")
	}
	return text.Count(lines, "line")
}

// pasteLast pastes the text copied last. While that text is still being read, the paste waits for
// it, and so does input typed afterwards.
func (c *clipboard) pasteLast() tea.Cmd {
	if c.reading {
		meant := c.focus()
		return c.caller.Await(panes.Pending{
			Ready: func() bool { return !c.reading },
			Then: func() tea.Cmd {
				switch {
				case c.failed:
					return nil // the error is shown, and an older text is not meant
				case c.focus() != meant:
					return c.say("not pasted: the pane for it is gone", true)
				}
				return c.pasteLast()
			},
		})
	}
	if c.text == "" {
		return c.say("nothing copied yet", false)
	}
	return c.paste(c.text)
}
