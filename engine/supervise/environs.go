package supervise

import (
	"maps"
	"slices"
)

// environsKept is how many environments a new one is compared with.
const environsKept = 16

// environs are environments that programs were started from, the one used last
// first. Most come from a few shells and are large: a day's records hold each
// of them once.
type environs [environsKept]map[string]string

// shared returns a map with the same content, which must not be changed.
func (e *environs) shared(env map[string]string) map[string]string {
	if env == nil {
		return nil
	}
	i := slices.IndexFunc(e[:], func(known map[string]string) bool { return maps.Equal(known, env) })
	if i < 0 {
		i = environsKept - 1
	} else {
		env = e[i]
	}
	copy(e[1:i+1], e[:i])
	e[0] = env
	return env
}
