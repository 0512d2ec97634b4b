package ui

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/ui/conn"
)

const (
	// maxCopied bounds what is kept to be pasted, in bytes.
	maxCopied = 16 << 20
	// maxClipboard bounds what is offered to the terminal's clipboard; many
	// terminals take less.
	maxClipboard = api.MaxClip
)

// copying is what scroll and copy mode keeps beside the panes.
type copying struct {
	buffer   string // what was copied last
	pattern  api.Pattern
	backward bool // the last search was for what is above
	find     context.CancelFunc
	serial   int        // of the last search
	held     []keys.Key // typed while it is under way
	copies   int        // counts what was copied or is to be
	reading  bool       // what is to be copied is on its way
	paste    bool       // and to be pasted when it is there

	clicks   clicks
	selects  *terminal.Terminal // in which the mouse selects
	flashed  *terminal.Terminal // in which what the mouse selected stays marked
	x, y     int                // where the mouse is, in its cells
	block    bool
	dragging bool // a timer runs that scrolls
}

// copyActions is what the keys of scroll and copy mode do.
func copyActions() actionTable {
	all := map[keymap.Action]func(*model) tea.Cmd{
		keymap.ScrollMode:        onTerminal((*terminal.Terminal).StartScroll),
		keymap.PasteBuffer:       (*model).pasteBuffer,
		keymap.ScrollLeave:       onTerminal((*terminal.Terminal).StopScroll),
		keymap.ScrollCancel:      (*model).cancelCopy,
		keymap.ScrollSelect:      onTerminal(func(p *terminal.Terminal) { p.Select(terminal.SelectText) }),
		keymap.ScrollSelectLine:  onTerminal(func(p *terminal.Terminal) { p.Select(terminal.SelectLines) }),
		keymap.ScrollSelectBlock: onTerminal(func(p *terminal.Terminal) { p.Select(terminal.SelectBlock) }),

		keymap.ScrollSwap:         (*model).swapOrOpen,
		keymap.ScrollOpen:         (*model).copyOrOpen,
		keymap.ScrollCopy:         (*model).copySelection,
		keymap.ScrollCopyLine:     (*model).copyLine,
		keymap.ScrollSelectOutput: (*model).selectOutput,
		keymap.ScrollSave:         (*model).askSaveScrollback,
		keymap.ScrollSearch:       func(m *model) tea.Cmd { return m.askFind(false) },
		keymap.ScrollSearchBack:   func(m *model) tea.Cmd { return m.askFind(true) },
		keymap.ScrollNext:         func(m *model) tea.Cmd { return m.findNext(false) },
		keymap.ScrollPrevious:     func(m *model) tea.Cmd { return m.findNext(true) },
		keymap.ScrollCommand:      func(m *model) tea.Cmd { return m.findCommand(false) },
		keymap.ScrollCommandBack:  func(m *model) tea.Cmd { return m.findCommand(true) },

		keymap.ScrollDown:     moveBy(terminal.LineDown),
		keymap.ScrollUp:       moveBy(terminal.LineUp),
		keymap.ScrollPageDown: moveBy(terminal.PageDown),
		keymap.ScrollPageUp:   moveBy(terminal.PageUp),
		keymap.ScrollHalfDown: moveBy(terminal.HalfDown),
		keymap.ScrollHalfUp:   moveBy(terminal.HalfUp),
		keymap.ScrollFirst:    moveBy(terminal.Oldest),
		keymap.ScrollLast:     moveBy(terminal.Newest),
	}
	for action, motion := range map[keymap.Action]terminal.Motion{
		keymap.ScrollLeft: terminal.CellLeft, keymap.ScrollRight: terminal.CellRight,
		keymap.ScrollWord: terminal.NextWord, keymap.ScrollWordBack: terminal.PreviousWord, keymap.ScrollWordEnd: terminal.WordEnd,
		keymap.ScrollLineStart: terminal.LineStart, keymap.ScrollLineText: terminal.LineText, keymap.ScrollLineEnd: terminal.LineEnd,
		keymap.ScrollTop: terminal.ScreenTop, keymap.ScrollMiddle: terminal.ScreenMiddle, keymap.ScrollBottom: terminal.ScreenBottom,
		keymap.ScrollParagraph: terminal.NextParagraph, keymap.ScrollParagraphBack: terminal.PreviousParagraph,
	} {
		all[action] = moveBy(motion)
	}
	return all
}

