package mcp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

func TestAnAgentCanOnlyNarrowThePersonsSandbox(t *testing.T) {
	floor := &api.Sandbox{
		Filesystem: api.SandboxFilesystem{DenyRead: []string{"/secret"}, AllowWrite: []string{"/tmp/x", "/work"}, DenyWrite: []string{"/work/.git"}},
		Network:    &api.SandboxNetwork{AllowedDomains: []string{"*.example.org", "go.dev"}, DeniedDomains: []string{"bad.example.org"}},
		Limits:     &api.SandboxLimits{OpenFiles: 100, CPUSeconds: 10},
	}
	asked := &api.Sandbox{
		Filesystem: api.SandboxFilesystem{AllowWrite: []string{"/", "/work/sub", "/home"}, DenyWrite: []string{"/work/sub/x"}},
		Network:    &api.SandboxNetwork{AllowedDomains: []string{"api.example.org", "*.go.dev", "evil.org", "notexample.org"}},
		Limits:     &api.SandboxLimits{OpenFiles: 500, CPUSeconds: 5, MemoryBytes: 7},
	}
	want := &api.Sandbox{
		Filesystem: api.SandboxFilesystem{DenyRead: []string{"/secret"}, AllowWrite: []string{"/tmp/x", "/work", "/work/sub"}, DenyWrite: []string{"/work/.git", "/work/sub/x"}},
		Network:    &api.SandboxNetwork{AllowedDomains: []string{"api.example.org"}, DeniedDomains: []string{"bad.example.org"}},
		Limits:     &api.SandboxLimits{OpenFiles: 100, CPUSeconds: 5, MemoryBytes: 7},
	}
	if diff := cmp.Diff(want, narrowed(floor, asked)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(floor, narrowed(floor, &api.Sandbox{Filesystem: floor.Filesystem})); diff != "" {
		t.Error("leaving something out loosens it:", diff)
	}
	if narrowed(nil, asked) != asked || narrowed(floor, nil) != floor {
		t.Error("one alone is not taken as it is")
	}
}
