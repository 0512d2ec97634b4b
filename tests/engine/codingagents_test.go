package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/agent/coding"
	"tandem/engine/api"
	"tandem/persist/store"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// fakeAgent writes a script with the name of an agent that prints the text it is given.
func fakeAgent(t testing.TB, name string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	script := `#!/bin/sh
stty -echo
while read -r what; do printf "$what"; done
`
	writeProgram(t, path, script)
	return path
}

func (m *machine) awaitAgentState(id string, state api.AgentState) api.CodingAgent {
	m.Helper()
	var now *api.CodingAgent
	m.eventually("an agent that is "+string(state), func() bool {
		now = m.get(id).Agent
		return now != nil && now.State == state
	})
	return *now
}

func TestAgentsStateSurvivesTheEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start(fakeAgent(t, "claude"))
	if a := m.awaitAgentState(p.ID, api.AgentUnknown); a.Name != "claude" {
		t.Fatalf("it is %+v", a)
	}
	const (
		works = `\033]0;⠂ Test\007\033[2J\033[H* Working\n`
		asks  = ` Do you want to proceed?\n > 1. Yes\n   2. No\n`
		ends  = `\033]0;✳ Test\007\033[2J\033[HDone.\n`
	)
	say := func(what string) { m.write(p.ID, what+"\n") }
	say(works)
	m.awaitAgentState(p.ID, api.AgentWorking)
	say(asks)
	before := m.awaitAgentState(p.ID, api.AgentBlocked)
	if before.Text != "Do you want to proceed?" || before.Source != "screen" {
		t.Errorf("it asks %+v", before)
	}
	wait.Kill(m, m.info().EnginePID)
	after := m.awaitAgentState(p.ID, api.AgentBlocked)
	say(ends)
	m.awaitAgentState(p.ID, api.AgentDone)
	if !after.Since.Equal(before.Since) || after.Text != before.Text {
		t.Errorf("it was %+v, and is %+v after a crash", before, after)
	}
	wait.Kill(m, m.info().EnginePID)
	m.awaitAgentState(p.ID, api.AgentDone)
}

// An agent that exits without a report while its parent keeps running is removed; so is one that
// ran only for a moment.
func TestAgentExitingWithoutAReportIsRemoved(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := sharedMachine(t)
	path := filepath.Join(t.TempDir(), "claude")
	writeProgram(t, path, "#!/bin/sh\nprintf '\\033]0;⠂ Test\\007'\n$1\n")
	p := m.start("sh", "-c", path+" 'sleep 2'; exec sleep 1000")
	m.awaitAgentState(p.ID, api.AgentWorking)
	m.eventually("no agent", func() bool { return m.get(p.ID).Agent == nil })

	p = m.start("sh", "-c", path+" true; exec sleep 1000")
	m.eventually("the program behind it", func() bool {
		return call(m, api.SessionForeground, api.IDInput{ID: p.ID}).Program == "sleep"
	})
	if a := m.get(p.ID).Agent; a != nil {
		t.Errorf("it is %+v", a)
	}
	if a := call(m, api.AgentExplain, api.IDInput{ID: p.ID}).Agent; a != nil {
		t.Errorf("it is %+v", a)
	}
}

func TestSeenLastsUntilTheAgentFinishesAgain(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh")
	report := func(state api.AgentState) api.CodingAgent {
		t.Helper()
		call(m, api.AgentReport, api.AgentReportInput{ID: p.ID, State: state})
		return m.awaitAgentState(p.ID, state)
	}
	seen := func(a api.CodingAgent) { call(m, api.AgentSeen, api.AgentSeenInput{ID: p.ID, Since: a.Since}) }
	first := report(api.AgentDone)
	if first.Seen || !first.NeedsAttention() {
		t.Errorf("seen before anybody looked: %+v", first)
	}
	seen(first)
	m.eventually("seen", func() bool { return m.get(p.ID).Agent.Seen })
	wait.Kill(m, m.info().EnginePID)
	if a := m.awaitAgentState(p.ID, api.AgentDone); !a.Seen || a.NeedsAttention() {
		t.Errorf("after a crash it is %+v", a)
	}
	report(api.AgentWorking)
	second := report(api.AgentDone)
	seen(first) // a late report
	if a := call(m, api.AgentExplain, api.IDInput{ID: p.ID}).Agent; a.Seen || !a.Since.Equal(second.Since) {
		t.Errorf("after the second report: %+v", a)
	}
}

