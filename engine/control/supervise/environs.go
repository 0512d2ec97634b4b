package supervise

import (
	"maps"
	"slices"
)

// maxEnvirons is how many known environments a new one is compared with.
const maxEnvirons = 16

// environs holds the environments of recent starts, last used first. Most are large and come from a
// few shells, so records share one copy of each.
type environs [maxEnvirons]map[string]string

// intern returns a map equal to env, shared with other records. Callers must not change it.
func (e *environs) intern(env map[string]string) map[string]string {
	if env == nil {
		return nil
	}
	i := slices.IndexFunc(e[:], func(known map[string]string) bool { return maps.Equal(known, env) })
	// Of unknown environments, the least recently used makes room.
	if i < 0 {
		i = maxEnvirons - 1
	} else {
		env = e[i]
	}
	copy(e[1:i+1], e[:i])
	e[0] = env
	return env
}
