package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// sizeEvery is how often sessions are told of a size while it changes.
	sizeEvery = 60 * time.Millisecond
	// settleTime is how long a session has to take a size before the pane
	// shows that it has another one.
	settleTime = 300 * time.Millisecond
)

// sizesDue ends the pause after sizes were told; settled comes when they should
// have been taken.
type (
	sizesDue struct{}
	settled  struct{}
)

// tellSizes tells sessions of their panes' sizes: at once the first time, then
// at most every sizeEvery while they go on changing.
func (m *model) tellSizes() tea.Cmd {
	if !m.resized || m.calm {
		return nil
	}
	m.resized = false
	for _, l := range m.visible() {
		l.Pane.Resized()
	}
	m.calm = true
	return tea.Batch(
		tea.Tick(sizeEvery, func(time.Time) tea.Msg { return sizesDue{} }),
		tea.Tick(settleTime, func(time.Time) tea.Msg { return settled{} }),
	)
}

func (m *model) settle() {
	for _, l := range m.visible() {
		l.Pane.Settle()
	}
	m.dirty = true
}
