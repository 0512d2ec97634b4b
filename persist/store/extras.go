package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

const (
	sandboxName = "sandbox.json"
	envName     = "env.json"
)

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
	path := filepath.Join(s.dir, envName)
	b, err := json.MarshalIndent(envFile{SchemaVersion, env}, "", "  ")
	if err == nil {
		err = replaceFile(path, true, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save environment %s: %w", path, err)
	}
	return nil
}

// LoadEnv reads the environment overlay; without a file it is empty. A damaged
// file is set aside as env.json.bad and is an error.
func (s *Store) LoadEnv() (Env, error) {
	path := filepath.Join(s.dir, envName)
	var f envFile
	err := loadFile(path, func(b []byte) error { return decodeSchema(b, &f) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Env{}, fmt.Errorf("load environment %s: %w", path, err)
	}
	if f.Variables == nil {
		f.Variables = map[string]string{}
	}
	return f.Env, nil
}
