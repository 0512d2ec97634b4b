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
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/terminal"
	"tandem/persist/store"
	"tandem/tests/needs"
)

func (m *machine) sessionWait(in api.SessionWaitInput) api.SessionWaitOutput {
	m.Helper()
	return call(m, api.SessionWait, in)
}

func TestSessionReportsWhetherItWaitsForInput(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, c := range []struct {
		argv    []string
		waiting string
	}{
		{[]string{"cat"}, "input"},
		{[]string{"sh", "-c", "stty -echo; read x"}, "secret"},
		{[]string{"sh", "-c", "cat | cat"}, "input"},
		{[]string{"bash", "--norc"}, "prompt"},
		{[]string{"sh", "-c", "exec bash --norc"}, "input"},
		{[]string{"python3", "-c", "import select,sys,tty; tty.setraw(0); select.select([0],[],[])"}, "input"},
		{[]string{"python3", "-c", "import select,sys,tty; tty.setraw(0); p=select.poll(); p.register(0, select.POLLIN); p.poll()"}, "input"},
		{[]string{"python3", "-c", "import select,sys,tty; tty.setraw(0); p=select.epoll(); p.register(0, select.EPOLLIN); p.poll()"}, "input"},
		{[]string{"sleep", "100"}, ""},
		{[]string{"sh", "-c", "while :; do :; done"}, ""},
		{[]string{"sh", "-c", "sleep 100 & wait"}, ""},
	} {
		if _, err := exec.LookPath(c.argv[0]); err != nil {
			t.Logf("%s is not here", c.argv[0])
			continue
		}
		p := m.start(c.argv...)
		if c.waiting == "" {
			w := m.sessionWait(api.SessionWaitInput{ID: p.ID, Input: true, TimeoutMS: 400})
			if w.Met != "" || w.Process.Terminal.Waiting != "" {
				t.Errorf("%v: %+v", c.argv, w)
			}
		} else {
			w := m.sessionWait(api.SessionWaitInput{ID: p.ID, Input: true})
			if w.Met != "input" || w.Process.Terminal.Waiting != c.waiting || w.Secret != (c.waiting == "secret") {
				t.Errorf("%v: %+v with %+v", c.argv, w, w.Process.Terminal)
			}
		}
		call(m, api.SessionKill, api.IDInput{ID: p.ID})
	}
}

func TestProgramPollingOnlyItsTerminalWaitsForInput(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	const socket = "import select,socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); "
	for _, c := range []struct {
		argv  []string
		waits bool
	}{
		{[]string{"bash", "-c", "read -t 1000 -p 'Continue? ' x"}, true},
		{[]string{"python3", "-c", "import select; print('Continue? ', end='', flush=True); select.select([0],[],[],1000)"}, true},
		{[]string{"node", "-e", "process.stdout.write('Continue? '); process.stdin.once('data', () => process.exit())"}, true},
		{[]string{"python3", "-c", "import select; print('Working.', flush=True); select.select([0],[],[],1000)"}, false},
		{[]string{"python3", "-c", socket + "print('server> ', end='', flush=True); select.select([0,s],[],[],1000)"}, false},
		{[]string{"node", "-e", "require('net').createServer().listen(0, '127.0.0.1'); process.stdout.write('server> '); process.stdin.on('data', () => {})"}, false},
	} {
		if _, err := exec.LookPath(c.argv[0]); err != nil {
			t.Logf("%s is not here", c.argv[0])
			continue
		}
		p := m.start(c.argv...)
		m.sessionWait(api.SessionWaitInput{ID: p.ID, Output: "[?.>]", Since: new(int64)})
		in := api.SessionWaitInput{ID: p.ID, Input: true}
		if !c.waits {
			in.TimeoutMS = 500
		}
		if w := m.sessionWait(in); (w.Met == "input") != c.waits || (w.Process.Terminal.Waiting == "input") != c.waits {
			t.Errorf("%v: met %q, waits for %q", c.argv, w.Met, w.Process.Terminal.Waiting)
		}
		call(m, api.SessionKill, api.IDInput{ID: p.ID})
	}
}

