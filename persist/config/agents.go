package config

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Agents is the table [agents] of config.toml: what holds for agents
// unless they are told otherwise. What they may do at all is in policy.toml.
type Agents struct {
	Sandbox   string `toml:"sandbox"`    // path of a sandbox.json for what they run without one of their own
	Elicit    *bool  `toml:"elicit"`     // the agent's own program asks the person too; default true
	ReapAfter string `toml:"reap_after"` // end what a vanished agent left behind after this; default never
	Resume    string `toml:"resume"`     // coding agents' conversations after a reboot: offer (the default), run or off
}

func (c Agents) check(wrong *mistakes) {
	if _, err := c.Reap(); err != nil {
		wrong.at("agents.reap_after", "%v", err)
	}
	if !slices.Contains([]string{"", "offer", "run", "off"}, c.Resume) {
		wrong.at("agents.resume", "resume = %q: must be offer, run or off", c.Resume)
	}
	if c.Sandbox != "" && !filepath.IsAbs(c.Sandbox) && !strings.HasPrefix(c.Sandbox, "~/") {
		wrong.at("agents.sandbox", "sandbox = %q: must be an absolute path or one that begins with ~/", c.Sandbox)
	}
}

// Elicits reports whether what the person is asked is asked in the agent's own
// program, too.
func (c Agents) Elicits() bool { return c.Elicit == nil || *c.Elicit }

func (c Agents) Reap() (time.Duration, error) {
	return parseDuration("reap_after", c.ReapAfter, "24h")
}

// AgentRules is $XDG_CONFIG_HOME/tandem/agents, where the person's rules for coding
// agents are.
func AgentRules() string {
	path, err := Path()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "agents")
}

// PolicyPath is $XDG_CONFIG_HOME/tandem/policy.toml.
func PolicyPath() string {
	path, err := Path()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "policy.toml")
}
