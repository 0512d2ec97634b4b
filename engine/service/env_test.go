package service

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/system/proctree"
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

func TestInvalidVariablesAreRejectedAndSecretsHidden(t *testing.T) {
	r := newRig(t)
	agent := r.agent()
	for _, c := range []struct{ name, value, want string }{
		{"", "x", "a name consists of letters, digits and _"},
		{"1A", "x", "does not begin with a digit"},
		{"A B", "x", "a name consists of"},
		{"A=B", "x", "a name consists of"},
		{"Ä", "x", "a name consists of"},
		{"A\n", "x", "a name consists of"},
		{"A\x00", "x", "a name consists of"},
		{proctree.IDVariable, "x", "the engine sets it for each process"},
		{proctree.DataDirVariable, "x", "the engine sets it for each process"},
		{"A", "a\x00b", "invalid name or value"},
		{"A", strings.Repeat("x", maxEnvLength), "it is longer than 128 KB; write the value to a file"},
	} {
		for _, own := range []bool{false, true} {
			wantError(t, agent, api.EnvSet, api.EnvSetInput{Name: c.name, Value: c.value, Client: own}, api.CodeInvalid, c.want)
		}
	}
	wantError(t, r, api.EnvSet, api.EnvSetInput{Name: "A", Value: "x", Client: true}, api.CodeInvalid, "omit client to use the variables shared by all")
	wantError(t, r, api.EnvUnset, api.EnvInput{Name: "A", Client: true}, api.CodeInvalid, "only agents have their own")
	wantError(t, r, api.EnvGet, api.EnvInput{Name: "A\x1b"}, api.CodeNotFound, "not set; tandem env lists those that are")
	wantError(t, r, api.EnvUnset, api.EnvInput{Name: "A"}, api.CodeNotFound, "not set")

	for name, value := range map[string]string{"PLAIN": "v ä\n", "EMPTY": "", "API_TOKEN": "s3cret", "URL": "https://me:s3cret@host/", "LONGEST": strings.Repeat("x", maxEnvLength-len("LONGEST=")-1)} {
		call(t, r, api.EnvSet, api.EnvSetInput{Name: name, Value: value})
	}
	call(t, agent, api.EnvSet, api.EnvSetInput{Name: "PLAIN", Value: "own", Client: true})
	for _, c := range []struct {
		in   api.EnvInput
		want api.EnvVar
	}{
		{api.EnvInput{Name: "PLAIN"}, api.EnvVar{Name: "PLAIN", Value: "v ä\n"}},
		{api.EnvInput{Name: "PLAIN", Client: true}, api.EnvVar{Name: "PLAIN", Value: "own", Client: true}},
		{api.EnvInput{Name: "EMPTY"}, api.EnvVar{Name: "EMPTY"}},
		{api.EnvInput{Name: "API_TOKEN"}, api.EnvVar{Name: "API_TOKEN", Redacted: true}},
		{api.EnvInput{Name: "API_TOKEN", Reveal: true}, api.EnvVar{Name: "API_TOKEN", Value: "s3cret"}},
		{api.EnvInput{Name: "URL"}, api.EnvVar{Name: "URL", Redacted: true}},
	} {
		if got := call(t, agent, api.EnvGet, c.in); got != c.want {
			t.Errorf("%+v: %+v", c.in, got)
		}
	}
	var listed []string
	for _, v := range call(t, agent, api.EnvList, api.EnvListInput{}).Variables {
		listed = append(listed, fmt.Sprint(v.Name, " ", v.Client))
		if strings.Contains(v.Value, "s3cret") {
			t.Errorf("listed %+v", v)
		}
	}
	if want := []string{"API_TOKEN false", "EMPTY false", "LONGEST false", "PLAIN false", "PLAIN true", "URL false"}; !slices.Equal(listed, want) {
		t.Errorf("listed %q", listed)
	}
	if all := call(t, r, api.EnvList, api.EnvListInput{}).Variables; len(all) != 5 {
		t.Errorf("the user sees %+v", all)
	}
	call(t, agent, api.EnvUnset, api.EnvInput{Name: "PLAIN", Client: true})
	if got, want := call(t, agent, api.EnvGet, api.EnvInput{Name: "PLAIN", Client: true}), (api.EnvVar{Name: "PLAIN", Value: "v ä\n"}); got != want {
		t.Errorf("without its own the client gets %+v", got)
	}
	wantError(t, agent, api.EnvGet, api.EnvInput{Name: "NONE", Client: true}, api.CodeNotFound, "not set")
	if owners := r.starter.Env.Owners(); len(owners) != 0 {
		t.Errorf("a client without variables is kept: %q", owners)
	}
}

func TestVariablesOfALeavingClientAreForgotten(t *testing.T) {
	r := newRig(t)
	call(t, r.agent(), api.EnvSet, api.EnvSetInput{Name: "A", Value: "own", Client: true})
	call(t, r, api.EnvSet, api.EnvSetInput{Name: "A", Value: "shared"})
	r.starter.Env.Forget("somebody else")
	again, err := NewEnv(r.store, slog.New(slog.DiscardHandler))
	if err != nil || again.clientVariables("owner-1")["A"] != "own" || again.All()["A"] != "shared" {
		t.Errorf("read from disk: %+v, %+v, %v", again.All(), again.clientVariables("owner-1"), err)
	}
	r.starter.Env.Forget("owner-1")
	again, err = NewEnv(r.store, slog.New(slog.DiscardHandler))
	if err != nil || len(again.Owners()) != 0 || again.All()["A"] != "shared" {
		t.Errorf("after it left: %+v, %q, %v", again.All(), again.Owners(), err)
	}
}

// A fullDisk contains variables and layouts, but fails to save new ones.
type fullDisk struct{}

func (fullDisk) LoadEnv() (store.Env, error) {
	return store.Env{Variables: map[string]string{"A": "a"}}, nil
}
func (fullDisk) SaveEnv(store.Env) error             { return errors.New("no space left on device") }
func (fullDisk) LoadLayouts() (store.Layouts, error) { return store.Layouts{}, nil }
func (fullDisk) SaveLayouts(store.Layouts) error     { return errors.New("no space left on device") }

func TestVariablesStayUnchangedIfTheyCannotBeSaved(t *testing.T) {
	s, err := NewEnv(fullDisk{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c := client{mux: server.NewMux(nil), owner: "x"}
	s.Handle(c.mux)
	wantError(t, c, api.EnvSet, api.EnvSetInput{Name: "B", Value: "b"}, api.CodeUnavailable, "no space left")
	wantError(t, c, api.EnvSet, api.EnvSetInput{Name: "B", Value: "b", Client: true}, api.CodeUnavailable, "no space left")
	wantError(t, c, api.EnvUnset, api.EnvInput{Name: "A"}, api.CodeUnavailable, "no space left")
	if all := s.All(); len(all) != 1 || all["A"] != "a" || len(s.Owners()) != 0 {
		t.Errorf("%v, %v", all, s.Owners())
	}
}
