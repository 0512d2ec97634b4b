package mcp

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
)

// redacted stands for a value that is not shown.
const redacted = "***"

// An envState is what the tools of the environment tell of a variable.
type envState struct {
	Key      string `json:"key"`
	Value    string `json:"value,omitempty"`
	Redacted bool   `json:"redacted,omitempty"`
}

// An envKey names a variable.
type envKey struct {
	Key string `json:"key"`
}

type envGet struct {
	Key    string `json:"key"`
	Reveal bool   `json:"reveal,omitempty" doc:"show a secret"`
}

type envSet struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	anybody
}

type envUnset struct {
	Key string `json:"key"`
	anybody
}

// anybody was a choice once: an agent's variables are its own by now, whatever
// it says.
type anybody struct {
	Client bool `json:"client,omitempty" schema:"-"`
}

var envName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// secretName are parts of names whose values are not shown unasked.
var secretName = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"}

// shownEnv is a variable as an agent may see it.
func shownEnv(key, value string, reveal bool) envState {
	name := strings.ToUpper(key)
	if !reveal && slices.ContainsFunc(secretName, func(part string) bool { return strings.Contains(name, part) }) {
		return envState{key, redacted, true}
	}
	return envState{key, value, false}
}

// envAnswer tells about a variable, as YAML and structured.
func envAnswer(v envState, moment string, value bool) result {
	fields := []yamlField{{"status", "ok"}, {"key", v.Key}}
	if value {
		fields = append(fields, yamlField{"value", v.Value})
	}
	if v.Redacted {
		fields = append(fields, yamlField{"redacted", true})
	}
	return yamlAnswer(append(fields, yamlField{moment, stamp(time.Now())})...).with(v)
}

func checkEnvName(key string) error {
	if !envName().MatchString(key) {
		return &yamlFailure{"ENV_INVALID_KEY", "a name has letters, digits and _ and begins with no digit"}
	}
	return nil
}

// getEnv gives what programs that this agent starts find: its own variables go
// before the overlay for all, and that before what they inherit.
func getEnv(ctx context.Context, f *face, in envGet) (result, error) {
	if err := checkEnvName(in.Key); err != nil {
		return result{}, err
	}
	for _, own := range []bool{true, false} {
		set, err := api.EnvGet.Call(ctx, f.engine, api.EnvInput{Name: in.Key, Client: own, Reveal: in.Reveal})
		switch {
		case err == nil && set.Redacted:
			return envAnswer(envState{in.Key, redacted, true}, "retrieved_at", true), nil
		case err == nil:
			return envAnswer(shownEnv(in.Key, set.Value, in.Reveal), "retrieved_at", true), nil
		case !errors.Is(err, api.CodeNotFound):
			return result{}, err
		}
	}
	value, ok := f.environ[in.Key]
	if !ok {
		return result{}, &yamlFailure{"ENV_NOT_FOUND", "the variable is not set"}
	}
	return envAnswer(shownEnv(in.Key, value, in.Reveal), "retrieved_at", true), nil
}

func setEnv(ctx context.Context, f *face, in envSet) (result, error) {
	if err := checkEnvName(in.Key); err != nil {
		return result{}, err
	}
	if err := checkVariable(in.Key, in.Value); err != nil {
		return result{}, err
	}
	if _, err := api.EnvSet.Call(ctx, f.engine, api.EnvSetInput{Name: in.Key, Value: in.Value, Client: true}); err != nil {
		return result{}, err
	}
	return envAnswer(shownEnv(in.Key, in.Value, false), "set_at", true), nil
}

func unsetEnv(ctx context.Context, f *face, in envUnset) (result, error) {
	if err := checkEnvName(in.Key); err != nil {
		return result{}, err
	}
	_, err := api.EnvUnset.Call(ctx, f.engine, api.EnvInput{Name: in.Key, Client: true})
	switch {
	case errors.Is(err, api.CodeNotFound):
		return result{}, &yamlFailure{"ENV_NOT_FOUND", "env_set has not set the variable"}
	case err != nil:
		return result{}, err
	}
	return envAnswer(envState{Key: in.Key}, "unset_at", false).with(envKey{in.Key}), nil
}
