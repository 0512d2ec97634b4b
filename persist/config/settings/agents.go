package settings

import (
	"path/filepath"
	"strings"
)

// Agents is the table [agents]: settings for agents. The file policy.toml decides which operations
// agents may use.
type Agents struct {
	Sandbox   string   `toml:"sandbox"`    // path of the sandbox.json for what they run without a sandbox of their own
	Elicit    bool     `toml:"elicit"`     // also ask the user in the agent's own program
	ReapAfter Duration `toml:"reap_after"` // stop what a vanished agent left running after this long; 0 is never
	Resume    string   `toml:"resume"`     // resume conversations of coding agents after a reboot: "offer", "run" or "off"
}

func agentDefaults() Agents { return Agents{Elicit: true, Resume: "offer"} }

func agentRows() []Setting {
	return []Setting{
		{Key: "agents.sandbox", Want: "a path in quotes", Example: `"~/agents.json"`, None: "no sandbox", Doc: "The sandbox for programs that agents run without a sandbox of their own."},
		{Key: "agents.elicit", Want: "true or false", Doc: "Ask you about agents' requests in the agent's own program too, if it can. Set this to false\nif you do not trust that program: it could answer for you."},
		{Key: "agents.reap_after", Want: "a time in quotes, such as \"24h\"", Example: `"24h"`, None: "never", Doc: "After this time, stop the programs that an agent left running when it disconnected."},
		{Key: "agents.resume", Want: "a name in quotes", Doc: "After a reboot, a coding agent's conversation in a session that starts again: offer types the\ncommand to resume it, without pressing enter; run resumes it; off does neither."},
	}
}

func (a Agents) check(report Report) {
	a.ReapAfter.check(report, "agents.reap_after", "24h")
	report.unknown("agents.resume", a.Resume, "offer", "run", "off")
	if a.Sandbox != "" && !filepath.IsAbs(a.Sandbox) && !strings.HasPrefix(a.Sandbox, "~/") {
		report("agents.sandbox", "sandbox = %q: must be an absolute path or one that begins with ~/", a.Sandbox)
	}
}
