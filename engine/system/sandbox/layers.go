package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"tandem/persist/regular"
)

// maxLayers limits the profiles of a process; Landlock allows 16 rulesets.
const maxLayers = 8

// Layers confine a process together: it may do only what all of them allow. The kernel enforces
// each one separately, so no path in one of them, wherever a link leads, widens another.
type Layers []Profile

// ParseLayers parses and validates the JSON of sandbox.json: {"layers": [PROFILE, …]}, or one
// profile as for Parse.
func ParseLayers(data []byte) (Layers, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var file struct {
		Layers     *Layers     `json:"layers"`
		Filesystem *Filesystem `json:"filesystem"`
		Network    *Network    `json:"network"`
		Limits     *Limits     `json:"limits"`
	}
	if err := decode(data, &file); err != nil {
		return nil, err
	}
	if file.Layers == nil {
		p, err := Parse(data)
		if err != nil {
			return nil, err
		}
		return Layers{p}, nil
	}
	if file.Filesystem != nil || file.Network != nil || file.Limits != nil {
		return nil, errors.New(`parse sandbox profile: "layers" must stand alone; make the rest a layer of its own`)
	}
	if err := file.Layers.Validate(); err != nil {
		return nil, err
	}
	return *file.Layers, nil
}

// LoadLayers reads the layers in a file.
func LoadLayers(path string) (Layers, error) {
	file, _, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read sandbox profile: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxProfile+1))
	if err != nil {
		return nil, fmt.Errorf("read sandbox profile: %w", err)
	}
	l, err := ParseLayers(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// Validate returns an error if the layers make no sense, whatever the kernel.
func (l Layers) Validate() error {
	if len(l) == 0 || len(l) > maxLayers {
		return fmt.Errorf("sandbox profile: there are %d layers; must be 1 to %d", len(l), maxLayers)
	}
	for i, p := range l {
		if err := p.Validate(); err != nil {
			return l.wrapLayer(i, err)
		}
	}
	return nil
}

// wrapLayer adds the layer's number to an error, unless there is only one.
func (l Layers) wrapLayer(i int, err error) error {
	if len(l) == 1 {
		return err
	}
	return fmt.Errorf("layer %d: %w", i+1, err)
}

// Check returns why the layers cannot be enforced here and now, nil if they can: a missing kernel
// feature, or a path. guarded are directories that must not become writable because they decide how
// processes are started: the data directory. A process must not be started if its layers fail; each
// start checks again.
func (l Layers) Check(guarded ...string) error {
	if err := l.Validate(); err != nil {
		return err
	}
	if err := currentKernel().check(l); err != nil {
		return err
	}
	return checkPaths(l, guarded)
}

// Writable returns the paths in allowWrite that every layer grants.
func (l Layers) Writable() (paths []string) {
	for _, p := range l {
		for _, path := range p.Filesystem.AllowWrite {
			path = filepath.Clean(path)
			granted := func(other Profile) bool { return isWithinAny(path, other.Filesystem.AllowWrite) }
			if !slices.Contains(paths, path) && !slices.ContainsFunc(l, func(other Profile) bool { return !granted(other) }) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// network returns the narrowest network of the layers.
func (l Layers) network() access {
	narrowest := openNetwork
	for _, p := range l {
		narrowest = max(narrowest, p.network())
	}
	return narrowest
}

// NeedsProxy reports whether the process needs a grant of a Proxy.
func (l Layers) NeedsProxy() bool {
	return l.network() == proxyNetwork
}

// Restricted reports whether some hosts cannot be reached.
func (l Layers) Restricted() bool { return l.network() != openNetwork }

// CheckHost returns why a process in these layers may not reach a host; nil if it may.
func (l Layers) CheckHost(host string) error {
	switch l.network() {
	case openNetwork:
		return nil
	case noNetwork:
		return errors.New("the sandbox allows no network")
	}
	allowed, err := l.hosts()
	if err != nil {
		return err
	}
	if err := allowed.checkHost(host); err != nil {
		return fmt.Errorf("the sandbox does not allow %s: %w", host, err)
	}
	return nil
}

// hosts returns the hosts allowed by every layer with a restricted network, and none if there is no
// such layer: a process with the open network needs no proxy.
func (l Layers) hosts() (hosts, error) {
	var all hosts
	for i, p := range l {
		if p.Network == nil {
			continue
		}
		d, err := newDomains(*p.Network)
		if err != nil {
			return nil, l.wrapLayer(i, err)
		}
		all = append(all, d)
	}
	if all == nil {
		all = hosts{{}}
	}
	return all, nil
}

// limits returns the smallest limits of the layers.
func (l Layers) limits() Limits {
	var least Limits
	for _, p := range l {
		if p.Limits == nil {
			continue
		}
		least = Limits{
			OpenFiles:   minLimit(least.OpenFiles, p.Limits.OpenFiles),
			Processes:   minLimit(least.Processes, p.Limits.Processes),
			MemoryBytes: minLimit(least.MemoryBytes, p.Limits.MemoryBytes),
			CPUSeconds:  minLimit(least.CPUSeconds, p.Limits.CPUSeconds),
		}
	}
	return least
}

// minLimit returns the smaller limit; 0 is none.
func minLimit(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
