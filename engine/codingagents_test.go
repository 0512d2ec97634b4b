package engine

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/engine/api"
)

// fakeAgent is a script under the name of an agent, which shows what it is told to.
func fakeAgent(t *testing.T, name string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	script := `#!/bin/sh
stty -echo
while read -r what; do printf "$what"; done
`
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func (m *machine) agentIs(id string, state api.AgentState) api.CodingAgent {
	m.Helper()
	var now *api.CodingAgent
	m.eventually("an agent that is "+string(state), func() bool {
		now = m.get(id).Agent
		return now != nil && now.State == state
	})
	return *now
}

func TestAgentsStateSurvivesTheEngine(t *testing.T) {
	m := startMachine(t)
	p := m.start(fakeAgent(t, "claude"))
	if a := m.agentIs(p.ID, api.AgentUnknown); a.Name != "claude" {
		t.Fatalf("it is %+v", a)
	}
	const (
		works = `\033]0;⠂ Test\007\033[2J\033[H* Working\n`
		asks  = ` Do you want to proceed?\n > 1. Yes\n   2. No\n`
		ends  = `\033]0;✳ Test\007\033[2J\033[HDone.\n`
	)
	say := func(what string) { m.write(p.ID, what+"\n") }
	say(works)
	m.agentIs(p.ID, api.AgentWorking)
	say(asks)
	before := m.agentIs(p.ID, api.AgentBlocked)
	if before.Text != "Do you want to proceed?" || before.Source != "screen" {
		t.Errorf("it asks %+v", before)
	}
	m.crash(m.info().EnginePID)
	after := m.agentIs(p.ID, api.AgentBlocked)
	say(ends)
	m.agentIs(p.ID, api.AgentDone)
	if !after.Since.Equal(before.Since) || after.Text != before.Text {
		t.Errorf("it was %+v, and is %+v after a crash", before, after)
	}
	m.crash(m.info().EnginePID)
	m.agentIs(p.ID, api.AgentDone)
}

func TestWhatAnAgentHasDoneStaysSeenUntilItHasDoneMore(t *testing.T) {
	m := startMachine(t)
	p := m.start("sh")
	report := func(state api.AgentState) api.CodingAgent {
		t.Helper()
		call(m, api.AgentReport, api.AgentReportInput{ID: p.ID, State: state})
		return m.agentIs(p.ID, state)
	}
	seen := func(a api.CodingAgent) { call(m, api.AgentSeen, api.AgentSeenInput{ID: p.ID, Since: a.Since}) }
	first := report(api.AgentDone)
	if first.Seen || !first.Wants() {
		t.Errorf("it is seen before anybody looked: %+v", first)
	}
	seen(first)
	m.eventually("seen", func() bool { return m.get(p.ID).Agent.Seen })
	m.crash(m.info().EnginePID)
	if a := m.agentIs(p.ID, api.AgentDone); !a.Seen || a.Wants() {
		t.Errorf("after a crash it is %+v", a)
	}
	report(api.AgentWorking)
	second := report(api.AgentDone)
	seen(first) // somebody was slow
	if a := call(m, api.AgentExplain, api.IDInput{ID: p.ID}).Agent; a.Seen || !a.Since.Equal(second.Since) {
		t.Errorf("what it has done since is %+v", a)
	}
}

func TestReportCountsAndSurvivesTheEngine(t *testing.T) {
	m := startMachine(t)
	p := m.start("sh")
	report := func(in api.AgentReportInput) {
		t.Helper()
		in.ID = p.ID
		call(m, api.AgentReport, in)
	}
	report(api.AgentReportInput{State: api.AgentBlocked, Text: "deploy?", Agent: "deployer", Conversation: "c1"})
	before := m.agentIs(p.ID, api.AgentBlocked)
	if before.Name != "deployer" || before.Text != "deploy?" || before.Source != "report" || before.Conversation != "c1" {
		t.Errorf("it is %+v", before)
	}
	m.crash(m.info().EnginePID)
	if after := m.agentIs(p.ID, api.AgentBlocked); !after.Since.Equal(before.Since) || after.Text != before.Text {
		t.Errorf("it was %+v, and is %+v after a crash", before, after)
	}
	met := call(m, api.AgentWait, api.AgentWaitInput{IDs: []string{p.Name}, States: []api.AgentState{api.AgentBlocked, api.AgentDone}})
	if met.Process == nil || met.Process.ID != p.ID {
		t.Errorf("waited for %+v", met)
	}
	report(api.AgentReportInput{State: api.AgentUnknown})
	m.eventually("no agent", func() bool { return m.get(p.ID).Agent == nil })
	call(m, api.SessionKill, api.IDInput{ID: p.ID})
	if met := call(m, api.AgentWait, api.AgentWaitInput{IDs: []string{p.ID}, States: []api.AgentState{api.AgentDone}}); !met.Ended {
		t.Errorf("of an ended session: %+v", met)
	}
}

func TestAgentThatLeavesItsShellIsGone(t *testing.T) {
	m := startMachine(t)
	agent := fakeAgent(t, "codex")
	p := m.start("sh")
	m.write(p.ID, agent+"\n")
	m.agentIs(p.ID, api.AgentUnknown)
	words := call(m, api.AgentExplain, api.IDInput{ID: p.ID})
	if words.PID == 0 || words.PID == p.PID || len(words.Sources) == 0 || !words.Lines {
		t.Errorf("explained by %+v", words)
	}
	m.write(p.ID, "\x04")
	m.eventually("no agent", func() bool { return m.get(p.ID).Agent == nil })
}
