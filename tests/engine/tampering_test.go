package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestChangeOfAGitHookByAConfinedProgramIsReported(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	work := filepath.Join(m.TempDir(), "work")
	if err := os.MkdirAll(work+"/.git/hooks", 0o700); err != nil {
		t.Fatal(err)
	}
	confined := &api.Sandbox{Filesystem: api.SandboxFilesystem{AllowWrite: []string{work}}}
	run := func(script string) {
		call(m, api.Exec, api.ExecInput{Command: sh(script), CWD: work, Sandbox: confined})
	}
	begun := false
	for e, err := range m.client.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == api.EventNotice && strings.Contains(e.Notice, work) {
			if !strings.HasPrefix(e.Notice, ".git/hooks changed in "+work+" while ") {
				t.Errorf("told %q", e.Notice)
			}
			return
		}
		if !begun { // the watch has begun
			begun = true
			run("echo x >main.go")
			run("echo x >.git/hooks/pre-commit")
		}
	}
}
