package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// A privateSession is a private session of a shell, whose home folder holds the user's own
// configuration of the shell's history.
type privateSession struct {
	*machine
	id     string
	shell  string
	home   string
	secret string // in everything that the session prints, runs and reads
}

// ownFiles make shells write each command to a file at once.
var ownFiles = map[string]string{
	".bashrc": "HISTFILE=~/own-history\nshopt -s histappend\nPROMPT_COMMAND='history -a'\n",
	".zshrc":  "HISTFILE=~/own-history\nSAVEHIST=100\nHISTSIZE=100\nsetopt INC_APPEND_HISTORY\n",
}

func startPrivate(t *testing.T, shell string) *privateSession {
	s := &privateSession{machine: startMachine(t), shell: shell, home: t.TempDir(), secret: "hush" + api.NewID()}
	s.pinned = true // a replacement of the engine loses what the tests wait for
	for name, text := range ownFiles {
		if err := os.WriteFile(filepath.Join(s.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(s.home, "in-"+s.secret), 0o700); err != nil {
		t.Fatal(err)
	}
	p := call(s.machine, api.SessionStart, api.SessionStartInput{
		Command: []string{shell}, CWD: s.home, Private: true, Env: map[string]string{"SECRET": s.secret},
		Environ: map[string]string{"HOME": s.home, "PATH": os.Getenv("PATH"), "XDG_DATA_HOME": s.home, "XDG_CONFIG_HOME": s.home},
	})
	s.id = p.ID
	if p.Name != "private" || !p.Terminal.Private || p.LogPath != "" {
		t.Errorf("started %+v", p)
	}
	return s
}

// wantNothingOnDisk checks that no file of the data folder or the home folder has the secret.
func (s *privateSession) wantNothingOnDisk(after string) {
	s.Helper()
	encoded := url.PathEscape(s.secret)
	for _, dir := range []string{s.dir, s.home} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
				return err
			}
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if bytes.Contains(text, []byte(s.secret)) || bytes.Contains(text, []byte(encoded)) {
				at := bytes.Index(text, []byte(s.secret))
				s.Errorf("after %s, %s has the secret: %q", after, path, text[max(0, at-100):min(len(text), at+100)])
			}
			if strings.HasPrefix(path, filepath.Join(s.dir, "processes")) && strings.Contains(e.Name(), "log") {
				s.Errorf("after %s, there is a log: %s", after, path)
			}
			return err
		})
		if err != nil {
			s.Error(err)
		}
	}
}

// run runs a command line, whose output must contain the secret.
func (s *privateSession) run(line string) {
	s.Helper()
	if out := s.sh(s.id, line); !strings.Contains(out.Output, s.secret) {
		s.Errorf("%s: %+v\n%s", line, out, s.screen(s.id))
	}
}

func (s *privateSession) awaitView(what string, holds func(api.Process) bool) {
	s.Helper()
	s.awaitProcess(s.id, what, holds)
}

// use does everything in the session that an ordinary one would keep something of.
func (s *privateSession) use(after string) {
	s.Helper()
	s.run("echo printed " + s.secret)
	title := "printf '\\033]2;%s\\a' title-" + s.secret
	if s.shell == "fish" { // sets the title at each prompt
		title = "function fish_title; echo title-" + s.secret + "; end"
	}
	s.run(title + "; echo " + s.secret)
	s.awaitView("title", func(p api.Process) bool { return p.Terminal.Title == "title-"+s.secret })
	s.run("printf '\\033]777;notify;%s;b\\a\\033]9;%s\\a\\a' " + s.secret + " " + s.secret + "; echo " + s.secret)
	s.awaitView("notification", func(p api.Process) bool { return strings.Contains(p.Terminal.Notice, s.secret) })
	s.run("cd " + filepath.Join(s.home, "in-"+s.secret) + "; pwd")
	s.awaitView("folder", func(p api.Process) bool { return strings.HasSuffix(p.CWD, s.secret) })
	s.write(s.id, "echo "+s.secret+" typed\r")
	s.awaitScreen(s.id, s.secret+" typed")
	s.wantNothingOnDisk(after)
}

func TestPrivateSessionReachesNoFile(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			needs.Program(t, shell, shell)
			t.Parallel()
			s := startPrivate(t, shell)
			s.use("use")
			s.run("seq 450000; echo " + s.secret) // more than a checkpoint needs
			s.wantNothingOnDisk("a flood")

			_, err := api.SessionRecord.Call(t.Context(), s.client, api.SessionRecordInput{ID: s.id})
			if !errors.Is(err, api.CodeForbidden) || !strings.Contains(err.Error(), "a recording would be a file") {
				t.Errorf("recorded: %v", err)
			}
			// The user can read it.
			if out := call(s.machine, api.ProcessLog, api.ProcessLogInput{ID: s.id, Grep: "^printed " + s.secret}); len(out.Matches) == 0 {
				t.Errorf("the log has no such line: %+v", out)
			}
			if out := call(s.machine, api.OutputSearch, api.OutputSearchInput{Pattern: api.Pattern{Text: s.secret}}); len(out.Hits) != 0 {
				t.Errorf("found %+v", out.Hits)
			}

			split := call(s.machine, api.SessionStart, api.SessionStartInput{Command: []string{"cat"}, CWDOf: s.id})
			if !split.IsPrivate() || !strings.HasSuffix(split.CWD, s.secret) {
				t.Errorf("a session started from it: %+v", split)
			}
			call(s.machine, api.SessionKill, api.IDInput{ID: split.ID})
			s.wantNothingOnDisk("a split")
			s.run("clear; echo " + s.secret)
			before := s.info()
			wait.Kill(t, before.EnginePID)
			s.awaitNextEngine(before)
			s.awaitScreen(s.id, "the earlier output is gone")
			if p := s.get(s.id); !p.Terminal.Private || p.Command != "" || p.PID == 0 {
				t.Errorf("adopted as %+v", p)
			}
			s.wantNothingOnDisk("a crash")
			s.write(s.id, "\r")
			s.use("a crash and use")

			s.restart()
			s.awaitScreen(s.id, "the earlier output is gone")
			s.write(s.id, "\r")
			s.use("an upgrade and use")

			if _, err := api.ProcessRestart.Call(t.Context(), s.client, api.ProcessRestartInput{ID: s.id}); !errors.Is(err, api.CodeConflict) {
				t.Errorf("restarted without its command: %v", err)
			}
			s.write(s.id, "exit\r")
			s.awaitEnd(s.id)
			s.wantNothingOnDisk("the end")
			if rows := s.history(api.HistorySearchInput{Limit: 100}); len(rows) != 0 {
				t.Errorf("the history has %+v", rows)
			}
			if !strings.Contains(s.screen(s.id), s.secret) {
				t.Error("the last screen is gone")
			}
		})
	}
}

