package terminal

// A focus is the keyboard focus of a viewer's window.
type focus uint8

const (
	focusUntold focus = iota
	focusGained
	focusLost
)

// anyFocused reports whether a viewer is known to have the focus. The set must be locked.
func (set *viewerSet) anyFocused() bool {
	for _, v := range set.all {
		if v.focus == focusGained {
			return true
		}
	}
	return false
}

// haveFocus is like anyFocused, but takes the lock.
func (set *viewerSet) haveFocus() bool {
	set.mu.Lock()
	defer set.mu.Unlock()
	return set.anyFocused()
}

// setFocus records that a viewer has gained or lost the focus. focused reports whether the program
// has the focus: it does while any viewer does. news is set if that has changed, or may have.
func (set *viewerSet) setFocus(v *viewer, on bool) (focused, news bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	before, first := set.anyFocused(), v.focus == focusUntold
	v.focus = focusLost
	if on {
		v.focus = focusGained
	}
	focused = set.anyFocused()
	return focused, focused != before || first && focused == on
}

// noteFocus tells the program if its focus has changed. If it has gained the focus, its bell is
// cleared.
func (s *Session) noteFocus(v *viewer, on bool) {
	if has, news := s.viewers.setFocus(v, on); news {
		s.sendFocus(has)
	}
	if on && s.facts.clearBell() {
		s.facts.touch()
	}
}

// sendFocus tells the program of a gain or loss of the focus, if it has asked for that with mode
// 1004.
func (s *Session) sendFocus(focused bool) {
	switch {
	case !s.Modes().FocusReports:
	case focused:
		s.keyboard.reply([]byte("\x1b[I"))
	default:
		s.keyboard.reply([]byte("\x1b[O"))
	}
}
