package mcp

import (
	"slices"
	"strings"

	"tandem/engine/api"
)

// narrowed is the confinement that an agent asks for within the one that the
// person has set: an agent can only ask for less.
func narrowed(floor, asked *api.Sandbox) *api.Sandbox {
	if floor == nil {
		return asked
	}
	if asked == nil {
		return floor
	}
	return &api.Sandbox{
		Filesystem: api.SandboxFilesystem{
			DenyRead:   union(floor.Filesystem.DenyRead, asked.Filesystem.DenyRead),
			AllowWrite: common(floor.Filesystem.AllowWrite, asked.Filesystem.AllowWrite, within),
			DenyWrite:  union(floor.Filesystem.DenyWrite, asked.Filesystem.DenyWrite),
		},
		Network: narrowedNetwork(floor.Network, asked.Network),
		Limits:  narrowedLimits(floor.Limits, asked.Limits),
	}
}

func narrowedNetwork(floor, asked *api.SandboxNetwork) *api.SandboxNetwork {
	if floor == nil {
		return asked
	}
	if asked == nil {
		return floor
	}
	return &api.SandboxNetwork{
		AllowedDomains: common(floor.AllowedDomains, asked.AllowedDomains, covers),
		DeniedDomains:  union(floor.DeniedDomains, asked.DeniedDomains),
	}
}

// covers reports whether all that the domain pattern b stands for is in a.
func covers(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	above, wild := strings.CutPrefix(a, "*.")
	return a == b || wild && strings.HasSuffix(b, "."+above)
}

func narrowedLimits(floor, asked *api.SandboxLimits) *api.SandboxLimits {
	if floor == nil {
		return asked
	}
	if asked == nil {
		return floor
	}
	return &api.SandboxLimits{
		OpenFiles:   least(floor.OpenFiles, asked.OpenFiles),
		Processes:   least(floor.Processes, asked.Processes),
		MemoryBytes: least(floor.MemoryBytes, asked.MemoryBytes),
		CPUSeconds:  least(floor.CPUSeconds, asked.CPUSeconds),
	}
}

// least is the smaller limit; 0 is none.
func least(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// common is what both lists allow: of two entries of which one holds the other,
// the inner one.
func common(a, b []string, holds func(outer, inner string) bool) []string {
	both := []string{}
	for _, x := range a {
		for _, y := range b {
			switch {
			case holds(x, y):
				both = append(both, y)
			case holds(y, x):
				both = append(both, x)
			}
		}
	}
	slices.Sort(both)
	return slices.Compact(both)
}