// An answered program need not print anything, and nobody need ask about it.
func TestAnsweredQuestionIsNoticedWithoutOutput(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", "stty -echo; read x; exec sleep 1000")
	if w := m.sessionWait(api.SessionWaitInput{ID: p.ID, Input: true}); !w.Secret {
		t.Fatalf("%+v", w)
	}
	m.sessionWait(api.SessionWaitInput{ID: p.ID, IdleMS: 400}) // no further check is scheduled
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	answered := false
	for e, err := range m.client.Watch(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if !answered {
			m.write(p.ID, "word\n")
			answered = true
		}
		if e.Process != nil && e.Process.ID == p.ID && e.Process.Terminal.Waiting == "" {
			return
		}
	}
	t.Error("the events ended")
}

// agentClient connects as an agent.
func (m *machine) agentClient() *client.Client {
	m.Helper()
	conn, err := client.Connect(context.Background(), client.Options{DataDir: m.dir, Version: "1.2.3", Name: "agent:tester/1", Owner: "tester-1"})
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { conn.Close() })
	return conn
}

func TestUserLocksTheKeyboardAgainstAgents(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	agent := m.agentClient()
	p := m.start("bash", "--norc")
	ctx := context.Background()
	if _, err := api.SessionExec.Call(ctx, agent, api.SessionExecInput{ID: p.ID, Command: "true"}); err != nil {
		t.Fatal(err)
	}
	if typist := m.get(p.ID).Terminal.Typist; typist != "agent:tester/1" {
		t.Errorf("typist %q", typist)
	}
	if view := call(m, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true}); view.Terminal.Keyboard != "test" {
		t.Errorf("%+v", view.Terminal)
	}
	refused := func(err error) {
		t.Helper()
		if !errors.Is(err, api.CodeLocked) || !strings.HasPrefix(err.Error(), "locked_by_user: ") || api.AsError(err).Hint == "" {
			t.Errorf("%v", err)
		}
	}
	_, err := api.SessionExec.Call(ctx, agent, api.SessionExecInput{ID: p.ID, Command: "true"})
	refused(err)
	_, err = api.SessionWrite.Call(ctx, agent, api.SessionWriteInput{ID: p.ID, Text: "x"})
	refused(err)
	wantLocked(m, agent, p.ID, refused)
	if _, err := api.SessionKeyboard.Call(ctx, agent, api.SessionKeyboardInput{ID: p.ID}); !errors.Is(err, api.CodeForbidden) {
		t.Errorf("%v", err)
	}
	wantRun(m, p.ID, "echo mine", "mine\n", 0)
	if typist := m.get(p.ID).Terminal.Typist; typist != "test" {
		t.Errorf("typist %q", typist)
	}
	m.crash(m.info().EnginePID)
	if view := m.get(p.ID); view.Terminal.Keyboard != "test" {
		t.Errorf("%+v", view.Terminal)
	}
	if view := call(m, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID}); view.Terminal.Keyboard != "" {
		t.Errorf("%+v", view.Terminal)
	}
	agent = m.agentClient()
	if _, err := api.SessionWrite.Call(ctx, agent, api.SessionWriteInput{ID: p.ID, Text: "x"}); err != nil {
		t.Error(err)
	}
}

// wantLocked fails unless every change of a session by an agent is rejected and has no effect.
func wantLocked(m *machine, agent *client.Client, id string, refused func(error)) {
	m.Helper()
	ctx, yes, name := context.Background(), true, "mine"
	for what, do := range map[string]func() error{
		"resize": func() error {
			_, err := api.SessionResize.Call(ctx, agent, api.SessionResizeInput{ID: id, Cols: 40, Rows: 10})
			return err
		},
		"rename": func() error {
			_, err := api.SessionRename.Call(ctx, agent, api.SessionRenameInput{ID: id, Name: name})
			return err
		},
		"kill": func() error { _, err := api.SessionKill.Call(ctx, agent, api.IDInput{ID: id}); return err },
		"stop": func() error { _, err := api.ProcessStop.Call(ctx, agent, api.ProcessStopInput{ID: id}); return err },
		"restart": func() error {
			_, err := api.ProcessRestart.Call(ctx, agent, api.ProcessRestartInput{ID: id})
			return err
		},
		"remove": func() error { _, err := api.ProcessRemove.Call(ctx, agent, api.IDInput{ID: id}); return err },
		"signal": func() error {
			_, err := api.ProcessSignal.Call(ctx, agent, api.ProcessSignalInput{ID: id, Signal: "KILL"})
			return err
		},
		"update": func() error {
			_, err := api.ProcessUpdate.Call(ctx, agent, api.ProcessUpdateInput{ID: id, KeepAlive: &yes})
			return err
		},
		"stop all": func() error {
			_, err := api.ProcessStopAll.Call(ctx, agent, api.ProcessStopAllInput{Sessions: true})
			return err
		},
	} {
		m.Log(what)
		refused(do())
	}
	p := m.get(id)
	if p.State != api.StateRunning || p.Name == name || p.Terminal.Cols != 80 || p.KeepAlive {
		m.Errorf("after what was refused it is %+v, %+v", p, p.Terminal)
	}
}

