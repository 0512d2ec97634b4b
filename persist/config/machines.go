package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"tandem/persist/config/settings"
)

// machineTable returns the table of a machine.
func machineTable(name string, m settings.Machine) string {
	var b strings.Builder
	if strings.Contains(name, ".") {
		name = settings.TOML(name)
	}
	fmt.Fprintf(&b, "[machines.%s]\n", name)
	if m.SSH != "" {
		fmt.Fprintf(&b, "ssh = %s\n", settings.TOML(m.SSH))
	}
	if len(m.Transport) > 0 {
		fmt.Fprintf(&b, "transport = %s\n", settings.TOML(m.Transport))
	}
	if len(m.Env) > 0 {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(m.Env)) {
			pairs = append(pairs, settings.TOML(key)+" = "+settings.TOML(m.Env[key]))
		}
		fmt.Fprintf(&b, "env = { %s }\n", strings.Join(pairs, ", "))
	}
	return b.String()
}

// KeepMachine writes a machine to the end of the configuration, and removes an earlier one with its
// name. It leaves the rest of the file unchanged, and returns its path.
func KeepMachine(name string, m settings.Machine) (path string, err error) {
	if len(m.Env) == 0 {
		m.Env = nil // as Parse returns it
	}
	return changeFile("write machine "+name, func(text string, c *settings.Config) string {
		if text = withoutTable(text, name); text != "" && !strings.HasSuffix(text, "\n\n") {
			text = strings.TrimRight(text, "\n") + "\n\n"
		}
		if c.Machines == nil {
			c.Machines = map[string]settings.Machine{}
		}
		c.Machines[name] = m
		return text + machineTable(name, m)
	})
}

// ForgetMachine removes a machine from the configuration.
func ForgetMachine(name string) (path string, err error) {
	return changeFile("remove machine "+name, func(text string, c *settings.Config) string {
		delete(c.Machines, name)
		return withoutTable(text, name)
	})
}

// withoutTable removes the tables of a machine, up to their last entry. Comments after it may
// belong to the next table.
func withoutTable(text, name string) string {
	header := regexp.MustCompile(`^\s*\[\s*machines\s*\.\s*["']?` + regexp.QuoteMeta(name) + `["']?\s*(\.[^\]]*)?\]`)
	var kept, pending []string
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "[") {
			if inside = header.MatchString(line); !inside {
				kept = append(kept, pending...)
			}
			pending = nil
		}
		trimmed := strings.TrimSpace(line)
		switch {
		case !inside:
			kept = append(kept, line)
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
			pending = append(pending, line)
		default:
			pending = nil
		}
	}
	return strings.Join(append(kept, pending...), "")
}

// changeFile applies change to the text of the configuration and to its decoded content. It writes
// the new text only if it decodes to the new content.
func changeFile(what string, change func(text string, c *settings.Config) string) (path string, err error) {
	path, err = Path()
	if err != nil {
		return "", err
	}
	// Write through a symbolic link instead of replacing it.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	text, err := readConfig(path)
	if err != nil {
		return path, err
	}
	want, err := Parse(text)
	if err != nil {
		return path, fmt.Errorf("%s: %s has a mistake; `tandem config check` shows it", what, path)
	}
	changed := change(string(text), &want)
	// Verify the result, because the text may be written in a way that change does not handle.
	got, err := Parse([]byte(changed))
	if err != nil || !reflect.DeepEqual(want.Values(), got.Values()) {
		return path, fmt.Errorf("%s: edit %s yourself; Tandem cannot change a file laid out this way", what, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return path, fmt.Errorf("write configuration: %w", err)
	}
	if err := renameio.WriteFile(path, []byte(changed), 0o644, renameio.WithExistingPermissions()); err != nil {
		return path, fmt.Errorf("write configuration: %w", err)
	}
	return path, nil
}
