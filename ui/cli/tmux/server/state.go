// Package server keeps what a tmux server would: sessions, windows and panes with their numbers,
// options, environment and buffers. It finds the targets of commands and knows the options. The
// programs themselves run in the engine's sessions.
package server

import (
	"cmp"
	"slices"
	"time"

	"tandem/ui/cli/tmux/cells"
)

// State is all of a server. One call at a time holds it (see File).
type State struct {
	Path    string    `json:"-"` // where its socket would be
	Started time.Time `json:"started"`

	Sessions []*Session `json:"sessions,omitempty"`
	Next     Numbers    `json:"next"`
	Options  Options    `json:"options,omitempty"` // of the server
	Global   Options    `json:"global,omitempty"`  // of sessions
	Windows  Options    `json:"windows,omitempty"` // of windows and panes

	Environ Environ          `json:"set,omitempty"`     // variables that panes get besides their caller's
	Unset   []string         `json:"unset,omitempty"`   // those of the caller that they do not get, and that are not shown
	Buffers []Buffer         `json:"buffers,omitempty"` // newest first
	Waits   map[string]*Wait `json:"waits,omitempty"`   // channels of wait-for
	Recent  int              `json:"recent"`            // the session that was used last
}

// Numbers are those that the next of each kind gets.
type Numbers struct {
	Session int `json:"session"`
	Window  int `json:"window"`
	Pane    int `json:"pane"`
	Buffer  int `json:"buffer"`
}

// A Session is a group of windows.
type Session struct {
	ID       int       `json:"id"`
	Name     string    `json:"name"`
	Created  time.Time `json:"created"`
	Attached time.Time `json:"attached,omitzero"` // last
	Used     time.Time `json:"used"`
	CWD      string    `json:"cwd"`
	W        int       `json:"w"`
	H        int       `json:"h"`
	Windows  []*Window `json:"windows"` // by index
	Stack    []int     `json:"stack"`   // numbers of windows, the current one first

	Options Options `json:"options,omitempty"`
	Environ Environ `json:"environ,omitempty"`
}

// Environ are variables that panes get, or, where the value is nil, do not get.
type Environ map[string]*string

// A Window is a tab of the dashboard.
type Window struct {
	ID      int         `json:"id"`
	Index   int         `json:"index"`
	Name    string      `json:"name"`
	Created time.Time   `json:"created"`
	Layout  *cells.Cell `json:"layout"`
	Panes   []*Pane     `json:"panes"` // in their order on the screen
	Stack   []int       `json:"stack"` // numbers of panes, the active one first
	Zoomed  bool        `json:"zoomed,omitempty"`
	Preset  int         `json:"preset"` // the arrangement that next-layout goes on from; -1 for none
	Options Options     `json:"options,omitempty"`
}

// A Pane is a session of the engine.
type Pane struct {
	ID       int      `json:"id"`
	Terminal string   `json:"terminal"` // the engine's id of it
	PID      int      `json:"pid"`      // of its first process
	Born     string   `json:"born"`     // when that was started, as /proc has it
	Title    string   `json:"title,omitempty"`
	Argv     []string `json:"argv,omitempty"`    // that it was started with; none for a shell
	CWD      string   `json:"cwd"`               // that it was started in
	Adopted  bool     `json:"adopted,omitempty"` // it was there before, and is not ended
	Pipe     string   `json:"pipe,omitempty"`    // the process of pipe-pane
	Off      bool     `json:"off,omitempty"`     // input is switched off
	Options  Options  `json:"options,omitempty"`
}

// A Buffer is text to be pasted.
type Buffer struct {
	Name    string    `json:"name"`
	Data    []byte    `json:"data"`
	Created time.Time `json:"created"`
	Auto    bool      `json:"auto,omitempty"` // it was named by us
}

// A Wait is a channel of wait-for.
type Wait struct {
	Woken   bool     `json:"woken,omitempty"`
	Locked  bool     `json:"locked,omitempty"`
	Waiting []string `json:"waiting,omitempty"` // addresses of those that wait
	Lockers []string `json:"lockers,omitempty"` // of those that wait for the lock
}

// Running reports whether there is a server: one has a session.
func (s *State) Running() bool { return len(s.Sessions) > 0 }

// Sorted are the sessions by name.
func (s *State) Sorted() []*Session {
	return slices.SortedFunc(slices.Values(s.Sessions), func(a, b *Session) int { return cmp.Compare(a.Name, b.Name) })
}

