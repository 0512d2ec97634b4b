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

// A busy machine echoes a command piece by piece before its shell wakes up to read it.
func TestWhatIsEchoedDoesNotMakeAShellSeemStuck(t *testing.T) {
	var n stall
	for range 10 {
		n.look(true, false)
	}
	if n != 0 {
		t.Errorf("after ten pieces of an echo it is %d", n)
	}
	n.look(true, true)
	n.look(true, true)
	if n != 2 {
		t.Errorf("after two ticks it is %d", n)
	}
	if n.look(false, true); n != 0 {
		t.Errorf("when it did not read it is %d", n)
	}
}
