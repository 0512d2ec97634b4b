// Package server models a tmux server: sessions, windows and panes with their ids, options,
// environment and buffers. It stores them in a file between calls, resolves the targets of commands
// and defines tmux's options. The programs themselves run in the engine's sessions and are started
// and stopped by the importing package.
package server

import (
	"cmp"
	"slices"
	"time"

	"tandem/ui/cli/tmux/cells"
)

// A State is the whole server. File ensures that one call at a time has it.
type State struct {
	Path    string    `json:"-"` // path of the socket a tmux server would have
	Started time.Time `json:"started"`

	Sessions []*Session `json:"sessions,omitempty"`
	Next     Counters   `json:"next"`
	Global   Options    `json:"global,omitempty"` // options set with -g or -s

	Environ Environ          `json:"set,omitempty"`     // global environment, overriding the caller's variables
	Unset   []string         `json:"unset,omitempty"`   // caller's variables hidden from panes and from show-environment
	Buffers []Buffer         `json:"buffers,omitempty"` // newest first
	Waits   map[string]*Wait `json:"waits,omitempty"`   // channels of wait-for
}

// Counters holds the next free id of each kind. tmux never reuses one.
type Counters struct {
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
	Attached time.Time `json:"attached,omitzero"` // most recent attach
	Used     time.Time `json:"used"`
	CWD      string    `json:"cwd"`
	W        int       `json:"w"`
	H        int       `json:"h"`
	Windows  []*Window `json:"windows"` // sorted by index
	Stack    []int     `json:"stack"`   // ids of windows, most recently shown first

	Options Options `json:"options,omitempty"`
	Environ Environ `json:"environ,omitempty"`
}

// An Environ maps the names of environment variables to their values; nil removes a variable from
// the environment of panes.
type Environ map[string]*string

// A Window is a tab of the dashboard.
type Window struct {
	ID      int         `json:"id"`
	Index   int         `json:"index"`
	Name    string      `json:"name"`
	Created time.Time   `json:"created"`
	Layout  *cells.Cell `json:"layout"`
	Panes   []*Pane     `json:"panes"` // in the layout's order
	Stack   []int       `json:"stack"` // ids of panes, most recently active first
	Zoomed  bool        `json:"zoomed,omitempty"`
	Preset  int         `json:"preset"` // index in cells.PresetNames of the last preset applied; -1 for none
	Options Options     `json:"options,omitempty"`
}

// A Pane is one of the engine's sessions, shown in a window.
type Pane struct {
	ID        int      `json:"id"`
	Terminal  string   `json:"terminal"` // engine's id of the session
	PID       int      `json:"pid"`      // of the program
	StartTime string   `json:"born"`     // start time of PID from /proc, to detect a reused PID
	Title     string   `json:"title,omitempty"`
	Argv      []string `json:"argv,omitempty"`    // command line; nil for the default shell
	CWD       string   `json:"cwd"`               // directory the program started in
	Adopted   bool     `json:"adopted,omitempty"` // session not started by this server, so never killed by it
	Pipe      string   `json:"pipe,omitempty"`    // id of the pipe-pane process
	InputOff  bool     `json:"off,omitempty"`     // input is disabled (select-pane -d)
	Options   Options  `json:"options,omitempty"`
}

// A Buffer is a paste buffer.
type Buffer struct {
	Name    string    `json:"name"`
	Data    []byte    `json:"data"`
	Created time.Time `json:"created"`
	Auto    bool      `json:"auto,omitempty"` // name generated, so subject to buffer-limit
}

// A Wait is a wait-for channel. Calls wait without the server's lock, so each
// stores the address of a socket on which it expects the wake-up.
type Wait struct {
	Woken   bool     `json:"woken,omitempty"` // signalled with nobody waiting: the next wait returns at once
	Locked  bool     `json:"locked,omitempty"`
	Waiting []string `json:"waiting,omitempty"` // addresses of waiting calls
	Lockers []string `json:"lockers,omitempty"` // addresses of calls waiting for the lock
}

// IsRunning reports whether the server runs. As with tmux, it runs while it has sessions.
func (s *State) IsRunning() bool { return len(s.Sessions) > 0 }

// HasSession reports whether a session is called name.
func (s *State) HasSession(name string) bool {
	return slices.ContainsFunc(s.Sessions, func(session *Session) bool { return session.Name == name })
}

