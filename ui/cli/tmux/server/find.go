// Targets name a session, a window and a pane as "session:window.pane", with most parts optional.
// A bare word is ambiguous: the kind of target the command wants decides how it is read, and a word
// meant as a pane or a window falls back to the next larger thing. Each part may be an id ($1, @2,
// %3), an exact name (=name), the unique beginning of a name, a pattern or an index. Scripts depend
// on the order of these attempts, so it follows tmux's cmd-find.c.

package server

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"tandem/ui/cli/tmux/cells"
)

// A TargetKind is the kind of thing a command expects its target to name.
type TargetKind int

const (
	TargetNone TargetKind = iota
	TargetPane
	TargetWindow
	TargetSession
	TargetIndex // index of a window, which may be free
)

// A Finder resolves targets. Default supplies the parts missing from one; without it they come
// from the most recently used session.
type Finder struct {
	State   *State
	Default Target
}

// FindTarget resolves target, written session:window.pane or a part of it. Errors are worded as
// tmux words them. For TargetIndex, Window and Pane may be nil and Index -1.
func (f Finder) FindTarget(target string, want TargetKind) (Target, error) {
	if f.Default.Session == nil {
		f.Default = completeTarget(f.recentSession(), nil, nil)
	}
	if f.Default.Session == nil {
		return Target{}, errors.New("no current target")
	}
	if target == "" {
		return completeTarget(f.Default.Session, f.Default.Window, f.Default.Pane), nil
	}
	session, window, pane := splitTarget(target, want)
	for _, part := range []string{window, pane} {
		if isRelative(part) {
			return Target{}, fmt.Errorf("target %s is not supported by tandem; use an index, name or id", part)
		}
	}
	unqualified, in := session == "", f.Default.Session
	if !unqualified {
		name, exact := strings.CutPrefix(session, "=")
		if in = f.findSession(name, exact); in == nil {
			return Target{}, fmt.Errorf("can't find session: %s", name)
		}
	}
	switch {
	case window == "" && pane == "":
		return completeTarget(in, nil, nil), nil
	case window == "":
		return f.findPaneOrWindow(in, pane, unqualified)
	}
	at, err := f.findWindow(in, window, unqualified, want)
	if err != nil || pane == "" || at.Window == nil {
		return at, err
	}
	p := f.findPane(at.Window, pane)
	if p == nil {
		return Target{}, fmt.Errorf("can't find pane: %s", pane)
	}
	return completeTarget(at.Session, at.Window, p), nil
}

// recentSession returns the most recently used session, or nil without sessions.
func (f Finder) recentSession() (best *Session) {
	for _, s := range f.State.Sessions {
		if best == nil || s.Used.After(best.Used) {
			best = s
		}
	}
	return best
}

// completeTarget fills in a nil w and p with the current window and its active pane.
func completeTarget(s *Session, w *Window, p *Pane) Target {
	if w == nil && s != nil {
		w = s.CurrentWindow()
	}
	if p == nil && w != nil {
		p = w.ActivePane()
	}
	at := Target{Session: s, Window: w, Pane: p, Index: -1}
	if w != nil {
		at.Index = w.Index
	}
	return at
}

// splitTarget splits target at its colon and dot. A word with neither names a target of the kind
// want.
func splitTarget(target string, want TargetKind) (session, window, pane string) {
	session, rest, colon := strings.Cut(target, ":")
	if !colon {
		session, rest = "", target
	}
	before, after, dot := strings.Cut(rest, ".")
	switch {
	// The dot of an exact name (=a.b) belongs to the name unless a pane is wanted.
	case dot && (colon || want == TargetPane || !strings.HasPrefix(rest, "=")):
		return session, before, after
	case colon:
		return session, rest, ""
	case strings.HasPrefix(rest, "$"):
		return rest, "", ""
	case strings.HasPrefix(rest, "@"):
		return "", rest, ""
	case strings.HasPrefix(rest, "%"):
		return "", "", rest
	case want == TargetSession:
		return rest, "", ""
	case want == TargetPane:
		return "", "", rest
	}
	return "", rest, ""
}

// isRelative reports whether a part of a target is one of tmux's tokens, such as {last} or !, or an
// offset.
func isRelative(part string) bool {
	return strings.HasPrefix(part, "{") || part != "" && strings.Contains("!^$", part) ||
		strings.HasPrefix(part, "+") || strings.HasPrefix(part, "-")
}

// parseID parses an id such as $1, @2 or %3 and reports whether name begins with mark. An invalid
// number is returned as -1.
func parseID(name, mark string) (int, bool) {
	rest, ok := strings.CutPrefix(name, mark)
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 {
		n = -1
	}
	return n, ok
}

