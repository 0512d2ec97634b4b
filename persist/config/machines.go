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
)

// Machine is a table [machines.NAME]: how to reach another machine.
type Machine struct {
	SSH       string            `toml:"ssh"`       // "user@box", as for ssh
	Transport []string          `toml:"transport"` // command whose input and output connect to the machine's bridge
	Env       map[string]string `toml:"env"`       // added to the environment of ssh or of the command
}

// MachineName reports whether name is valid for a machine: it needs no quotes in a shell, and
// contains neither slash nor comma.
func MachineName(name string) bool {
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
	for i, r := range name {
		if !plain(r) && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return name != ""
}

func (c Config) checkMachines(wrong *mistakes) {
	for _, name := range slices.Sorted(maps.Keys(c.Machines)) {
		key, m := "machines\x00"+name, c.Machines[name]
		switch {
		case !MachineName(name):
			wrong.add(key, "machine %q: must be a name of letters, digits, dots, - and _", name)
		case m.SSH == "" && len(m.Transport) == 0:
			wrong.add(key, "machine %q: needs ssh = \"user@host\" or transport = [\"a\", \"command\"]", name)
		case m.SSH != "" && len(m.Transport) > 0:
			wrong.add(key, "machine %q: must have either ssh or transport, not both", name)
		case strings.HasPrefix(m.SSH, "-"):
			wrong.add(key+"\x00ssh", "machine %q: ssh = %q is no host", name, m.SSH)
		case len(m.Transport) > 0 && m.Transport[0] == "":
			wrong.add(key+"\x00transport", "machine %q: transport: must have a program before its arguments", name)
		}
	}
}

// toml returns the machine's table.
func (m Machine) toml(name string) string {
	var b strings.Builder
	if strings.Contains(name, ".") {
		name = inTOML(name)
	}
	fmt.Fprintf(&b, "[machines.%s]\n", name)
	if m.SSH != "" {
		fmt.Fprintf(&b, "ssh = %s\n", inTOML(m.SSH))
	}
	if len(m.Transport) > 0 {
		fmt.Fprintf(&b, "transport = %s\n", inTOML(m.Transport))
	}
	if len(m.Env) > 0 {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(m.Env)) {
			pairs = append(pairs, inTOML(key)+" = "+inTOML(m.Env[key]))
		}
		fmt.Fprintf(&b, "env = { %s }\n", strings.Join(pairs, ", "))
	}
	return b.String()
}

// KeepMachine writes a machine at the end of the configuration, replacing one of that name, and
// leaves the rest of the file unchanged. It returns the file's path.
func KeepMachine(name string, m Machine) (path string, err error) {
	if len(m.Env) == 0 {
		m.Env = nil // as Parse returns it
	}
	return changeFile("write machine "+name, func(text string, c *Config) string {
		if text = withoutTable(text, name); text != "" && !strings.HasSuffix(text, "\n\n") {
			text = strings.TrimRight(text, "\n") + "\n\n"
		}
		if c.Machines == nil {
			c.Machines = map[string]Machine{}
		}
		c.Machines[name] = m
		return text + m.toml(name)
	})
}

// ForgetMachine removes a machine from the configuration.
func ForgetMachine(name string) (path string, err error) {
	return changeFile("remove machine "+name, func(text string, c *Config) string {
		delete(c.Machines, name)
		return withoutTable(text, name)
	})
}

// withoutTable removes the tables of a machine, up to their last entry: comments below may belong
// to the next table.
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

// changeFile changes the file by applying change to its text and to its decoded content. It writes
// the new text only if it decodes to the new content.
func changeFile(what string, change func(text string, c *Config) string) (path string, err error) {
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
	// Verify the result: the text may be written in a way the edit does not handle.
	got, err := Parse([]byte(changed))
	if err != nil || want.Effective() != got.Effective() || len(want.Machines)+len(got.Machines) > 0 && !reflect.DeepEqual(want.Machines, got.Machines) {
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
