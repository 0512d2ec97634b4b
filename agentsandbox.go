package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/api"
	"tandem/engine/sandbox"
	"tandem/persist/config"
)

// agentsSandbox reads the confinement of what agents run; nil for none. One that
// cannot be read or makes no sense is an error: nothing is run open that should
// not be.
func agentsSandbox(c config.Agents) (*api.Sandbox, error) {
	if c.Sandbox == "" {
		return nil, nil
	}
	path := c.Sandbox
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
	if _, err := sandbox.Parse(text); err != nil {
		return nil, fmt.Errorf("read sandbox of agents: %s: %w", path, err)
	}
	var s api.Sandbox
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read sandbox of agents: %s: %w", path, err)
	}
	return &s, nil
}

// ownSandbox is what agents are held to on this machine; nil for nothing.
func ownSandbox() (*api.Sandbox, error) {
	conf, err := config.Load()
	if err != nil {
		return nil, err
	}
	return agentsSandbox(conf.Agents)
}
