package config

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Agents is the table [agents] of config.toml: defaults for agents. policy.toml determines what
// agents may do at all.
type Agents struct {
	Sandbox   string `toml:"sandbox"`    // path of the sandbox.json for what they run without a sandbox of their own
	Elicit    *bool  `toml:"elicit"`     // also ask the user in the agent's own program; default true
	ReapAfter string `toml:"reap_after"` // stop what a vanished agent left running after this long; default never
	Resume    string `toml:"resume"`     // resume conversations of coding agents after a reboot: offer (default), run or off
}

func (c Agents) check(wrong *mistakes) {
	if _, err := c.Reap(); err != nil {
		wrong.add("agents.reap_after", "%v", err)
	}
	if !slices.Contains([]string{"", "offer", "run", "off"}, c.Resume) {
		wrong.add("agents.resume", "resume = %q: must be offer, run or off", c.Resume)
	}
	if c.Sandbox != "" && !filepath.IsAbs(c.Sandbox) && !strings.HasPrefix(c.Sandbox, "~/") {
		wrong.add("agents.sandbox", "sandbox = %q: must be an absolute path or one that begins with ~/", c.Sandbox)
	}
}

// Elicits reports whether to ask the user in the agent's own program too.
func (c Agents) Elicits() bool { return c.Elicit == nil || *c.Elicit }

// Reap returns how long to wait before stopping what a vanished agent left running; 0 means never.
func (c Agents) Reap() (time.Duration, error) {
	return parseDuration("reap_after", c.ReapAfter, "24h")
}

// AgentRules returns the directory of the user's rules for coding agents,
// $XDG_CONFIG_HOME/tandem/agents.
func AgentRules() string {
	path, err := Path()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "agents")
}

// PolicyPath returns the path of policy.toml, in the directory of config.toml.
func PolicyPath() string {
	path, err := Path()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "policy.toml")
}
