package config

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Fleet is the table [fleet]: the fleet's hub and this machine's credentials.
type Fleet struct {
	Hub       string `toml:"hub"`       // "tls://host:port", several separated by commas
	Authority string `toml:"authority"` // file with the certificate authority of the hub
	Machine   string `toml:"machine"`   // .creds file of this machine
	Person    string `toml:"person"`    // .creds file of the user
}

func (f Fleet) check(wrong *mistakes) {
	for key, path := range map[string]string{"authority": f.Authority, "machine": f.Machine, "person": f.Person} {
		if path != "" && !filepath.IsAbs(path) {
			wrong.add("fleet\x00"+key, "fleet: %s = %q: must be an absolute path", key, path)
		}
	}
	for address := range strings.SplitSeq(f.Hub, ",") {
		if f.Hub != "" && !strings.HasPrefix(strings.TrimSpace(address), "tls://") {
			wrong.add("fleet\x00hub", "fleet: hub = %q: must be tls://host:port", f.Hub)
		}
	}
}

// KeepFleet writes the table [fleet], or removes it if f is empty, and leaves the rest of the file
// unchanged. It returns the file's path.
func KeepFleet(f Fleet) (path string, err error) {
	return changeFile("write fleet", func(text string, c *Config) string {
		c.Fleet = f
		return withFleet(text, f)
	})
}

// withFleet returns text with the table [fleet] replaced.
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

// toml returns the lines of the table.
func (f Fleet) toml() string {
	var b strings.Builder
	for _, entry := range []struct{ key, value string }{{"hub", f.Hub}, {"authority", f.Authority}, {"machine", f.Machine}, {"person", f.Person}} {
		if entry.value != "" {
			b.WriteString(entry.key + " = " + inTOML(entry.value) + "\n")
		}
	}
	return b.String()
}
