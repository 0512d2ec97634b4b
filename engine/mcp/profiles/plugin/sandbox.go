package plugin

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

// A sandboxInput is a confinement in the public sandbox-runtime shape. Its
// schema says no more than that it is an object: each tool that takes one
// would have to repeat the rest.
type sandboxInput map[string]any

// confinement is the sandbox that a call asks for, for what it runs in cwd. The
// one that the person has set for agents holds beside it.
func confinement(f *toolkit.Agent, in sandboxInput, cwd string) (*api.Sandbox, error) {
	if in == nil {
		return nil, nil
	}
	data, err := json.Marshal(in)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "read sandbox: %v", err)
	}
	var s api.Sandbox
	// What is not known is refused: it may be meant to restrict something.
	if wrong := api.DecodeInput("", data, &s); wrong != nil {
		return nil, api.Errorf(api.CodeInvalid, "read sandbox: %s", strings.TrimPrefix(wrong.Message, "call : ")).
			WithHint("must be {filesystem:{denyRead,allowWrite,denyWrite},network:{allowedDomains,deniedDomains}}")
	}
	for _, paths := range [][]string{s.Filesystem.DenyRead, s.Filesystem.AllowWrite, s.Filesystem.DenyWrite} {
		for i, path := range paths {
			if path == "" { // or null: it would stand for the working folder
				return nil, api.Errorf(api.CodeInvalid, "read sandbox: a path is empty")
			}
			paths[i] = under(f, f.Folder(cwd), path)
		}
	}
	return &s, nil
}

// under is an absolute path; relative ones begin in dir.
func under(f *toolkit.Agent, dir, path string) string {
	if filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") {
		return f.Folder(path)
	}
	return filepath.Join(dir, path)
}
