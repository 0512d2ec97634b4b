package plugin

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// A sandboxInput is a sandbox in the public sandbox-runtime format. Its schema says only that it is
// an object, because every tool with one would repeat the rest.
type sandboxInput map[string]any

// parseSandbox returns the sandbox requested by a call for a program in cwd, or nil. The user's own
// sandbox for agents applies in addition.
func parseSandbox(f *toolkit.Agent, in sandboxInput, cwd string) (*api.Sandbox, error) {
	if in == nil {
		return nil, nil
	}
	data, err := json.Marshal(in)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "read sandbox: %v", err)
	}
	var s api.Sandbox
	// Unknown members are rejected: they may be meant to restrict something.
	if wrong := api.DecodeStrictly("read sandbox", data, &s); wrong != nil {
		return nil, wrong.WithHint("must be {filesystem:{denyRead,allowWrite,denyWrite},network:{allowedDomains,deniedDomains}}")
	}
	for _, paths := range [][]string{s.Filesystem.DenyRead, s.Filesystem.AllowWrite, s.Filesystem.DenyWrite} {
		for i, path := range paths {
			if path == "" { // or null; it would mean the working folder
				return nil, api.Errorf(api.CodeInvalid, "read sandbox: a path is empty")
			}
			paths[i] = resolvePath(f, f.Folder(cwd), path)
		}
	}
	return &s, nil
}

// resolvePath returns an absolute path; relative ones start in dir.
func resolvePath(f *toolkit.Agent, dir, path string) string {
	if filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") {
		return f.Folder(path)
	}
	return filepath.Join(dir, path)
}
