package coding

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/workspace/files"
	"tandem/persist/store"
)

func TestEmbeddedRulesParseAndNameTheirSources(t *testing.T) {
	names, err := filepath.Glob("rules/*.toml")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rule, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if rule.Name+".toml" != filepath.Base(name) || len(rule.Sources) == 0 {
			t.Errorf("%s is named %s, with %d sources", name, rule.Name, len(rule.Sources))
		}
	}
}

func TestRuleErrorShowsItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"name = \"x\"\nprogram = [\"x\"]\n":                             "line 2: unknown key \"program\"",
		"programs = [\"x\"]\n":                                          "name = \"\": must be one word",
		"name = \"x\"\n":                                                "line 1: x: must name programs or scripts",
		"name = \"x\"\nprograms = \"x\"\n":                              "line 2: programs: must be a list",
		"name = \"x\"\nprograms = [\"x\"]\n[[blocked]]\nline = \"(\"\n": "line 4: line: must be a regular expression: missing closing )",
		"name = \"x\"\nprograms = [\"x\"]\n[[blocked]]\nline = \"a\"\nyes = \"some\"\nno = \"n\"\n": "line 5: yes: ",
		"name = \"x\"\nprograms = [\"x\"]\n[[terminal_title]]\nmatch = \"a\"\nstate = \"busy\"\n":   "line 5: state = \"busy\": must be blocked, working",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestAgentsAreRecognizedByTheirProcesses(t *testing.T) {
	rules := parseEmbedded()
	for command, want := range map[string]string{
		"/usr/local/bin/claude|claude --resume 1":                                                                                                "claude",
		"/usr/bin/node|claude":                                                                                                                   "claude",
		"/usr/bin/node|node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js":                                                              "claude",
		"/usr/bin/node|node --no-warnings /home/me/.npm/_npx/1/node_modules/@google/gemini-cli/dist/index.js":                                    "gemini",
		"/usr/lib/node_modules/@openai/codex/bin/codex|/usr/lib/codex":                                                                           "codex",
		"/usr/bin/python3.12|/usr/bin/python3 /home/me/.local/bin/aider --model x":                                                               "aider",
		"/home/me/.local/share/cursor-agent/versions/1/node|/home/me/.local/bin/cursor-agent":                                                    "cursor",
		"/usr/bin/bun|bun /opt/bin/opencode":                                                                                                     "opencode",
		"/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe|/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe --agent-name ann": "claude",
		"/home/me/.local/share/claude/versions/2.1.197|/home/me/.local/share/claude/versions/2.1.197 --agent-name ann":                           "claude",
		"/usr/bin/vim|vim claude":             "",
		"/usr/bin/node|node server.js claude": "",
		"/usr/bin/grep|grep claude codex":     "",
		"/usr/bin/bash|bash -c claude":        "",
	} {
		exe, line, _ := strings.Cut(command, "|")
		rule, _ := matchProgram(rules, exe, strings.Fields(line))
		if rule.Name != want {
			t.Errorf("%s is %q, want %q", command, rule.Name, want)
		}
	}
}

func TestUsersRulesReplaceEmbeddedOnes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.toml", "name = \"claude\"\nprograms = [\"klaus\"]\n")
	var wrong []error
	synctest.Test(t, func(t *testing.T) {
		l := NewLibrary(dir, func(err error) { wrong = append(wrong, err) })
		knows := func(program, want string) {
			t.Helper()
			rules, _ := l.Rules()
			if rule, _ := matchProgram(rules, "", []string{program}); rule.Name != want {
				t.Errorf("%s is %q, want %q", program, rule.Name, want)
			}
		}
		knows("klaus", "claude")
		knows("claude", "")
		knows("codex", "codex")
		write("broken.toml", "name = \n")
		time.Sleep(rulesCheckInterval)
		for range 3 {
			knows("klaus", "claude")
			time.Sleep(rulesCheckInterval)
		}
		if len(wrong) != 1 || !strings.Contains(wrong[0].Error(), "broken.toml: line 1:") {
			t.Errorf("told of mistakes: %v", wrong)
		}
		os.Remove(filepath.Join(dir, "mine.toml"))
		time.Sleep(rulesCheckInterval)
		knows("claude", "claude")
	})
}

