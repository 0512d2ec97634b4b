package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/persist/datadir"
)

const sandboxName = "sandbox.json"

// SaveSandbox writes sandbox.json, which says how a process is confined, before
// there is a record of it; it makes the process's folder. Whoever finds that it
// was lost with the machine, as it was not durable, starts nothing.
func (s *Store) SaveSandbox(id string, profile []byte, durable bool) error {
	path, err := s.file(id, sandboxName)
	if err != nil {
		return err
	}
	if err := s.makeDir(id, durable); err != nil {
		return fmt.Errorf("save sandbox %s: %w", path, err)
	}
	if err := replaceFile(path, durable, profile); err != nil {
		return fmt.Errorf("save sandbox %s: %w", path, err)
	}
	return nil
}

// SandboxPath is where the sandbox.json of a process is.
func (s *Store) SandboxPath(id string) string { return filepath.Join(s.Dir(id), sandboxName) }

// An envFile is the content of env.json.
type envFile struct {
	Schema int `json:"schema"`
	Env
}

// An Env is what is put over the environment of what is started: variables for
// everything, and those that one client has set for what it starts itself.
type Env struct {
	Variables map[string]string            `json:"variables"`
	Clients   map[string]map[string]string `json:"clients,omitempty"` // by the client's id
}

// SaveEnv writes the environment overlay durably, readable by this user alone.
func (s *Store) SaveEnv(env Env) error {
	return s.saveShared("environment", datadir.Environment, true, envFile{SchemaVersion, env})
}

// saveShared writes a file that is of no single process.
func (s *Store) saveShared(what, name string, durable bool, v any) error {
	path := filepath.Join(s.dir, name)
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = replaceFile(path, durable, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save %s %s: %w", what, path, err)
	}
	return nil
}

// loadShared reads such a file into v; without one v stays as it is.
func (s *Store) loadShared(what, name string, v any) error {
	path := filepath.Join(s.dir, name)
	err := loadFile(path, func(b []byte) error { return decodeSchema(b, v) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("load %s %s: %w", what, path, err)
	}
	return nil
}

// LoadEnv reads the environment overlay; without a file it is empty. A damaged
// file is set aside as env.json.bad and is an error.
func (s *Store) LoadEnv() (Env, error) {
	var f envFile
	if err := s.loadShared("environment", datadir.Environment, &f); err != nil {
		return Env{}, err
	}
	if f.Variables == nil {
		f.Variables = map[string]string{}
	}
	return f.Env, nil
}

// SavePolicy keeps the text of the user's policy for agents, durably.
func (s *Store) SavePolicy(text []byte) error {
	path := filepath.Join(s.dir, datadir.LastPolicy)
	if err := replaceFile(path, true, text); err != nil {
		return fmt.Errorf("save policy %s: %w", path, err)
	}
	return nil
}

// LoadPolicy reads what SavePolicy kept; nil if it kept nothing.
func (s *Store) LoadPolicy() ([]byte, error) { return LastPolicy(s.dir) }

// LastPolicy is LoadPolicy for whoever has not opened the data folder.
func LastPolicy(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, datadir.LastPolicy))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
