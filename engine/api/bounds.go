package api

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds limit all calls of an agent. The user's server, to which the agent is connected, sends
// them with each request; the engine enforces them. The zero value limits nothing.
type Bounds struct {
	Name     string   `json:"name,omitempty"`      // the user's name for the agent: its token's, or that of --as
	Sandbox  *Sandbox `json:"sandbox,omitempty"`   // applies to everything done for it: programs, checks, files; nil: none
	Roots    []string `json:"roots,omitempty"`     // absolute directories accessible to file operations; none: all
	Base     string   `json:"base,omitempty"`      // absolute directory at which relative paths start
	ReadOnly bool     `json:"read_only,omitempty"` // only operations with effect read are allowed
	// About its server:
	ToolsOnly bool `json:"tools_only,omitempty"` // it only calls tools: what it reads outside a tool's call is for itself
	Elicits   bool `json:"elicits,omitempty"`    // it passes on the user's answers from the agent's program; never on another machine
}

// BoundsHeader is the HTTP request header for the value of Header.
const BoundsHeader = "Tandem-Bounds"

// Header returns the bounds as the value of the header BoundsHeader.
func (b *Bounds) Header() string {
	text, _ := json.Marshal(b) // cannot fail: only strings, numbers and booleans
	return base64.StdEncoding.EncodeToString(text)
}

// AbbreviateHome returns the bounds to send to another machine. Paths in home begin with ~ there,
// because the home directory may have a different path on that machine.
func (b Bounds) AbbreviateHome(home string) Bounds {
	return b.mapPaths(func(path string) string {
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
			return filepath.Join("~", rel)
		}
		return path
	})
}

// ExpandHome undoes AbbreviateHome on the receiving machine. home is its home directory.
func (b Bounds) ExpandHome(home string) Bounds {
	return b.mapPaths(func(path string) string {
		if path == "~" || strings.HasPrefix(path, "~/") {
			return filepath.Join(home, path[1:])
		}
		return path
	})
}

// mapPaths returns a copy of the bounds in which name was applied to every path.
func (b Bounds) mapPaths(name func(path string) string) Bounds {
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
	// Copy the sandbox: the caller's bounds share it.
	if b.Sandbox != nil {
		s := *b.Sandbox
		s.Filesystem = SandboxFilesystem{DenyRead: all(s.Filesystem.DenyRead), AllowWrite: all(s.Filesystem.AllowWrite), DenyWrite: all(s.Filesystem.DenyWrite)}
		b.Sandbox = &s
	}
	return b
}
