package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/names"
	"tandem/engine/base/secrets"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// An envStore keeps the variables on disk. Tests use a slow one.
type envStore interface {
	LoadEnv() (store.Env, error)
	SaveEnv(env store.Env) error
}

// Env serves the environment variables for later starts. Shared ones apply to every start, a
// client's own ones to the starts of that client.
type Env struct {
	store envStore
	log   *slog.Logger

	changing sync.Mutex // serializes changes; held during the write to disk

	mu        sync.Mutex
	variables map[string]string            // replaced, never changed
	clients   map[string]map[string]string // by owner; also replaced, never changed
}

// NewEnv loads the variables from disk. It leaves out variables that no program could be started
// with, and reports them in the error. The Env is usable even then.
func NewEnv(store envStore, log *slog.Logger) (*Env, error) {
	env, err := store.LoadEnv()
	for name, value := range env.Variables {
		if wrong := checkEnv(map[string]string{name: value}); wrong != nil {
			delete(env.Variables, name)
			err = errors.Join(err, fmt.Errorf("load environment: %w", wrong))
		}
	}
	return &Env{store: store, log: log, variables: env.Variables, clients: env.Clients}, err
}

// Owners returns the clients with variables of their own.
func (s *Env) Owners() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.clients))
}

// All returns the shared variables. The caller must not change the map.
func (s *Env) All() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.variables
}

// changeShared applies f to a copy of the shared variables and saves it. Readers see the change
// once it is on disk.
func (s *Env) changeShared(f func(variables map[string]string)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	variables, clients := s.loadCurrent()
	changed := maps.Clone(variables)
	if changed == nil {
		changed = make(map[string]string)
	}
	f(changed)
	return s.saveVariables(changed, clients)
}

func (s *Env) loadCurrent() (variables map[string]string, clients map[string]map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.variables, s.clients
}

