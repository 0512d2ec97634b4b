package terminal

import (
	"tandem/engine/api"
	"tandem/engine/api/outbox"
)

// A Viewport tells a session about its pane: the size, and the user's terminal.
type Viewport struct {
	feed   *Feed
	outbox *outbox.Outbox

	size        api.Size     // of the pane
	hidden      bool         // not on the screen
	sentSize    *api.Size    // size sent to the session; nil if none
	applied     bool         // the screen has the pane's size
	settled     bool         // a size other than the pane's will not change soon
	display     *api.Display // the user's terminal; nil if unknown
	sentDisplay *api.Display // display sent to the session; nil if none
}

func (v *Viewport) setSize(s api.Size) {
	if s != v.size {
		v.size, v.applied, v.settled = s, false, false
		v.feed.setSize(s)
	}
}

// SetHidden sets whether the pane is hidden, so that the session ignores its size. The next
// SendSize tells the session.
func (v *Viewport) SetHidden(hidden bool) {
	if hidden != v.hidden {
		v.hidden, v.settled = hidden, false
	}
}

// SendSize sends the pane's size to the session, or zero if the pane is hidden, unless the session
// has that size already.
func (v *Viewport) SendSize() {
	size := v.size
	if v.hidden {
		size = api.Size{}
	}
	if !v.outbox.Connected() || v.sentSize != nil && *v.sentSize == size {
		return
	}
	v.sentSize = &size
	v.outbox.Send(api.Input{Resize: &size})
}

// SetDisplay sets the properties of the user's terminal; nil if unknown.
func (v *Viewport) SetDisplay(d *api.Display) {
	v.display = d
	v.feed.setDisplay(d)
	v.sendDisplay()
}

func (v *Viewport) sendDisplay() {
	if now := v.display; now != nil && now != v.sentDisplay && v.outbox.Tell(api.Input{Display: now}) {
		v.sentDisplay = now
	}
}

// ClaimSize makes the session adopt the size of this pane, even if other dashboards show it in
// panes of other sizes. Typing in the pane has the same effect.
func (v *Viewport) ClaimSize() { v.outbox.Tell(api.Input{Bytes: []byte{}}) }

// SettleSize records that the session has had enough time to adopt the pane's size. From now on a
// difference is shown to the user.
func (v *Viewport) SettleSize() { v.settled = true }
