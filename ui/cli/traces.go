package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"tandem/ui/cli/setup"
)

// startupFiles are the shells' files in the home directory that may load Tandem.
var startupFiles = []string{".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".config/fish/config.fish", ".config/fish/completions/tandem.fish"}

// traces lists what Tandem has put on this machine besides its data folder, as a user would
// remove it (docs/uninstalling.md).
func (a *app) traces() (all []string) {
	if config := a.config(); config.Files.Path != nil {
		if path, err := config.Path(); err == nil && exists(filepath.Dir(path)) {
			all = append(all, "configuration "+filepath.Dir(path))
		}
	}
	m, err := a.machine()
	if err != nil {
		return all
	}
	for _, name := range startupFiles {
		path := filepath.Join(m.Home, name)
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for i, line := range bytes.Split(text, []byte{'\n'}) {
			if bytes.Contains(line, []byte("tandem init")) || bytes.Contains(line, []byte("tandem completion")) || name == startupFiles[len(startupFiles)-1] && i == 0 {
				all = append(all, fmt.Sprintf("%s, line %d", path, i+1))
			}
		}
	}
	for _, client := range m.States() {
		if client.SetUp {
			all = append(all, fmt.Sprintf("server for %s in %s", client.Title, client.User))
		}
		if client.InThis {
			all = append(all, fmt.Sprintf("server for %s in %s", client.Title, client.Project))
		}
	}
	for _, hooks := range m.HookStates() {
		if hooks.Hooks == setup.HooksInstalled || hooks.Hooks == setup.HooksOutdated {
			all = append(all, fmt.Sprintf("hooks of %s in %s", hooks.Title, hooks.Path))
		}
	}
	data := cmp.Or(a.env("XDG_DATA_HOME"), filepath.Join(m.Home, ".local", "share"))
	if page := filepath.Join(data, "man", "man1", "tandem.1"); exists(page) {
		all = append(all, "manual pages "+filepath.Join(filepath.Dir(page), "tandem*.1"))
	}
	return all
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
