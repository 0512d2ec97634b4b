package startform

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
)

// A rig drives the forms with a fake engine, which records the calls.
type rig struct {
	*panestest.Driver
	engine  *panestest.Engine
	env     *panestest.Env
	starter Starter

	asked   api.ProcessStartInput // the last start
	refuse  error                 // the error of the next starts
	added   []api.WorktreeAddInput
	removed []api.WorktreeRemoveInput
	started []string // ids of the processes
	inTree  string   // folder of the session started last
	dropped int      // how often typed input was dropped
}

func newRig(t *testing.T, w, h int) *rig {
	t.Helper()
	e := panestest.NewEngine()
	r := &rig{engine: e, env: &panestest.Env{API: e}}
	panestest.On(e, api.ProcessStart, func(_ context.Context, in api.ProcessStartInput) (api.Process, error) {
		r.asked = in
		return api.Process{ID: "p1", Name: in.Name}, r.refuse
	})
	panestest.On(e, api.WorktreeAdd, func(_ context.Context, in api.WorktreeAddInput) (api.Worktree, error) {
		r.added = append(r.added, in)
		return api.Worktree{Path: in.CWD + ".worktrees/" + in.Name, Branch: in.Name, Repository: in.CWD}, nil
	})
	panestest.On(e, api.WorktreeRemove, func(_ context.Context, in api.WorktreeRemoveInput) (api.WorktreeRemoveOutput, error) {
		r.removed = append(r.removed, in)
		return api.WorktreeRemoveOutput{}, nil
	})
	r.starter = Starter{
		Env: r.env, DropTyped: func() { r.dropped++ },
		Started:     func(id string) { r.started = append(r.started, id) },
		StartInTree: func(_ []string, folder string, _ bool) tea.Cmd { r.inTree = folder; return nil },
	}
	r.Driver = panestest.DriveDialogs(t, r.env, w, h)
	return r
}

// askProcess opens the form for a process in the home folder.
func askProcess(t *testing.T, w, h int) *rig {
	t.Helper()
	r := newRig(t, w, h)
	r.starter.AskProcess("")
	return r
}

// waitStarted waits until a process has been started and the form is closed.
func (r *rig) waitStarted() {
	r.Wait("a process starts", func() bool { return r.env.Shown == nil && len(r.started) == 1 })
}

// checkStart checks the last start.
func (r *rig) checkStart(t *testing.T, want api.ProcessStartInput) {
	t.Helper()
	got := r.asked
	if got.Actor != "person" || len(got.Environ) == 0 {
		t.Errorf("started as %q with the environment %v", got.Actor, got.Environ)
	}
	got.Actor, got.Environ, got.Umask = "", nil, ""
	if !reflect.DeepEqual(got, want) {
		t.Errorf("started %+v, want %+v", got, want)
	}
}

