package service

import (
	"log/slog"
	"strings"
	"testing"

	"tandem/persist/store"
)

// A memoryEnv is a store of variables in memory.
type memoryEnv map[string]string

func (k memoryEnv) LoadEnv() (store.Env, error) { return store.Env{Variables: k}, nil }
func (k memoryEnv) SaveEnv(store.Env) error     { return nil }

func TestLoadingVariablesOmitsInvalidOnes(t *testing.T) {
	o, err := NewEnv(memoryEnv{"A": "a", "B": strings.Repeat("x", maxEnvLength), "C": "\x00"}, slog.New(slog.DiscardHandler))
	if all := o.All(); len(all) != 1 || all["A"] != "a" || err == nil || !strings.Contains(err.Error(), "variable B: it is longer") || !strings.Contains(err.Error(), "variable C") {
		t.Errorf("%v, %v", len(all), err)
	}
}

// A slow disk delays only calls changing a variable.
func TestReadingVariablesDoesNotWaitForTheDisk(t *testing.T) {
	saving, saved := make(chan struct{}), make(chan struct{})
	o, err := NewEnv(slowEnv{saving, saved}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- o.changeShared(func(v map[string]string) { v["A"] = "a" }) }()
	<-saving
	if all := o.All(); len(all) != 0 {
		t.Errorf("%v before it is on disk", all)
	}
	_, _ = o.clientVariables("x"), o.Owners()
	other := make(chan error)
	go func() { other <- o.changeClient("x", func(v map[string]string) { v["B"] = "b" }) }()
	saved <- struct{}{}
	if err := <-done; err != nil || o.All()["A"] != "a" {
		t.Errorf("%v, %v", o.All(), err)
	}
	<-saving
	saved <- struct{}{}
	if err := <-other; err != nil || o.clientVariables("x")["B"] != "b" || o.All()["A"] != "a" {
		t.Errorf("%v, %v, %v", o.clientVariables("x"), o.All(), err)
	}
}

// A slowEnv blocks each write until saved receives a token.
type slowEnv struct{ saving, saved chan struct{} }

func (slowEnv) LoadEnv() (store.Env, error) { return store.Env{}, nil }
func (s slowEnv) SaveEnv(store.Env) error {
	s.saving <- struct{}{}
	<-s.saved
	return nil
}
