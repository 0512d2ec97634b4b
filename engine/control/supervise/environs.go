package supervise

import (
	"maps"
	"slices"
)

// maxEnvirons is the number of recent environments with which a new one is compared.
const maxEnvirons = 16

// environs holds the environments of recent starts, the last used first. Most are large and come
// from a few shells, so records with equal environments share one copy.
type environs [maxEnvirons]map[string]string

// intern returns a map equal to env that may be shared with other records. The caller must not
// change it.
func (e *environs) intern(env map[string]string) map[string]string {
	if env == nil {
		return nil
	}
	i := slices.IndexFunc(e[:], func(known map[string]string) bool { return maps.Equal(known, env) })
	// A new environment replaces the least recently used one.
	if i < 0 {
		i = maxEnvirons - 1
	} else {
		env = e[i]
	}
	copy(e[1:i+1], e[:i])
	e[0] = env
	return env
}
