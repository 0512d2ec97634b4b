package prompt

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed scripts
var scripts embed.FS

// Where the scripts lie in the folder that Install has filled.
const (
	bashName   = "bash.sh"
	zshDir     = "zsh"
	zshName    = "marks.zsh"
	fishName   = "marks.fish"
	posixName  = "env.sh"
	pythonFile = "startup.py"
)

// installed says which script becomes which file.
var installed = [...]struct{ script, file string }{
	{"bash.sh", bashName},
	{"zshenv.zsh", zshDir + "/.zshenv"},
	{"marks.zsh", zshName},
	{"marks.fish", fishName},
	{"env.sh", posixName},
	{"startup.py", pythonFile},
}

// Install writes the scripts into a folder, which it makes. A file that is as
// it should be is left alone, and none is ever seen half-written.
func Install(dir string) error {
	for _, i := range installed {
		text, err := scripts.ReadFile("scripts/" + i.script)
		if err != nil {
			return fmt.Errorf("install shell scripts: %v", err)
		}
		if err := put(filepath.Join(dir, i.file), text); err != nil {
			return fmt.Errorf("install shell scripts: %v", err)
		}
	}
	return nil
}

func put(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// One name, as only one engine at a time does this: what a killed one has left
	// is written over.
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
