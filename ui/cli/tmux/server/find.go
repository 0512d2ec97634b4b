package server

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/format"
)

// A Want says what a target shall name.
type Want int

const (
	WantNothing Want = iota
	WantPane
	WantWindow
	WantSession
	WantIndex // a window that need not exist
)

// A Finder finds targets. Here is what a missing part of one means.
type Finder struct {
	State *State
	Here  Place
}

// Find finds a target: session:window.pane, or parts of it.
func (f Finder) Find(target string, want Want) (Place, error) {
	if f.Here.Session == nil {
		f.Here = whole(f.best(), nil, nil)
	}
	if f.Here.Session == nil {
		return Place{}, errors.New("no current target")
	}
	switch target {
	case "":
		return whole(f.Here.Session, f.Here.Window, f.Here.Pane), nil
	case "@", "{active}", "{current}":
		return Place{}, errors.New("no current client")
	case "=", "{mouse}":
		return Place{}, errors.New("no mouse target")
	case "~", "{marked}":
		return Place{}, errors.New("no marked target")
	}
	session, window, pane := parts(target, want)
	alone, in := session == "", f.Here.Session
	if !alone {
		name, exact := strings.CutPrefix(session, "=")
		if in = f.session(name, exact); in == nil {
			return Place{}, fmt.Errorf("can't find session: %s", name)
		}
	}
	switch {
	case window == "" && pane == "":
		return whole(in, nil, nil), nil
	case window == "":
		return f.paneOnly(in, pane, alone)
	}
	at, err := f.window(in, window, alone, want)
	if err != nil || pane == "" || at.Window == nil {
		return at, err
	}
	p := f.pane(at.Window, pane)
	if p == nil {
		return Place{}, fmt.Errorf("can't find pane: %s", pane)
	}
	return whole(at.Session, at.Window, p), nil
}

// best returns the session that was used last; nil if there is none.
func (f Finder) best() (best *Session) {
	for _, s := range f.State.Sessions {
		if best == nil || s.Used.After(best.Used) || s.ID == f.State.Recent && !best.Used.After(s.Used) {
			best = s
		}
	}
	return best
}

