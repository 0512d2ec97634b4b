package list

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/themes"
)

// withAgent returns a session whose agent has been in a state for some minutes.
func withAgent(id string, state api.AgentState, minutes int) api.Process {
	p := session(id, "session-"+id, api.StateRunning)
	p.Agent = &api.CodingAgent{Name: "claude", State: state, Since: time.Now().Add(time.Duration(-minutes)*time.Minute - time.Second)}
	return p
}

func TestListShowsAgentStatesAndAgesAtAnyWidth(t *testing.T) {
	p, e := newTestPane()
	unseen, seen := withAgent("c", api.AgentDone, 3), withAgent("d", api.AgentDone, 3)
	seen.Agent.Seen = true
	all := []api.Process{withAgent("a", api.AgentBlocked, 0), withAgent("b", api.AgentWorking, 75), unseen, seen, withAgent("e", api.AgentIdle, 1)}
	all[0].Terminal = &api.Terminal{Rang: true, Title: "✳ Fix"}
	e.Known.Processes = all
	p.SetTabs([][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}, "a")
	for glyphs, want := range map[string][]string{
		"unicode": {"▌ ◆ session-a  claude blocked now", "  ◐ session-b  claude 1h15m", "  ✓ session-c  claude done 3m", "  ✓ session-d  claude done 3m", "  ○ session-e  claude idle 1m"},
		"ascii":   {"> ! session-a  claude blocked now", "  % session-b  claude 1h15m", "  + session-c  claude done 3m", "  + session-d  claude done 3m", "  o session-e  claude idle 1m"},
	} {
		look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
		if glyphs == "ascii" {
			look.Glyphs = themes.ASCIIGlyphs()
		}
		for i, row := range plainRows(p.list.Draw(34, 6, look))[1:] {
			if strings.TrimRight(row, " ") != want[i] {
				t.Errorf("%q, want %q", row, want[i])
			}
		}
		for w := 20; w < 60; w++ {
			for _, row := range plainRows(p.list.Draw(w, 6, look)) {
				if text.Width(row) != w {
					t.Errorf("%d cells: %q", w, row)
				}
			}
		}
	}
	if got := p.Agents.Count; got != (AgentCount{Blocked: 1, Done: 1, Working: 1}) {
		t.Errorf("counted are %+v", got)
	}
}

func TestTabShowsTheMostUrgentMark(t *testing.T) {
	p, e := newTestPane()
	e.Inks.Glyphs = themes.UnicodeGlyphs()
	rang := session("r", "session-r", api.StateRunning)
	rang.Terminal = &api.Terminal{Rang: true}
	e.Known.Processes = []api.Process{withAgent("w", api.AgentWorking, 1), withAgent("d", api.AgentDone, 1), rang,
		withAgent("b", api.AgentBlocked, 1), withAgent("i", api.AgentIdle, 1)}
	p.SetTabs([][]string{{"w", "d"}, {"d", "r", "w"}, {"w", "r", "b"}, {"i"}, {"i", "w"}}, "w")
	bar := ansi.Strip(p.DrawTabBar(200))
	for i, want := range []string{"session-w+session-d ✓ ", "2 session-d+session-r+ses… ♪ rang ", "session-r+ses… ◆ ", "session-i ", "session-i+session-w ◐ "} {
		if !strings.Contains(bar, want) {
			t.Errorf("tab %d has not %q: %s", i+1, want, bar)
		}
	}
}

