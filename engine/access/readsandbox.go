package access

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/api"
	"tandem/engine/sandbox"
	"tandem/persist/trust"
)

// ReadSandbox reads the confinement of what agents run; nil without a path. One that
// cannot be read or makes no sense is an error: nothing is run open that should
// not be.
func ReadSandbox(path string) (*api.Sandbox, error) {
	if path == "" {
		return nil, nil
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("read sandbox of agents: %w", err)
		}
		path = filepath.Join(home, rest)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read sandbox of agents: %w", err)
	}
	if err := trust.File(path); err != nil {
		return nil, fmt.Errorf("read sandbox of agents: %s: %w", path, err)
	}
	if _, err := sandbox.Parse(text); err != nil {
		return nil, fmt.Errorf("read sandbox of agents: %s: %w", path, err)
	}
	var s api.Sandbox
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read sandbox of agents: %s: %w", path, err)
	}
	return &s, nil
}
