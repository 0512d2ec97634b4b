package panics

import (
	"strings"
	"testing"
)

func TestCaughtKeepsTheOriginalStack(t *testing.T) {
	if c := Catch(func() {}); c != nil {
		t.Errorf("caught %v", c)
	}
	first := Catch(stumble)
	again := Catch(func() { first.Raise() })
	if again != first || again.String() != "stumbled" || !strings.Contains(StackOf(again), "stumble") {
		t.Errorf("caught %v: %s", again, StackOf(again))
	}
	(*Caught)(nil).Raise()
}

func stumble() { panic("stumbled") }
