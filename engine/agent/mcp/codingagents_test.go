package mcp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// fakeClaude is a script posing as an agent. It accepts pastes, stores its input, and works on each
// line until the file "go" appears, which it then removes. The line "ask" makes it ask a question.
const fakeClaude = `#!/bin/sh
stty -icanon -echo
printf '\033[?2004h\033]0;✳ Test\007Ready.\n'
while read -r line; do
	printf '%s\n' "$line" >> got
	case $line in
	*201~) ;;
	*) continue ;;
	esac
	printf '\033]0;⠂ Test\007\033[2J\033[HWorking\n'
	until rm go 2> /dev/null; do sleep 0.02; done
	case $line in
	*ask*) printf ' Do you want to proceed?\n > 1. Yes\n   2. No\n' ;;
	*) printf '\033[2J\033[HDone.\n\033]0;✳ Test\007' ;;
	esac
done
`

// startFakeClaude starts the fake agent in a session.
func (r *rig) startFakeClaude(name string) api.Process {
	r.Helper()
	dir := filepath.Join(r.home, "bin")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.Fatal(err)
	}
	syscall.ForkLock.RLock() // a concurrently forked child would hold the program open for writing
	err := os.WriteFile(filepath.Join(dir, "claude"), []byte(fakeClaude), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		r.Fatal(err)
	}
	r.callChecked("session_start", object{"name": name, "command": filepath.Join(dir, "claude")})
	return r.waitForAgent(name, "an idle agent", func(a *api.CodingAgent) bool { return a != nil && a.State == api.AgentIdle })
}

// callMatching calls a tool and checks its text against a pattern.
func (r *rig) callMatching(name string, args object, want string) {
	r.Helper()
	if text, _ := r.callChecked(name, args); !regexp.MustCompile(want).MatchString(text) {
		r.Errorf("%s of %v says %q, want %s", name, args, text, want)
	}
}

// callFailing calls a tool and checks its error.
func (r *rig) callFailing(name string, args object, want string) {
	r.Helper()
	if answer := r.call(name, args); !answer.Failed || !strings.Contains(resultText(answer), want) {
		r.Errorf("%s of %v says %q, failed %v; want %s", name, args, resultText(answer), answer.Failed, want)
	}
}

// promptInBackground gives the agent in session work a task and waits for it. When it returns, the
// agent is working.
func (r *rig) promptInBackground(text string) <-chan string {
	r.Helper()
	answer := make(chan string, 1)
	go func() {
		answer <- resultText(r.call("agent_prompt", object{"id": "work", "text": text, "wait_ms": wait.Timeout.Milliseconds()}))
	}()
	r.waitForAgent("work", "a working agent", func(a *api.CodingAgent) bool { return a.State == api.AgentWorking })
	return answer
}

func TestAgentPromptsAnotherAndWaitsForIt(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.callMatching("agent_list", nil, `^No coding agent runs in a session\.$`)
	r.call("session_start", object{"name": "sh", "command": "sh"})
	p := r.startFakeClaude("work")
	r.callMatching("agent_list", nil, `^`+p.ID+`  work  claude  idle for \d+s  `+regexp.QuoteMeta(r.home)+`$`)
	r.callMatching("agent_prompt", object{"id": "work", "text": "first\nsecond"}, `^Prompted; claude in work \(`+p.ID+`\) is working$`)
	r.callMatching("agent_wait", object{"timeout_ms": 1}, `^Timed out; none is blocked or done\.$`)
	r.callMatching("agent_prompt", object{"id": "work", "text": "late", "wait_ms": 1}, `^Prompted; timed out: claude in work \(.*\) is working$`)
	r.writeText("go", "")
	wait.Poll(r, "the second task", func() (string, bool) {
		got, _ := os.ReadFile(filepath.Join(r.home, "got"))
		return string(got), strings.Contains(string(got), "late")
	})
	r.writeText("go", "")
	r.callMatching("agent_wait", object{"ids": []string{"sh", "work"}}, `^claude in work \(`+p.ID+`\) is done$`)
	said := r.promptInBackground("again")
	r.writeText("go", "")
	if text := <-said; text != "Prompted; claude in work ("+p.ID+") is done" {
		t.Errorf("agent_prompt says %q", text)
	}
	got, err := os.ReadFile(filepath.Join(r.home, "got"))
	if want := "\x1b[200~first\nsecond\x1b[201~\n\x1b[200~late\x1b[201~\n\x1b[200~again\x1b[201~\n"; err != nil || string(got) != want {
		t.Errorf("it was given %q, %v", got, err)
	}
	r.callFailing("agent_prompt", object{"id": "sh", "text": "x"}, "prompt sh: no coding agent runs in it")
	r.callFailing("agent_prompt", object{"id": "work", "text": " "}, "text is empty")
	r.call("session_kill", object{"id": "work"})
	r.callMatching("agent_wait", object{"ids": []string{"work"}}, `^Those sessions have exited\.$`)
}

