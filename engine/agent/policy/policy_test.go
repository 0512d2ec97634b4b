package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const sample = `
default = "ask"
ask_timeout = "10s"

[[rule]]
decision = "deny"
path = ["~/.ssh/**", "/etc/shadow"]
reason = "keys stay here"

[[rule]]
decision = "deny"
command = ["rm -rf", "git push --force", "dd"]

[[rule]]
decision = "ask"
command = ["git push", "npm publish"]

[[rule]]
decision = "allow"
command = ["git *", "ls", "echo", "cat", "make", "true", "cd", "sh", "bash", "env", "sudo", "xargs", "eval", "rm", "npm"]

[[rule]]
decision = "allow"
tool = ["read", "session_*"]
agent = ["claude*"]
`

func parsePolicy(t *testing.T, text string) Policy {
	t.Helper()
	p, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCommandsAreParsedLikeAShell(t *testing.T) {
	p := parsePolicy(t, sample)
	for command, want := range map[string]Decision{
		"ls -la":                                Allow,
		"git status":                            Allow,
		"git push origin main":                  Ask,
		"git push --force":                      Deny,
		"git   push  '--force'":                 Deny,
		"/usr/bin/git push --fo\"rce\"":         Deny,
		"ls && rm -rf /":                        Deny,
		"ls; rm -r -f x":                        Allow,
		"ls | rm -rf x":                         Deny,
		"echo $(rm -rf x)":                      Deny,
		"echo `rm -rf x`":                       Deny,
		"if true; then rm -rf x; fi":            Deny,
		"f() { rm -rf x; }; f":                  Deny,
		"sudo -u root rm -rf x":                 Deny,
		"env A=1 rm -rf x":                      Deny,
		"A=1 rm -rf x":                          Deny,
		"sh -c 'rm -rf x'":                      Deny,
		"bash -lc \"ls; rm -rf x\"":             Deny,
		"eval 'rm -rf x'":                       Deny,
		"ls | xargs -n 1 rm -rf":                Deny,
		"\\rm -rf x":                            Deny,
		"r\\m -rf x":                            Deny,
		"$CMD":                                  Ask,
		"rm $FLAGS":                             Ask,
		"sh -c \"$X\"":                          Ask,
		"echo 'rm -rf x'":                       Allow,
		"echo \"a && rm -rf x\"":                Allow,
		"curl http://example.org":               Ask,
		"cat ~/.ssh/id_ed25519":                 Deny,
		"cat < ~/.ssh/id_ed25519":               Deny,
		"cat --file=/home/u/.ssh/config":        Deny,
		"echo x > /home/u/.ssh/authorized_keys": Deny,
		"cd /tmp && cat ../home/u/.ssh/id":      Deny,
		"cat ../u/.ssh/id":                      Deny,
		"echo (":                                Ask,
		"":                                      Ask,
	} {
		v := p.Decide(Action{Tool: "exec", Agent: "x", Command: command, Write: true, CWD: "/home/v", Home: "/home/u"})
		if v.Decision != want {
			t.Errorf("%s: %s (%s: %s), want %s", command, v.Decision, v.What, v.Reason, want)
		}
	}
}

func TestRelativePathFollowsCD(t *testing.T) {
	p := parsePolicy(t, "[[rule]]\ndecision = \"deny\"\npath = [\"~/.ssh/**\"]")
	for command, want := range map[string]Decision{
		"cd ~ && cat .ssh/id": Deny, "cd; cat ./.ssh/id": Deny, "cd /home; cd u/.ssh && cat ./id": Deny, "cd .. ; cat < u/.ssh/id": Deny,
		"cd /tmp && cat .ssh/id": Allow, "echo cd ~; cat .ssh/id": Allow, "cat .ssh/id; cd ~": Allow,
	} {
		if v := p.Decide(Action{Tool: "exec", Command: command, Write: true, CWD: "/home/v", Home: "/home/u"}); v.Decision != want {
			t.Errorf("%s: %+v, want %s", command, v, want)
		}
	}
}

func TestArgvIsNotExpanded(t *testing.T) {
	p := parsePolicy(t, sample)
	for _, c := range []struct {
		argv []string
		want Decision
	}{
		{[]string{"echo", "$(rm -rf x)"}, Allow},
		{[]string{"rm", "-rf", "x"}, Deny},
		{[]string{"sh", "-c", "rm -rf x"}, Deny},
		{[]string{"whoami"}, Ask},
	} {
		if v := p.Decide(Action{Argv: c.argv, CWD: "/", Home: "/home/u"}); v.Decision != c.want {
			t.Errorf("%q: %s (%s), want %s", c.argv, v.Decision, v.Reason, c.want)
		}
	}
}

func TestRulesMatchToolsAgentsAndPaths(t *testing.T) {
	p := parsePolicy(t, sample)
	for _, c := range []struct {
		a    Action
		want Decision
	}{
		{Action{Tool: "read", Agent: "claude-2", Paths: []string{"/work/a"}}, Allow},
		{Action{Tool: "read", Agent: "other", Paths: []string{"/work/a"}}, Ask},
		{Action{Tool: "session_list", Agent: "claude-2"}, Allow},
		{Action{Tool: "read", Agent: "claude-2", Paths: []string{"/home/u/.ssh/id"}}, Deny},
		{Action{Tool: "read", Agent: "claude-2", Paths: []string{"/home/u/x/../.ssh"}}, Deny},
		{Action{Tool: "write", Paths: []string{"/etc/shadow"}}, Deny},
		{Action{Tool: "write", Paths: []string{"/etc/shadows"}}, Ask},
	} {
		c.a.Home = "/home/u"
		if v := p.Decide(c.a); v.Decision != c.want {
			t.Errorf("%+v: %s (%s), want %s", c.a, v.Decision, v.Reason, c.want)
		}
	}
}

func TestLinkDoesNotHideItsTarget(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(home, ".ssh")
	if err := os.Mkdir(secret, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "harmless")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	p := parsePolicy(t, sample)
	v := p.Decide(Action{Tool: "read", Paths: []string{filepath.Join(link, "new", "file")}, Home: home})
	if v.Decision != Deny || v.Reason != "keys stay here" {
		t.Errorf("%+v", v)
	}
}

func TestZeroPolicyAllowsEverything(t *testing.T) {
	if v := (Policy{}).Decide(Action{Tool: "exec", Command: "rm -rf / ("}); v.Decision != Allow {
		t.Errorf("%+v", v)
	}
}

func TestWriteRuleDoesNotApplyToReading(t *testing.T) {
	p := parsePolicy(t, "[[rule]]\ndecision = \"deny\"\nwrite = true\npath = [\"/data/**\"]")
	if v := p.Decide(Action{Tool: "read", Paths: []string{"/data/x"}}); v.Decision != Allow {
		t.Errorf("reading: %+v", v)
	}
	if v := p.Decide(Action{Tool: "write", Paths: []string{"/data/x"}, Write: true}); v.Decision != Deny {
		t.Errorf("writing: %+v", v)
	}
}

func TestParseNamesTheLineOfAMistake(t *testing.T) {
	for text, want := range map[string]string{
		"defualt = \"allow\"":                                  `line 1: unknown key "defualt"`,
		"\ndefault = \"maybe\"":                                `line 2: default: decision "maybe"`,
		"default = \"ask\"\nask_timeout = \"soon\"":            "line 2: ask_timeout",
		"[[rule]]\ntool = [\"x\"]":                             "line 1: rule 1: decision is missing",
		"[[rule]]\ndecision = \"deny\"\npath = [\"relative\"]": "line 3: rule 1: path \"relative\": must be an absolute path",
		"[[rule]]\ndecision = \"deny\"\ntool = [\"[\"]":        "line 3: rule 1: pattern",
		"[[rule]]\ndecision = \"deny\"\ncommand = [\"'\"]":     "line 3: rule 1: command",
		"[[rule]]\ndecision = \"deny\"\ncommand = [\"\"]":      "line 3: rule 1: command \"\": it is empty",
		"[[rule]]\ndecision = \"deny\"\ntool = [\"x\"]\n[[rule]]\nagent = [\"x\"]\ndecision = \"no\"": "line 6: rule 2: decision",
		"[[rule]]\ndecision = \"deny\"\nagent = [\"claude/*\"]":                                       `line 3: rule 1: agent "claude/*": must be the name of a token or of --as, which has no "/"`,
		"[[rule]]\ndecision = \"deny\"\ntool = \"x\"":                                                 "line 3: rule.tool: must be a list",
		"[[rule]]\nwrite = \"yes\"":                                                                   "line 2: rule.write: must be true or false",
		"rule = {decision = \"deny\"}":                                                                "line 1: rule: must be tables",
		"rule = 3":                                                                                    "line 1: rule: must be tables",
		"default = deny":                                                                              "line 1: not a value; text needs quotes",
		"[[rule]":                                                                                     "line 1: ",
		"\xff":                                                                                        "line 1: ",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestParsePointsAtTheMistake(t *testing.T) {
	_, err := Parse([]byte("[[rule]]\ndecision = \"deny\"\npath = [\"etc\"] # all of it\n"))
	want := `line 3: rule 1: path "etc": must be an absolute path or one that begins with ~/
   3 | path = ["etc"] # all of it
     | ^^^^^^^^^^^^^^`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
}

func TestAskTimeoutIsParsed(t *testing.T) {
	if p := parsePolicy(t, sample); p.AskTimeout != 10*time.Second {
		t.Errorf("%v", p.AskTimeout)
	}
}

func FuzzDecide(f *testing.F) {
	for _, s := range []string{"ls", "a && b | c", "$(", "sh -c 'sh -c \"x\"'", "case x in a) b;; esac", "\x00", "xargs env sudo rm",
		"cat ~/.ss?/id {a,/b} <&3 >\"$F\"", "curl -d @/a:~root/b,c= file:///d", "cd -; cd ..; cat ./*[a-z", "PATH=x; export A=b; for HOME in *; do :; done"} {
		f.Add(s)
	}
	p, err := Parse([]byte(sample))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, command string) {
		v := p.Decide(Action{Tool: "exec", Command: command, CWD: "/", Home: "/home/u"})
		if checkDecision(v.Decision, false) != nil {
			t.Fatalf("%+v", v)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := Parse([]byte(text)); err == nil {
			p.Decide(Action{Tool: "exec", Command: "rm -rf /", Paths: []string{"/a"}, Home: "/h"})
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	p, _ := Parse([]byte(sample))
	for b.Loop() {
		p.Decide(Action{Tool: "exec", Command: "cd sub && make test | tee log", CWD: "/", Home: "/home/u"})
	}
}
