package engine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

// A shellCase is a shell to be tested, with a home folder of its own.
type shellCase struct {
	name string
	argv []string
	rc   map[string]string // files of the home folder
}

var shellCases = []shellCase{
	{"bash", []string{"bash"}, map[string]string{".bashrc": "RCREAD=yes\nPS1='mine\\$ '\n"}},
	{"bash-login", []string{"bash", "-l"}, map[string]string{".bash_profile": "RCREAD=yes\n", ".bashrc": "RCREAD=no\n"}},
	{"zsh", []string{"zsh"}, map[string]string{".zshrc": "RCREAD=yes\nPS1='mine%% '\n"}},
	{"zsh-login", []string{"zsh", "-l"}, map[string]string{".zprofile": "RCREAD=yes\n", ".zshrc": "PS1='mine%% '\n"}},
	{"fish", []string{"fish"}, map[string]string{".config/fish/config.fish": "set -g RCREAD yes\nfunction fish_prompt; echo -n 'mine> '; end\n"}},
	{"sh", []string{"sh"}, map[string]string{".shrc": "RCREAD=yes\nPS1='mine$ '\n"}},
}

// start starts a case's shell; nil if it is not on this machine.
func (c shellCase) start(m *machine) *api.Process {
	m.Helper()
	if _, err := exec.LookPath(c.argv[0]); err != nil {
		m.Logf("%s is not here", c.argv[0])
		return nil
	}
	home := filepath.Join(m.dir, "home-"+c.name)
	for name, text := range c.rc {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			m.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			m.Fatal(err)
		}
	}
	p := call(m, api.SessionStart, api.SessionStartInput{
		Command: c.argv, CWD: home,
		Env: map[string]string{"HOME": home, "ENV": home + "/.shrc", "XDG_CONFIG_HOME": home + "/.config", "XDG_DATA_HOME": home + "/.local"},
	})
	return &p
}

func (m *machine) sh(id, command string) api.SessionExecOutput {
	m.Helper()
	return call(m, api.SessionExec, api.SessionExecInput{ID: id, Command: command})
}

// wantRun runs a command and compares.
func wantRun(m *machine, id, command, output string, code int) api.SessionExecOutput {
	m.Helper()
	out := m.sh(id, command)
	if out.Output != output || out.ExitCode == nil || *out.ExitCode != code || out.TimedOut {
		exit := -1
		if out.ExitCode != nil {
			exit = *out.ExitCode
		}
		m.Errorf("%s: %+v with code %d, want %q and %d\nlog %q", command, out, exit, output, code, lastOf(m.logOf(m.get(id)), 900))
	}
	return out
}

func TestShellsTellWhereCommandsBeginAndEnd(t *testing.T) {
	m := startMachine(t)
	for _, c := range shellCases {
		p := c.start(m)
		if p == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			m := &machine{TB: t, dir: m.dir, client: m.client}
			out := wantRun(m, p.ID, "echo hello", "hello\n", 0)
			if out.Method != "marks" || out.CWD != p.CWD || !out.Alive || out.NextCursor <= out.Start {
				t.Errorf("%+v", out)
			}
			wantRun(m, p.ID, "echo $RCREAD", "yes\n", 0)
			wantRun(m, p.ID, "false", "", 1)
			wantRun(m, p.ID, "printf 'no end of line'", "no end of line", 0)
			wantRun(m, p.ID, "sh -c 'exit 7'", "", 7)
			wantRun(m, p.ID, "sh -c 'seq 1 3; exit 3'", "1\n2\n3\n", 3)
			if out := wantRun(m, p.ID, "cd /usr", "", 0); out.CWD != "/usr" {
				t.Errorf("%+v", out)
			}
			wantRun(m, p.ID, `printf '10%%\r20%%\r\033[31m100%%\033[0m\n'`, "100%\n", 0)
			wantRun(m, p.ID, "printf '%0200d\\n' 7", strings.Repeat("0", 199)+"7\n", 0)
			wantRun(m, p.ID, "echo $TANDEM_SHELL_NONCE", "\n", 0)
			if c.name != "fish" {
				wantRun(m, p.ID, "cat <<EOF\na\n b $((1+1))\nEOF", "a\n b 2\n", 0)
				wantRun(m, p.ID, "for i in 1 2\ndo\necho $i\ndone\nfalse", "1\n2\n", 1)
			} else {
				wantRun(m, p.ID, "for i in 1 2\necho $i\nend\nfalse", "1\n2\n", 1)
			}
			wantRun(m, p.ID, "echo one\necho two", "one\ntwo\n", 0)
			wantRun(m, p.ID, "echo "+strings.Repeat("long ", 40), strings.TrimSpace(strings.Repeat("long ", 40))+"\n", 0)
		})
	}
}

func TestExecOutsideAPromptIsRefused(t *testing.T) {
	m := startMachine(t)
	p := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"bash", "--norc"}})
	m.sh(p.ID, "true")
	m.write(p.ID, "cat\r")
	call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Input: true, TimeoutMS: 20000})
	_, err := api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo x"})
	if err == nil || !strings.Contains(err.Error(), "a command runs there: cat") {
		t.Errorf("%v", err)
	}
}

func lastOf(text string, n int) string { return text[max(0, len(text)-n):] }
