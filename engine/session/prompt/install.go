package prompt

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"tandem/persist/regular"
)

//go:embed scripts
var scripts embed.FS

// These are the names of the scripts in the directory that Install fills.
const (
	bashName   = "bash.sh"
	zshDir     = "zsh"
	zshName    = "marks.zsh"
	fishName   = "marks.fish"
	posixName  = "env.sh"
	pythonFile = "startup.py"

	privateBashName = "private.sh"
	privateZshName  = "private.zsh"
)

// scriptFiles maps the embedded scripts to files.
var scriptFiles = [...]struct{ script, file string }{
	{"bash.sh", bashName},
	{"zshenv.zsh", zshDir + "/.zshenv"},
	{"marks.zsh", zshName},
	{"marks.fish", fishName},
	{"env.sh", posixName},
	{"startup.py", pythonFile},
	{"private.sh", privateBashName},
	{"private.zsh", privateZshName},
}

// Install writes the scripts to dir and creates it if necessary. It replaces files atomically, and
// does not touch those that are up to date.
func Install(dir string) error {
	for _, i := range scriptFiles {
		text, err := scripts.ReadFile("scripts/" + i.script)
		if err != nil {
			return fmt.Errorf("install shell scripts: %v", err)
		}
		if err := writeScript(filepath.Join(dir, i.file), text); err != nil {
			return fmt.Errorf("install shell scripts: %v", err)
		}
	}
	return nil
}

func writeScript(path string, text []byte) error {
	if old, err := regular.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// The name is fixed: only one engine at a time installs, and it overwrites the file that a
	// killed engine has left.
	draft := path + ".new"
	err := os.WriteFile(draft, text, 0o600)
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		os.Remove(draft)
	}
	return err
}