func TestParseReadinessAcceptsEachKind(t *testing.T) {
	for text, want := range map[string]api.Readiness{
		"port 8080":               {Port: 8080},
		"log listening on \\d+":   {Log: "listening on \\d+"},
		"http://localhost:1/ok":   {HTTP: "http://localhost:1/ok"},
		"command pg_isready -q":   {Command: []string{"pg_isready", "-q"}},
		"https://localhost/ready": {HTTP: "https://localhost/ready"},
	} {
		got, err := parseReadiness(text)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"8080", "port", "port x", "port 70000", "log (", "command 'a"} {
		if _, err := parseReadiness(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestSandboxFileIsReadStrictly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	for text, ok := range map[string]bool{
		`{"filesystem":{"denyRead":[],"allowWrite":["/tmp/x"],"denyWrite":[]}}`: true,
		`{"filesytem":{}}`: false, `{`: false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSandbox(path); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := readSandbox(filepath.Dir(path)); err == nil {
		t.Error("a folder is read as a sandbox file")
	}
}

func TestProcessFormAcceptsEnvironmentKeepAliveAndShellLines(t *testing.T) {
	r := askProcess(t, 80, 24)
	r.Press("'a | b", "tab", "tab", "tab", "'A=1,B=x,y C", "enter")
	r.WaitText("is not NAME=value")
	r.Press("'=3", "tab", "space", "enter")
	r.waitStarted()
	r.checkStart(t, api.ProcessStartInput{Command: []string{"/bin/sh", "-c", "a | b"}, KeepAlive: true, Env: map[string]string{"A": "1", "B": "x,y", "C": "3"}})
	if r.dropped != 0 || r.env.SaidBad {
		t.Errorf("dropped input %d times, said %q", r.dropped, r.env.Said)
	}
}

func TestProcessFormUnfoldsMoreFields(t *testing.T) {
	r := askProcess(t, 80, 24)
	r.Press("'serve", "tab", "tab", "down", "down", "down", "down")
	r.WaitText("[+] restart, readiness, terminal, worktree")
	r.WaitNoText("ready when")
	r.WaitText("enter shows when")
	r.Press("space")
	r.WaitText("space hides them")
	r.WaitNoText("enter shows when")
	r.Press("tab", "right", "tab", "'prot 80", "tab", "space", "enter")
	r.WaitText("ready when: must be port NUMBER")
	r.Press("ctrl+u", "'port 8080", "enter")
	r.waitStarted()
	r.checkStart(t, api.ProcessStartInput{
		Command: []string{"serve"}, Env: map[string]string{}, TTY: true,
		Restart: &api.Restart{Policy: api.PolicyOnFailure}, Ready: &api.Readiness{Port: 8080},
	})
}

func TestProcessFormStartsPrivateSession(t *testing.T) {
	r := askProcess(t, 80, 24)
	r.Press("'serve", "up", "space", "down", "down", "down", "down", "space")
	r.WaitText("closed to agents")
	r.Press("enter")
	r.waitStarted()
	r.checkStart(t, api.ProcessStartInput{Command: []string{"serve"}, Env: map[string]string{}, TTY: true, Private: true})
}

func TestProcessFormRejectsKeepAliveWithAnotherPolicy(t *testing.T) {
	r := askProcess(t, 80, 24)
	r.Press("'serve", "down", "down", "down", "down", "space", "down", "down", "space", "down", "space", "enter")
	r.WaitText("restart: must be always if keep alive is on")
	r.Press("space", "enter")
	r.waitStarted()
	if got := r.asked.Restart; got == nil || got.Policy != api.PolicyAlways {
		t.Errorf("started with restart %+v", got)
	}
}

func TestProcessFormFitsSmallTerminal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 15}} {
		r := askProcess(t, size[0], size[1])
		r.Press("shift+tab", "space", "shift+tab")
		r.WaitText("sandbox file")
		for _, label := range []string{"more", "restart", "ready when", "terminal", "private", "worktree", "command"} {
			r.Press("tab")
			r.WaitText(label)
			r.CheckRows()
		}
		r.WaitText("Start a process")
	}
}

func TestProcessFormAcceptsSeveralLines(t *testing.T) {
	r := askProcess(t, 80, 24)
	r.Press("'cd sub", "alt+enter", "'make")
	r.WaitText("runs in /bin/sh")
	r.Press("up", "end", "'dir", "down", "down", "down", "down")
	r.Paste("A=1\nB=2\n")
	r.Press("enter")
	r.waitStarted()
	r.checkStart(t, api.ProcessStartInput{Command: []string{"/bin/sh", "-c", "cd subdir\nmake"}, Env: map[string]string{"A": "1", "B": "2"}})
}

func TestProcessFormShowsEngineError(t *testing.T) {
	r := askProcess(t, 80, 24)
	r.refuse = api.Errorf(api.CodeInvalid, "start nope: no such program")
	r.Press("'nope", "enter")
	r.WaitText("command: start nope: no such program")
	if r.dropped != 1 || len(r.started) != 0 {
		t.Errorf("dropped input %d times, started %q", r.dropped, r.started)
	}
	r.Press("esc")
	r.WaitNoText("Start a process")
}

