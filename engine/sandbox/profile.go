package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxProfile bounds a profile in bytes.
const maxProfile = 1 << 20

// A Profile says what a process may do. Its JSON is sandbox.json, in the public
// sandbox-runtime shape with limits added.
type Profile struct {
	Filesystem Filesystem `json:"filesystem"`
	Network    *Network   `json:"network,omitempty"` // nil: not restricted
	Limits     *Limits    `json:"limits,omitempty"`
}

// Filesystem lists absolute paths; a folder stands for all below it. Denials win.
type Filesystem struct {
	DenyRead   []string `json:"denyRead"`   // may not be read; everything else may
	AllowWrite []string `json:"allowWrite"` // may be written, must exist; nothing else may
	DenyWrite  []string `json:"denyWrite"`  // exceptions from AllowWrite
}

// Network lists host names and IP addresses; "*.example.org" stands for all
// names below example.org, "*" for every name. Denials win.
type Network struct {
	AllowedDomains []string `json:"allowedDomains"` // empty: no network
	DeniedDomains  []string `json:"deniedDomains"`
}

// Limits are resource limits of the process and each of its children
// (setrlimit(2)); 0 is none.
type Limits struct {
	OpenFiles   uint64 `json:"open_files,omitempty"`
	Processes   uint64 `json:"processes,omitempty"` // of the user; does not bind root
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
	CPUSeconds  uint64 `json:"cpu_seconds,omitempty"`
}

// Parse reads and validates the JSON of a profile. Unknown fields are an error,
// because they may be meant to restrict something.
func Parse(data []byte) (Profile, error) {
	var p Profile
	if len(data) > maxProfile {
		return p, fmt.Errorf("parse sandbox profile: larger than %d bytes", maxProfile)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return Profile{}, fmt.Errorf("parse sandbox profile: %s", explainJSON(data, err))
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Profile{}, errors.New("parse sandbox profile: something follows its end")
	}
	if err := p.Validate(); err != nil {
		return Profile{}, err
	}
	return p, nil
}

// explainJSON adds the line to an error of the decoder.
func explainJSON(data []byte, err error) string {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("line %d: %v", lineOf(data, syntax.Offset), err)
	case errors.As(err, &mismatch):
		return fmt.Sprintf("line %d: %q cannot be a %s", lineOf(data, mismatch.Offset), mismatch.Field, mismatch.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func lineOf(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}

// Load reads the profile in a file.
func Load(path string) (Profile, error) {
	file, err := os.Open(path)
	if err != nil {
		return Profile{}, fmt.Errorf("read sandbox profile: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxProfile+1))
	if err != nil {
		return Profile{}, fmt.Errorf("read sandbox profile: %w", err)
	}
	p, err := Parse(data)
	if err != nil {
		return Profile{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Validate tells what makes no sense in a profile, whatever the kernel.
func (p Profile) Validate() error {
	for _, list := range []struct {
		name  string
		paths []string
	}{
		{"filesystem.denyRead", p.Filesystem.DenyRead},
		{"filesystem.allowWrite", p.Filesystem.AllowWrite},
		{"filesystem.denyWrite", p.Filesystem.DenyWrite},
	} {
		for _, path := range list.paths {
			if err := checkPath(path); err != nil {
				return fmt.Errorf("sandbox profile: %s: %w", list.name, err)
			}
		}
	}
	if p.Network == nil {
		return nil
	}
	if _, err := newDomains(*p.Network); err != nil {
		return fmt.Errorf("sandbox profile: %w", err)
	}
	return nil
}

func checkPath(path string) error {
	switch {
	case strings.IndexByte(path, 0) >= 0:
		return fmt.Errorf("path %q holds a NUL byte", path)
	case !filepath.IsAbs(path):
		return fmt.Errorf("path %q is not absolute", path)
	case strings.ContainsAny(path, "*?["):
		if _, err := os.Lstat(path); err != nil {
			return fmt.Errorf("path %q is not there, and patterns are not supported", path)
		}
	}
	return nil
}

// Check tells why the profile cannot be enforced here and now, nil if it can:
// what the kernel lacks, or which path is in the way. guarded are folders that
// must not become writable because they decide how processes are started: the
// data folder. A profile that fails is not to be started; the launch stage
// checks again.
func (p Profile) Check(guarded ...string) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if err := currentKernel().check(p); err != nil {
		return err
	}
	return checkPaths(p, guarded)
}

// An access is which network a profile leaves to a process.
type access int

const (
	openNetwork access = iota // not restricted
	noNetwork
	proxyNetwork // the proxy alone
)

func (p Profile) network() access {
	switch {
	case p.Network == nil:
		return openNetwork
	case len(p.Network.AllowedDomains) == 0:
		return noNetwork
	}
	return proxyNetwork
}

// NeedsProxy tells whether the process needs a grant of a Proxy.
func (p Profile) NeedsProxy() bool {
	return p.network() == proxyNetwork
}