// The program draws its screen again for the next engine, which knows nothing of it.
func TestPrivateSessionIsRedrawnAfterACrash(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	program := `draw() { printf '\033[2J\033[Hdrawn in %s\n' "$(stty size)"; }; trap draw WINCH; draw; while :; do sleep 0.1; done`
	p := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"bash", "-c", program}, Private: true})
	m.awaitScreen(p.ID, "drawn in 24 80")
	before := m.info()
	wait.Kill(t, before.EnginePID)
	m.awaitNextEngine(before)
	m.awaitScreen(p.ID, "drawn in 24 80")
}

func TestAgentsCannotUseAPrivateSession(t *testing.T) {
	t.Parallel()
	s := startPrivate(t, "bash")
	s.use("use")
	o := s.options()
	o.Name, o.Owner = "agent:curious/1", "curious-1"
	agent, err := client.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	id := api.IDInput{ID: s.id}
	for name, attempt := range map[string]func() error{
		"get":     func() error { return api.SessionGet.Run(t.Context(), agent, id) },
		"process": func() error { return api.ProcessGet.Run(t.Context(), agent, api.IDInput{ID: "private"}) },
		"read":    func() error { return api.SessionRead.Run(t.Context(), agent, api.SessionReadInput{ID: s.id}) },
		"screen":  func() error { return api.SessionScreen.Run(t.Context(), agent, api.SessionScreenInput{ID: s.id[:6]}) },
		"text":    func() error { return api.SessionText.Run(t.Context(), agent, api.SessionTextInput{ID: s.id}) },
		"find": func() error {
			return api.SessionFind.Run(t.Context(), agent, api.SessionFindInput{ID: s.id, Pattern: api.Pattern{Text: "h"}})
		},
		"write": func() error {
			return api.SessionWrite.Run(t.Context(), agent, api.SessionWriteInput{ID: s.id, Text: "x"})
		},
		"exec": func() error {
			return api.SessionExec.Run(t.Context(), agent, api.SessionExecInput{ID: s.id, Command: "pwd"})
		},
		"wait": func() error {
			return api.SessionWait.Run(t.Context(), agent, api.SessionWaitInput{ID: s.id, Screen: "."})
		},
		"wait for a process": func() error {
			return api.ProcessWait.Run(t.Context(), agent, api.ProcessWaitInput{ID: s.id, Log: "."})
		},
		"log":        func() error { return api.ProcessLog.Run(t.Context(), agent, api.ProcessLogInput{ID: s.id}) },
		"foreground": func() error { return api.SessionForeground.Run(t.Context(), agent, id) },
		"record":     func() error { return api.SessionRecord.Run(t.Context(), agent, api.SessionRecordInput{ID: s.id}) },
		"rename": func() error {
			return api.SessionRename.Run(t.Context(), agent, api.SessionRenameInput{ID: s.id, Name: "x"})
		},
		"resize": func() error {
			return api.SessionResize.Run(t.Context(), agent, api.SessionResizeInput{ID: s.id, Cols: 10, Rows: 10})
		},
		"explain": func() error { return api.AgentExplain.Run(t.Context(), agent, id) },
		"signal": func() error {
			return api.ProcessSignal.Run(t.Context(), agent, api.ProcessSignalInput{ID: s.id, Signal: "INT"})
		},
		"kill": func() error { return api.SessionKill.Run(t.Context(), agent, id) },
		"start": func() error {
			return api.SessionStart.Run(t.Context(), agent, api.SessionStartInput{Private: true, Command: []string{"cat"}})
		},
	} {
		if err := attempt(); !errors.Is(err, api.CodeForbidden) || !strings.Contains(err.Error(), "private") {
			t.Errorf("%s: %v", name, err)
		}
	}
	lists := []any{}
	if out, err := api.SessionList.Call(t.Context(), agent, api.Empty{}); err != nil || len(out.Sessions) != 1 || !out.Sessions[0].Terminal.Private {
		t.Errorf("sessions %+v, %v", out, err)
	} else {
		lists = append(lists, out)
	}
	out, err := api.ProcessList.Call(t.Context(), agent, api.ProcessListInput{Metrics: true})
	if err != nil || len(out.Processes) != 1 {
		t.Errorf("processes %+v, %v", out, err)
	}
	lists = append(lists, out)
	for e, err := range agent.Watch(t.Context()) {
		if lists = append(lists, e); err != nil {
			t.Error(err)
		}
		break
	}
	for _, list := range lists {
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(text); strings.Contains(text, s.secret) || !strings.Contains(text, s.id) {
			t.Errorf("an agent gets %s", text)
		}
	}
	s.wantNothingOnDisk("an agent's attempts")
}
