package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/engine/proctree"
	"tandem/engine/secrets"
	"tandem/persist/store"
)

// An envStore keeps the overlay on disk.
type envStore interface {
	LoadEnv() (store.Env, error)
	SaveEnv(env store.Env) error
}

// An overlay is what is put over the engine's environment for what is started
// from now on: one for everything, and one for each client that has asked for
// it, for what that starts itself. Its zero value is empty and must be loaded
// once.
type overlay struct {
	store envStore

	mu        sync.Mutex
	variables map[string]string            // replaced, never changed
	clients   map[string]map[string]string // by owner; the same holds for each
}

// load reads what is kept on disk. A variable with which nothing could be
// started is left out, and told of.
func (o *overlay) load(store envStore) error {
	env, err := store.LoadEnv()
	for name, value := range env.Variables {
		if wrong := checkEnv(map[string]string{name: value}); wrong != nil {
			delete(env.Variables, name)
			err = errors.Join(err, fmt.Errorf("load environment: %w", wrong))
		}
	}
	o.store, o.variables, o.clients = store, env.Variables, env.Clients
	return err
}

// owners are the clients that have variables of their own.
func (o *overlay) owners() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Keys(o.clients))
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
	if err := o.save(changed, o.clients); err != nil {
		return err
	}
	o.variables = changed
	return nil
}

func (o *overlay) save(variables map[string]string, clients map[string]map[string]string) error {
	if err := o.store.SaveEnv(store.Env{Variables: variables, Clients: clients}); err != nil {
		return api.Errorf(api.CodeUnavailable, "%v", err)
	}
	return nil
}

// of gives the variables of a client alone; they must not be changed.
func (o *overlay) of(owner string) map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.clients[owner]
}

// changeOf saves a changed copy of a client's variables and then lets it count.
func (o *overlay) changeOf(owner string, f func(variables map[string]string)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed, clients := maps.Clone(o.clients[owner]), maps.Clone(o.clients)
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
	if err := o.save(o.variables, clients); err != nil {
		return err
	}
	o.clients = clients
	return nil
}

// clientEnv is what a client asks to set for something that it starts, with what
// it has set for all that it starts.
func (h *host) clientEnv(ctx context.Context, env map[string]string) map[string]string {
	own := h.env.of(server.CallerOf(ctx).Owner)
	if len(own) == 0 {
		return env
	}
	all := maps.Clone(own)
	maps.Copy(all, env)
	return all
}

// dropClientEnv forgets what a client has set that has gone.
func (h *host) dropClientEnv(owner string) {
	if len(h.env.of(owner)) == 0 {
		return
	}
	h.control.work(func() {
		if err := h.env.changeOf(owner, func(v map[string]string) { clear(v) }); err != nil {
			h.log.Warn("forget environment of a client", "owner", owner, "error", err)
		}
	})
}

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

func checkVariable(name string) error {
	switch {
	case !variableName().MatchString(name):
		return api.Errorf(api.CodeInvalid, "environment variable %s: a name has letters, digits and _ and begins with no digit", names.Shown(name))
	case name == proctree.IDVariable || name == proctree.DataDirVariable:
		return api.Errorf(api.CodeInvalid, "environment variable %s: it is set for each process by the engine", name)
	}
	return nil
}

// checkAgentVariable refuses an agent a variable that steers what it starts
// later, past what the person sees of that and past the rules of the policy.
// Within a sandbox it steers nothing that was not in reach before.
func checkAgentVariable(c server.Caller, name string) error {
	if !api.Steers(name) || c.Bounds.Sandbox != nil {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "set %s: it decides which programs run, so agents may set it only inside a sandbox", name).
		WithHint("put it before the command that needs it: " + name + "=… command")
}

func envVar(name, value string, reveal bool) api.EnvVar {
	if !reveal && (secrets.IsSecretName(name) || secrets.RedactLine(value) != value) {
		return api.EnvVar{Name: name, Redacted: true}
	}
	return api.EnvVar{Name: name, Value: value}
}

// owner is whose overlay is meant when a client asks for its own.
func owner(ctx context.Context) (string, error) {
	if o := server.CallerOf(ctx).Owner; o != "" {
		return o, nil
	}
	return "", api.Errorf(api.CodeInvalid, "environment of the client: this client has not said which one it is").
		WithHint("only agents have one; leave client away for the one that counts for all")
}

// variablesOf are those of the calling client, or of all.
func (h *host) variablesOf(ctx context.Context, client bool) (map[string]string, error) {
	if !client {
		return h.env.all(), nil
	}
	o, err := owner(ctx)
	if err != nil {
		return nil, err
	}
	return h.env.of(o), nil
}

// changeEnv changes the variables of the calling client, or of all.
func (h *host) changeEnv(ctx context.Context, client bool, f func(variables map[string]string)) error {
	if !client {
		return h.env.change(f)
	}
	o, err := owner(ctx)
	if err != nil {
		return err
	}
	return h.env.changeOf(o, f)
}

func (h *host) envGet(ctx context.Context, in api.EnvInput) (api.EnvVar, error) {
	variables, err := h.variablesOf(ctx, in.Client)
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
	return api.Errorf(api.CodeNotFound, "environment variable %s: it is not set for what is started", names.Shown(name)).
		WithHint("tandem env lists what is")
}

func (h *host) envSet(ctx context.Context, in api.EnvSetInput) (api.Empty, error) {
	if err := checkVariable(in.Name); err != nil {
		return api.Empty{}, err
	}
	if err := checkEnv(map[string]string{in.Name: in.Value}); err != nil {
		return api.Empty{}, err
	}
	h.log.Info("request", "event", "env set", "name", in.Name, "client", in.Client, "by", server.CallerOf(ctx).Name)
	return api.Empty{}, h.changeEnv(ctx, in.Client, func(v map[string]string) { v[in.Name] = in.Value })
}

func (h *host) envUnset(ctx context.Context, in api.EnvInput) (api.Empty, error) {
	variables, err := h.variablesOf(ctx, in.Client)
	if err != nil {
		return api.Empty{}, err
	}
	if _, ok := variables[in.Name]; !ok {
		return api.Empty{}, errNoVariable(in.Name)
	}
	h.log.Info("request", "event", "env unset", "name", in.Name, "client", in.Client, "by", server.CallerOf(ctx).Name)
	return api.Empty{}, h.changeEnv(ctx, in.Client, func(v map[string]string) { delete(v, in.Name) })
}

// envList lists the variables for all, and behind them those of the client.
func (h *host) envList(ctx context.Context, in api.EnvListInput) (api.EnvListOutput, error) {
	out := api.EnvListOutput{Variables: []api.EnvVar{}}
	list := func(variables map[string]string, client bool) {
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			v := envVar(name, variables[name], in.Reveal)
			v.Client = client
			out.Variables = append(out.Variables, v)
		}
	}
	list(h.env.all(), false)
	list(h.env.of(server.CallerOf(ctx).Owner), true)
	slices.SortStableFunc(out.Variables, func(a, b api.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
