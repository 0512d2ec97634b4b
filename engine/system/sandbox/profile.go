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

// maxProfile limits the size of a profile, or a file of layers, in bytes.
const maxProfile = 1 << 20

// A Profile defines what a process may do. Its JSON is the public sandbox-runtime format plus
// limits.
type Profile struct {
	Filesystem Filesystem `json:"filesystem"`
	Network    *Network   `json:"network,omitempty"` // nil: unrestricted
	Limits     *Limits    `json:"limits,omitempty"`
}

// Filesystem lists absolute paths; a directory includes everything below it. Denials win.
type Filesystem struct {
	DenyRead   []string `json:"denyRead"`   // unreadable; everything else can be read
	AllowWrite []string `json:"allowWrite"` // writable, must exist; nothing else can be written
	DenyWrite  []string `json:"denyWrite"`  // exceptions from AllowWrite
}

// Network lists host names and IP addresses; "*.example.org" stands for all names below
// example.org, "*" for every name. Denials win.
type Network struct {
	AllowedDomains []string `json:"allowedDomains"` // empty: no network
	DeniedDomains  []string `json:"deniedDomains"`
}

// Limits are resource limits of the process and each of its children (setrlimit(2)); 0 is none.
type Limits struct {
	OpenFiles   uint64 `json:"open_files,omitempty"`
	Processes   uint64 `json:"processes,omitempty"` // of the user; does not bind root
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
	CPUSeconds  uint64 `json:"cpu_seconds,omitempty"`
}

// Parse parses and validates the JSON of a profile. Unknown fields are an error, because they may
// be meant to restrict something.
func Parse(data []byte) (Profile, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var p Profile
	if err := decode(data, &p); err != nil {
		return Profile{}, err
	}
	if err := p.Validate(); err != nil {
		return Profile{}, err
	}
	return p, nil
}

// decode parses one JSON value without unknown fields.
func decode(data []byte, into any) error {
	if len(data) > maxProfile {
		return fmt.Errorf("parse sandbox profile: larger than %d bytes", maxProfile)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("parse sandbox profile: %s", explainJSON(data, err))
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("parse sandbox profile: unexpected data after its end")
	}
	return nil
}

// explainJSON adds the line to an error of the decoder.
func explainJSON(data []byte, err error) string {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("line %d: %v", lineOf(data, syntax.Offset), err)
	case errors.As(err, &mismatch):
		return fmt.Sprintf("line %d: %q cannot be a JSON %s", lineOf(data, mismatch.Offset), mismatch.Field, mismatch.Value)
	case errors.Is(err, io.EOF):
		return "the file is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("line %d: a closing brace, bracket or quote is missing", lineOf(data, int64(len(bytes.TrimSpace(data)))))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func lineOf(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}

// Validate returns an error if a profile makes no sense, whatever the kernel.
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
			return fmt.Errorf("path %q does not exist, and patterns are not supported", path)
		}
	}
	return nil
}

// An access is the network available to a process.
type access int

// From the widest to the narrowest.
const (
	openNetwork  access = iota // unrestricted
	proxyNetwork               // only the proxy
	noNetwork
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
