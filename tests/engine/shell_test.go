package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/record/history"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// shells are the shells to be tested, each with the files of its home directory.
var shells = map[string]map[string]string{
	"bash": {".bashrc": "PS1='mine\\$ '\n"},
	"zsh":  {".zshrc": "PS1='mine%% '\n"},
	"fish": {
		".config/fish/config.fish": "function fish_prompt; echo -n 'mine> '; end\n",
		// Without these directories (of fish 3 and 4), fish reads all manual pages in the
		// background.
		".local/fish/generated_completions/none": "", ".cache/fish/generated_completions/none": "",
	},
}

// startShell starts a shell in a home directory with the given files.
func (m *machine) startShell(name string, files map[string]string) api.Process {
	m.Helper()
	home := m.TempDir()
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			m.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			m.Fatal(err)
		}
	}
	return call(m, api.SessionStart, api.SessionStartInput{
		Command: []string{name}, CWD: home,
		Env: map[string]string{"HOME": home, "XDG_CONFIG_HOME": home + "/.config", "XDG_DATA_HOME": home + "/.local", "LC_ALL": "C.UTF-8"},
	})
}

// The replayed shells of engine/session/prompt cover the details; this is one run of each shell in an engine.
func TestShellsRunCommandsInAnEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := sharedMachine(t)
	for name, files := range shells {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not here", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			m := m.in(t)
			p := m.startShell(name, files)
			if w := m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true}); w.Met != "prompt" || w.Process.Terminal.Waiting != "prompt" {
				t.Errorf("%+v", w)
			}
			out := wantRun(m, p.ID, "echo hello", "hello\n", 0)
			if out.Method != "marks" || out.CWD != p.CWD || !out.Alive || out.NextCursor <= out.Start {
				t.Errorf("%+v", out)
			}
			wantRun(m, p.ID, "sh -c 'seq 1 3; exit 3'", "1\n2\n3\n", 3)
			if out := wantRun(m, p.ID, "cd /usr", "", 0); out.CWD != "/usr" {
				t.Errorf("%+v", out)
			}
			_, err := api.SessionExec.Call(t.Context(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo 'abc", TimeoutMS: 60_000})
			if !errors.Is(err, api.CodeInvalid) || !strings.Contains(err.Error(), "incomplete") {
				t.Errorf("%v\n%q", err, lastOf(m.logOf(p), 600))
			}
			const sleeps = `sh -c 'echo be"g"un; exec sleep 1000'`
			m.write(p.ID, sleeps+"\r")
			m.awaitScreen(p.ID, "begun")
			call(m, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Keys: []string{"ctrl+c"}})
			if w := m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true}); w.Met != "prompt" {
				t.Errorf("%+v", w)
			}
			if out := m.sh(p.ID, "exit 4"); out.Alive || out.ExitCode == nil || *out.ExitCode != 4 {
				t.Errorf("%+v", out)
			}
			wantRows(m, p.ID, []shellRow{
				{"echo hello", p.CWD, 0, false}, {"sh -c 'seq 1 3; exit 3'", p.CWD, 3, false}, {"cd /usr", p.CWD, 0, false},
				{sleeps, "/usr", 130, true}, {"exit 4", "/usr", 4, false},
			})
		})
	}
	t.Run("silent program in the list", func(t *testing.T) {
		m := m.in(t)
		p := m.start("sh", "-c", "stty -echo; printf 'Password: '; read x; sleep 100")
		for _, c := range []struct{ typed, waiting string }{{"", "secret"}, {"word\r", ""}} {
			m.write(p.ID, c.typed)
			m.eventually("waiting for "+c.waiting, func() bool {
				all := call(m, api.ProcessList, api.ProcessListInput{Metrics: true}).Processes
				return slices.ContainsFunc(all, func(q api.Process) bool { return q.ID == p.ID && q.Terminal.Waiting == c.waiting })
			})
		}
	})
}

// A shellRow is the part of a command's row in the history that a shell decides.
type shellRow struct {
	line, cwd string
	code      int
	stopped   bool
}

// wantRows waits for the commands of a shell in the history, oldest first.
func wantRows(m *machine, id string, want []shellRow) {
	m.Helper()
	var got []shellRow
	m.eventually("all commands in the history", func() bool {
		got = nil
		for _, r := range slices.Backward(m.history(api.HistorySearchInput{Process: id, Limit: 100})) {
			if r.Kind == history.KindSession && r.ExitCode != nil {
				got = append(got, shellRow{r.Command.Command, r.CWD, *r.ExitCode, r.Stopped})
			}
		}
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		m.Errorf("the history has %+v, want %+v", got, want)
	}
}

func TestShellOutlivesItsEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start("bash", "--norc")
	wantRun(m, p.ID, "cd /usr", "", 0)
	call(m, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true})
	wait.Kill(m, m.info().EnginePID)
	if view := m.get(p.ID); view.Terminal.Keyboard != "test" {
		t.Errorf("%+v", view.Terminal)
	}
	if out := wantRun(m, p.ID, "echo again", "again\n", 0); out.Method != "marks" || out.CWD != "/usr" {
		t.Errorf("%+v", out)
	}
	m.write(p.ID, "read x\r")
	m.sessionWait(api.SessionWaitInput{ID: p.ID, Input: true})
	wait.Kill(m, m.info().EnginePID)
	m.eventually("the refusal", func() bool {
		_, err := api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo no"})
		return errors.Is(err, api.CodeConflict) && strings.Contains(err.Error(), "read x")
	})
	m.write(p.ID, "\r")
	m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
	wantRun(m, p.ID, "echo after", "after\n", 0)
	count := map[string]int{}
	for _, r := range m.history(api.HistorySearchInput{}) {
		count[r.Command.Command]++
	}
	for line, n := range map[string]int{"cd /usr": 0, "echo again": 0, "read x": 1, "echo after": 1} { // the last ones may not have reached the disk
		if count[line] < n || count[line] > 1 {
			t.Errorf("%q is %d times in the history", line, count[line])
		}
	}
	// The shell ignores the signal, and sees its command killed by it.
	m.write(p.ID, "echo be''gun; sleep 1000\r")
	m.awaitScreen(p.ID, "begun")
	m.eventually("the begin of the command", func() bool {
		_, err := api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: "true"})
		return err != nil && strings.Contains(err.Error(), "sleep 1000")
	})
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: "SIGTERM", TimeoutMS: 1000})
	m.eventually("the stopped command in the history", func() bool {
		rows := m.history(api.HistorySearchInput{Process: p.ID, Query: "sleep"})
		return len(rows) == 1 && rows[0].Stopped
	})
}
