package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/ui/cli/tmux/format"
)

// A Want says what a target shall name.
type Want int

const (
	WantNothing Want = iota
	WantPane
	WantWindow
	WantSession
	WantIndex // a window that need not be there
)

// A Finder finds targets. Here is what a missing part of one means.
type Finder struct {
	State *State
	Here  Place
}

// fault is a message as tmux has it.
func fault(form string, args ...any) error { return fmt.Errorf(form, args...) }

// Find finds a target: session:window.pane, or parts of it.
func (f Finder) Find(target string, want Want) (Place, error) {
	here := f.Here
	if here.Session == nil {
		if here = f.best(); here.Session != nil {
			here = f.whole(here.Session, nil, nil)
		}
	}
	if here.Session == nil {
		return Place{}, errors.New("no current target")
	}
	switch target {
	case "":
		return f.whole(here.Session, here.Window, here.Pane), nil
	case "@", "{active}", "{current}":
		return Place{}, errors.New("no current client")
	case "=", "{mouse}":
		return Place{}, errors.New("no mouse target")
	case "~", "{marked}":
		return Place{}, errors.New("no marked target")
	}
	session, window, pane := parts(target, want)
	return f.find(here, session, window, pane, want)
}

// best is the session that was used last.
func (f Finder) best() (best Place) {
	for _, s := range f.State.Sessions {
		if best.Session == nil || s.Used.After(best.Session.Used) || s.ID == f.State.Recent && !best.Session.Used.After(s.Used) {
			best.Session = s
		}
	}
	return best
}

// whole fills in the window and the pane that a session shows.
func (f Finder) whole(s *Session, w *Window, p *Pane) Place {
	if w == nil {
		w = s.Current()
	}
	if p == nil && w != nil {
		p = w.Active()
	}
	at := Place{Session: s, Window: w, Pane: p, Index: -1}
	if w != nil {
		at.Index = w.Index
	}
	return at
}

// A part of a target; nil where it was not given.
type part = *string

// parts divides a target. What stands alone is read as what is wanted.
func parts(target string, want Want) (session, window, pane part) {
	colon := strings.IndexByte(target, ':')
	rest := target
	if colon >= 0 {
		before := target[:colon]
		session, rest = &before, target[colon+1:]
	}
	dot := strings.IndexByte(rest, '.')
	switch {
	case colon >= 0 && dot >= 0:
		w, p := rest[:dot], rest[dot+1:]
		window, pane = &w, &p
	case colon >= 0:
		window = &rest
	case dot >= 0 && (want == WantPane || !strings.HasPrefix(rest, "=")):
		w, p := rest[:dot], rest[dot+1:]
		window, pane = &w, &p
	case strings.HasPrefix(rest, "$"):
		session = &rest
	case strings.HasPrefix(rest, "@"):
		window = &rest
	case strings.HasPrefix(rest, "%"):
		pane = &rest
	case want == WantSession:
		session = &rest
	case want == WantPane:
		pane = &rest
	default:
		window = &rest
	}
	for _, p := range []*part{&session, &window, &pane} {
		if *p != nil && **p == "" {
			*p = nil
		}
	}
	return session, window, pane
}

// exact takes the = away that asks for a whole name.
func exact(text part) (string, bool) {
	rest, only := strings.CutPrefix(*text, "=")
	return rest, only
}

func (f Finder) find(here Place, session, window, pane part, want Want) (Place, error) {
	alone := session == nil
	in := here.Session
	if session != nil {
		name, only := exact(session)
		if in = f.session(name, only, here); in == nil {
			return Place{}, fault("can't find session: %s", name)
		}
		if window == nil && pane == nil {
			return f.whole(in, nil, nil), nil
		}
	}
	if window == nil && pane != nil {
		return f.paneOnly(here, in, *pane, alone)
	}
	if window == nil {
		return f.whole(in, nil, nil), nil
	}
	at, err := f.window(here, in, window, alone, want)
	if err != nil || pane == nil || at.Window == nil {
		return at, err
	}
	f.Here = here
	p := f.pane(at.Session, at.Window, *pane)
	if p == nil {
		return Place{}, fault("can't find pane: %s", *pane)
	}
	return f.whole(at.Session, at.Window, p), nil
}