func TestBlockedAgentIsNotPrompted(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	p := r.startFakeClaude("work")
	const asks = `claude in work \(.*\) is blocked: Do you want to proceed\?$`
	said := r.promptInBackground("ask")
	r.writeText("go", "")
	if text := <-said; !regexp.MustCompile(`^Prompted; ` + asks).MatchString(text) {
		t.Errorf("agent_prompt says %q", text)
	}
	r.callMatching("agent_wait", nil, `^`+asks)
	r.callMatching("agent_list", nil, `  claude  blocked for \d+s  .*: Do you want to proceed\?$`)
	r.callFailing("agent_prompt", object{"id": p.ID, "text": "x"}, "prompt work: it is blocked: Do you want to proceed?\nhint: ")
	if got, err := os.ReadFile(filepath.Join(r.home, "got")); err != nil || strings.Count(string(got), "\n") != 1 {
		t.Errorf("it was given %q, %v", got, err)
	}
}

func TestAgentInAnUnknownStateIsNotPrompted(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.callMatching("agent_wait", nil, `^No coding agent runs in a session\.$`)
	r.createFile("bin/claude", "read -r line; : > typed; exec sleep 1000")
	r.callChecked("session_start", object{"name": "work", "command": "sh bin/claude"})
	p := r.waitForAgent("work", "an agent", func(a *api.CodingAgent) bool { return a != nil })
	if state := p.Agent.State; state != api.AgentUnknown {
		t.Fatalf("it is %s", state)
	}
	r.callFailing("agent_prompt", object{"id": "work", "text": "task"}, "prompt work: its agent's state is unknown")
	if _, err := os.Stat(filepath.Join(r.home, "typed")); err == nil {
		t.Error("the task was typed")
	}
}

func TestKeyboardLockBlocksAgentPrompt(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	p := r.startFakeClaude("work")
	if _, err := api.SessionKeyboard.Call(t.Context(), r.userClient(), api.SessionKeyboardInput{ID: p.ID, Take: true}); err != nil {
		t.Fatal(err)
	}
	r.callFailing("agent_prompt", object{"id": "work", "text": "x"}, "locked_by_user")
}

func TestSessionRulesApplyToAgentsInSessions(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.startFakeClaude("work")
	for tool, c := range map[string]struct {
		rule string
		args object
	}{
		"agent_prompt": {"session?write", object{"id": "work", "text": "x"}}, "agent_transcript": {"session?screen", object{"id": "work"}},
		"agent_list": {"session?list", object{}}, "agent_wait": {"agent_*", object{"ids": []string{"work"}}},
	} {
		r.writePolicy("[[rule]]\ndecision = \"deny\"\ntool = [\"" + c.rule + "\"]\nreason = \"not that\"")
		if text, failed := r.callAsClient(r.serveClient(nil), tool, c.args); !failed || !strings.Contains(text, "call "+tool+": not allowed: ") || !strings.Contains(text, "not that") {
			t.Errorf("%s with a rule on %s says %q", tool, c.rule, text)
		}
	}
}

const conversation = `{"type":"user","isSidechain":false,"message":{"role":"user","content":"How many?"}}
{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"text","text":"Let me count."}]}}
{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"text","text":"There are three.\n\nAll of them pass."}]}}
{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"I am another."}]}}
{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"tool_use","name":"Bash"}]}}
{"type":"assistant","isSide`

