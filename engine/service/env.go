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
	"tandem/engine/names"
	"tandem/engine/proctree"
	"tandem/engine/secrets"
	"tandem/persist/store"
)

// An envStore keeps the overlay on disk. Tests have one that is slow.
type envStore interface {
	LoadEnv() (store.Env, error)
	SaveEnv(env store.Env) error
}

// Env serves the variables that are set for what is started from now on: some for
// everything, and some of each client that has asked for it, for what that starts
// itself.
type Env struct {
	store envStore
	log   *slog.Logger

	changing sync.Mutex // serializes changes; held while one is written to disk

	mu        sync.Mutex
	variables map[string]string            // replaced, never changed
	clients   map[string]map[string]string // by owner; the same holds for each
}

// NewEnv loads what is on disk. A variable with which nothing could be started is
// left out, and told of in the error.
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

// Owners are the clients that have variables of their own.
func (s *Env) Owners() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.clients))
}

// All gives the variables; they must not be changed.
func (s *Env) All() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.variables
}

// change saves a changed copy, and then makes it current.
func (s *Env) change(f func(variables map[string]string)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	variables, clients := s.now()
	changed := maps.Clone(variables)
	if changed == nil {
		changed = make(map[string]string)
	}
	f(changed)
	return s.save(changed, clients)
}

func (s *Env) now() (variables map[string]string, clients map[string]map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.variables, s.clients
}

// save writes the variables and then makes them current. The caller holds changing.
func (s *Env) save(variables map[string]string, clients map[string]map[string]string) error {
	if err := s.store.SaveEnv(store.Env{Variables: variables, Clients: clients}); err != nil {
		return api.Errorf(api.CodeUnavailable, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.variables, s.clients = variables, clients
	return nil
}

// of gives the variables of a client alone; they must not be changed.
func (s *Env) of(owner string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[owner]
}

// changeOf saves a changed copy of a client's variables, and then makes it current.
func (s *Env) changeOf(owner string, f func(variables map[string]string)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	variables, clients := s.now()
	changed, clients := maps.Clone(clients[owner]), maps.Clone(clients)
	if changed == nil {
		changed = make(map[string]string)
	}
	f(changed)
	if clients == nil {
		clients = make(map[string]map[string]string)
	}
	if clients[owner] = changed; len(changed) == 0 {
		delete(clients, owner)
	}
	return s.save(variables, clients)
}

// with is what a client asks to set for something that it starts, with what it has
// set for all that it starts.
func (s *Env) with(ctx context.Context, env map[string]string) map[string]string {
	own := s.of(server.CallerOf(ctx).Owner)
	if len(own) == 0 {
		return env
	}
	all := maps.Clone(own)
	maps.Copy(all, env)
	return all
}

// Forget drops the variables of a client that is gone.
func (s *Env) Forget(owner string) {
	if len(s.of(owner)) == 0 {
		return
	}
	if err := s.changeOf(owner, func(v map[string]string) { clear(v) }); err != nil {
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
		return api.EnvVar{Name: name, Redacted: true}
	}
	return api.EnvVar{Name: name, Value: value}
}

// owner is whose overlay is meant when a client asks for its own.
func owner(ctx context.Context) (string, error) {
	if own := server.CallerOf(ctx).Owner; own != "" {
		return own, nil
	}
	return "", api.Errorf(api.CodeInvalid, "environment of the client: this client has none of its own").
		WithHint("only agents have one; omit client for the one that applies to all")
}

// variablesOf are those of the calling client, or of all.
func (s *Env) variablesOf(ctx context.Context, client bool) (map[string]string, error) {
	if !client {
		return s.All(), nil
	}
	o, err := owner(ctx)
	if err != nil {
		return nil, err
	}
	return s.of(o), nil
}

// changeFor changes the variables of the calling client, or of all.
func (s *Env) changeFor(ctx context.Context, client bool, f func(variables map[string]string)) error {
	if !client {
		return s.change(f)
	}
	o, err := owner(ctx)
	if err != nil {
		return err
	}
	return s.changeOf(o, f)
}

// Handle serves the operations on variables.
func (s *Env) Handle(m *server.Mux) {
	server.Handle(m, api.EnvGet, s.get)
	server.Handle(m, api.EnvSet, s.set)
	server.Handle(m, api.EnvUnset, s.unset)
	server.Handle(m, api.EnvList, s.list)
}

func (s *Env) get(ctx context.Context, in api.EnvInput) (api.EnvVar, error) {
	variables, err := s.variablesOf(ctx, in.Client)
	if err != nil {
		return api.EnvVar{}, err
	}
	value, ok := variables[in.Name]
	if !ok {
		return api.EnvVar{}, errNoVariable(in.Name)
	}
	v := envVar(in.Name, value, in.Reveal)
	v.Client = in.Client
	return v, nil
}

func errNoVariable(name string) error {
	return api.Errorf(api.CodeNotFound, "environment variable %s: not set", names.Shown(name)).
		WithHint("tandem env lists those that are")
}

func (s *Env) set(ctx context.Context, in api.EnvSetInput) (api.Empty, error) {
	if err := checkVariable(in.Name); err != nil {
		return api.Empty{}, err
	}
	if err := checkEnv(map[string]string{in.Name: in.Value}); err != nil {
		return api.Empty{}, err
	}
	s.log.Info("request", "event", "env set", "name", in.Name, "client", in.Client, "by", server.CallerOf(ctx).Name)
	return api.Empty{}, s.changeFor(ctx, in.Client, func(v map[string]string) { v[in.Name] = in.Value })
}

func (s *Env) unset(ctx context.Context, in api.EnvInput) (api.Empty, error) {
	variables, err := s.variablesOf(ctx, in.Client)
	if err != nil {
		return api.Empty{}, err
	}
	if _, ok := variables[in.Name]; !ok {
		return api.Empty{}, errNoVariable(in.Name)
	}
	s.log.Info("request", "event", "env unset", "name", in.Name, "client", in.Client, "by", server.CallerOf(ctx).Name)
	return api.Empty{}, s.changeFor(ctx, in.Client, func(v map[string]string) { delete(v, in.Name) })
}

// list lists the variables for all, and behind them those of the client.
func (s *Env) list(ctx context.Context, in api.EnvListInput) (api.EnvListOutput, error) {
	out := api.EnvListOutput{Variables: []api.EnvVar{}}
	list := func(variables map[string]string, client bool) {
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			v := envVar(name, variables[name], in.Reveal)
			v.Client = client
			out.Variables = append(out.Variables, v)
		}
	}
	list(s.All(), false)
	list(s.of(server.CallerOf(ctx).Owner), true)
	slices.SortStableFunc(out.Variables, func(a, b api.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// wordMost is how long an argument or a variable of a program may be (execve(2),
// MAX_ARG_STRLEN), its end included.
const wordMost = 128 << 10

// checkEnv refuses variables that no program can be started with.
func checkEnv(env map[string]string) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return api.Errorf(api.CodeInvalid, "environment variable %s: not a name and value that can be set", names.Shown(name))
		}
		if len(name)+len("=")+len(value) >= wordMost {
			return api.Errorf(api.CodeInvalid, "environment variable %s: it is longer than 128 KB", names.Shown(name)).
				WithHint("write the value to a file and give the file's path")
		}
	}
	return nil
}