// whole fills in the window and the pane that a session shows.
func whole(s *Session, w *Window, p *Pane) Place {
	if w == nil && s != nil {
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

// parts divides a target. What stands alone is read as what is wanted.
func parts(target string, want Want) (session, window, pane string) {
	session, rest, colon := strings.Cut(target, ":")
	if !colon {
		session, rest = "", target
	}
	before, after, dot := strings.Cut(rest, ".")
	switch {
	case dot && (colon || want == WantPane || !strings.HasPrefix(rest, "=")):
		return session, before, after
	case colon:
		return session, rest, ""
	case strings.HasPrefix(rest, "$"):
		return rest, "", ""
	case strings.HasPrefix(rest, "@"):
		return "", rest, ""
	case strings.HasPrefix(rest, "%"):
		return "", "", rest
	case want == WantSession:
		return rest, "", ""
	case want == WantPane:
		return "", "", rest
	}
	return "", rest, ""
}

// numbered reads a number behind a mark: $1, @2 or %3. It reports false for anything else; a number
// that is none is -1.
func numbered(name, mark string) (int, bool) {
	rest, ok := strings.CutPrefix(name, mark)
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 {
		n = -1
	}
	return n, ok
}

// named returns what has a name, or, unless it must be exact, the only one whose name begins with it
// or matches it; nil if there is none or several.
func named[T any](all []*T, nameOf func(*T) string, name string, exact bool) *T {
	fits := []func(string) bool{func(n string) bool { return n == name }}
	if !exact {
		fits = append(fits, func(n string) bool { return strings.HasPrefix(n, name) }, func(n string) bool { return format.Match(name, n, false) })
	}
	for _, fit := range fits {
		var found []*T
		for _, one := range all {
			if fit(nameOf(one)) {
				found = append(found, one)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0]
		default:
			return nil
		}
	}
	return nil
}

// session finds one by number, name, beginning or pattern.
func (f Finder) session(name string, exact bool) *Session {
	if n, ok := numbered(name, "$"); ok {
		return find(f.State.Sessions, func(s *Session) bool { return s.ID == n })
	}
	return named(f.State.Sessions, func(s *Session) string { return s.Name }, name, exact)
}

// Named returns the window with a name, or, unless it must be exact, one whose name begins with it
// or matches it.
func (s *Session) Named(name string, exact bool) *Window {
	return named(s.Windows, func(w *Window) string { return w.Name }, name, exact)
}

// window finds one in a session, and, where no session was named, a session instead.
func (f Finder) window(in *Session, window string, alone bool, want Want) (Place, error) {
	name, exact := strings.CutPrefix(window, "=")
	if n, ok := numbered(name, "@"); ok {
		at := f.State.Where(func(p Place) bool { return p.Window.ID == n })
		if at.Pane == nil || !alone && at.Session != in {
			return Place{}, fmt.Errorf("can't find window: %s", name)
		}
		return whole(at.Session, at.Window, nil), nil
	}
	w, index := windowIn(in, name, exact, want)
	switch {
	case w != nil:
		return whole(in, w, nil), nil
	case index >= 0:
		return Place{Session: in, Index: index}, nil
	case alone:
		if s := f.session(name, exact); s != nil && want == WantIndex { // anywhere in that session
			return Place{Session: s, Index: -1}, nil
		} else if s != nil {
			return whole(s, nil, nil), nil
		}
	}
	return Place{}, fmt.Errorf("can't find window: %s", name)
}

// windowIn finds a window of a session, or an index that may be free.
func windowIn(s *Session, name string, exact bool, want Want) (w *Window, index int) {
	if exact {
		return s.Named(name, true), -1
	}
	switch name {
	case "!", "{last}":
		return s.Last(), -1
	case "^", "{start}":
		return s.Windows[0], -1
	case "$", "{end}":
		return s.Windows[len(s.Windows)-1], -1
	}
	if n, ok := offset(name); ok && want == WantIndex {
		index := s.Current().Index + n
		return s.At(index), index
	} else if ok {
		return step(s.Windows, s.Current(), n), -1
	}
	if n, ok := numbered(name, ""); ok && n >= 0 {
		if w := s.At(n); w != nil || want == WantIndex {
			return w, n
		}
	}
	return s.Named(name, false), -1
}

// offset reads +, -, +2 and the like.
func offset(name string) (n int, ok bool) {
	if name == "" || name[0] != '+' && name[0] != '-' {
		return 0, false
	}
	if len(name) == 1 {
		name += "1"
	}
	n, err := strconv.Atoi(name)
	return n, err == nil
}

// step returns what comes so many after another one, around. One that is not in the list counts as
// before the first and behind the last.
func step[T any](all []*T, from *T, n int) *T {
	i, count := slices.Index(all, from), len(all)
	if i < 0 && n < 0 {
		i = count
	}
	return all[((i+n)%count+count)%count]
}

// paneOnly finds what was given alone: a pane, else a window, else a session.
func (f Finder) paneOnly(in *Session, name string, alone bool) (Place, error) {
	if n, ok := numbered(name, "%"); ok {
		at := f.State.Where(func(p Place) bool { return p.Pane.ID == n })
		if at.Pane == nil || !alone && at.Session != in {
			return Place{}, fmt.Errorf("can't find pane: %s", name)
		}
		return at, nil
	}
	w := in.Current()
	if alone && f.Here.Window != nil {
		w = f.Here.Window
	}
	if p := f.pane(w, name); p != nil {
		return whole(in, w, p), nil
	}
	if alone {
		if at, err := f.window(in, name, true, WantWindow); err == nil {
			return at, nil
		}
	}
	return Place{}, fmt.Errorf("can't find pane: %s", name)
}

// pane finds one in a window by number, index or position.
func (f Finder) pane(w *Window, name string) *Pane {
	if n, ok := numbered(name, "%"); ok {
		return w.Pane(n)
	}
	switch name {
	case "!", "{last}":
		return w.Last()
	case "{up-of}", "{down-of}", "{left-of}", "{right-of}":
		return w.Toward(w.Active(), strings.ToUpper(name)[1])
	case "{next}":
		name = "+"
	case "{previous}":
		name = "-"
	}
	if n, ok := offset(name); ok {
		return w.Step(f.Here.Pane, n)
	}
	base, _, _ := f.State.Lookup(Place{Window: w}, "pane-base-index")
	if n, err := strconv.Atoi(name); err == nil && n >= base.Int() && n-base.Int() < len(w.Panes) {
		return w.Panes[n-base.Int()]
	}
	return nil
}

// Step returns the pane so many after another one, around. One of another window counts as before
// the first and behind the last.
func (w *Window) Step(from *Pane, n int) *Pane { return step(w.Panes, from, n) }

// Toward returns the pane beside another one in a direction (U, D, L or R), around at the edge of
// the window: of several, the one that had the keyboard last.
func (w *Window) Toward(from *Pane, direction byte) *Pane {
	own := w.Layout.Find(from.ID)
	if own == nil {
		return nil
	}
	axis, across := cells.Beside, cells.Below
	if direction == 'U' || direction == 'D' {
		axis, across = across, axis
	}
	begin, end := own.Span(axis)
	top, bottom := own.Span(across)
	_, edge := w.Layout.Span(axis)
	best, rank := (*Pane)(nil), len(w.Stack)+1
	for _, leaf := range w.Layout.Panes() {
		first, last := leaf.Span(axis)
		next := first == end+1 || end == edge && first == 0
		if direction == 'U' || direction == 'L' {
			next = last == begin-1 || begin == 0 && last == edge
		}
		if low, high := leaf.Span(across); leaf.Pane == from.ID || !next || low > bottom || high < top {
			continue
		}
		at := slices.Index(w.Stack, leaf.Pane)
		if at < 0 {
			at = len(w.Stack)
		}
		if at < rank {
			best, rank = w.Pane(leaf.Pane), at
		}
	}
	return best
}
