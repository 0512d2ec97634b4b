package config

import (
	"regexp"
	"strings"

	"tandem/persist/config/settings"
)

// KeepFleet writes the table [fleet] to the configuration, or removes it if f is empty. It leaves
// the rest of the file unchanged, and returns its path.
func KeepFleet(f settings.Fleet) (path string, err error) {
	return changeFile("write fleet", func(text string, c *settings.Config) string {
		c.Fleet = f
		return withFleet(text, f)
	})
}

// withFleet returns text with f as its table [fleet].
func withFleet(text string, f settings.Fleet) string {
	header, key := regexp.MustCompile(`^\s*\[\s*fleet\s*\]`), regexp.MustCompile(`^\s*(hub|authority|machine|person)\s*=`)
	var b strings.Builder
	inside, written := false, f == (settings.Fleet{})
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
			b.WriteString(fleetTable(f))
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
	return text + "[fleet]\n" + fleetTable(f)
}

// fleetTable returns the lines of the table.
func fleetTable(f settings.Fleet) string {
	var b strings.Builder
	for _, entry := range []struct{ key, value string }{{"hub", f.Hub}, {"authority", f.Authority}, {"machine", f.Machine}, {"person", f.Person}} {
		if entry.value != "" {
			b.WriteString(entry.key + " = " + settings.TOML(entry.value) + "\n")
		}
	}
	return b.String()
}