// onTerminal is an action on the focused terminal.
func onTerminal(do func(*terminal.Terminal)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		if p := m.focused(); p != nil {
			do(p)
		}
		return nil
	}
}

// moveBy moves the cursor of the focused terminal.
func moveBy(motion terminal.Motion) func(*model) tea.Cmd {
	return onTerminal(func(p *terminal.Terminal) { p.Move(motion) })
}

// scrolled is the focused terminal while it is in scroll mode, else nil.
func (m *model) scrolled() *terminal.Terminal {
	if p := m.focused(); p != nil && p.Scrolling() {
		return p
	}
	return nil
}

// countKey takes a digit of the number before a move; ok reports whether the
// key was one.
func (m *model) countKey(k keys.Key) (ok bool) {
	p := m.scrolled()
	if p == nil || m.overlay != nil || m.resolver.Pending() || k.Phase == keys.Release ||
		len(k.Text) != 1 || k.Text[0] < '0' || k.Text[0] > '9' || k.Mods&(keys.Ctrl|keys.Alt) != 0 {
		return false
	}
	ok = p.CountDigit(int(k.Text[0] - '0'))
	m.dirty = m.dirty || ok
	return ok
}

// scrollKey is a key that means nothing in scroll mode by itself: the prefix
// pressed twice is vi's ctrl+b.
func (m *model) scrollKey(p *terminal.Terminal, k keys.Key) tea.Cmd {
	if m.o.Bindings.Is(k, keymap.ScopeGlobal, keymap.Prefix) {
		p.Move(terminal.PageUp)
		m.dirty = true
	}
	return nil
}

// cancelCopy takes back what was begun last, and ends scroll mode in the end.
func (m *model) cancelCopy() tea.Cmd {
	m.endFind()
	m.copying.held = nil
	if p := m.scrolled(); p != nil && !p.Cancel() {
		p.StopScroll()
	}
	return nil
}

func (m *model) swapOrOpen() tea.Cmd {
	p := m.scrolled()
	if p == nil || p.Swap() {
		return nil
	}
	return m.openTarget(p)
}

func (m *model) copyOrOpen() tea.Cmd {
	p := m.scrolled()
	if p == nil || p.Selected() {
		return m.copySelection()
	}
	return m.openTarget(p)
}

// copySelection copies what is selected and goes back to the live screen.
func (m *model) copySelection() tea.Cmd {
	p := m.scrolled()
	if p == nil {
		return nil
	}
	if !p.Selected() {
		return m.say("nothing is selected", false)
	}
	in := p.Selection()
	copying := m.copyText(p, in)
	p.StopScroll()
	return copying
}

func (m *model) copyLine() tea.Cmd {
	p := m.scrolled()
	if p == nil {
		return nil
	}
	copying := m.copyText(p, p.Line())
	p.StopScroll()
	return copying
}

// copiedMsg is text that was to be copied.
type copiedMsg struct {
	serial int // of the copies
	text   string
	cut    bool // there was more than is kept
	err    error
}

// copyText reads a part of a session's text, to copy it.
func (m *model) copyText(p *terminal.Terminal, in api.SessionTextInput) tea.Cmd {
	m.copying.copies++
	serial := m.copying.copies
	if p.Lost(in) {
		return m.say("nothing copied: those lines are gone from the scrollback", true)
	}
	if text, held := p.HeldText(in); held {
		return m.copied(copiedMsg{serial: serial, text: text})
	}
	m.copying.reading = true
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		var text strings.Builder
		for {
			out, err := e.Text(ctx, in)
			text.WriteString(out.Text)
			if err != nil || out.Next == nil || text.Len() >= maxCopied {
				return copiedMsg{serial, text.String(), out.Next != nil, err}
			}
			in.From = *out.Next
		}
	}, func(err error) tea.Msg { return copiedMsg{serial: serial, err: err} })
}

