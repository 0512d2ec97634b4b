package store

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestSlowClaimDoesNotBlockTheStore(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	making, made := make(chan struct{}), make(chan struct{})
	s.mkdir = func(path string, mode fs.FileMode) error {
		making <- struct{}{}
		<-made
		return os.Mkdir(path, mode)
	}
	claimed := make(chan error)
	go func() { claimed <- s.Claim("0123456789ab") }()
	<-making
	if err := s.Save(Record{ID: "other"}); err != nil {
		t.Error(err)
	}
	if err := s.Claim("0123456789ab"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("claim of an id that is being claimed: %v", err)
	}
	made <- struct{}{}
	if err := <-claimed; err != nil {
		t.Error(err)
	}
	s.mkdir = os.Mkdir
	if err := s.Claim("0123456789ab"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("claim of an id that is taken: %v", err)
	}
}