// find returns the first for which a condition holds; nil if there is none.
func find[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// recent returns the first that exists of the numbers on a stack; nil if there is none.
func recent[T any](stack []int, byID func(int) *T) *T {
	for _, id := range stack {
		if one := byID(id); one != nil {
			return one
		}
	}
	return nil
}

// Current returns the window that a session shows.
func (s *Session) Current() *Window {
	return cmp.Or(recent(s.Stack, s.Window), find(s.Windows, func(*Window) bool { return true }))
}

// Last returns the window that was shown before; nil if there was none.
func (s *Session) Last() *Window { return recent(s.Stack[min(1, len(s.Stack)):], s.Window) }

// Window returns the one with a number.
func (s *Session) Window(id int) *Window {
	return find(s.Windows, func(w *Window) bool { return w.ID == id })
}

// At returns the window with an index.
func (s *Session) At(index int) *Window {
	return find(s.Windows, func(w *Window) bool { return w.Index == index })
}

// Show makes a window the current one.
func (s *Session) Show(w *Window) { s.Stack = first(s.Stack, w.ID) }

// first puts a number in front.
func first(stack []int, id int) []int {
	rest := slices.DeleteFunc(slices.Clone(stack), func(n int) bool { return n == id })
	return append([]int{id}, rest...)
}

// Add puts a window among the others.
func (s *Session) Add(w *Window) {
	s.Windows = append(s.Windows, w)
	s.Sort()
}

// Sort puts the windows in the order of their indexes.
func (s *Session) Sort() {
	slices.SortStableFunc(s.Windows, func(a, b *Window) int { return a.Index - b.Index })
}

// Take takes a window out of the session.
func (s *Session) Take(w *Window) {
	s.Windows = slices.DeleteFunc(s.Windows, func(x *Window) bool { return x == w })
	s.Stack = slices.DeleteFunc(s.Stack, func(id int) bool { return id == w.ID })
}

// Free is the first index without a window, from one on.
func (s *Session) Free(from int) int {
	for s.At(from) != nil {
		from++
	}
	return from
}

// Call gives a window a name, which it keeps whatever runs in it.
func (w *Window) Call(name string) {
	if name == "" {
		return
	}
	if w.Name = name; w.Options == nil {
		w.Options = Options{}
	}
	w.Options["automatic-rename"] = "off"
}

// Active returns the pane with the keyboard.
func (w *Window) Active() *Pane {
	return cmp.Or(recent(w.Stack, w.Pane), find(w.Panes, func(*Pane) bool { return true }))
}

// Last returns the pane that had the keyboard before; nil if there was none.
func (w *Window) Last() *Pane { return recent(w.Stack[min(1, len(w.Stack)):], w.Pane) }

// Pane returns the one with a number.
func (w *Window) Pane(id int) *Pane {
	return find(w.Panes, func(p *Pane) bool { return p.ID == id })
}

// Select gives a pane the keyboard.
func (w *Window) Select(p *Pane) { w.Stack = first(w.Stack, p.ID) }

// Arranged puts the panes in the order in which the layout has them.
func (w *Window) Arranged() {
	place := map[int]int{}
	for i, leaf := range w.Layout.Panes() {
		place[leaf.Pane] = i
	}
	slices.SortStableFunc(w.Panes, func(a, b *Pane) int { return place[a.ID] - place[b.ID] })
}

// Numbers are the panes' numbers in their order.
func (w *Window) Numbers() []int {
	var ids []int
	for _, p := range w.Panes {
		ids = append(ids, p.ID)
	}
	return ids
}

// Take takes a pane out of the window; its layout is nil when that was the last.
func (w *Window) Take(p *Pane) {
	w.Panes = slices.DeleteFunc(w.Panes, func(x *Pane) bool { return x == p })
	w.Stack = slices.DeleteFunc(w.Stack, func(id int) bool { return id == p.ID })
	w.Layout, w.Zoomed = w.Layout.Close(p.ID), false
}

// Put puts a pane, which may be in the window already, beside another one, last of those that had the
// keyboard. It reports false where there is no room.
func (w *Window) Put(p, beside *Pane, s cells.Split) (ok bool) {
	layout, there := w.Layout, w.Pane(p.ID) != nil
	if there {
		layout, ok = layout.Move(p.ID, beside.ID, s)
	} else {
		layout, ok = layout.Split(layout.Find(beside.ID), p.ID, s)
	}
	if !ok {
		return false
	}
	if !there {
		w.Panes = append(w.Panes, p)
	}
	w.Stack = append(slices.DeleteFunc(w.Stack, func(id int) bool { return id == p.ID }), p.ID)
	w.Layout, w.Zoomed = layout, false
	w.Arranged()
	return true
}

// Cell is where a pane lies: the whole window when it is zoomed.
func (w *Window) Cell(p *Pane) *cells.Cell {
	if w.Zoomed && p == w.Active() {
		return cells.New(p.ID, w.Layout.W, w.Layout.H)
	}
	return w.Layout.Find(p.ID)
}

// Place is where something was found.
type Place struct {
	Session *Session
	Window  *Window
	Pane    *Pane
	Index   int // of a window that may not be there; -1 for none
}

// Places returns the panes for which a condition holds, all of them if that is nil.
func (s *State) Places(is func(Place) bool) (all []Place) {
	for _, session := range s.Sorted() {
		for _, w := range session.Windows {
			for _, p := range w.Panes {
				if at := (Place{session, w, p, w.Index}); is == nil || is(at) {
					all = append(all, at)
				}
			}
		}
	}
	return all
}

// Where returns the first pane for which a condition holds; the zero Place if there is none.
func (s *State) Where(is func(Place) bool) Place {
	for _, at := range s.Places(is) {
		return at
	}
	return Place{}
}

// Remove takes a pane out, its window when that was the last one, and the session with its last
// window.
func (s *State) Remove(at Place) {
	if at.Window.Take(at.Pane); len(at.Window.Panes) > 0 {
		return
	}
	if at.Session.Take(at.Window); len(at.Session.Windows) > 0 {
		return
	}
	s.Drop(at.Session)
}

// Drop takes a session out; without any the server ends, and forgets all but its numbers' start.
func (s *State) Drop(session *Session) {
	s.Sessions = slices.DeleteFunc(s.Sessions, func(x *Session) bool { return x == session })
	if len(s.Sessions) == 0 {
		*s = State{Path: s.Path, Waits: s.Waits}
	}
}