// copied takes what was copied; what something newer has overtaken counts no more.
func (m *model) copied(msg copiedMsg) tea.Cmd {
	if msg.serial != m.copying.copies {
		return nil
	}
	paste := m.copying.paste
	m.copying.reading, m.copying.paste = false, false
	switch {
	case msg.err != nil:
		return m.say(panes.ErrorText(msg.err), true)
	case msg.text == "":
		return m.say("nothing to copy", false)
	}
	say := m.keepCopy(msg.text, msg.cut)
	if paste {
		return tea.Batch(say, m.paste(msg.text))
	}
	return say
}

// keepCopy makes text what is pasted next, here and in other programs.
func (m *model) keepCopy(text string, cut bool) tea.Cmd { return m.keepCopyOf(text, "", cut) }

// keepCopyOf is keepCopy of what somebody has counted already.
func (m *model) keepCopyOf(text, much string, cut bool) tea.Cmd {
	if much == "" {
		much = howMuch(text)
	}
	m.copying.copies++
	m.copying.buffer = text
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

// takeClips passes on to the person's terminal what the program in the focused
// pane put on the clipboard. Programs in other panes, and all of them while
// another window has the keyboard, have no business there.
func (m *model) takeClips() tea.Cmd {
	var cmd tea.Cmd
	for p := range m.attachments {
		clip := p.Feed.TakeClip()
		if clip == nil || p != m.focused() || m.blurred || m.handing || m.o.NoClipboard || len(clip) > maxClipboard {
			continue
		}
		text := string(clip)
		m.offerClip(text)
		if text != "" {
			m.copying.buffer = text
			cmd = m.say("the program copied "+howMuch(text), false)
		}
	}
	return cmd
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
	if m.copying.reading {
		m.copying.paste = true
		return nil
	}
	if m.copying.buffer == "" {
		return m.say("nothing was copied yet", false)
	}
	return m.paste(m.copying.buffer)
}

// unflash takes the marks away that the mouse left.
func (m *model) unflash() {
	if p := m.copying.flashed; p != nil {
		m.dirty = p.Unflash() || m.dirty
		m.copying.flashed = nil
	}
}

// clicks counts presses that follow each other quickly in one place.
type clicks struct {
	last time.Time
	x, y int
	n    int
}

// again is the time in which another press makes a double click.
const again = 400 * time.Millisecond

// press counts one more; n is 1, 2 or 3.
func (c *clicks) press(now time.Time, x, y int) (n int) {
	if now.Sub(c.last) > again || x != c.x || y != c.y {
		c.n = 0
	}
	c.last, c.x, c.y = now, x, y
	c.n = c.n%3 + 1
	return c.n
}

// endedLines are lines of a session that has ended.
type endedLines struct {
	pane  *terminal.Terminal
	lines []api.NumberedLine
}

// fetchEnded asks for lines of a session that has ended, which has nobody any
// more to send them by itself.
func (m *model) fetchEnded() tea.Cmd {
	p := m.focused()
	if p == nil {
		return nil
	}
	lacks, ok := p.Lacks()
	if !ok {
		return nil
	}
	o := api.AttachOptions{ID: p.ID, ReadOnly: true, Client: conn.ClientName, Lines: lacks}
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		lines, err := linesOf(ctx, e, o)
		if err != nil {
			return panes.DoneMsg{Err: err}
		}
		return endedLines{p, lines}
	}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
}

// linesOf gives lines of a session that has ended.
func linesOf(ctx context.Context, e panes.Engine, o api.AttachOptions) (lines []api.NumberedLine, err error) {
	v, err := e.Attach(ctx, o)
	if err != nil {
		return nil, err
	}
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

func (m *model) takeEnded(msg endedLines) tea.Cmd {
	msg.pane.Feed.Screen.AddLines(msg.lines)
	m.dirty = true
	return nil
}
