package config

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Fleet is the table fleet: where a fleet's hub is, and who this machine is there.
type Fleet struct {
	Hub       string `toml:"hub"`       // "tls://host:port", several with commas between them
	Authority string `toml:"authority"` // file of the certificate that signs the hub's
	Machine   string `toml:"machine"`   // .creds file of this machine
	Person    string `toml:"person"`    // .creds file of the person here
}

func (f Fleet) check(wrong *mistakes) {
	for key, path := range map[string]string{"authority": f.Authority, "machine": f.Machine, "person": f.Person} {
		if path != "" && !filepath.IsAbs(path) {
			wrong.at("fleet\x00"+key, "fleet: %s = %q: must be an absolute path", key, path)
		}
	}
	for address := range strings.SplitSeq(f.Hub, ",") {
		if f.Hub != "" && !strings.HasPrefix(strings.TrimSpace(address), "tls://") {
			wrong.at("fleet\x00hub", "fleet: hub = %q: must be tls://host:port", f.Hub)
		}
	}
}

// KeepFleet writes the table fleet, or takes what it says out, and leaves the rest of the file
// as it is. It returns the file's path.
func KeepFleet(f Fleet) (path string, err error) {
	return changeFile("write fleet", func(text string, c *Config) string {
		c.Fleet = f
		return withFleet(text, f)
	})
}

// withFleet is a configuration with another table fleet.
func withFleet(text string, f Fleet) string {
	header, key := regexp.MustCompile(`^\s*\[\s*fleet\s*\]`), regexp.MustCompile(`^\s*(hub|authority|machine|person)\s*=`)
	var b strings.Builder
	inside, written := false, f == (Fleet{})
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "[") {
			inside = header.MatchString(line)
		}
		if inside && key.MatchString(line) {
			continue
		}
		b.WriteString(line)
		if inside && !written && header.MatchString(line) {
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\n")
			}
			b.WriteString(f.toml())
			written = true
		}
	}
	if written {
		return b.String()
	}
	text = b.String()
	if text != "" {
		text = strings.TrimRight(text, "\n") + "\n\n"
	}
	return text + "[fleet]\n" + f.toml()
}

// toml is what the table says.
func (f Fleet) toml() string {
	var b strings.Builder
	for _, entry := range []struct{ key, value string }{{"hub", f.Hub}, {"authority", f.Authority}, {"machine", f.Machine}, {"person", f.Person}} {
		if entry.value != "" {
			b.WriteString(entry.key + " = " + inTOML(entry.value) + "\n")
		}
	}
	return b.String()
}