func TestVisitNextStartsWithTheLongestWaitAndWraps(t *testing.T) {
	p, e := newTestPane()
	e.Known.Processes = []api.Process{withAgent("a", api.AgentBlocked, 1), withAgent("b", api.AgentDone, 9), withAgent("c", api.AgentBlocked, 5), withAgent("d", api.AgentWorking, 7)}
	visit := func() string {
		e.Opened, e.Said = "", ""
		p.Agents.visitNext()
		p.SetTabs([][]string{{"a"}, {"b"}, {"c"}, {"d"}}, e.Opened)
		return e.Opened + e.Said
	}
	p.SetTabs([][]string{{"a"}, {"b"}, {"c"}, {"d"}}, "d")
	for _, want := range []string{"b", "c", "a", "b"} {
		if got := visit(); got != want {
			t.Errorf("it goes to %q, want %q", got, want)
		}
	}
	e.looks = "b" // its finished work is now seen
	for _, want := range []string{"c", "a", "c"} {
		if got := visit(); got != want {
			t.Errorf("it goes to %q, want %q", got, want)
		}
	}
	e.Known.Processes = append(e.Known.Processes, withAgent("e", api.AgentDone, 3))
	p.SetTabs([][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}, "c")
	if got := visit(); got != "e" {
		t.Errorf("from c it goes to %q", got)
	}
	e.looks = "e"
	p.Agents.countAgents() // it is no longer among the waiting
	if got := visit(); got != "a" {
		t.Errorf("from a session just visited it goes to %q, want the next one", got)
	}
	p.SetTabs([][]string{{"c"}}, "c")
	e.Known.Processes = e.Known.Processes[2:3]
	if got := visit(); got != "no other agent needs you" {
		t.Errorf("with one alone: %q", got)
	}
	e.Known.Processes = nil
	if got := visit(); got != "no agent needs you" {
		t.Errorf("with none: %q", got)
	}
}

func TestAgentQuestionIsReportedOnce(t *testing.T) {
	at := time.Unix(100, 0)
	asks := func(state api.AgentState, since int, text string) *api.Process {
		return &api.Process{ID: "a", Agent: &api.CodingAgent{State: state, Since: at.Add(time.Duration(since) * time.Second), Text: text}}
	}
	a := Agents{reported: map[string]api.CodingAgent{}}
	for i, step := range []struct {
		of   *api.Process
		want bool
	}{
		{asks(api.AgentBlocked, 0, ""), true},
		{asks(api.AgentBlocked, 1, "May I?"), false}, // the question, a little later
		{asks(api.AgentBlocked, 1, "May I?"), false}, // after a reconnect
		{asks(api.AgentUnknown, 1, ""), false},       // unknown for a moment
		{asks(api.AgentBlocked, 1, "May I?"), false},
		{asks(api.AgentBlocked, 1, "And that?"), true},
		{asks(api.AgentBlocked, 30, "And that?"), true}, // whatever came between was missed
		{asks(api.AgentWorking, 40, ""), false},
		{asks(api.AgentBlocked, 41, "And that?"), true},
		{asks(api.AgentDone, 50, ""), true},
		{asks(api.AgentDone, 50, ""), false},
		{&api.Process{ID: "a"}, false},
	} {
		if got := a.isNew(step.of); got != step.want {
			t.Errorf("step %d: reported %v", i, got)
		}
	}
}

func TestRemoteAgentIsNamedWithItsMachine(t *testing.T) {
	there := withAgent("x", api.AgentBlocked, 1)
	there.ID = api.OnMachine("box", there.ID)
	if got := describeAgent(&there); got != "claude in box/session-x" {
		t.Errorf("it is %q", got)
	}
}

func TestBlockedAgentHasNoSecondMark(t *testing.T) {
	p, e := newTestPane()
	asks := withAgent("a", api.AgentBlocked, 0)
	asks.Terminal = &api.Terminal{Waiting: "input"}
	e.Known.Processes = []api.Process{asks}
	p.attention.marks["a"] = "asks" // from before it was known as an agent
	p.clearSeenMarks()
	if p.NeedsInput("a") {
		t.Error("the old mark stays beside the agent's state")
	}
}

func TestMarkOfAnEarlierCommandIsHiddenWhileAnotherRuns(t *testing.T) {
	p, e := newTestPane()
	p.attention.marks["a"] = "done"
	for running, want := range map[string]string{"": "done", "sleep 8": ""} {
		shell := session("a", "bash", api.StateRunning)
		shell.Terminal = &api.Terminal{Running: running}
		e.Known.Processes = []api.Process{shell}
		if got := p.Agents.makeRow(shell).Mark; got != want {
			t.Errorf("running %q, the mark is %q, want %q", running, got, want)
		}
	}
}
