package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// notifyGap is the least time between two notifications of the desktop; what
// comes meanwhile is told with the next.
const notifyGap = 5 * time.Second

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
	m.terminal.Notify(text)
}

func (m *model) deskDue() {
	m.attention.desk.timer = false
	if m.blurred {
		m.tellDesk(time.Now())
	}
	m.attention.desk.held = nil
}
