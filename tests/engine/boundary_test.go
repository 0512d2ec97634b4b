package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

// confinedOptions returns the options of an agent's client within bounds.
func (m *machine) confinedOptions(b api.Bounds) client.Options {
	o := m.options()
	o.Name, o.Owner, o.Bounds = "agent:confined/1", "confined-1", &b
	return o
}

// agentWithin returns a client of an agent within bounds.
func (m *machine) agentWithin(b api.Bounds) *client.Client {
	m.Helper()
	conn, err := client.Connect(m.Context(), m.confinedOptions(b))
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(conn.Close)
	return conn
}

// The kernel holds what an agent starts to the agent's sandbox.
func TestProgramsOfAgentsStayInTheirSandbox(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	work, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"secret": "hunter2", "frozen": "as it was"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(work, "own"), 0o755), os.Symlink(outside, filepath.Join(work, "link"))); err != nil {
		t.Fatal(err)
	}
	agent := m.agentWithin(api.Bounds{Name: "confined", Base: work, Sandbox: &api.Sandbox{
		Filesystem: api.SandboxFilesystem{DenyRead: []string{filepath.Join(work, "secret")}, AllowWrite: []string{work}, DenyWrite: []string{filepath.Join(work, "frozen")}},
		Network:    &api.SandboxNetwork{},
	}})
	script := sh("echo x > " + outside + "/canary; echo x > " + work + "/frozen; cat " + work + "/secret; echo mine > " + work + "/own/ran")
	wide := &api.Sandbox{Filesystem: api.SandboxFilesystem{AllowWrite: []string{"/"}}}
	linked := &api.Sandbox{Filesystem: api.SandboxFilesystem{AllowWrite: []string{filepath.Join(work, "link")}}}
	start := func(in api.ProcessStartInput) func() (api.Process, error) {
		return func() (api.Process, error) { return api.ProcessStart.Call(t.Context(), agent, in) }
	}
	exec := func(in api.ExecInput) func() (api.Process, error) {
		return func() (api.Process, error) {
			out, err := api.Exec.Call(t.Context(), agent, in)
			if strings.Contains(out.Stdout, "hunter2") {
				t.Errorf("%+v read the secret", in)
			}
			return out.Process, err
		}
	}
	for what, begin := range map[string]func() (api.Process, error){
		"a process":               start(api.ProcessStartInput{Command: script}),
		"a process in a terminal": start(api.ProcessStartInput{Command: script, TTY: true}),
		"a session": func() (api.Process, error) {
			return api.SessionStart.Call(t.Context(), agent, api.SessionStartInput{Command: script})
		},
		"a session with a wider sandbox": func() (api.Process, error) {
			return api.SessionStart.Call(t.Context(), agent, api.SessionStartInput{Command: script, Sandbox: wide})
		},
		"a readiness command": func() (api.Process, error) {
			p, err := start(api.ProcessStartInput{Command: []string{"sleep", "1000"}, Ready: &api.Readiness{Command: script}})()
			if err == nil {
				_, err = api.ProcessWait.Call(t.Context(), agent, api.ProcessWaitInput{ID: p.ID, Ready: true})
			}
			if err == nil {
				_, err = api.ProcessStop.Call(t.Context(), agent, api.ProcessStopInput{ID: p.ID})
			}
			return p, err
		},
		"a command":                      exec(api.ExecInput{Command: script}),
		"a command with a wider sandbox": exec(api.ExecInput{Command: script, Sandbox: wide}),
		"a command with a link":          exec(api.ExecInput{Command: script, Sandbox: linked}),
	} {
		p, err := begin()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Exit: true})
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("%s created %v outside, %v", what, left, err)
		}
		if text, err := os.ReadFile(filepath.Join(work, "frozen")); err != nil || string(text) != "as it was" {
			t.Errorf("%s changed a protected file: %q, %v", what, text, err)
		}
		if log, _ := os.ReadFile(p.LogPath); strings.Contains(string(log), "hunter2") {
			t.Errorf("%s read the secret", what)
		}
		// A sandbox that the agent asks for may keep it from starting.
		if err := os.Remove(filepath.Join(work, "own", "ran")); err != nil && !strings.Contains(what, " with a ") {
			t.Errorf("%s did not run: %v", what, err)
		}
	}
}

func TestOnlyTheUserAnswersRequests(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	agent, said := m.agentWithin(api.Bounds{}), filepath.Join(t.TempDir(), "said")
	userSession := m.start("sh").ID
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := fmt.Sprintf(`"%s" call request.list '{}'`, exe)
	for what, script := range map[string]string{
		"a command":                     ask,
		"a child of it":                 "sh -c 'exec " + strings.ReplaceAll(ask, "'", `'"'"'`) + "'; true",
		"one without a mark":            "env -u TANDEM_SESSION_ID " + ask,
		"one that has left its session": "setsid -w " + ask,
		"an orphan without a mark":      "(env -u TANDEM_SESSION_ID setsid " + ask + " > " + said + " 2>&1 &); while ! [ -s " + said + " ]; do sleep 0.01; done; cat " + said,
	} {
		out, err := api.Exec.Call(t.Context(), agent, api.ExecInput{Command: sh(script), Environ: map[string]string{"PATH": os.Getenv("PATH")}})
		if err != nil || !strings.Contains(out.Stdout, "only the user may") {
			t.Errorf("%s: %+v, %v", what, out, err)
		}
	}
	// The user's own command may answer requests. So may a program in their session, until an agent
	// types into it.
	if out := call(m, api.Exec, api.ExecInput{Command: sh(ask)}); !strings.Contains(out.Stdout, `"requests":[]`) {
		t.Errorf("the user's command: %q %q", out.Stdout, out.Stderr)
	}
	m.pinned = true // the command calls the running engine
	m.write(userSession, ask+"\r")
	m.awaitScreen(userSession, `"requests":[]`)
	m.sessionWait(api.SessionWaitInput{ID: userSession, Prompt: true}) // the answer is shown before the command exits
	out, err := api.SessionExec.Call(t.Context(), agent, api.SessionExecInput{ID: userSession, Command: ask})
	if err != nil || !strings.Contains(out.Output, "typed last") {
		t.Errorf("typed by an agent: %+v, %v", out, err)
	}
}

// runCall calls an operation as a client of the user, and prints the answer.
func runCall(name, body string) int {
	conn, err := client.Connect(context.Background(), client.Options{Version: "1.2.3", Name: "cli"})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer conn.Close()
	answer, err := api.NewOperation[json.RawMessage, json.RawMessage](name, "", api.Write, api.Row[json.RawMessage]{}).Call(context.Background(), conn, json.RawMessage(body))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(string(answer))
	return 0
}
