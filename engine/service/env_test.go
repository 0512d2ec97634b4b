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
