package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
)

// notifyGap is the least time between two notifications of the desktop; what
// comes meanwhile is told with the next.
const notifyGap = 5 * time.Second

// mostNotice bounds a notification, in cells.
const mostNotice = 160

// A desk is what the desktop is told, while another window has the keyboard.
type desk struct {
	last  time.Time
	held  []string
	timer bool // deskDue is on its way
}

// deskDue is the end of the gap after a notification.
type deskDue struct{}

// notify has the terminal tell the desktop, unless the person looks at it, wants
// none, or has quiet hours.
func (m *model) notify(text string) tea.Cmd {
	a := &m.o.Attention
	now := time.Now()
	if !m.blurred || a.NoNotify || m.terminal == nil || a.Quiet.Have(now) {
		return nil
	}
	d := &m.attention.desk
	d.held = append(d.held, text)
	if wait := notifyGap - now.Sub(d.last); wait > 0 {
		if d.timer {
			return nil
		}
		d.timer = true
		return tea.Tick(wait, func(time.Time) tea.Msg { return deskDue{} })
	}
	m.tellDesk(now)
	return nil
}

// tellDesk tells the desktop what was held back.
func (m *model) tellDesk(now time.Time) {
	d := &m.attention.desk
	if len(d.held) == 0 || m.terminal == nil {
		return
	}
	text := withMore(d.held)
	d.held, d.last = nil, now
	m.terminal.painter.update(func(f *frame) { f.notice, f.notices = text, f.notices+1 })
}

func (m *model) deskDue() {
	m.attention.desk.timer = false
	if m.blurred {
		m.tellDesk(time.Now())
	}
	m.attention.desk.held = nil
}

// notification is what makes a terminal notify the desktop. Which of the three
// sequences it knows only its name tells: OSC 99 is kitty's (and foot's), OSC 777
// urxvt's and VTE's, OSC 9 everybody else's. One that knows none shows nothing.
func notification(text string, getenv func(string) string) string {
	text = noticeText(text)
	name := getenv("TERM")
	var s string
	switch {
	case getenv("KITTY_WINDOW_ID") != "" || strings.Contains(name, "kitty") || strings.HasPrefix(name, "foot"):
		s = "\x1b]99;i=tandem:d=0;Tandem\x1b\\\x1b]99;i=tandem:p=body;" + text + "\x1b\\"
	case strings.HasPrefix(name, "rxvt") || getenv("VTE_VERSION") != "":
		s = "\x1b]777;notify;Tandem;" + text + "\x1b\\"
	default:
		s = "\x1b]9;Tandem: " + text + "\x1b\\"
	}
	if getenv("TMUX") != "" {
		s = "\x1bPtmux;" + strings.ReplaceAll(s, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return s
}

// noticeText is text that cannot end a sequence or be taken for a part of it.
func noticeText(s string) string {
	return strings.ReplaceAll(panes.Clip(panes.Clean(s), mostNotice), ";", ",")
}
