package settings

import (
	"path/filepath"
	"strings"
)

// Fleet is the table [fleet]: the fleet's hub and this machine's credentials.
type Fleet struct {
	Hub       string `toml:"hub"`       // "tls://host:port", several separated by commas
	Authority string `toml:"authority"` // file with the certificate authority of the hub
	Machine   string `toml:"machine"`   // .creds file of this machine
	Person    string `toml:"person"`    // .creds file of the user
}

func fleetRows() []Setting {
	return []Setting{
		{Key: "fleet.hub", Want: "an address in quotes", Example: `"tls://hub.example.org:4222"`, None: "no fleet", Doc: "The address of your fleet's hub; see docs/fleet.md. `tandem join` writes this table."},
		{Key: "fleet.authority", Want: "a path in quotes", Example: `"/home/me/.config/fleet/authority.pem"`, None: "the system's", Doc: "The certificate of the authority that signed the hub's certificate."},
		{Key: "fleet.machine", Want: "a path in quotes", Example: `"/home/me/.config/fleet/machine.creds"`, None: "none", Doc: "The NATS credentials of this machine."},
		{Key: "fleet.person", Want: "a path in quotes", Example: `"/home/me/.config/fleet/person.creds"`, None: "none", Doc: "Your personal credentials in the fleet."},
	}
}

func (f Fleet) check(report Report) {
	for key, path := range map[string]string{"authority": f.Authority, "machine": f.Machine, "person": f.Person} {
		if path != "" && !filepath.IsAbs(path) {
			report("fleet."+key, "fleet: %s = %q: must be an absolute path", key, path)
		}
	}
	for address := range strings.SplitSeq(f.Hub, ",") {
		if f.Hub != "" && !strings.HasPrefix(strings.TrimSpace(address), "tls://") {
			report("fleet.hub", "fleet: hub = %q: must be tls://host:port", f.Hub)
		}
	}
}
