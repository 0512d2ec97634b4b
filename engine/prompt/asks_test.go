package prompt

import "testing"

// The kernel hands on what is typed, and echoes it, in its own time.
func TestAProgramIsNotAskedForBeforeAnythingCameOfWhatWasTyped(t *testing.T) {
	var s Shell
	if got := s.leastQuiet(); got != againGap {
		t.Errorf("at its start it is to be quiet for %v", got)
	}
	s.typed.Store(2)
	s.printed.Store(1)
	if got := s.leastQuiet(); got != pollsGap {
		t.Errorf("with nothing printed since it is to be quiet for %v", got)
	}
	s.printed.Store(2)
	if got := s.leastQuiet(); got != againGap {
		t.Errorf("after its echo it is to be quiet for %v", got)
	}
}
