package engine

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandem/engine/api"
)

// An envStore keeps the overlay on disk.
type envStore interface {
	LoadEnv() (map[string]string, error)
	SaveEnv(variables map[string]string) error
}

// An overlay is what is put over the engine's environment for what is started
// from now on. Its zero value is empty and must be loaded once.
type overlay struct {
	store envStore

	mu        sync.Mutex
	variables map[string]string // replaced, never changed
}

func (o *overlay) load(store envStore) error {
	variables, err := store.LoadEnv()
	o.store, o.variables = store, variables
	return err
}

// all gives the variables; they must not be changed.
func (o *overlay) all() map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.variables
}

// change saves a changed copy and then lets it count.
func (o *overlay) change(f func(variables map[string]string)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := maps.Clone(o.variables)
	if changed == nil {
		changed = make(map[string]string)
	}
	f(changed)
	if err := o.store.SaveEnv(changed); err != nil {
		return api.Errorf(api.CodeUnavailable, "%v", err)
	}
	o.variables = changed
	return nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func checkVariable(name string) error {
	switch {
	case !variableName.MatchString(name):
		return api.Errorf(api.CodeInvalid, "environment variable %s: a name has letters, digits and _ and begins with no digit", shown(name))
	case name == idVariable || name == dirVariable:
		return api.Errorf(api.CodeInvalid, "environment variable %s: it is set for each process by the engine", name)
	}
	return nil
}

// secretWords mark names whose values are not shown unasked.
var secretWords = [...]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE", "APIKEY", "AUTH", "COOKIE", "BEARER"}

// looksSecret reports whether a variable's name is like that of a secret.
func looksSecret(name string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(strings.Split(name, "_"), "KEY") || slices.Contains(strings.Split(name, "_"), "PASS") {
		return true
	}
	return slices.ContainsFunc(secretWords[:], func(w string) bool { return strings.Contains(name, w) })
}

func envVar(name, value string, reveal bool) api.EnvVar {
	if !reveal && looksSecret(name) {
		return api.EnvVar{Name: name, Redacted: true}
	}
	return api.EnvVar{Name: name, Value: value}
}

func (h *host) envGet(_ context.Context, in api.EnvInput) (api.EnvVar, error) {
	value, ok := h.env.all()[in.Name]
	if !ok {
		return api.EnvVar{}, errNoVariable(in.Name)
	}
	return envVar(in.Name, value, in.Reveal), nil
}

func errNoVariable(name string) error {
	return api.Errorf(api.CodeNotFound, "environment variable %s: it is not set for what is started", shown(name)).
		WithHint("tandem env lists what is")
}

func (h *host) envSet(ctx context.Context, in api.EnvSetInput) (api.Empty, error) {
	if err := checkVariable(in.Name); err != nil {
		return api.Empty{}, err
	}
	if err := checkEnv(map[string]string{in.Name: in.Value}); err != nil {
		return api.Empty{}, err
	}
	h.log.Info("request", "event", "env set", "name", in.Name, "by", api.CallerOf(ctx).Name)
	return api.Empty{}, h.env.change(func(v map[string]string) { v[in.Name] = in.Value })
}

func (h *host) envUnset(ctx context.Context, in api.EnvInput) (api.Empty, error) {
	if _, ok := h.env.all()[in.Name]; !ok {
		return api.Empty{}, errNoVariable(in.Name)
	}
	h.log.Info("request", "event", "env unset", "name", in.Name, "by", api.CallerOf(ctx).Name)
	return api.Empty{}, h.env.change(func(v map[string]string) { delete(v, in.Name) })
}

func (h *host) envList(_ context.Context, in api.EnvListInput) (api.EnvListOutput, error) {
	variables := h.env.all()
	out := api.EnvListOutput{Variables: []api.EnvVar{}}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		out.Variables = append(out.Variables, envVar(name, variables[name], in.Reveal))
	}
	return out, nil
}