// saveVariables writes the variables to disk and then shows them to readers. The caller holds
// changing.
func (s *Env) saveVariables(variables map[string]string, clients map[string]map[string]string) error {
	if err := s.store.SaveEnv(store.Env{Variables: variables, Clients: clients}); err != nil {
		return api.Errorf(api.CodeUnavailable, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.variables, s.clients = variables, clients
	return nil
}

// clientVariables returns the variables of one client. The caller must not change the map.
func (s *Env) clientVariables(owner string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[owner]
}

// changeClient applies f to a copy of a client's variables and saves it. Readers see the change
// once it is on disk.
func (s *Env) changeClient(owner string, f func(variables map[string]string)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	variables, clients := s.loadCurrent()
	changed, clients := maps.Clone(clients[owner]), maps.Clone(clients)
	if changed == nil {
		changed = make(map[string]string)
	}
	f(changed)
	if clients == nil {
		clients = make(map[string]map[string]string)
	}
	// Empty maps would pile up, one for each client that ever set a variable.
	if clients[owner] = changed; len(changed) == 0 {
		delete(clients, owner)
	}
	return s.saveVariables(variables, clients)
}

// withClientVariables adds the caller's own variables to env, the variables of one start, which
// take precedence.
func (s *Env) withClientVariables(ctx context.Context, env map[string]string) map[string]string {
	own := s.clientVariables(api.CallerOf(ctx).Owner)
	if len(own) == 0 {
		return env
	}
	all := maps.Clone(own)
	maps.Copy(all, env)
	return all
}

// Forget deletes the variables of a client that has disconnected.
func (s *Env) Forget(owner string) {
	if len(s.clientVariables(owner)) == 0 {
		return
	}
	if err := s.changeClient(owner, func(v map[string]string) { clear(v) }); err != nil {
		s.log.Warn("forget environment of a client", "owner", owner, "error", err)
	}
}

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

func checkVariable(name string) error {
	switch {
	case !variableName().MatchString(name):
		return api.Errorf(api.CodeInvalid, "environment variable %s: a name consists of letters, digits and _, and does not begin with a digit", names.Shown(name))
	case name == proctree.IDVariable || name == proctree.DataDirVariable:
		return api.Errorf(api.CodeInvalid, "environment variable %s: the engine sets it for each process", name)
	}
	return nil
}

func envVar(name, value string, reveal bool) api.EnvVar {
	if !reveal && (secrets.IsSecretName(name) || secrets.RedactLine(value) != value) {
		// The value may hold a secret, such as a URL with a password.
		return api.EnvVar{Name: name, Redacted: true}
	}
	return api.EnvVar{Name: name, Value: value}
}

// ownerOf returns the calling client's owner id, or an error if it has none.
func ownerOf(ctx context.Context) (string, error) {
	if own := api.CallerOf(ctx).Owner; own != "" {
		return own, nil
	}
	return "", api.Errorf(api.CodeInvalid, "environment of the client: only agents have their own").
		WithHint("omit client to use the variables shared by all")
}

// variablesOf returns the calling client's own variables if client is set, and otherwise the shared
// ones.
func (s *Env) variablesOf(ctx context.Context, client bool) (map[string]string, error) {
	if !client {
		return s.All(), nil
	}
	o, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	return s.clientVariables(o), nil
}

// changeFor applies f to the calling client's own variables if client is set, and otherwise to the
// shared ones.
func (s *Env) changeFor(ctx context.Context, client bool, f func(variables map[string]string)) error {
	if !client {
		return s.changeShared(f)
	}
	o, err := ownerOf(ctx)
	if err != nil {
		return err
	}
	return s.changeClient(o, f)
}

// Handle registers the operations on variables.
func (s *Env) Handle(m *server.Mux) {
	server.Handle(m, api.EnvGet, s.getVariable)
	server.Handle(m, api.EnvSet, s.setVariable)
	server.Handle(m, api.EnvUnset, s.unsetVariable)
	server.Handle(m, api.EnvList, s.listVariables)
}

func (s *Env) getVariable(ctx context.Context, in api.EnvInput) (api.EnvVar, error) {
	variables, err := s.variablesOf(ctx, in.Client)
	if err != nil {
		return api.EnvVar{}, err
	}
	value, own := variables[in.Name]
	ok := own
	if !own && in.Client {
		value, ok = s.All()[in.Name]
	}
	if !ok {
		return api.EnvVar{}, errNoVariable(in.Name)
	}
	v := envVar(in.Name, value, in.Reveal)
	v.Client = own && in.Client
	return v, nil
}

func errNoVariable(name string) error {
	return api.Errorf(api.CodeNotFound, "environment variable %s: not set", names.Shown(name)).
		WithHint("tandem env lists those that are")
}

func (s *Env) setVariable(ctx context.Context, in api.EnvSetInput) (api.Empty, error) {
	if err := checkVariable(in.Name); err != nil {
		return api.Empty{}, err
	}
	if err := checkEnv(map[string]string{in.Name: in.Value}); err != nil {
		return api.Empty{}, err
	}
	s.log.Info("request", "event", "env set", "name", in.Name, "client", in.Client, "by", api.CallerOf(ctx).Name)
	return api.Empty{}, s.changeFor(ctx, in.Client, func(v map[string]string) { v[in.Name] = in.Value })
}

func (s *Env) unsetVariable(ctx context.Context, in api.EnvInput) (api.Empty, error) {
	variables, err := s.variablesOf(ctx, in.Client)
	if err != nil {
		return api.Empty{}, err
	}
	if _, ok := variables[in.Name]; !ok {
		return api.Empty{}, errNoVariable(in.Name)
	}
	s.log.Info("request", "event", "env unset", "name", in.Name, "client", in.Client, "by", api.CallerOf(ctx).Name)
	return api.Empty{}, s.changeFor(ctx, in.Client, func(v map[string]string) { delete(v, in.Name) })
}

// listVariables returns the shared variables, and on request the client's own ones, sorted by name.
func (s *Env) listVariables(ctx context.Context, in api.EnvListInput) (api.EnvListOutput, error) {
	out := api.EnvListOutput{Variables: []api.EnvVar{}}
	list := func(variables map[string]string, client bool) {
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			v := envVar(name, variables[name], in.Reveal)
			v.Client = client
			out.Variables = append(out.Variables, v)
		}
	}
	list(s.All(), false)
	list(s.clientVariables(api.CallerOf(ctx).Owner), true)
	slices.SortStableFunc(out.Variables, func(a, b api.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// maxEnvLength is the maximum length of an argument or variable including the terminating NUL
// (MAX_ARG_STRLEN in execve(2)).
const maxEnvLength = 128 << 10

// checkEnv rejects variables that no program can be started with: the kernel would refuse the
// start.
func checkEnv(env map[string]string) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return api.Errorf(api.CodeInvalid, "environment variable %s: invalid name or value", names.Shown(name))
		}
		if len(name)+len("=")+len(value) >= maxEnvLength {
			return api.Errorf(api.CodeInvalid, "environment variable %s: it is longer than 128 KB", names.Shown(name)).
				WithHint("write the value to a file and give the file's path")
		}
	}
	return nil
}
