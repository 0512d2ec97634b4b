package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/sandbox"
	"tandem/ui/cli"
)

// AgentsConfig is the table [agents] of config.toml: what holds for agents
// unless they are told otherwise. What they may do at all is in policy.toml.
type AgentsConfig struct {
	Sandbox   string `toml:"sandbox"`    // path of a sandbox.json for what they run without one of their own
	Elicit    *bool  `toml:"elicit"`     // the agent's own program asks the person too; default true
	ReapAfter string `toml:"reap_after"` // end what a vanished agent left behind after this; default never
}

func (c AgentsConfig) check(wrong *mistakes) {
	if _, err := c.reapAfter(); err != nil {
		wrong.at("agents.reap_after", "%v", err)
	}
	if c.Sandbox != "" && !filepath.IsAbs(c.Sandbox) && !strings.HasPrefix(c.Sandbox, "~/") {
		wrong.at("agents.sandbox", "sandbox = %q: want an absolute path or one that begins with ~/", c.Sandbox)
	}
}

// elicits reports whether what the person is asked is asked in the agent's own
// program, too.
func (c AgentsConfig) elicits() bool { return c.Elicit == nil || *c.Elicit }

func (c AgentsConfig) reapAfter() (time.Duration, error) {
	return parseDuration("reap_after", c.ReapAfter, "24h")
}

// sandbox reads the confinement of what agents run; nil for none. One that
// cannot be read or makes no sense is an error: nothing is run open that should
// not be.
func (c AgentsConfig) sandbox() (*api.Sandbox, error) {
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

// sandboxHere is what confines agents on this machine, for the doctor.
func sandboxHere() cli.Sandbox {
	here := cli.Sandbox{}
	for _, p := range sandbox.Promises() {
		here.Promises = append(here.Promises, cli.Promise{Name: p.Name, Why: p.Why})
	}
	config, err := loadConfig()
	if err == nil {
		here.Profile = config.Agents.Sandbox
		err = config.Agents.enforceable()
	}
	here.Fault = err
	return here
}

// enforceable tells why the sandbox of agents could not be enforced here and now.
func (c AgentsConfig) enforceable() error {
	s, err := c.sandbox()
	if err != nil || s == nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	profile, err := sandbox.Parse(text)
	if err != nil {
		return err
	}
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	return sandbox.Layers{profile}.Check(dataDir, filepath.Dir(policyPath()))
}

// policyPath is $XDG_CONFIG_HOME/tandem/policy.toml.
func policyPath() string {
	path, err := configPath()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "policy.toml")
}
