package server

import (
	"slices"
	"testing"
)

func bufferNames(s *State) (names []string) {
	for _, b := range s.Buffers {
		names = append(names, b.Name)
	}
	return names
}

func TestOnlyGeneratedBuffersAreLimited(t *testing.T) {
	s := &State{}
	s.StoreBuffer("kept", []byte("a"), 2)
	for range 3 {
		s.StoreBuffer("", []byte("b"), 2)
	}
	s.StoreBuffer("", nil, 2)
	if got, want := bufferNames(s), []string{"buffer2", "buffer1", "kept"}; !slices.Equal(got, want) {
		t.Errorf("buffers %q, want %q", got, want)
	}
}

func TestRenamedBufferReplacesAnother(t *testing.T) {
	s := &State{}
	s.StoreBuffer("a", []byte("1"), 2)
	s.StoreBuffer("", []byte("2"), 2)
	s.RenameBuffer("buffer0", "a")
	b, err := s.FindBuffer("a")
	if err != nil || string(b.Data) != "2" || b.Auto || len(s.Buffers) != 1 {
		t.Errorf("%+v, %v of %d buffers", b, err, len(s.Buffers))
	}
	if _, err := s.FindBuffer("buffer0"); err == nil {
		t.Error("the buffer still has its old name")
	}
}