func TestStartContinuesWhenTheFormIsCancelled(t *testing.T) {
	r := newRig(t, 80, 24)
	proceed := make(chan error)
	panestest.On(r.engine, api.ProcessStart, func(_ context.Context, in api.ProcessStartInput) (api.Process, error) {
		return api.Process{ID: "p1", Name: in.Command[0]}, <-proceed
	})
	for outcome, want := range map[error]string{nil: "started serve", api.Errorf(api.CodeInvalid, "no such program"): "no such program"} {
		r.starter.AskProcess("")
		r.Press("'serve", "enter")
		r.WaitText("Starting…")
		r.Press("esc")
		r.WaitNoText("Starting…")
		proceed <- outcome
		r.WaitText(want)
	}
}

func TestProcessFormStartsOnOtherMachine(t *testing.T) {
	r := newRig(t, 80, 24)
	r.env.Known.Machines = []panes.Machine{{Machine: api.Machine{Name: "box"}}}
	r.starter.AskProcess("box:/srv")
	r.Press("'serve", "up", "space", "down", "down", "down", "down", "down", "'fix", "enter")
	r.WaitText("worktree: the dashboard creates worktrees only on this machine")
	r.Press("ctrl+u", "up", "space", "enter")
	r.WaitText("private: only on this machine")
	r.Press("space", "enter")
	r.waitStarted()
	if machine, _ := api.MachineOf(r.asked.ID); machine != "box" || r.asked.CWD != "/srv" {
		t.Errorf("started %+v", r.asked)
	}
}

func TestProcessFormCreatesWorktreeAndRemovesItOnFailure(t *testing.T) {
	repository := t.TempDir()
	r := askProcess(t, 80, 24)
	r.refuse = api.Errorf(api.CodeInvalid, "start make: no such program")
	r.Press("'make", "tab", "tab", "'"+repository, "up", "up", "up", "space", "down", "down", "down", "down", "down", "'fix", "enter")
	r.WaitText("command: start make: no such program")
	if len(r.added) != 1 || len(r.removed) != 1 || r.removed[0] != (api.WorktreeRemoveInput{Path: repository + ".worktrees/fix"}) {
		t.Errorf("added %+v, removed %+v", r.added, r.removed)
	}
	r.refuse = nil
	r.Press("enter")
	r.waitStarted()
	if r.asked.CWD != repository+".worktrees/fix" {
		t.Errorf("started in %s", r.asked.CWD)
	}
}

func TestProcessFormReportsMissingFiles(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, 80, 24)
	r.starter.AskProcess(dir + "/none")
	r.Press("'make", "enter")
	r.WaitText("folder: no such folder")
	r.Press("ctrl+u", "'"+dir, "down", "down", "down", "'"+dir, "enter")
	r.WaitText("sandbox file: not a sandbox file")
	if r.asked.Command != nil {
		t.Errorf("started %+v", r.asked)
	}
}

func TestWorktreeFormStartsSessionInNewWorktree(t *testing.T) {
	r := newRig(t, 80, 24)
	r.starter.AskWorktree("/src/app")
	r.WaitText("Start a session in a new worktree")
	r.WaitNoText("keep alive")
	r.Press("'a b c", "enter")
	r.WaitText("needs a name, and optionally the start of its branch")
	r.Press("ctrl+u", "'fix main", "tab")
	r.WaitText("default: your shell")
	r.Press("'claude", "enter")
	r.Wait("a session starts", func() bool { return r.inTree != "" })
	if want := (api.WorktreeAddInput{CWD: "/src/app", Name: "fix", Base: "main"}); len(r.added) != 1 || r.added[0] != want || r.inTree != "/src/app.worktrees/fix" {
		t.Errorf("added %+v, then started in %s", r.added, r.inTree)
	}
}

func TestTabCompletesFolders(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"project-one", "project-two"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "project-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := askProcess(t, 200, 40)
	r.Press("'pwd", "tab", "tab", "'"+folder+"/pro")
	r.WaitText("project-one/  project-two/")
	r.Press("tab", "'t")
	r.WaitText("tab: project-two/")
	r.Press("tab", "enter")
	r.waitStarted()
	if r.asked.CWD != folder+"/project-two/" {
		t.Errorf("started in %s", r.asked.CWD)
	}
}
