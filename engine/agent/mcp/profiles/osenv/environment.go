package osenv

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// redacted replaces the value of a secret.
const redacted = "***"

// An EnvState is a variable in the result of a tool.
type EnvState struct {
	Key      string `json:"key"`
	Value    string `json:"value,omitempty"`
	Redacted bool   `json:"redacted,omitempty"`
	LeftOut  int    `json:"left_out,omitempty"` // number of bytes missing from the value
}

// An envKey names a variable.
type envKey struct {
	Key string `json:"key"`
}

type envName struct {
	Key string `json:"key"`
}

type envGet struct {
	envName
	Reveal bool `json:"reveal,omitempty"`
}

type envSet struct {
	Key   string           `json:"key"`
	Value toolkit.EnvValue `json:"value"`
	anybody
}

type envUnset struct {
	Key string `json:"key"`
	anybody
}

// anybody accepts a parameter of older releases and ignores it: an agent's variables are always its
// own.
type anybody struct {
	Client bool `json:"client,omitempty" schema:"-"`
}

var envPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// secretName lists parts of names that mark a value as secret.
var secretName = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"}

// redactEnv returns a variable for an agent, its value redacted if it may be a secret, unless
// reveal is set.
func redactEnv(key, value string, reveal bool) EnvState {
	name := strings.ToUpper(key)
	if !reveal && slices.ContainsFunc(secretName, func(part string) bool { return strings.Contains(name, part) }) {
		return EnvState{Key: key, Value: redacted, Redacted: true}
	}
	return EnvState{Key: key, Value: value}
}

// envAnswer returns the result for a variable, as YAML and structured. It truncates a long value.
func envAnswer(v EnvState, moment string, value bool) toolkit.Result {
	// Escapes may make the text longer than the value, so halve the value until the text fits.
	whole := v.Value
	for most := toolkit.DefaultBodySize; ; most /= 2 {
		v.Value = toolkit.Head(whole, most)
		v.LeftOut = len(whole) - len(v.Value)
		text := envText(v, moment, value)
		if toolkit.JSONSize(text) <= toolkit.DefaultSize || most == 0 {
			return toolkit.Text(text).WithSameFacts(v)
		}
	}
}

func envText(v EnvState, moment string, value bool) string {
	fields := []yamlField{{"status", "ok"}, {"key", v.Key}}
	if value {
		fields = append(fields, yamlField{"value", v.Value})
	}
	if v.Redacted {
		fields = append(fields, yamlField{"redacted", true})
	}
	if v.LeftOut > 0 {
		fields = append(fields, yamlField{"left_out", v.LeftOut})
	}
	return yamlText(append(fields, yamlField{moment, stamp(time.Now())}))
}

func checkEnvName(key string) error {
	if !envPattern().MatchString(key) {
		return &yamlFailure{"ENV_INVALID_KEY", "a name consists of letters, digits and _, and does not begin with a digit"}
	}
	return nil
}

// getEnv returns a variable as seen by the agent's programs. The agent's own variables take
// precedence over the common overlay, and the overlay over the inherited environment.
func getEnv(ctx context.Context, f *toolkit.Agent, in envGet) (toolkit.Result, error) {
	if err := checkEnvName(in.Key); err != nil {
		return toolkit.Result{}, err
	}
	value, inherited := f.ChildEnv()[in.Key]
	set, err := api.EnvGet.Call(ctx, f.Engine, api.EnvInput{Name: in.Key, Client: true, Reveal: in.Reveal})
	switch {
	case err == nil && set.Redacted:
		return envAnswer(EnvState{Key: in.Key, Value: redacted, Redacted: true}, "retrieved_at", true), nil
	case err == nil:
		value = set.Value
	case !errors.Is(err, api.CodeNotFound):
		return toolkit.Result{}, err
	case !inherited:
		return toolkit.Result{}, &yamlFailure{"ENV_NOT_FOUND", "the variable is not set"}
	}
	return envAnswer(redactEnv(in.Key, value, in.Reveal), "retrieved_at", true), nil
}

func setEnv(ctx context.Context, f *toolkit.Agent, in envSet) (toolkit.Result, error) {
	if err := checkEnvName(in.Key); err != nil {
		return toolkit.Result{}, err
	}
	value := string(in.Value)
	if err := toolkit.CheckVariable(in.Key, value); err != nil {
		return toolkit.Result{}, err
	}
	if _, err := api.EnvSet.Call(ctx, f.Engine, api.EnvSetInput{Name: in.Key, Value: value, Client: true}); err != nil {
		return toolkit.Result{}, err
	}
	return envAnswer(redactEnv(in.Key, value, false), "set_at", true), nil
}

func unsetEnv(ctx context.Context, f *toolkit.Agent, in envUnset) (toolkit.Result, error) {
	if err := checkEnvName(in.Key); err != nil {
		return toolkit.Result{}, err
	}
	if err := dropEnv(ctx, f, in.Key); err != nil {
		return toolkit.Result{}, err
	}
	return envAnswer(EnvState{Key: in.Key}, "unset_at", false).WithSameFacts(envKey{in.Key}), nil
}

// dropEnv removes a variable from the agent's environment and from the one its programs inherit. It
// returns an error if the user has set the variable for all programs, or if the variable decides
// which programs run and the agent has no sandbox.
func dropEnv(ctx context.Context, f *toolkit.Agent, key string) error {
	if _, inherited := f.ChildEnv()[key]; inherited && api.AltersExecution(key) && f.Options.Sandbox == nil {
		return api.Errorf(api.CodeForbidden, "unset %s: it decides which programs run, so agents may unset it only inside a sandbox", key)
	}
	_, err := api.EnvUnset.Call(ctx, f.Engine, api.EnvInput{Name: key, Client: true})
	if err != nil && !errors.Is(err, api.CodeNotFound) {
		return err
	}
	if f.Unset(key) || err == nil {
		return nil
	}
	// Nothing was removed: either the user has set it, or it does not exist.
	_, err = api.EnvGet.Call(ctx, f.Engine, api.EnvInput{Name: key})
	switch {
	case err == nil:
		return api.Errorf(api.CodeForbidden, "unset %s: the user has set it for all programs", key).
			WithHint("env_set gives it another value for your commands")
	case errors.Is(err, api.CodeNotFound):
		return nil
	}
	return err
}