func TestTranscriptObeysFileBounds(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	r := newRig(t, toolkit.Native)
	p := r.startFakeClaude("work")
	r.callMatching("agent_transcript", object{"id": "work"}, `(?s)^Ready\.\n\[from its screen, as no file with its conversation is known; it is idle\]$`)
	folder := filepath.Join(home, ".claude", "projects", "-x")
	path := filepath.Join(folder, "c-1.jsonl")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(conversation), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := api.AgentReport.Call(t.Context(), r.userClient(), api.AgentReportInput{ID: p.ID, Conversation: "c-1"}); err != nil {
		t.Fatal(err)
	}
	r.waitForAgent("work", "the conversation", func(a *api.CodingAgent) bool { return a.Conversation == "c-1" })
	r.callMatching("agent_list", nil, `  conversation c-1$`)
	r.callMatching("agent_transcript", object{"id": "work"}, `(?s)^Ready\.\n\[from its screen, as .*outside.*; it is idle\]$`)
	r.agent.Options.Roots = append(r.agent.Options.Roots, folder)
	r.agent.Roots = r.agent.Options.Roots
	r.reconnect()
	r.callTextOnly("agent_transcript", object{"id": "work"}, "There are three.\n\nAll of them pass.\n[from "+path+"; it is idle]")
	r.writePolicy("[[rule]]\ndecision = \"deny\"\npath = [\"" + home + "/.claude/**\"]\nreason = \"private\"")
	r.callMatching("agent_transcript", object{"id": "work"}, `(?s)^Ready\.\n\[from its screen, as call read: not allowed: .*: private; it is idle\]$`)
	r.writePolicy(`default = "allow"`)
	r.agent.Options.Sandbox = &api.Sandbox{Filesystem: api.SandboxFilesystem{DenyRead: []string{folder}}}
	r.reconnect()
	r.callMatching("agent_transcript", object{"id": "work"}, `(?s)^Ready\.\n\[from its screen, as .*; it is idle\]$`)
}

func TestThirdEmptyPollExplainsHowToWait(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.call("session_start", object{"name": "still", "command": "sh -c 'echo hello; exec sleep 1000'"})
	r.call("process_start", object{"name": "job", "command": "echo hello; exec sleep 1000"})
	r.waitForScreen("still", "^hello$")
	r.waitForLog("job", "^hello$")
	for tool, tc := range map[string]struct{ id, wait string }{
		"session_read": {"still", "session_wait"}, "process_log": {"job", "process_wait"}, "session_screen": {"still", "session_wait"},
	} {
		r.agent.Seen.Remove(r.getProcess(tc.id).ID)
		for look := 0; look <= 4; look++ { // the first poll finds something
			text, _ := r.callChecked(tool, object{"id": tc.id})
			if vain := look >= 3; strings.HasSuffix(text, "[nothing new; use "+tc.wait+" instead of looking again]") != vain {
				t.Errorf("look %d with %s gives %q", look, tool, text)
			}
		}
	}
}

func TestLargeResultToolsDeclareMaxSize(t *testing.T) {
	t.Parallel()
	tools, _ := listOf(t, toolkit.Options{Profiles: []toolkit.Profile{toolkit.Native}})
	large := map[string]bool{"exec": true, "session_exec": true, "session_read": true, "process_log": true}
	for _, l := range tools {
		want := 0
		if large[l.Name] {
			want = 500_000
		}
		if got := l.Meta["anthropic/maxResultSizeChars"]; got != want {
			t.Errorf("%s takes %d characters, want %d", l.Name, got, want)
		}
	}
}

// Claude Code truncates instructions at 2 KB.
func TestInstructionsFitIn2KB(t *testing.T) {
	t.Parallel()
	for _, p := range toolkit.Profiles() {
		o := toolkit.Options{Profiles: []toolkit.Profile{p}, ToolPrefix: "a_long_prefix_of_tools_"}
		if said := instructions(o.ToolPrefix, selectTools(o)); len(said) >= maxDescription {
			t.Errorf("those of %s have %d bytes", p, len(said))
		}
	}
}