// matchName returns the item called name. Unless exact is set, it falls back to a unique item whose
// name begins with name, then to a unique match of name as a pattern. It returns nil for no item or
// several.
func matchName[T any](all []*T, nameOf func(*T) string, name string, exact bool) *T {
	matchers := []func(string) bool{func(n string) bool { return n == name }}
	if !exact {
		matchers = append(matchers, func(n string) bool { return strings.HasPrefix(n, name) }, func(n string) bool {
			ok, err := path.Match(name, n)
			return ok && err == nil
		})
	}
	for _, matches := range matchers {
		var found []*T
		for _, one := range all {
			if matches(nameOf(one)) {
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

// findSession finds a session by id or, as matchName does, by name.
func (f Finder) findSession(name string, exact bool) *Session {
	if n, ok := parseID(name, "$"); ok {
		return findFirst(f.State.Sessions, func(s *Session) bool { return s.ID == n })
	}
	return matchName(f.State.Sessions, func(s *Session) string { return s.Name }, name, exact)
}

// WindowByName returns the window called name. Unless exact is set, a unique prefix or pattern will
// do. It returns nil for no window or several.
func (s *Session) WindowByName(name string, exact bool) *Window {
	return matchName(s.Windows, func(w *Window) string { return w.Name }, name, exact)
}

// findWindow finds a window of a session. If the target was given without a session (unqualified),
// its name may also be that of a session.
func (f Finder) findWindow(in *Session, window string, unqualified bool, want TargetKind) (Target, error) {
	name, exact := strings.CutPrefix(window, "=")
	// Ids are unique in the server, so an unqualified one may be in any session.
	if n, ok := parseID(name, "@"); ok {
		at := f.State.FindPane(func(p Target) bool { return p.Window.ID == n })
		if at.Pane == nil || !unqualified && at.Session != in {
			return Target{}, fmt.Errorf("can't find window: %s", name)
		}
		return completeTarget(at.Session, at.Window, nil), nil
	}
	w, index := windowOrIndex(in, name, exact, want)
	switch {
	case w != nil:
		return completeTarget(in, w, nil), nil
	case index >= 0:
		return Target{Session: in, Index: index}, nil
	case unqualified:
		if s := f.findSession(name, exact); s != nil && want == TargetIndex { // any free index of that session
			return Target{Session: s, Index: -1}, nil
		} else if s != nil {
			return completeTarget(s, nil, nil), nil
		}
	}
	return Target{}, fmt.Errorf("can't find window: %s", name)
}

// windowOrIndex finds a window of s by index or name. For TargetIndex, index may be a free one; it is
// -1 if name does not give one.
func windowOrIndex(s *Session, name string, exact bool, want TargetKind) (w *Window, index int) {
	// A number is an index first and a name only if no window has that index.
	if n, ok := parseID(name, ""); ok && n >= 0 && !exact {
		if w := s.WindowAt(n); w != nil || want == TargetIndex {
			return w, n
		}
	}
	return s.WindowByName(name, exact), -1
}

// findPaneOrWindow finds a pane of a session, given without a window. An unqualified name may also
// be that of a window or a session.
func (f Finder) findPaneOrWindow(in *Session, name string, unqualified bool) (Target, error) {
	if n, ok := parseID(name, "%"); ok {
		at := f.State.FindPane(func(p Target) bool { return p.Pane.ID == n })
		if at.Pane == nil || !unqualified && at.Session != in {
			return Target{}, fmt.Errorf("can't find pane: %s", name)
		}
		return at, nil
	}
	w := in.CurrentWindow()
	if unqualified && f.Default.Window != nil {
		w = f.Default.Window
	}
	if p := f.findPane(w, name); p != nil {
		return completeTarget(in, w, p), nil
	}
	if unqualified {
		if at, err := f.findWindow(in, name, true, TargetWindow); err == nil {
			return at, nil
		}
	}
	return Target{}, fmt.Errorf("can't find pane: %s", name)
}

// findPane finds a pane of w by id or index.
func (f Finder) findPane(w *Window, name string) *Pane {
	if n, ok := parseID(name, "%"); ok {
		return w.PaneByID(n)
	}
	base, _, _ := f.State.LookupOption(Target{Window: w}, "pane-base-index")
	if n, err := strconv.Atoi(name); err == nil && n >= base.Int() && n-base.Int() < len(w.Panes) {
		return w.Panes[n-base.Int()]
	}
	return nil
}

// StepPane returns the pane n positions after start, or before it if n is negative, wrapping
// around.
func (w *Window) StepPane(start *Pane, n int) *Pane {
	count := len(w.Panes)
	return w.Panes[(slices.Index(w.Panes, start)+n+count)%count]
}

// PaneInDirection returns the pane beside start in a direction (U, D, L or R), wrapping around at
// the window's edge. Among several neighbours it prefers the most recently active one. It returns
// nil without a neighbour.
func (w *Window) PaneInDirection(start *Pane, direction byte) *Pane {
	cell := w.Layout.FindPane(start.ID)
	if cell == nil {
		return nil
	}
	axis, across := cells.Beside, cells.Below
	if direction == 'U' || direction == 'D' {
		axis, across = across, axis
	}
	begin, end := cell.Span(axis)
	top, bottom := cell.Span(across)
	_, edge := w.Layout.Span(axis)
	best, bestRank := (*Pane)(nil), len(w.Stack)+1
	for _, leaf := range w.Layout.Leaves() {
		first, last := leaf.Span(axis)
		// One cell separates neighbours. At the edge, the far side of the window is adjacent.
		next := first == end+1 || end == edge && first == 0
		if direction == 'U' || direction == 'L' {
			next = last == begin-1 || begin == 0 && last == edge
		}
		if low, high := leaf.Span(across); leaf.Pane == start.ID || !next || low > bottom || high < top {
			continue
		}
		rank := slices.Index(w.Stack, leaf.Pane)
		if rank < 0 {
			rank = len(w.Stack)
		}
		if rank < bestRank {
			best, bestRank = w.PaneByID(leaf.Pane), rank
		}
	}
	return best
}