func TestWaitingExecTypesNothingOnceTheKeyboardIsLocked(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	agent := m.agentClient()
	begin := filepath.Join(t.TempDir(), "begin")
	p := m.start("sh", "-c", "until [ -e "+begin+" ]; do sleep 0.02; done; exec bash --norc")
	run := func(conn *client.Client, in api.SessionExecInput) (another bool, err error) {
		_, err = api.SessionExec.Call(context.Background(), conn, in)
		return errors.Is(err, api.CodeConflict) && strings.Contains(err.Error(), "another command line"), err
	}
	first := make(chan error, 1)
	go func() {
		for {
			if another, err := run(agent, api.SessionExecInput{ID: p.ID, Command: "echo ty''ped"}); !another {
				first <- err
				return
			}
		}
	}()
	m.eventually("the wait for the prompt", func() bool {
		waits, _ := run(m.client, api.SessionExecInput{ID: p.ID, Command: "true", TimeoutMS: 1})
		return waits
	})
	call(m, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true})
	if err := os.WriteFile(begin, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-first; !errors.Is(err, api.CodeLocked) {
		t.Errorf("%v", err)
	}
	if log := m.logOf(m.get(p.ID)); strings.Contains(log, "ped") {
		t.Errorf("typed: %q", log)
	}
}

func TestAgentsCannotResizeATerminalWithALockedKeyboard(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("cat")
	agent := m.agentClient()
	watching, err := agent.Attach(context.Background(), api.AttachOptions{ID: p.ID, Cols: 50, Rows: 20})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Close()
	size := func() api.Size {
		view := m.get(p.ID)
		return api.Size{Cols: view.Terminal.Cols, Rows: view.Terminal.Rows}
	}
	m.eventually("the agent's size", func() bool { return size() == api.Size{Cols: 50, Rows: 20} })
	call(m, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true})
	call(m, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: 90, Rows: 30})
	if err := watching.Send(api.Input{Resize: &api.Size{Cols: 60, Rows: 20}}); err != nil {
		t.Fatal(err)
	}
	if err := watching.Send(api.Input{Lines: &api.LineRange{Count: 1}}); err != nil {
		t.Fatal(err)
	}
	for answered := false; !answered; { // everything sent before has been handled
		out, err := watching.Receive()
		if err != nil {
			t.Fatal(err)
		}
		answered = out.Lines != nil
	}
	if got := size(); got != (api.Size{Cols: 90, Rows: 30}) {
		t.Errorf("size %+v while the user has the keyboard", got)
	}
	call(m, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID})
	m.eventually("the agent's size again", func() bool { return size() == api.Size{Cols: 60, Rows: 20} })
}

func TestShellMarksSurviveTheEngine(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("bash", "--norc")
	wantRun(m, p.ID, "cd /usr", "", 0)
	m.crash(m.info().EnginePID)
	if out := wantRun(m, p.ID, "echo again", "again\n", 0); out.Method != "marks" || out.CWD != "/usr" {
		t.Errorf("%+v", out)
	}
	m.write(p.ID, "read x\r")
	m.eventually("the command", func() bool { return strings.Contains(m.logOf(p), "133;C") && m.get(p.ID).Terminal.Waiting == "input" })
	m.crash(m.info().EnginePID)
	m.eventually("the refusal", func() bool {
		_, err := api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo no"})
		return errors.Is(err, api.CodeConflict) && strings.Contains(err.Error(), "read x")
	})
	m.write(p.ID, "\r")
	m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
	wantRun(m, p.ID, "echo after", "after\n", 0)
	rows := call(m, api.HistorySearch, api.HistorySearchInput{})
	count := map[string]int{}
	for _, r := range rows.Rows {
		count[r.Command.Command]++
	}
	for line, n := range map[string]int{"cd /usr": 0, "echo again": 0, "read x": 1, "echo after": 1} { // the last ones may not have reached the disk
		if count[line] < n || count[line] > 1 {
			t.Errorf("%q is %d times in the history", line, count[line])
		}
	}
}

