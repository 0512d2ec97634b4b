package terminal

import (
	"slices"
	"sync"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/vt"
)

// A viewer is one client attached to a session.
type viewer struct {
	client   string
	raw      bool
	readOnly bool
	pictures bool                   // it wants those on the screen in a repaint
	apart    bool                   // not in its bytes, but behind it
	direct   bool                   // it hands over its terminal
	kinds    bool                   // and wants to know which pictures have passed
	handed   chan handed            // of 1: its terminal
	way      atomic.Pointer[direct] // by which output reaches it at once; nil if it does not
	clips    bool                   // it wants to know what the program puts on the clipboard
	as       typist                 // who types in it
	agent    bool                   // it is an agent's: it does not type while a person has the keyboard
	outside  bool                   // what it types would leave the agent's sandbox
	dirty    chan struct{}          // of 1: there is something to send
	lines    chan api.LineRange
	repaint  atomic.Bool            // the whole screen must be sent; to a raw viewer, before any more output
	clip     atomic.Pointer[[]byte] // put there and not yet sent; nil if nothing
	eager    atomic.Bool            // it has typed: the next frame, with the echo, is not held back

	// Guarded by the set's mutex:
	size    api.Size
	display *api.Display // what its terminal is like; nil if it has not told
	typed   int64        // when it typed last; 0 if never
	focus   focus        // whether it has the keyboard of its window system

	cursors atomic.Bool // it knows of cursors in the person's own shape and in colours
	pixels  atomic.Bool // its terminal can tell the mouse in pixels
	asks    atomic.Bool // its terminal is to be asked for its colours

	marks marks // of what it has sent

	progress bool         // it wants to know how much of its text is accepted
	accepted atomic.Int64 // how much is
	reported int64        // the value sent last; -1 before the first; of the sending goroutine

	places []vt.Place // to be found again after a resize; guarded by the set's mutex, replaced and never changed
}

func newViewer(o api.AttachOptions) *viewer {
	v := &viewer{
		client:   o.Client,
		raw:      o.Raw,
		direct:   o.Raw && o.Direct,
		kinds:    o.Kinds,
		handed:   make(chan handed, 1),
		readOnly: o.ReadOnly,
		clips:    o.Clips && !o.Raw,
		pictures: o.Pictures && o.Raw,
		apart:    o.Apart && o.Raw,
		progress: o.Progress && !o.ReadOnly,
		reported: -1,
		dirty:    make(chan struct{}, 1),
		lines:    make(chan api.LineRange, 4),
		size:     api.Size{Cols: o.Cols, Rows: o.Rows},
	}
	raise(v.dirty)
	if o.Lines.Count > 0 {
		v.lines <- o.Lines
	}
	return v
}

// A viewerSet is who is attached to one session, in order of arrival. Its
// zero value is empty.
type viewerSet struct {
	mu     sync.Mutex
	all    []*viewer // replaced, never changed
	clock  int64
	typist atomic.Pointer[viewer] // who typed last
	caller atomic.Pointer[string] // name of who typed after that without being attached; nil if nobody

	list atomic.Pointer[[]*viewer] // all, for those who must not wait
}

func (set *viewerSet) add(v *viewer) {
	set.mu.Lock()
	defer set.mu.Unlock()
	set.replace(append(slices.Clone(set.all), v))
}

// remove takes a viewer out; blurred is whether the program has lost the keyboard by that.
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

