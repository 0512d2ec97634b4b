package api

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds are what an agent is held to, whatever operation it calls. The server
// that it is connected to belongs to the person, and tells them with every
// request; the engine enforces them.
type Bounds struct {
	Name     string   `json:"name,omitempty"`      // what the person calls it: its token's name, or that of --as
	Sandbox  *Sandbox `json:"sandbox,omitempty"`   // of all that is done for it: programs, checks, files; nil: none
	Roots    []string `json:"roots,omitempty"`     // absolute folders that its operations on files reach; none: all
	Base     string   `json:"base,omitempty"`      // where its relative paths begin, absolute
	ReadOnly bool     `json:"read_only,omitempty"` // it may call only what changes nothing
}

// BoundsHeader is the HTTP header of a request that Header is the value of.
const BoundsHeader = "Tandem-Bounds"

// Header gives the bounds as the value of BoundsHeader.
func (b *Bounds) Header() string {
	text, _ := json.Marshal(b) // strings, numbers and booleans alone
	return base64.StdEncoding.EncodeToString(text)
}

// Away is the bounds as another machine is told of them: what is below the home
// folder here is named by ~, as another home is at another path.
func (b Bounds) Away(home string) Bounds {
	return b.renamed(func(path string) string {
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
			return filepath.Join("~", rel)
		}
		return path
	})
}

// At is bounds that another machine has told, on one with this home folder.
func (b Bounds) At(home string) Bounds {
	return b.renamed(func(path string) string {
		if path == "~" || strings.HasPrefix(path, "~/") {
			return filepath.Join(home, path[1:])
		}
		return path
	})
}

// renamed is the bounds with other paths.
func (b Bounds) renamed(name func(path string) string) Bounds {
	all := func(paths []string) []string {
		paths = slices.Clone(paths)
		for i, path := range paths {
			paths[i] = name(path)
		}
		return paths
	}
	b.Roots = all(b.Roots)
	if b.Base != "" {
		b.Base = name(b.Base)
	}
	if b.Sandbox != nil {
		s := *b.Sandbox
		s.Filesystem = SandboxFilesystem{DenyRead: all(s.Filesystem.DenyRead), AllowWrite: all(s.Filesystem.AllowWrite), DenyWrite: all(s.Filesystem.DenyWrite)}
		b.Sandbox = &s
	}
	return b
}
