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
	text    string
	copies  int  // counts what was copied or is to be
	reading bool // what is to be copied is on its way
	paste   bool // and to be pasted when it is there
}

// readMsg is text that was to be copied.
type readMsg struct {
	serial int // of the copies
	text   string
	cut    bool // there was more than is kept
	err    error
}

func (msg readMsg) take(m *model) tea.Cmd { return m.copyWasRead(msg) }

// copyRead copies what read gives, unless something newer was copied meanwhile.
func (m *model) copyRead(read terminal.Read) tea.Cmd {
	m.clip.copies++
	serial := m.clip.copies
	m.clip.reading = true
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		text, cut, err := read(ctx, e)
		return readMsg{serial, text, cut, err}
	}, func(err error) tea.Msg { return readMsg{serial: serial, err: err} })
}

// copyWasRead takes what was copied; what something newer has overtaken counts no
// more.
func (m *model) copyWasRead(msg readMsg) tea.Cmd {
	if msg.serial != m.clip.copies {
		return nil
	}
	paste := m.clip.paste
	m.clip.reading, m.clip.paste = false, false
	if msg.err != nil {
		return m.say(panes.ErrorText(msg.err), true)
	}
	say := m.copy(msg.text, "", msg.cut)
	if paste && msg.text != "" {
		return tea.Batch(say, m.paste(msg.text))
	}
	return say
}

// copy makes text what is pasted next, here and in other programs. much says in
// words how much it is, "" if that is to be counted; cut, that there was more.
func (m *model) copy(text, much string, cut bool) tea.Cmd {
	m.clip.copies++
	m.clip.reading, m.clip.paste = false, false
	if text == "" {
		return m.say("nothing to copy", false)
	}
	if much == "" {
		much = howMuch(text)
	}
	m.clip.text = text
	what := "copied " + much
	switch {
	case cut:
		what += ", the rest is too much"
	case len(text) > maxClipboard:
		what += "; too long for the clipboard"
	}
	if len(text) <= maxClipboard {
		m.offerClip(text)
	}
	return m.say(what, cut)
}

// takeClip passes on to the person's terminal what a program put on the clipboard.
// While another window has the keyboard, no program has business there.
func (m *model) takeClip(clip []byte) tea.Cmd {
	if m.blurred || m.handing || m.o.NoClipboard || len(clip) > maxClipboard {
		return nil
	}
	text := string(clip)
	m.offerClip(text)
	if text == "" {
		return nil
	}
	m.clip.text = text
	return m.say("the program copied "+howMuch(text), false)
}

// offerClip puts text on the clipboard of the person's terminal.
func (m *model) offerClip(text string) {
	if m.terminal != nil {
		m.terminal.Copy(text)
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

// pasteBuffer pastes what was copied last.
func (m *model) pasteBuffer() tea.Cmd {
	if m.clip.reading {
		m.clip.paste = true
		return nil
	}
	if m.clip.text == "" {
		return m.say("nothing was copied yet", false)
	}
	return m.paste(m.clip.text)
}
