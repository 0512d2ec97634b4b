package service

import (
	"log/slog"
	"strings"
	"testing"

	"tandem/persist/store"
)

// A keptEnv is an overlay on disk.
type keptEnv map[string]string

func (k keptEnv) LoadEnv() (store.Env, error) { return store.Env{Variables: k}, nil }
func (k keptEnv) SaveEnv(store.Env) error     { return nil }

func TestAnOverlayIsLoadedWithoutWhatNothingCouldBeStartedWith(t *testing.T) {
	o, err := NewEnv(keptEnv{"A": "a", "B": strings.Repeat("x", wordMost), "C": "\x00"}, slog.New(slog.DiscardHandler))
	if all := o.All(); len(all) != 1 || all["A"] != "a" || err == nil || !strings.Contains(err.Error(), "variable B: it is longer") || !strings.Contains(err.Error(), "variable C") {
		t.Errorf("%v, %v", len(all), err)
	}
}

// A slow disk delays only calls that change a variable.
func TestVariablesAreReadWhileTheDiskIsSlow(t *testing.T) {
	saving, saved := make(chan struct{}), make(chan struct{})
	o, err := NewEnv(slowEnv{saving, saved}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- o.change(func(v map[string]string) { v["A"] = "a" }) }()
	<-saving
	if all := o.All(); len(all) != 0 {
		t.Errorf("%v before it is on disk", all)
	}
	_, _ = o.of("x"), o.Owners()
	other := make(chan error)
	go func() { other <- o.changeOf("x", func(v map[string]string) { v["B"] = "b" }) }()
	saved <- struct{}{}
	if err := <-done; err != nil || o.All()["A"] != "a" {
		t.Errorf("%v, %v", o.All(), err)
	}
	<-saving
	saved <- struct{}{}
	if err := <-other; err != nil || o.of("x")["B"] != "b" || o.All()["A"] != "a" {
		t.Errorf("%v, %v, %v", o.of("x"), o.All(), err)
	}
}

// A slowEnv is an overlay on a disk on which each write blocks until saved receives a token.
type slowEnv struct{ saving, saved chan struct{} }

func (slowEnv) LoadEnv() (store.Env, error) { return store.Env{}, nil }
func (s slowEnv) SaveEnv(store.Env) error {
	s.saving <- struct{}{}
	<-s.saved
	return nil
}