func TestReportSetsTheStateAndSurvivesTheEngine(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh")
	report := func(in api.AgentReportInput) {
		t.Helper()
		in.ID = p.ID
		call(m, api.AgentReport, in)
	}
	report(api.AgentReportInput{State: api.AgentBlocked, Text: "deploy?", Agent: "deployer", Conversation: "c1"})
	before := m.awaitAgentState(p.ID, api.AgentBlocked)
	if before.Name != "deployer" || before.Text != "deploy?" || before.Source != "report" || before.Conversation != "c1" {
		t.Errorf("it is %+v", before)
	}
	wait.Kill(m, m.info().EnginePID)
	if after := m.awaitAgentState(p.ID, api.AgentBlocked); !after.Since.Equal(before.Since) || after.Text != before.Text {
		t.Errorf("it was %+v, and is %+v after a crash", before, after)
	}
	met := call(m, api.AgentWait, api.AgentWaitInput{IDs: []string{p.Name}, States: []api.AgentState{api.AgentBlocked, api.AgentDone}})
	if met.Process == nil || met.Process.ID != p.ID {
		t.Errorf("waited for %+v", met)
	}
	now := m.awaitAgentState(p.ID, api.AgentBlocked)
	for _, tc := range []struct {
		after time.Time
		met   bool
	}{{now.Since.Add(-1), true}, {now.Since, false}} {
		ask := api.AgentWaitInput{States: []api.AgentState{api.AgentBlocked}, After: tc.after, TimeoutMS: 100}
		if met := call(m, api.AgentWait, ask); (met.Process != nil) != tc.met {
			t.Errorf("blocked since %v, a wait for what came after %v gives %+v", now.Since, tc.after, met)
		}
	}
	report(api.AgentReportInput{State: api.AgentUnknown})
	m.eventually("no agent", func() bool { return m.get(p.ID).Agent == nil })
	call(m, api.SessionKill, api.IDInput{ID: p.ID})
	if met := call(m, api.AgentWait, api.AgentWaitInput{IDs: []string{p.ID}, States: []api.AgentState{api.AgentDone}}); !met.Ended {
		t.Errorf("of an ended session: %+v", met)
	}
}

func TestAgentReturningToItsShellIsRemoved(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	agent := fakeAgent(t, "codex")
	p := m.start("sh")
	m.write(p.ID, agent+"\n")
	m.awaitAgentState(p.ID, api.AgentUnknown)
	words := call(m, api.AgentExplain, api.IDInput{ID: p.ID})
	if words.PID == 0 || words.PID == p.PID || len(words.Sources) == 0 || !words.Lines {
		t.Errorf("explained by %+v", words)
	}
	m.write(p.ID, "\x04")
	m.eventually("no agent", func() bool { return m.get(p.ID).Agent == nil })
}

// startTalkingAgent starts a shell with an agent that has reported its conversation.
func (m *machine) startTalkingAgent(conversation string) (p api.Process, cwd string) {
	m.Helper()
	agent := fakeAgent(m, "claude")
	cwd = filepath.Join(m.TempDir(), "a project")
	if err := os.Mkdir(cwd, 0o700); err != nil {
		m.Fatal(err)
	}
	p = call(m, api.SessionStart, api.SessionStartInput{Command: []string{"sh"}, Cols: 400})
	call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
	m.write(p.ID, "cd '"+cwd+"' && "+agent+"\n")
	m.awaitAgentState(p.ID, api.AgentUnknown)
	call(m, api.AgentReport, api.AgentReportInput{ID: p.ID, Conversation: conversation})
	m.eventually("its conversation", func() bool { return m.get(p.ID).Agent.Conversation == conversation })
	return p, cwd
}

