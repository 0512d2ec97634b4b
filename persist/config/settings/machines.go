package settings

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Machine is a table [machines.NAME]: how to reach another machine.
type Machine struct {
	SSH       string            `toml:"ssh"`       // "user@box", as for ssh
	Transport []string          `toml:"transport"` // command whose input and output connect to the machine's bridge
	Env       map[string]string `toml:"env"`       // added to the environment of ssh or of the command
}

// MachineName reports whether name is valid for a machine. It must need no quotes in a shell, and
// contain neither slash nor comma.
func MachineName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(name)
}

func (c Config) checkMachines(report Report) {
	for _, name := range slices.Sorted(maps.Keys(c.Machines)) {
		key, m := "machines\x00"+name, c.Machines[name] // joined by \x00, because a name may contain a dot
		switch {
		case !MachineName(name):
			report(key, "machine %q: must be a name of letters, digits, dots, - and _", name)
		case m.SSH == "" && len(m.Transport) == 0:
			report(key, "machine %q: needs ssh = \"user@host\" or transport = [\"a\", \"command\"]", name)
		case m.SSH != "" && len(m.Transport) > 0:
			report(key, "machine %q: must have either ssh or transport, not both", name)
		case strings.HasPrefix(m.SSH, "-"):
			report(key+"\x00ssh", "machine %q: ssh = %q is not a valid host", name, m.SSH)
		case len(m.Transport) > 0 && m.Transport[0] == "":
			report(key+"\x00transport", "machine %q: transport: must have a program before its arguments", name)
		}
	}
}

func machineRows() []Setting {
	return []Setting{
		{Key: "machines", Want: "a table for each machine, as in [machines.box]", Doc: "Other machines; see docs/machines.md. Each has ssh = \"user@host\", or\ntransport = [\"docker\", \"exec\", …], and may have env, a table of variables."},
	}
}
