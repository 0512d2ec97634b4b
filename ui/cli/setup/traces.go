package setup

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tandem/persist/regular"
)

// startupFiles are the shells' files in the home directory that may load Tandem. The last is Tandem's own.
var startupFiles = []string{".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".config/fish/config.fish", ".config/fish/completions/tandem.fish"}

// Traces lists Tandem's additions to this machine outside its data directory and configuration, for
// removal by the user (docs/uninstalling.md).
func (m Machine) Traces() (all []string) {
	for _, name := range startupFiles {
		path := filepath.Join(m.Home, name)
		text, err := regular.ReadFile(path)
		if err != nil {
			continue
		}
		for i, line := range bytes.Split(text, []byte{'\n'}) {
			if bytes.Contains(line, []byte("tandem init")) || bytes.Contains(line, []byte("tandem completion")) || name == startupFiles[len(startupFiles)-1] && i == 0 {
				all = append(all, fmt.Sprintf("%s, line %d", path, i+1))
			}
		}
	}
	var settings []string
	for _, client := range m.States() {
		settings = append(settings, client.User, client.Project)
		if client.SetUp {
			all = append(all, fmt.Sprintf("server for %s in %s", client.Title, client.User))
		}
		if client.SetUpInProject {
			all = append(all, fmt.Sprintf("server for %s in %s", client.Title, client.Project))
		}
	}
	for _, hooks := range m.HookStates() {
		settings = append(settings, hooks.Path)
		if hooks.Hooks == HooksInstalled || hooks.Hooks == HooksOutdated {
			all = append(all, fmt.Sprintf("hooks of %s in %s", hooks.Title, hooks.Path))
		}
	}
	slices.Sort(settings)
	for _, path := range slices.Compact(settings) {
		if target, err := filepath.EvalSymlinks(path); err == nil && pathExists(target+backupSuffix) {
			all = append(all, "copy "+target+backupSuffix)
		}
	}
	data := cmp.Or(m.Env("XDG_DATA_HOME"), filepath.Join(m.Home, ".local", "share"))
	pages := filepath.Join(data, "man", "man1")
	if _, err := os.Lstat(filepath.Join(pages, "tandem.1")); err == nil {
		all = append(all, "manual pages "+filepath.Join(pages, "tandem*.1"))
	}
	if _, err := os.Lstat(m.UnitPath()); err == nil {
		all = append(all, "systemd unit "+m.UnitPath())
	}
	return all
}

// UnitPath returns the path of the systemd unit for the engine of this data directory.
func (m Machine) UnitPath() string {
	name := "tandem.service"
	if m.DataDir != filepath.Join(m.Home, ".local/state/tandem") {
		name = fmt.Sprintf("tandem-%.4x.service", sha256.Sum256([]byte(m.DataDir)))
	}
	return filepath.Join(cmp.Or(m.Env("XDG_CONFIG_HOME"), filepath.Join(m.Home, ".config")), "systemd/user", name)
}