// MarkUsed records the use of the session; the most recent one is the default target.
func (s *Session) MarkUsed() { s.Used = time.Now() }

// NewPane returns a pane with the next id and no program.
func (s *State) NewPane() *Pane {
	p := &Pane{ID: s.Next.Pane}
	s.Next.Pane++
	return p
}

// NewWindow returns a window of w by h cells with the next id, filled by p.
func (s *State) NewWindow(p *Pane, index, w, h int) *Window {
	window := &Window{ID: s.Next.Window, Index: index, Layout: cells.New(p.ID, w, h), Panes: []*Pane{p}, Stack: []int{p.ID},
		Preset: -1, Created: time.Now()}
	s.Next.Window++
	return window
}

// SessionsByName returns the sessions sorted by name.
func (s *State) SessionsByName() []*Session {
	return slices.SortedFunc(slices.Values(s.Sessions), func(a, b *Session) int { return cmp.Compare(a.Name, b.Name) })
}

// findFirst returns the first item for which matches returns true, or nil.
func findFirst[T any](all []*T, matches func(*T) bool) *T {
	if i := slices.IndexFunc(all, matches); i >= 0 {
		return all[i]
	}
	return nil
}

// findRecent returns the item with the first id on stack that still exists, or nil.
func findRecent[T any](stack []int, byID func(int) *T) *T {
	for _, id := range stack {
		if one := byID(id); one != nil {
			return one
		}
	}
	return nil
}

// CurrentWindow returns the window shown by the session.
func (s *Session) CurrentWindow() *Window {
	return cmp.Or(findRecent(s.Stack, s.WindowByID), findFirst(s.Windows, func(*Window) bool { return true }))
}

// LastWindow returns the previously shown window, or nil.
func (s *Session) LastWindow() *Window {
	return findRecent(s.Stack[min(1, len(s.Stack)):], s.WindowByID)
}

// WindowByID returns the window with an id, or nil.
func (s *Session) WindowByID(id int) *Window {
	return findFirst(s.Windows, func(w *Window) bool { return w.ID == id })
}

// WindowAt returns the window at an index, or nil.
func (s *Session) WindowAt(index int) *Window {
	return findFirst(s.Windows, func(w *Window) bool { return w.Index == index })
}

// ShowWindow makes w the current window.
func (s *Session) ShowWindow(w *Window) { s.Stack = moveToFront(s.Stack, w.ID) }

func moveToFront(stack []int, id int) []int {
	rest := slices.DeleteFunc(slices.Clone(stack), func(n int) bool { return n == id })
	return append([]int{id}, rest...)
}

// AddWindow inserts w by its index.
func (s *Session) AddWindow(w *Window) {
	s.Windows = append(s.Windows, w)
	s.SortWindows()
}

// SortWindows sorts the windows by index. Call it after changing one.
func (s *Session) SortWindows() {
	slices.SortStableFunc(s.Windows, func(a, b *Window) int { return a.Index - b.Index })
}

// RemoveWindow removes w from the session, which may be left without windows.
func (s *Session) RemoveWindow(w *Window) {
	s.Windows = slices.DeleteFunc(s.Windows, func(x *Window) bool { return x == w })
	s.Stack = slices.DeleteFunc(s.Stack, func(id int) bool { return id == w.ID })
}

// FreeIndex returns the first unused index, starting at from.
func (s *Session) FreeIndex(from int) int {
	for s.WindowAt(from) != nil {
		from++
	}
	return from
}

// ShiftWindows frees an index by moving the windows from there up to the next gap.
func (s *Session) ShiftWindows(index int) {
	if w := s.WindowAt(index); w != nil {
		s.ShiftWindows(index + 1)
		w.Index++
	}
}

// RenumberWindows numbers the windows from base without gaps.
func (s *Session) RenumberWindows(base int) {
	for i, w := range s.Windows {
		w.Index = base + i
	}
}

// SetName renames the window and turns automatic-rename off, as tmux does. An empty name is
// ignored.
func (w *Window) SetName(name string) {
	if name == "" {
		return
	}
	if w.Name = name; w.Options == nil {
		w.Options = Options{}
	}
	w.Options["automatic-rename"] = "off"
}

// ActivePane returns the pane with the keyboard focus.
func (w *Window) ActivePane() *Pane {
	return cmp.Or(findRecent(w.Stack, w.PaneByID), findFirst(w.Panes, func(*Pane) bool { return true }))
}

