package access

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/api"
	"tandem/engine/system/sandbox"
	"tandem/persist/regular"
	"tandem/persist/trust"
)

// ReadSandbox reads the sandbox for agents' programs, or returns nil without a path. An unreadable
// or invalid file is an error: ignoring it would leave agents unconfined.
func ReadSandbox(path string) (*api.Sandbox, error) {
	if path == "" {
		return nil, nil
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("read the agents' sandbox: %w", err)
		}
		path = filepath.Join(home, rest)
	}
	text, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the agents' sandbox: %w", err)
	}
	// A file other users may change must not define the sandbox.
	if err := trust.File(path); err != nil {
		return nil, fmt.Errorf("read the agents' sandbox: %s: %w", path, err)
	}
	if _, err := sandbox.Parse(text); err != nil {
		return nil, fmt.Errorf("read the agents' sandbox: %s: %w", path, err)
	}
	var s api.Sandbox
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read the agents' sandbox: %s: %w", path, err)
	}
	return &s, nil
}