func TestIdleSessionsOfAgentsExpire(t *testing.T) {
	t.Parallel()
	withLoop(t, func(r *loop) {
		e := &engine{o: Options{IdleExpiry: 30 * time.Minute}, host: &host{control: r.c}}
		ctx, cancel := context.WithCancel(r.Context())
		done := make(chan struct{})
		go func() { e.expireIdle(ctx); close(done) }()
		defer func() { cancel(); <-done }()
		begun := time.Now()
		var all []string
		for id, change := range map[string]func(rec *store.Record, shows *terminal.Facts){
			"agents":  func(rec *store.Record, _ *terminal.Facts) { rec.Actor = "agent:a/1" },
			"owned":   func(rec *store.Record, _ *terminal.Facts) { rec.Owner = "a-1" },
			"persons": func(*store.Record, *terminal.Facts) {},
			"forever": func(rec *store.Record, _ *terminal.Facts) { rec.Owner, rec.Lease = "a-1", string(api.LeaseForever) },
			"watched": func(rec *store.Record, shows *terminal.Facts) { rec.Owner, shows.Viewers = "a-1", 1 },
			"used": func(rec *store.Record, shows *terminal.Facts) {
				rec.Owner, shows.Active = "a-1", begun.Add(20*time.Minute)
			},
		} {
			rec, s := record(id), &idleSession{facts: terminal.Facts{Active: begun}}
			change(&rec, &s.facts)
			r.sessions[id] = s
			r.startRunning(rec)
			all = append(all, id)
		}
		want := func(after time.Duration, ended ...string) {
			time.Sleep(time.Until(begun.Add(after)))
			for _, id := range all {
				p := r.view(id)
				if over := p.State != api.StateRunning; over != slices.Contains(ended, p.ID) {
					t.Errorf("after %v %s is %s", after, p.ID, p.State)
				}
			}
		}
		want(29 * time.Minute)
		want(32*time.Minute, "agents", "owned")
		want(52*time.Minute, "agents", "owned", "used")
	})
}

func TestListReportsTheNeedOfASilentProgram(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", "stty -echo; printf 'Password: '; read x; sleep 100")
	waiting := func(want string) func() bool {
		return func() bool {
			for _, q := range call(m, api.ProcessList, api.ProcessListInput{}).Processes {
				if q.ID == p.ID {
					return q.Terminal.Waiting == want
				}
			}
			return false
		}
	}
	m.eventually("the look at a silent program", waiting("secret"))
	m.write(p.ID, "word\r")
	m.eventually("the next look", func() bool {
		call(m, api.ProcessList, api.ProcessListInput{Metrics: true})
		return waiting("")()
	})
}

func TestForegroundReportsTheProgramOfATerminal(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	foreground := func(id string) api.SessionForegroundOutput {
		return call(m, api.SessionForeground, api.IDInput{ID: id})
	}
	for _, c := range []struct {
		argv []string
		want api.SessionForegroundOutput
	}{
		{[]string{"cat"}, api.SessionForegroundOutput{Program: "cat"}},
		{[]string{"sleep", "100"}, api.SessionForegroundOutput{Program: "sleep"}},
		{[]string{"bash", "--norc"}, api.SessionForegroundOutput{Prompt: true}},
		{[]string{"sh", "-c", "exec bash --norc"}, api.SessionForegroundOutput{Prompt: true}}, // prints no marks
		{[]string{"sh", "-c", "stty -echo; read x"}, api.SessionForegroundOutput{Program: "sh"}},
	} {
		if _, err := exec.LookPath(c.argv[0]); err != nil {
			t.Logf("%s is not here", c.argv[0])
			continue
		}
		p := m.start(c.argv...)
		m.eventually(strings.Join(c.argv, " ")+" has the terminal", func() bool { return foreground(p.ID) == c.want })
	}

	shell := m.start("bash", "--norc")
	m.sessionWait(api.SessionWaitInput{ID: shell.ID, Prompt: true})
	for _, c := range [][2]string{{"cat", "cat"}, {"read x", "read"}, {"sleep 100", "sleep"}} {
		m.write(shell.ID, c[0]+"\r")
		m.eventually(c[0]+" has the terminal", func() bool {
			return foreground(shell.ID) == api.SessionForegroundOutput{Program: c[1]}
		})
		m.write(shell.ID, "\x03")
		m.eventually("the prompt is back", func() bool { return foreground(shell.ID).Prompt })
	}
}