// typed notes that v typed; news is whether somebody else did before.
func (set *viewerSet) typed(v *viewer) (news bool) {
	if set.typist.Load() == v && set.caller.Load() == nil {
		return false
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	set.clock++
	v.typed = set.clock
	set.typist.Store(v)
	set.caller.Store(nil)
	return true
}

// typedFrom notes that a client typed that is not attached; news is whether
// somebody else did before.
func (set *viewerSet) typedFrom(name string) (news bool) {
	before := set.caller.Swap(&name)
	return before == nil || *before != name
}

func (set *viewerSet) setSize(v *viewer, size api.Size) {
	set.mu.Lock()
	defer set.mu.Unlock()
	v.size = size
}

func (set *viewerSet) setDisplay(v *viewer, display api.Display) {
	set.mu.Lock()
	defer set.mu.Unlock()
	v.display = sensible(display)
	v.cursors.Store(true)
	v.pixels.Store(display.Pixels)
	if v.direct {
		raise(v.dirty) // modes may pass in another way
	}
}

// passesPixels reports whether a mode that has the terminal tell the mouse in pixels passes:
// it can, or is a viewer's of an older release, which does not say.
func (v *viewer) passesPixels() bool { return v.pixels.Load() || !v.cursors.Load() }

// setPlaces says which places v wants to find again after a resize.
func (set *viewerSet) setPlaces(v *viewer, places []api.Place) {
	kept := make([]vt.Place, len(places))
	for i, p := range places {
		kept[i] = vt.Place{Line: p.Line, X: p.Cell}
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	v.places = kept
}

// placesOf is where the places of v are now.
func (set *viewerSet) placesOf(v *viewer) []api.Place {
	set.mu.Lock()
	defer set.mu.Unlock()
	var places []api.Place
	for _, p := range v.places {
		places = append(places, api.Place{Line: p.Line, Cell: p.X})
	}
	return places
}

// keepPlaces has a resize carry the places of all viewers along. Those that a
// viewer sends meanwhile are as it says.
func (set *viewerSet) keepPlaces(resize func(keep []*vt.Place)) {
	type holder struct {
		v           *viewer
		before, now []vt.Place
	}
	var holders []holder
	var keep []*vt.Place
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
	resize(keep)
	set.mu.Lock()
	defer set.mu.Unlock()
	for _, h := range holders {
		if len(h.v.places) > 0 && &h.v.places[0] == &h.before[0] {
			h.v.places = h.now
		}
	}
}

// A decision is what the viewer that decides has: a size, and a display if it has told one.
type decision struct {
	size    api.Size
	display *api.Display
	agent   bool
}

// decider is the viewer that typed last, or else the first; ok is false
// when no viewer decides. Who only reads has no say, and agents have none while
// locked.
func (set *viewerSet) decider(locked bool) (d decision, ok bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	var decider *viewer
	for _, v := range set.all {
		if v.readOnly || v.agent && locked || v.size.Cols <= 0 || v.size.Rows <= 0 {
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
		typist = v.client
	}
	if name := set.caller.Load(); name != nil {
		typist = *name
	}
	return len(set.all), typist
}

// frameChanged tells viewers of frames that the screen has changed.
func (set *viewerSet) frameChanged() {
	for _, v := range set.now() {
		if !v.raw {
			raise(v.dirty)
		}
	}
}

// rawChanged tells viewers of bytes that the log has grown by p at an offset; seen is
// whether somebody looks and everybody who does has it on the terminal now.
func (set *viewerSet) rawChanged(offset int64, p []byte) (seen bool) {
	all := set.now()
	seen = len(all) > 0
	for _, v := range all {
		if d := v.way.Load(); d != nil && d.pass(offset, p) {
			continue
		}
		seen = false
		if v.raw {
			raise(v.dirty)
		}
	}
	return seen
}

// now is who is attached, for those who must not wait.
func (set *viewerSet) now() []*viewer {
	if all := set.list.Load(); all != nil {
		return *all
	}
	return nil
}

// copied tells viewers that want to know what the program puts on the clipboard.
func (set *viewerSet) copied(data []byte) {
	for _, v := range set.now() {
		if v.clips {
			v.clip.Store(&data)
			raise(v.dirty)
		}
	}
}

// repaint makes viewers of bytes start over from the screen.
func (set *viewerSet) repaint() { set.repaintThose(func(v *viewer) bool { return v.raw }) }

// repaintPictures has the screen painted anew for those to whom its pictures are told apart.
func (set *viewerSet) repaintPictures() { set.repaintThose(func(v *viewer) bool { return v.apart }) }

func (set *viewerSet) repaintThose(these func(*viewer) bool) {
	for _, v := range set.now() {
		if these(v) {
			v.repaint.Store(true)
			raise(v.dirty)
		}
	}
}
