package policy

import (
	"strings"
	"testing"
)

// A list whose entries are all commented out must not turn a narrow rule into a general one.
func TestEmptyListMatchesNothing(t *testing.T) {
	for _, key := range []string{"tool", "agent", "host", "command", "path"} {
		p, err := Parse([]byte("default = \"deny\"\n[[rule]]\ndecision = \"allow\"\n" + key + " = [\n  # \"x\",\n]\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []Action{
			{Tool: "exec", Command: "rm -rf /", CWD: "/", Home: "/h", Write: true},
			{Tool: "read", Paths: []string{"/etc/shadow"}, Agent: "ci", Host: "web", CWD: "/", Home: "/h"},
			{Tool: "process_list"},
		} {
			if v := p.Decide(a); v.Decision != Deny {
				t.Errorf("%s = []: %+v is %s by rule %d", key, a, v.Decision, v.Rule)
			}
		}
	}
}

func TestEmptyListNextToAnotherMatchesNothing(t *testing.T) {
	p, err := Parse([]byte("[[rule]]\ndecision = \"deny\"\ntool = [\"exec\"]\ncommand = []\n[[rule]]\ndecision = \"ask\"\ntool = [\"exec\"]"))
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Decide(Action{Tool: "exec", Command: "ls", CWD: "/", Home: "/h"}); v.Decision != Ask || v.Rule != 2 {
		t.Errorf("%+v, want rule 2", v)
	}
}

func TestRuleWithoutAListIsRejected(t *testing.T) {
	for _, rest := range []string{"", "write = true\n", "reason = \"x\"\n"} {
		_, err := Parse([]byte("default = \"deny\"\n[[rule]]\ndecision = \"allow\"\n" + rest))
		if err == nil {
			t.Errorf("%q is accepted", rest)
			continue
		}
		for _, want := range []string{"line 2: ", "rule 1: ", `tool = ["*"]`, "^"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: the error has no %q: %v", rest, want, err)
			}
		}
	}
}

func TestUnknownToolIsReportedWithItsLine(t *testing.T) {
	known := []string{"exec", "session_kill", "session.kill", "process_stop", "process_stop_all"}
	for pattern, meant := range map[string]string{"exce": "exec", "session_kil": "session_kill", "zzz*": "", "Exec": "exec"} {
		text := "default = \"allow\"\n[[rule]]\ndecision = \"deny\"\ntool = [\"exec\", \"" + pattern + "\"]\n"
		err := CheckTools([]byte(text), known)
		if err == nil {
			t.Errorf("%s is accepted", pattern)
			continue
		}
		for _, want := range []string{"line 4: ", "rule 1: ", pattern, meant, "^"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error has no %q: %v", pattern, want, err)
			}
		}
	}
	fine := "[[rule]]\ndecision = \"deny\"\ntool = [\"exec\", \"session?kill\", \"process_stop*\", \"*\"]\n"
	if err := CheckTools([]byte(fine), known); err != nil {
		t.Error(err)
	}
}

func TestUnknownAgentIsReportedWithItsLine(t *testing.T) {
	text := "[[rule]]\ndecision = \"deny\"\nagent = [\"ci\", \"bto\"]\ntool = [\"exec\"]\n"
	err := CheckAgents([]byte(text), []string{"ci", "bot"})
	if err == nil {
		t.Fatal("it is accepted")
	}
	for _, want := range []string{"line 3: ", "rule 1: ", `"bto"`, `"bot"`, "--as", "^"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error has no %q: %v", want, err)
		}
	}
	for _, fine := range []string{"ci", "c*", "*"} {
		if err := CheckAgents([]byte("[[rule]]\ndecision = \"deny\"\nagent = [\""+fine+"\"]\n"), []string{"ci", "bot"}); err != nil {
			t.Error(err)
		}
	}
}