func TestMoreTrustedSourceDecidesUntilContradicted(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	word := func(source, state string, s int) store.AgentWord {
		return store.AgentWord{Source: source, State: state, At: at(s)}
	}
	for name, c := range map[string]struct {
		words []store.AgentWord
		want  api.AgentState
	}{
		"nothing is known":                          {nil, api.AgentUnknown},
		"a report counts for more than a title":     {[]store.AgentWord{word(SourceTitle, "idle", 1), word(SourceReport, "working", 2)}, api.AgentWorking},
		"work that was interrupted":                 {[]store.AgentWord{word(SourceReport, "working", 1), word(SourceTitle, "done", 2)}, api.AgentDone},
		"a question after a report of work":         {[]store.AgentWord{word(SourceReport, "working", 1), word(SourceScreen, "blocked", 2)}, api.AgentBlocked},
		"a question answered":                       {[]store.AgentWord{word(SourceReport, "blocked", 1), word(SourceFile, "working", 2)}, api.AgentWorking},
		"a title that idles during a question":      {[]store.AgentWord{word(SourceReport, "blocked", 1), word(SourceTitle, "idle", 2)}, api.AgentBlocked},
		"a text like a question after the end":      {[]store.AgentWord{word(SourceReport, "done", 1), word(SourceScreen, "blocked", 2)}, api.AgentDone},
		"a question on the screen and an old title": {[]store.AgentWord{word(SourceTitle, "working", 1), word(SourceScreen, "blocked", 1)}, api.AgentBlocked},
		"a title that comes just behind the report": {[]store.AgentWord{word(SourceReport, "done", 1), word(SourceTitle, "idle", 2)}, api.AgentDone},
	} {
		if got := Decide(c.words); got.State != c.want {
			t.Errorf("%s: %s by %s, want %s", name, got.State, got.Source, c.want)
		}
	}
}

