package terminal

// A focus is whether a viewer has the keyboard of its window system.
type focus uint8

const (
	focusUntold focus = iota
	focusGained
	focusLost
)

// anyFocused reports whether a viewer is known to have the keyboard. The set is locked.
func (set *viewerSet) anyFocused() bool {
	for _, v := range set.all {
		if v.focus == focusGained {
			return true
		}
	}
	return false
}

// focused notes that a viewer gains or loses the keyboard. The program has it while any
// viewer does; news is whether that has changed, or may have.
func (set *viewerSet) focused(v *viewer, on bool) (has, news bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	before, first := set.anyFocused(), v.focus == focusUntold
	v.focus = focusLost
	if on {
		v.focus = focusGained
	}
	has = set.anyFocused()
	return has, has != before || first && has == on
}

// focused has the program told, if that is news to it.
func (s *Session) focused(v *viewer, on bool) {
	if has, news := s.viewers.focused(v, on); news {
		s.tellFocus(has)
	}
}

// tellFocus tells a program that wants to know (mode 1004) that it has gained or lost the
// keyboard.
func (s *Session) tellFocus(has bool) {
	switch {
	case !s.Modes().FocusReports:
	case has:
		s.keyboard.reply([]byte("\x1b[I"))
	default:
		s.keyboard.reply([]byte("\x1b[O"))
	}
}