func TestConversationIsOfferedAtThePromptAfterAReboot(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	m.pinned = true // the engine started the shell offering the agent
	p, cwd := m.startTalkingAgent("c-1")
	old := m.get(p.ID).PID
	m.reboot()
	m.awaitEnd(p.ID)
	if isRunning(old) { // to Tandem it belongs to someone else
		unix.Kill(-old, unix.SIGKILL)
	}
	restart := func() {
		call(m, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
		call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
	}
	restart()
	m.awaitScreen(p.ID, "cd '"+cwd+"' && claude --resume c-1")
	m.write(p.ID, "\x15echo en''tered\n") // the line was not entered, so it can be deleted
	m.awaitScreen(p.ID, "entered")
	restart()
	m.write(p.ID, "echo on''ce\n")
	m.awaitScreen(p.ID, "once")
	if screen := m.screen(p.ID); strings.Contains(screen, "--resume") {
		t.Errorf("it is offered again:\n%s", screen)
	}
}

func TestOnlySafeConversationIDsAreOffered(t *testing.T) {
	t.Parallel()
	library := coding.NewLibrary("", nil)
	booted := time.Now()
	resumes := func(a *store.Agent, left *store.LeftAgent) string {
		r := store.Record{Terminal: store.Terminal{Agent: a, LeftAgent: left}}
		how, _ := library.Resumption(r, booted, booted)
		return strings.Join(how.Argv, " ")
	}
	for id, want := range map[string]string{
		"0b1-c_d.E": "claude --resume 0b1-c_d.E", "": "", "a;rm -rf": "", "-x": "", "../x": "", "a\nb": "", strings.Repeat("a", 129): "",
	} {
		if got := resumes(&store.Agent{Name: "claude", Conversation: id}, nil); got != want {
			t.Errorf("%q: %q", id, got)
		}
	}
	for before, want := range map[time.Duration]string{time.Minute: "codex resume x", 3 * time.Minute: "", -time.Minute: ""} {
		left := &store.LeftAgent{Name: "codex", Conversation: "x", At: booted.Add(-before)}
		if got := resumes(nil, left); got != want {
			t.Errorf("ended %v before the boot: %q", before, got)
		}
	}
	if got := resumes(&store.Agent{Name: "aider", Conversation: "x"}, nil); got != "" {
		t.Errorf("of an agent that cannot resume: %q", got)
	}
}

// pieceAgent writes an agent that runs the shell code does for each piece of input it reads. The
// piece is in $piece.
func pieceAgent(t *testing.T, name, does string) (path string) {
	path = filepath.Join(t.TempDir(), name)
	script := `#!/bin/sh
stty raw -echo
printf 'ready'
while piece=$(dd bs=4096 count=1 2>/dev/null | od -An -c | tr -d ' \n') && [ "$piece" ]; do
	` + does + `
done
`
	writeProgram(t, path, script)
	return path
}

// If the agent asks something while a text is typed, the Enter after the text must not answer it.
func TestEnterAfterATextAnswersNoQuestion(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start(pieceAgent(t, "claude", `printf '%s; Do you want to proceed?\r\n❯ 1. Yes\r\n  2. No\r\n' "$piece"`))
	m.awaitAgentState(p.ID, api.AgentUnknown)
	m.awaitScreen(p.ID, "ready")
	write := func(text string) error {
		_, err := api.SessionWrite.Call(t.Context(), m.client, api.SessionWriteInput{ID: p.ID, Text: text, Keys: []string{"enter"}})
		return err
	}
	if err := write("one"); !errors.Is(err, api.CodeConflict) {
		t.Errorf("it has begun to ask: %v", err)
	}
	m.awaitAgentState(p.ID, api.AgentBlocked)
	if err := write("1"); err != nil {
		t.Errorf("what it had asked before: %v", err)
	}
	m.awaitScreen(p.ID, `\r;`)
}

// An agent takes a text with an immediate Enter for a paste.
func TestEnterIsSentAfterTheTextForAnAgent(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := sharedMachine(t)
	agent := pieceAgent(t, "codex", `printf '%s;' "$piece"`)
	p := m.start(agent)
	m.awaitAgentState(p.ID, api.AgentUnknown)
	m.awaitScreen(p.ID, "ready")
	for _, step := range []struct {
		write api.SessionWriteInput
		shown string
	}{
		{api.SessionWriteInput{Text: "one", Keys: []string{"enter"}}, `readyone;\r;`},
		{api.SessionWriteInput{Text: "two\r"}, `;two;\r;`},
		{api.SessionWriteInput{Paste: "three"}, `;three`},
		{api.SessionWriteInput{Keys: []string{"enter"}}, `;three;\r;`},
		{api.SessionWriteInput{Text: "four", Keys: []string{"up"}}, `;four`},
	} {
		step.write.ID = p.ID
		call(m, api.SessionWrite, step.write)
		m.awaitScreen(p.ID, step.shown)
	}
}
