package terminal

import (
	"slices"
	"sync"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
)

// A viewer is one client attached to a session.
type viewer struct {
	options    api.AttachOptions
	handed     chan api.Hand          // of 1: the message that came with its terminal
	handedOver atomic.Pointer[direct] // the terminal handed over; nil if none
	as         typist                 // source of its input
	agent      bool                   // it belongs to an agent: it cannot type while the keyboard lock is on
	outside    bool                   // its input would leave the agent's sandbox
	dirty      chan struct{}          // of 1: there is something to send
	lines      chan api.LineRange
	repaint    atomic.Bool            // the whole screen must be sent; to a raw viewer, before any more output
	clip       atomic.Pointer[[]byte] // clipboard contents not yet sent; nil if none
	eager      atomic.Bool            // it has typed: the next frame, with the echo, is not delayed
	loan       loan                   // of the PTY's master

	// Guarded by the set's mutex:
	size    api.Size
	display *api.Display // its terminal's properties; nil if not reported
	typed   int64        // time of its last input; 0 if none
	focus   focus        // keyboard focus of its window

	cursors     atomic.Bool // it supports the user's own cursor shape and cursor colours
	pixels      atomic.Bool // its terminal can report the mouse in pixels
	queryColors atomic.Bool // its terminal should be queried for its colours

	marks marks    // in its input
	input numbered // set by takeOver

	places []vt.Position // to be moved by a resize; guarded by the set's mutex, replaced and never changed
}

func newViewer(o api.AttachOptions) *viewer {
	// Clear options that the other options make meaningless.
	o.Direct, o.Apart = o.Direct && o.Raw, o.Apart && o.Raw
	o.Clips = o.Clips && !o.Raw
	o.Master = o.Master && !o.ReadOnly
	v := &viewer{
		options: o,
		handed:  make(chan api.Hand, 1),
		dirty:   make(chan struct{}, 1),
		lines:   make(chan api.LineRange, 4),
		size:    api.Size{Cols: o.Cols, Rows: o.Rows},
	}
	raiseFlag(v.dirty)
	if o.Lines.Count > 0 {
		v.lines <- o.Lines
	}
	return v
}

// A viewerSet holds the viewers that are attached to one session, in the order of arrival. The zero
// value is empty.
type viewerSet struct {
	mu     sync.Mutex
	all    []*viewer // replaced, never changed
	clock  int64
	typist atomic.Pointer[viewer] // the viewer that typed last
	caller atomic.Pointer[string] // name of the unattached client that typed after that; nil if none

	list atomic.Pointer[[]*viewer] // all, for readers that must not block
}

func (set *viewerSet) add(v *viewer) {
	set.mu.Lock()
	defer set.mu.Unlock()
	set.replace(append(slices.Clone(set.all), v))
}

// remove removes a viewer. blurred is set if this was the last viewer with the focus, so that the
// program loses the focus.
func (set *viewerSet) remove(v *viewer) (blurred bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	before := set.anyFocused()
	set.replace(slices.DeleteFunc(slices.Clone(set.all), func(w *viewer) bool { return w == v }))
	set.typist.CompareAndSwap(v, nil)
	return before && !set.anyFocused()
}

func (set *viewerSet) replace(all []*viewer) {
	set.all = all
	set.list.Store(&all)
}