func TestConversationIsFoundByOpenFile(t *testing.T) {
	rule := ruleNamed(t, "codex")
	if got := openConversation(rule.open, []int{os.Getpid()}); got != "" {
		t.Errorf("%q without the file", got)
	}
	const id = "01997c61-4b7c-7a83-a2a8-4fd7c6d2b7a1"
	f, err := os.Create(filepath.Join(t.TempDir(), "rollout-2026-01-02T03-04-05-"+id+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := openConversation(rule.open, []int{1 << 30, os.Getpid()}); got != id {
		t.Errorf("%q", got)
	}
}

func TestResumeRulesAreValidated(t *testing.T) {
	for text, want := range map[string]string{
		"resume = [\"x\"]\n":         "resume: one of its words must contain {id}",
		"open_file = \"[\"\n":        "open_file: must be a regular expression with one group",
		"open_file = \"no group\"\n": "open_file: must be a regular expression with one group",
		"cost = \"(a)(b)\"\n":        "cost: must be a regular expression with one group",
	} {
		if _, err := Parse([]byte("name = \"x\"\nprograms = [\"x\"]\n" + text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTranscriptIsFoundByConversationID(t *testing.T) {
	home := t.TempDir()
	claude, codex := ruleNamed(t, "claude"), ruleNamed(t, "codex")
	const id = "0198c5f2-2222-7000-8000-000000000000"
	want := map[string]string{
		"claude": filepath.Join(home, ".claude/projects/-home-x", id+".jsonl"),
		"codex":  filepath.Join(home, ".codex/sessions/2026/11/23/rollout-2026-11-23T05-00-00-"+id+".jsonl"),
	}
	for _, rule := range []Rule{claude, codex} {
		if got := rule.findTranscript(&files.Tree{}, home, id, 0); got != nil {
			t.Errorf("%s: found %+v before there is one", rule.Name, got)
		}
		if err := os.MkdirAll(filepath.Dir(want[rule.Name]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(want[rule.Name], nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := rule.findTranscript(&files.Tree{}, home, id, 0); got == nil || got.Path != want[rule.Name] {
			t.Errorf("%s: found %+v, want %s", rule.Name, got, want[rule.Name])
		}
		for _, odd := range []string{"", "*", "../-home-x/" + id, "?198c5f2-2222-7000-8000-000000000000"} {
			if got := rule.findTranscript(&files.Tree{}, home, odd, 0); got != nil {
				t.Errorf("%s: %q leads to %+v", rule.Name, odd, got)
			}
		}
	}
}

// An environment variable may move an agent's files.
func TestConfigVariableMovesAgentsFiles(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	agent := exec.Command("sh", "-c", "echo; read -r _")
	agent.Env = append(os.Environ(), "CLAUDE_CONFIG_DIR="+other, "CODEX_HOME="+other)
	out, err := agent.StdoutPipe()
	_, errIn := agent.StdinPipe() // stays open until Wait
	if err := errors.Join(err, errIn, agent.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // the environment exists only once the program runs
		t.Fatal(err)
	}
	const id = "0198c5f2-2222-7000-8000-000000000000"
	want := map[string]string{"claude": "projects/-home-x/" + id + ".jsonl", "codex": "sessions/2026/11/23/rollout-2026-11-23T05-00-00-" + id + ".jsonl"}
	for name, path := range want {
		path = filepath.Join(other, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ruleNamed(t, name).findTranscript(&files.Tree{}, home, id, agent.Process.Pid); got == nil || got.Path != path {
			t.Errorf("%s: found %+v, want %s", name, got, path)
		}
		if got := ruleNamed(t, name).findTranscript(&files.Tree{}, home, id, os.Getpid()); got != nil {
			t.Errorf("%s: another process's file: %+v", name, got)
		}
	}
}

func TestAnswerKeysAreReadFromScreen(t *testing.T) {
	for _, c := range []struct{ agent, screen, yes, no string }{
		{"claude", " Do you want to proceed?\n ❯ 1. Yes\n   2. Yes, and always allow access to proj/ from this project\n   3. No\n\n Esc to cancel", "1", "3"},
		{"claude", " Plan:\n 1. No tests\n 2. Deny\n Do you want to proceed?\n ❯ 1. Yes\n   2. No", "1", "2"},
		{"claude", " one you trust?\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to cancel", "1", "2"},
		{"claude", "Which database?\n❯ 1. Postgres\n  2. SQLite\n\nEnter to select · Esc to cancel", "y", "n"},
		{"codex", "  Would you like to run the following command?\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n  Press enter to confirm", "1", "2"},
		{"codex", "  Trust this folder? It can.\n› 1. Trust and continue\n  2. Back to Agent Command Center\n  enter continue · esc back", "1", "esc"},
		{"gemini", "│ Allow execution of [Shell]?\n│ ● 1. Allow once  │\n│   2. Allow for this session  │\n│   3. No, suggest changes (esc)  │", "1", "3"},
		{"copilot", "│ Do you want to run this command? │\n│ ❯ 1. Yes │\n│   2. Yes, and don't ask again │\n│   3. No, and tell Copilot what to do differently (Esc to stop) │", "1", "3"},
		{"opencode", "  ┃  △ Permission required\n  ┃    # Shell command\n  ┃   Allow once   Allow always   Reject    enter confirm", "enter", "esc"},
		{"aider", "Add main.go to the chat? (Y)es/(N)o [Yes]:", "y", "n"},
	} {
		yes, no := ruleNamed(t, c.agent).answerKeys(strings.Split(c.screen, "\n"))
		if yes != c.yes || no != c.no {
			t.Errorf("%s: %s and %s, want %s and %s, to\n%s", c.agent, yes, no, c.yes, c.no, c.screen)
		}
	}
}
