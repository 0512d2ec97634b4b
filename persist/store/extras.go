package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"tandem/persist/datadir"
	"tandem/persist/regular"
)

const sandboxName = "sandbox.json"

// SaveSandbox writes sandbox.json, which confines a process, and creates the process's directory.
// It is called before the record is saved. If durable is false, a power failure may lose the file;
// the engine must not start the process then.
func (s *Store) SaveSandbox(id string, profile []byte, durable bool) error {
	path, err := s.pathOf(id, sandboxName)
	if err != nil {
		return err
	}
	if err := s.makeDir(id, durable); err != nil {
		return fmt.Errorf("save sandbox %s: %w", path, err)
	}
	if err := s.Flusher.replaceFile(path, durable, profile); err != nil {
		return fmt.Errorf("save sandbox %s: %w", path, err)
	}
	return nil
}

// SandboxPath returns the path of a process's sandbox.json.
func (s *Store) SandboxPath(id string) string { return filepath.Join(s.Dir(id), sandboxName) }

type envFile struct {
	Schema int `json:"schema"`
	Env
}

// An Env is the environment for new processes, in addition to the engine's: variables for all of
// them, and variables that one client has set for its own.
type Env struct {
	Variables map[string]string            `json:"variables"`
	Clients   map[string]map[string]string `json:"clients,omitempty"` // by client id
}

// SaveEnv saves the variables durably. Only this user can read the file.
func (s *Store) SaveEnv(env Env) error {
	return s.saveShared("environment", datadir.Environment, true, envFile{SchemaVersion, env})
}

// saveShared writes a file that belongs to no single process.
func (s *Store) saveShared(what, name string, durable bool, v any) error {
	path := filepath.Join(s.dir, name)
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = s.Flusher.replaceFile(path, durable, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save %s %s: %w", what, path, err)
	}
	return nil
}

// loadShared reads a file written by saveShared into v. If there is none, v is unchanged.
func (s *Store) loadShared(what, name string, v any) error {
	path := filepath.Join(s.dir, name)
	err := s.loadFile(path, func(b []byte) error { return decodeSchema(b, v) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("load %s %s: %w", what, path, err)
	}
	return nil
}

// LoadEnv reads the variables. A missing file counts as empty. It sets a damaged file aside as
// env.json.bad and returns an error.
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

// SavePolicy saves the text of the user's policy for agents durably.
func (s *Store) SavePolicy(text []byte) error {
	path := filepath.Join(s.dir, datadir.LastPolicy)
	if err := replaceFile(path, true, text); err != nil {
		return fmt.Errorf("save policy %s: %w", path, err)
	}
	return nil
}

// LoadPolicy returns the text of the last SavePolicy, or nil if there is none.
func (s *Store) LoadPolicy() ([]byte, error) { return LastPolicy(s.dir) }

// LastPolicy is like LoadPolicy, but needs no open Store.
func LastPolicy(dir string) ([]byte, error) {
	text, err := regular.ReadFile(filepath.Join(dir, datadir.LastPolicy))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