// noteTyping records input from v. news is set if the previous input came from another client.
func (set *viewerSet) noteTyping(v *viewer) (news bool) {
	// Fast path: this runs for every key, and most keys come from the viewer that typed last.
	if set.typist.Load() == v && set.caller.Load() == nil {
		return false
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	set.clock++
	v.typed = set.clock
	set.typist.Store(v)
	set.caller.Store(nil)
	set.withdrawAll(v)
	return true
}

// noteTypingBy records input from a client that is not attached. news is set if the previous input
// came from another client.
func (set *viewerSet) noteTypingBy(name string) (news bool) {
	before := set.caller.Swap(&name)
	if before != nil && *before == name {
		return false
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	set.withdrawAll(nil)
	return true
}

func (set *viewerSet) setSize(v *viewer, size api.Size) {
	set.mu.Lock()
	defer set.mu.Unlock()
	v.size = size
}

func (set *viewerSet) setDisplay(v *viewer, display api.Display) {
	set.mu.Lock()
	defer set.mu.Unlock()
	v.display = dropBadCell(display)
	v.cursors.Store(true)
	v.pixels.Store(display.Pixels)
	if v.options.Direct {
		// Modes may pass differently.
		raiseFlag(v.dirty)
	}
}

// passesPixels reports whether the pixel mouse mode is passed on to the viewer's terminal. It is if
// the terminal supports the mode, or if the viewer's release is too old to say.
func (v *viewer) passesPixels() bool { return v.pixels.Load() || !v.cursors.Load() }

// setPlaces sets the places in the text that v wants to keep track of when a resize moves them.
func (set *viewerSet) setPlaces(v *viewer, places []api.Place) {
	kept := make([]vt.Position, len(places))
	for i, p := range places {
		kept[i] = vt.Position{Line: p.Line, X: p.Cell}
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	v.places = kept
}

// placesOf returns the current places of v.
func (set *viewerSet) placesOf(v *viewer) []api.Place {
	set.mu.Lock()
	defer set.mu.Unlock()
	var places []api.Place
	for _, p := range v.places {
		places = append(places, api.Place{Line: p.Line, Cell: p.X})
	}
	return places
}

// keepPlaces calls resize, and moves the places of all viewers with the text. If a viewer sets
// places meanwhile, those stay as set.
func (set *viewerSet) keepPlaces(resize func(keep []*vt.Position)) {
	type holder struct {
		v           *viewer
		before, now []vt.Position
	}
	var holders []holder
	var keep []*vt.Position
	set.mu.Lock()
	for _, v := range set.all {
		if len(v.places) > 0 {
			holders = append(holders, holder{v, v.places, slices.Clone(v.places)})
		}
	}
	set.mu.Unlock()
	for _, h := range holders {
		for i := range h.now {
			keep = append(keep, &h.now[i])
		}
	}
	// The lock is not held here, because a resize takes time.
	resize(keep)
	set.mu.Lock()
	defer set.mu.Unlock()
	for _, h := range holders {
		// A different slice means that the viewer has sent new places meanwhile.
		if len(h.v.places) > 0 && &h.v.places[0] == &h.before[0] {
			h.v.places = h.now
		}
	}
}

// A decision is the size of the viewer that decides about the session's size, and its display if
// known.
type decision struct {
	size    api.Size
	display *api.Display
	agent   bool
}

// decider returns the decision of the viewer that typed last, or else of the first. ok is false if
// no viewer decides. Read-only viewers never decide, nor do agents while locked is set.
func (set *viewerSet) decider(locked bool) (d decision, ok bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	var decider *viewer
	for _, v := range set.all {
		if v.options.ReadOnly || v.agent && locked || v.size.Cols <= 0 || v.size.Rows <= 0 {
			continue
		}
		if decider == nil || v.typed > decider.typed {
			decider = v
		}
	}
	if decider == nil {
		return decision{}, false
	}
	return decision{decider.size, decider.display, decider.agent}, true
}

func (set *viewerSet) count() (n int, typist string) {
	set.mu.Lock()
	defer set.mu.Unlock()
	if v := set.typist.Load(); v != nil {
		typist = v.options.Client
	}
	if name := set.caller.Load(); name != nil {
		typist = *name
	}
	return len(set.all), typist
}

// frameChanged tells the viewers of frames that the screen has changed.
func (set *viewerSet) frameChanged() {
	for _, v := range set.snapshot() {
		if !v.options.Raw {
			raiseFlag(v.dirty)
		}
	}
}

// rawChanged tells the viewers of bytes that p was appended to the log at offset. seen is set if
// there are viewers, and all of them have shown p already.
func (set *viewerSet) rawChanged(offset int64, p []byte) (seen bool) {
	all := set.snapshot()
	seen = len(all) > 0
	for _, v := range all {
		if d := v.handedOver.Load(); d != nil && d.passOutput(offset, p) {
			continue
		}
		seen = false
		if v.options.Raw {
			raiseFlag(v.dirty)
		}
	}
	return seen
}

// snapshot returns the viewers without blocking.
func (set *viewerSet) snapshot() []*viewer {
	if all := set.list.Load(); all != nil {
		return *all
	}
	return nil
}

// noteCopy stores text copied to the clipboard by the program, for the viewers that want it.
func (set *viewerSet) noteCopy(data []byte) {
	for _, v := range set.snapshot() {
		if v.options.Clips {
			v.clip.Store(&data)
			raiseFlag(v.dirty)
		}
	}
}

// repaint makes the viewers of bytes start over with a repaint of the screen.
func (set *viewerSet) repaint() { set.repaintWhere(func(v *viewer) bool { return v.options.Raw }) }

// repaintPictures repaints the screen for the viewers that get pictures apart from the text.
func (set *viewerSet) repaintPictures() {
	set.repaintWhere(func(v *viewer) bool { return v.options.Apart })
}

func (set *viewerSet) repaintWhere(these func(*viewer) bool) {
	for _, v := range set.snapshot() {
		if these(v) {
			v.repaint.Store(true)
			raiseFlag(v.dirty)
		}
	}
}
