package terminal

import (
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/screen/vt/graphics"
)

// Displays stores the properties of the terminal that the user last used. A session without viewers
// starts with them, because its program may ask for them early. A nil Displays stores nothing. It
// is safe for concurrent use.
type Displays struct{ now atomic.Pointer[api.Display] }

func (d *Displays) last() (api.Display, bool) {
	if d == nil {
		return api.Display{}, false
	}
	last := d.now.Load()
	if last == nil {
		return api.Display{}, false
	}
	return *last, true
}

func (d *Displays) remember(v api.Display) {
	if d != nil {
		d.now.Store(&v)
	}
}

// dropBadCell returns the display, without its cell size if that is implausible.
func dropBadCell(v api.Display) *api.Display {
	const most = graphics.MaxCell
	if v.CellWidth < 2 || v.CellHeight < 4 || v.CellWidth > most || v.CellHeight > most {
		v.CellWidth, v.CellHeight = 0, 0
	}
	return &v
}
