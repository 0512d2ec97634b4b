package terminal

import (
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/vt/graphics"
)

// Displays remember what a person's terminal was like last, wherever they looked: a session
// that nobody looks at yet begins like that, as its program may ask before anybody does.
// Nil remembers nothing; it may be used by several goroutines.
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

// sensible is a display without the size of a cell if that cannot be one.
func sensible(v api.Display) *api.Display {
	const most = graphics.MaxCell
	if v.CellWidth < 2 || v.CellHeight < 4 || v.CellWidth > most || v.CellHeight > most {
		v.CellWidth, v.CellHeight = 0, 0
	}
	return &v
}
