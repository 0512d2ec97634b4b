package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/tests/needs"
)

// startSandboxedAgent starts an agent in a sandbox hiding the folder secret, with its own files in
// cc.
func startSandboxedAgent(t *testing.T) (m *machine, dir string, p api.Process, pid int) {
	t.Helper()
	m = sharedMachine(t)
	dir = t.TempDir()
	for _, folder := range []string{"secret/projects/a", "work/cc/sessions", "work/cc/projects"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p = call(m, api.SessionStart, api.SessionStartInput{
		Command: []string{fakeAgent(t, "claude")},
		Env:     map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(dir, "work/cc")},
		Sandbox: &api.Sandbox{Filesystem: api.SandboxFilesystem{
			DenyRead: []string{filepath.Join(dir, "secret")}, AllowWrite: []string{filepath.Join(dir, "work")},
		}},
	})
	m.awaitAgentState(p.ID, api.AgentUnknown)
	m.eventually("the agent's process", func() bool {
		pid = call(m, api.AgentExplain, api.IDInput{ID: p.ID}).PID
		return pid != 0
	})
	return m, dir, p, pid
}

// An agent can make the engine open any file through a link.
func TestAgentFileIsReadInTheAgentsSandbox(t *testing.T) {
	t.Parallel()
	m, dir, p, pid := startSandboxedAgent(t)
	const conversation = "c0ffee00-0000-4000-8000-000000000001"
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, target), path); err != nil {
			t.Fatal(err)
		}
	}
	explain := func() api.AgentExplainOutput { t.Helper(); return call(m, api.AgentExplain, api.IDInput{ID: p.ID}) }
	file := fmt.Sprintf("%d.json", pid)
	secret := `{"sessionId":"TOP-SECRET","status":"waiting","waitingFor":"SECRET TEXT"}`
	put("secret/credentials.json", secret)
	put("secret/"+file, secret)
	put("secret/projects/a/"+conversation+".jsonl", "{}")

	own := "work/cc/sessions/" + file
	for what, lead := range map[string]func(){
		"a link to the file":   func() { link("secret/credentials.json", own) },
		"a link to the folder": func() { link("secret", "work/cc/sessions") },
	} {
		lead()
		if got := explain(); got.Agent.Conversation != "" || got.Agent.Text != "" {
			t.Errorf("%s: the engine tells %q and %q", what, got.Agent.Conversation, got.Agent.Text)
		}
		os.Remove(filepath.Join(dir, "work/cc/sessions"))
		if err := os.MkdirAll(filepath.Join(dir, "work/cc/sessions"), 0o700); err != nil {
			t.Fatal(err)
		}
	}

	os.Remove(filepath.Join(dir, own))
	put(own, fmt.Sprintf(`{"sessionId":%q,"status":"waiting","waitingFor":"a yes"}`, conversation))
	if got := explain(); got.Agent.Conversation != conversation || got.Agent.Text != "a yes" {
		t.Errorf("of the agent's own file the engine tells %+v", got.Agent)
	}
	put("work/cc/projects/"+conversation+".jsonl", "{}") // in the wrong place
	link("secret/projects", "work/cc/projects")
	if got := explain(); got.Transcript != nil {
		t.Errorf("the engine lists a folder that the agent may not: %+v", got.Transcript)
	}
	os.Remove(filepath.Join(dir, "work/cc/projects"))
	if err := os.MkdirAll(filepath.Join(dir, "work/cc/projects/a"), 0o700); err != nil {
		t.Fatal(err)
	}
	put("work/cc/projects/a/"+conversation+".jsonl", "{}")
	if got := explain(); got.Transcript == nil {
		t.Error("the agent's own transcript was not found")
	}
}

// A pipe appears and disappears in place of the agent's file.
func TestPipeInPlaceOfAnAgentsFileDoesNotBlock(t *testing.T) {
	t.Parallel()
	needs.FullRun(t)
	m, dir, p, pid := startSandboxedAgent(t)
	path := filepath.Join(dir, "work/cc/sessions", fmt.Sprintf("%d.json", pid))
	pipe := filepath.Join(dir, "work/pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"sessionId":"own"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, pipe, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 300 {
		if _, err := api.AgentExplain.Call(ctx, m.client, api.IDInput{ID: p.ID}); err != nil {
			t.Fatal(err)
		}
	}
}
