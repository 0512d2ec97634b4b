package mcp

import (
	"slices"
	"testing"
)

func TestWhatIsDoneLaterIsDoneInOrderBeforeTheEnd(t *testing.T) {
	s := newServer(t.Context(), Options{CWD: "/"})
	var done, want []int
	for i := range backlogMost / 2 {
		want = append(want, i)
		s.later(func() { done = append(done, i) })
	}
	s.close()
	if !slices.Equal(done, want) {
		t.Errorf("done: %v", done)
	}
}

func TestABacklogThatIsFullIsNotLengthened(t *testing.T) {
	s := newServer(t.Context(), Options{CWD: "/"})
	release, began := make(chan struct{}), make(chan struct{})
	s.later(func() { close(began); <-release })
	<-began
	for range backlogMost {
		s.later(func() {})
	}
	done := false
	s.later(func() { done = true })
	if !done {
		t.Error("more than the most waits")
	}
	close(release)
	s.close()
}