// LastPane returns the previously active pane, or nil.
func (w *Window) LastPane() *Pane { return findRecent(w.Stack[min(1, len(w.Stack)):], w.PaneByID) }

// PaneByID returns the pane with an id, or nil.
func (w *Window) PaneByID(id int) *Pane {
	return findFirst(w.Panes, func(p *Pane) bool { return p.ID == id })
}

// SelectPane makes p the active pane.
func (w *Window) SelectPane(p *Pane) { w.Stack = moveToFront(w.Stack, p.ID) }

// SortPanes sorts the panes in the order of the layout. Call it after changing Layout.
func (w *Window) SortPanes() {
	position := map[int]int{}
	for i, leaf := range w.Layout.Leaves() {
		position[leaf.Pane] = i
	}
	slices.SortStableFunc(w.Panes, func(a, b *Pane) int { return position[a.ID] - position[b.ID] })
}

// PaneIDs returns the ids of the panes in order.
func (w *Window) PaneIDs() []int {
	var ids []int
	for _, p := range w.Panes {
		ids = append(ids, p.ID)
	}
	return ids
}

// RemovePane removes p from the window. Removing the last pane leaves Layout nil.
func (w *Window) RemovePane(p *Pane) {
	w.Panes = slices.DeleteFunc(w.Panes, func(x *Pane) bool { return x == p })
	w.Stack = slices.DeleteFunc(w.Stack, func(id int) bool { return id == p.ID })
	w.Layout, w.Zoomed = w.Layout.ClosePane(p.ID), false
}

// InsertPane places p beside another pane of the window, moving it if it is already in the window,
// and makes it the least recently active one. It changes nothing and returns false without room.
func (w *Window) InsertPane(p, beside *Pane, s cells.Split) (ok bool) {
	layout, isMember := w.Layout, w.PaneByID(p.ID) != nil
	if isMember {
		layout, ok = layout.MovePane(p.ID, beside.ID, s)
	} else {
		layout, ok = layout.Split(layout.FindPane(beside.ID), p.ID, s)
	}
	if !ok {
		return false
	}
	if !isMember {
		w.Panes = append(w.Panes, p)
	}
	w.Stack = append(slices.DeleteFunc(w.Stack, func(id int) bool { return id == p.ID }), p.ID)
	w.Layout, w.Zoomed = layout, false
	w.SortPanes()
	return true
}

// PaneCell returns the area of p: the whole window for a zoomed pane.
func (w *Window) PaneCell(p *Pane) *cells.Cell {
	if w.Zoomed && p == w.ActivePane() {
		return cells.New(p.ID, w.Layout.W, w.Layout.H)
	}
	return w.Layout.FindPane(p.ID)
}

// A Target is a session, window and pane named by a command; fields not named are nil.
type Target struct {
	Session *Session
	Window  *Window
	Pane    *Pane
	Index   int // of Window, or a free index; -1 for none
}

// ListPanes returns the panes for which matches returns true, or all of them if matches is nil,
// sorted by session name, window index and pane.
func (s *State) ListPanes(matches func(Target) bool) (all []Target) {
	for _, session := range s.SessionsByName() {
		for _, w := range session.Windows {
			for _, p := range w.Panes {
				if at := (Target{session, w, p, w.Index}); matches == nil || matches(at) {
					all = append(all, at)
				}
			}
		}
	}
	return all
}

// FindPane returns the first pane for which matches returns true, or the zero Target.
func (s *State) FindPane(matches func(Target) bool) Target {
	for _, at := range s.ListPanes(matches) {
		return at
	}
	return Target{}
}

// RemovePane removes a pane, then its window and session if they have become empty.
func (s *State) RemovePane(at Target) {
	if at.Window.RemovePane(at.Pane); len(at.Window.Panes) > 0 {
		return
	}
	if at.Session.RemoveWindow(at.Window); len(at.Session.Windows) > 0 {
		return
	}
	s.RemoveSession(at.Session)
}

// RemoveSession removes session. Without sessions the server exits, as tmux's does, and loses
// everything except calls blocked in wait-for.
func (s *State) RemoveSession(session *Session) {
	s.Sessions = slices.DeleteFunc(s.Sessions, func(x *Session) bool { return x == session })
	if len(s.Sessions) == 0 {
		*s = State{Path: s.Path, Waits: s.Waits}
	}
}
