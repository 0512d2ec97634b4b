package prompt

import "testing"

// The kernel passes on and echoes typed input with some delay.
func TestQuietTimeIsLongerUntilInputIsEchoed(t *testing.T) {
	var s Shell
	if got := s.minQuiet(); got != repeatQuiet {
		t.Errorf("at its start it is to be quiet for %v", got)
	}
	s.typed.Store(2)
	s.printed.Store(1)
	if got := s.minQuiet(); got != pollerQuiet {
		t.Errorf("with nothing printed since it is to be quiet for %v", got)
	}
	s.printed.Store(2)
	if got := s.minQuiet(); got != repeatQuiet {
		t.Errorf("after its echo it is to be quiet for %v", got)
	}
}

// On a busy machine, a command is echoed piece by piece before its shell wakes up to read it.
func TestEchoDoesNotCountAsStall(t *testing.T) {
	var n stall
	for range 10 {
		n.noteTick(true, false)
	}
	if n != 0 {
		t.Errorf("after ten pieces of an echo it is %d", n)
	}
	n.noteTick(true, true)
	n.noteTick(true, true)
	if n != 2 {
		t.Errorf("after two ticks it is %d", n)
	}
	if n.noteTick(false, true); n != 0 {
		t.Errorf("when it did not read it is %d", n)
	}
}