// session finds one by number, name, beginning or pattern.
func (f Finder) session(name string, only bool, here Place) *Session {
	if id, ok := strings.CutPrefix(name, "$"); ok {
		n, ok := number(id)
		for _, s := range f.State.Sessions {
			if ok && s.ID == n {
				return s
			}
		}
		return nil
	}
	for _, s := range f.State.Sessions {
		if s.Name == name {
			return s
		}
	}
	if only {
		return nil
	}
	for _, fits := range []func(string) bool{
		func(s string) bool { return strings.HasPrefix(s, name) },
		func(s string) bool { return format.Match(name, s, false) },
	} {
		var found *Session
		for _, s := range f.State.Sessions {
			switch {
			case !fits(s.Name):
			case found != nil:
				return nil
			default:
				found = s
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// window finds one in a session, and, where no session was named, a session instead.
func (f Finder) window(here Place, in *Session, window part, alone bool, want Want) (Place, error) {
	name, only := exact(window)
	if id, ok := strings.CutPrefix(name, "@"); ok {
		n, ok := number(id)
		at := f.State.Where(func(p Place) bool { return ok && p.Window.ID == n })
		if at.Pane == nil || !alone && at.Session != in {
			return Place{}, fault("can't find window: %s", name)
		}
		return f.whole(at.Session, at.Window, nil), nil
	}
	w, index := f.windowIn(in, name, only, here, want)
	switch {
	case w != nil:
		return f.whole(in, w, nil), nil
	case index >= 0:
		return Place{Session: in, Index: index}, nil
	case alone:
		if s := f.session(name, only, here); s != nil {
			at := f.whole(s, nil, nil)
			if want == WantIndex { // anywhere in that session
				at.Window, at.Pane, at.Index = nil, nil, -1
			}
			return at, nil
		}
	}
	return Place{}, fault("can't find window: %s", name)
}

// windowIn finds a window of a session, or an index that may be free.
func (f Finder) windowIn(s *Session, name string, only bool, here Place, want Want) (w *Window, index int) {
	if !only && name != "" && (name[0] == '+' || name[0] == '-') {
		return relative(s, name, want)
	}
	if !only {
		switch name {
		case "!", "{last}":
			return s.Last(), -1
		case "^", "{start}":
			return s.Windows[0], -1
		case "$", "{end}":
			return s.Windows[len(s.Windows)-1], -1
		}
	}
	if n, ok := number(name); ok {
		if w := s.At(n); w != nil {
			return w, -1
		}
		if want == WantIndex {
			return nil, n
		}
	}
	return s.Named(name, only), -1
}

// Named is the window with a name, or, unless only that will do, the one whose name begins with it
// or matches it; nil if there are several.
func (s *Session) Named(name string, only bool) *Window {
	fits := []func(string) bool{func(n string) bool { return n == name }}
	if !only {
		fits = append(fits, func(n string) bool { return strings.HasPrefix(n, name) }, func(n string) bool { return format.Match(name, n, false) })
	}
	for _, fit := range fits {
		var found *Window
		for _, w := range s.Windows {
			switch {
			case !fit(w.Name):
			case found != nil:
				return nil
			default:
				found = w
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// offset reads +, -, +2 and the like.
func offset(name string) (int, bool) {
	n := 1
	if len(name) > 1 {
		var ok bool
		if n, ok = number(name[1:]); !ok {
			return 0, false
		}
	}
	if name[0] == '-' {
		n = -n
	}
	return n, true
}

func relative(s *Session, name string, want Want) (*Window, int) {
	n, ok := offset(name)
	if !ok {
		return nil, -1
	}
	if want == WantIndex {
		index := s.Current().Index + n
		return s.At(index), index
	}
	for i, w := range s.Windows {
		if w == s.Current() {
			count := len(s.Windows)
			return s.Windows[((i+n)%count+count)%count], -1
		}
	}
	return nil, -1
}

// paneOnly finds what was given alone: a pane, else a window, else a session.
func (f Finder) paneOnly(here Place, in *Session, name string, alone bool) (Place, error) {
	if id, ok := strings.CutPrefix(name, "%"); ok {
		n, ok := number(id)
		at := f.State.Where(func(p Place) bool { return ok && p.Pane.ID == n })
		if at.Pane == nil || !alone && at.Session != in {
			return Place{}, fault("can't find pane: %s", name)
		}
		return at, nil
	}
	w := in.Current()
	if alone && here.Window != nil {
		w = here.Window
	}
	f.Here = here
	if p := f.pane(in, w, name); p != nil {
		return f.whole(in, w, p), nil
	}
	if alone {
		if at, err := f.window(here, in, &name, true, WantWindow); err == nil {
			return at, nil
		}
	}
	return Place{}, fault("can't find pane: %s", name)
}

// pane finds one in a window by number, index or place.
func (f Finder) pane(s *Session, w *Window, name string) *Pane {
	if id, ok := strings.CutPrefix(name, "%"); ok {
		if n, ok := number(id); ok {
			return w.Pane(n)
		}
		return nil
	}
	active := w.Active()
	switch name {
	case "!", "{last}":
		return w.Last()
	case "{up-of}":
		return w.Toward(active, 'U')
	case "{down-of}":
		return w.Toward(active, 'D')
	case "{left-of}":
		return w.Toward(active, 'L')
	case "{right-of}":
		return w.Toward(active, 'R')
	case "{next}", "{previous}":
		name = map[string]string{"{next}": "+", "{previous}": "-"}[name]
	}
	if name != "" && (name[0] == '+' || name[0] == '-') {
		if n, ok := offset(name); ok {
			return w.Step(f.Here.Pane, n)
		}
		return nil
	}
	if n, ok := number(name); ok {
		i := n - f.State.paneBase(w)
		if i >= 0 && i < len(w.Panes) {
			return w.Panes[i]
		}
		return nil
	}
	return w.corner(name)
}

// paneBase returns the index of a window's first pane.
func (s *State) paneBase(w *Window) int {
	base, _, _ := s.Lookup(Place{Window: w}, "pane-base-index")
	return base.Int()
}

// Step is the pane so many after another one, around. One of another window counts as before the
// first and behind the last.
func (w *Window) Step(from *Pane, n int) *Pane {
	i, count := slices.Index(w.Panes, from), len(w.Panes)
	if i < 0 && n < 0 {
		i = count
	}
	return w.Panes[((i+n)%count+count)%count]
}

// corner finds {top-left} and the like.
func (w *Window) corner(name string) *Pane {
	words := map[string]string{"{top}": "t", "{bottom}": "b", "{left}": "l", "{right}": "r", "{top-left}": "tl", "{top-right}": "tr",
		"{bottom-left}": "bl", "{bottom-right}": "br", "top": "t", "bottom": "b", "left": "l", "right": "r",
		"top-left": "tl", "top-right": "tr", "bottom-left": "bl", "bottom-right": "br"}
	sides, ok := words[name]
	if !ok {
		return nil
	}
	for _, leaf := range w.Layout.Panes() {
		touches := map[rune]bool{'t': leaf.Y == 0, 'b': leaf.Y+leaf.H == w.Layout.H, 'l': leaf.X == 0, 'r': leaf.X+leaf.W == w.Layout.W}
		all := true
		for _, side := range sides {
			all = all && touches[side]
		}
		if all {
			return w.Pane(leaf.Pane)
		}
	}
	return nil
}

// Toward is the pane beside another one in a direction (U, D, L or R), around at the edge of the
// window: of several, the one that had the keyboard last.
func (w *Window) Toward(from *Pane, direction byte) *Pane {
	own := w.Layout.Find(from.ID)
	if own == nil {
		return nil
	}
	edge := map[byte]int{'U': own.Y - 1, 'D': own.Y + own.H, 'L': own.X - 1, 'R': own.X + own.W}[direction]
	switch {
	case direction == 'U' && own.Y == 0:
		edge = w.Layout.H
	case direction == 'D' && own.Y+own.H == w.Layout.H:
		edge = -1
	case direction == 'L' && own.X == 0:
		edge = w.Layout.W
	case direction == 'R' && own.X+own.W == w.Layout.W:
		edge = -1
	}
	best, rank := (*Pane)(nil), len(w.Stack)+1
	for _, leaf := range w.Layout.Panes() {
		end, overlaps := 0, leaf.Y <= own.Y+own.H && leaf.Y+leaf.H >= own.Y
		switch direction {
		case 'U':
			end = leaf.Y + leaf.H
		case 'D':
			end = leaf.Y - 1
		case 'L':
			end = leaf.X + leaf.W
		case 'R':
			end = leaf.X - 1
		}
		if direction == 'U' || direction == 'D' {
			overlaps = leaf.X <= own.X+own.W && leaf.X+leaf.W >= own.X
		}
		if leaf.Pane == from.ID || end != edge || !overlaps {
			continue
		}
		at := len(w.Stack)
		for i, id := range w.Stack {
			if id == leaf.Pane {
				at = i
			}
		}
		if at < rank {
			best, rank = w.Pane(leaf.Pane), at
		}
	}
	return best
}
