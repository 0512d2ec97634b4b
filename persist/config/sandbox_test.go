package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAgentSandboxStaysRequiredWhileConfigIsBeingSaved(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path, err := Path()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const confined, gone = "[agents]\nsandbox = \"/s.json\"\n", "gone"
	for i, step := range []struct {
		text, sandbox string
		want          error
	}{
		{gone, "", nil}, {"", "", nil}, {confined, "/s.json", nil}, {"", "", ErrWithdrawn}, {gone, "", ErrWithdrawn}, {"# theme = \"dark\"\n\n", "", ErrWithdrawn},
		{confined, "/s.json", nil}, {confined, "/s.json", nil}, {gone, "", ErrWithdrawn},
		{"[agents]\nsandbox = \"\"\n", "", nil}, {gone, "", nil}, {confined, "/s.json", nil}, {"theme = \"dark\"", "", nil}, {"", "", nil},
	} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if step.text != gone {
			if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := LoadAgents(dir)
		if c.Agents.Sandbox != step.sandbox || !errors.Is(err, step.want) || step.want == nil && err != nil {
			t.Errorf("step %d, %q: sandbox %q, %v", i, step.text, c.Agents.Sandbox, err)
		}
	}
}
