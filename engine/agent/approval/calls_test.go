package approval

import (
	"os"
	"testing"

	"tandem/engine/api"
)

func TestDifferentRequestsHaveDifferentSameness(t *testing.T) {
	one := func(tool string, subjects ...api.Subject) action {
		return action{operations: []string{"exec"}, tools: []string{tool}, subjects: subjects}
	}
	writing, elsewhere, another := one("exec", api.Subject{Argv: []string{"rm", "x"}}), one("exec"), one("exec")
	writing.write, elsewhere.host, another.operations = true, "box", []string{"exec", "process.log"}
	named := one("exec")
	named.caller.Bounds.Name = "ci"
	seen := map[string]action{}
	for _, act := range []action{
		one("exec"), named, writing, elsewhere, another,
		one("exec", api.Subject{Argv: []string{"rm", "x"}}),
		one("exec", api.Subject{Argv: []string{"rm\x00x"}}),
		one("exec", api.Subject{Argv: []string{"rm"}, Paths: []string{"x"}}),
		one("exec", api.Subject{Argv: []string{"rm"}}, api.Subject{Paths: []string{"x"}}),
		one("exec", api.Subject{Paths: []string{"rm", "x"}}),
		one("exec", api.Subject{Argv: []string{"rm", "x", ""}}),
		one("exec", api.Subject{Argv: []string{"rm1:x"}}),
		one("exec", api.Subject{Argv: []string{"", "rm", "x"}}),
		one("exec\x00rm", api.Subject{Argv: []string{"x"}}),
		one("exec", api.Subject{Command: "rm\x00", Session: "x"}),
		one("exec", api.Subject{Command: "rm", Session: "\x00x"}),
		one("exec", api.Subject{Command: "rm", CWD: "/x"}),
	} {
		key := act.sameness()
		if before, ok := seen[key]; ok {
			t.Errorf("%+v and %+v are the same", before, act)
		}
		seen[key] = act
	}
	if act := one("exec", api.Subject{Argv: []string{"rm"}}); act.sameness() != one("exec", api.Subject{Argv: []string{"rm"}}).sameness() {
		t.Error("the same request is another")
	}
}

// callAction is an action of a call of agent o.
func callAction(id string, whole bool, operations []string, subjects ...api.Subject) action {
	return action{operations: operations, subjects: subjects, write: true, whole: whole, tools: []string{"run"}, caller: api.Caller{Owner: "o", Call: id, NoAsk: true}}
}

func TestAnswerCoversItsCallOperationsAndSubjectsOnly(t *testing.T) {
	a, _ := arbiterWith(t, asking)
	command := api.Subject{Command: "make", CWD: "/"}
	start := []string{"session.start", "session.exec"}
	if err := a.decide(t.Context(), a.currentPolicy(), callAction("1", true, start, command, api.Subject{Session: "web (1)"}), allowWord); err != nil {
		t.Fatal(err)
	}
	a.calls.addSession(callKey{"", "o", "1"}, "new (2)")
	elsewhere, another, reader := callAction("1", false, start[1:], command), callAction("1", false, start[1:], command), callAction("1", false, start[1:], command)
	elsewhere.caller.Owner, another.tools, reader.write = "p", []string{"other"}, false
	for name, c := range map[string]struct {
		act     action
		allowed bool
	}{
		"part of it":             {callAction("1", false, start[1:], command), true},
		"a read of it":           {reader, true},
		"its session":            {callAction("1", false, start[1:], command, api.Subject{Session: "web (1)"}), true},
		"what it has started":    {callAction("1", false, start[1:], api.Subject{Session: "new (2)"}), true},
		"another command":        {callAction("1", false, start[1:], api.Subject{Command: "make install", CWD: "/"}), false},
		"in another folder":      {callAction("1", false, start[1:], api.Subject{Command: "make", CWD: "/etc"}), false},
		"another session":        {callAction("1", false, start[1:], command, api.Subject{Session: "db (3)"}), false},
		"a path":                 {callAction("1", false, start[1:], api.Subject{Paths: []string{"/x"}}), false},
		"another operation":      {callAction("1", false, []string{"exec"}, command), false},
		"another call":           {callAction("2", false, start[1:], command), false},
		"an operation by itself": {callAction("", false, start[1:], command), false},
		"another agent":          {elsewhere, false},
		"another tool":           {another, false},
	} {
		if err := a.decide(t.Context(), a.currentPolicy(), c.act, ""); (err == nil) != c.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
	delete(a.calls.byKey, callKey{"", "o", "1"})
	if a.decide(t.Context(), a.currentPolicy(), callAction("1", false, start[1:], command), "") == nil {
		t.Error("the answer outlives its call")
	}
}

func TestReusedCallIDIsJudgedAgain(t *testing.T) {
	a, _ := arbiterWith(t, asking)
	for range 2 {
		one := callAction("1", false, []string{"exec"}, api.Subject{Command: "make", CWD: "/"})
		if err := a.decide(t.Context(), a.currentPolicy(), one, ""); api.AsError(err).Question == nil {
			t.Errorf("%v, want a question", err)
		}
	}
	if err := a.decide(t.Context(), a.currentPolicy(), callAction("1", true, []string{"exec"}, api.Subject{Command: "rm x", CWD: "/"}), allowWord); err == nil {
		t.Error("an answer allows what a rule denies")
	}
}

func TestOldestAllowedCallIsForgotten(t *testing.T) {
	var c calls
	for i := range maxCalls + 1 {
		c.allow(callAction(string(rune('a'+i)), true, nil))
	}
	if len(c.byKey) != maxCalls || c.find(callKey{"", "o", "a"}) != nil || c.find(callKey{"", "o", "b"}) == nil {
		t.Errorf("%d calls are kept", len(c.byKey))
	}
}

func TestChangedPolicyAppliesToRunningCalls(t *testing.T) {
	a, _ := arbiterWith(t, "default = \"allow\"\n[[rule]]\ndecision = \"deny\"\ncommand = [\"rm\"]")
	part := callAction("1", false, []string{"session.get"}, api.Subject{Session: "web (1)"})
	whole := callAction("1", true, []string{"session.get"}, api.Subject{Session: "web (1)"})
	for _, act := range []action{whole, part} {
		if err := a.decide(t.Context(), a.currentPolicy(), act, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(a.path, []byte(`default = "deny"`), 0o600); err != nil {
		t.Fatal(err)
	}
	a.read.size = -1 // a clock may stand still between two writes
	if a.decide(t.Context(), a.currentPolicy(), part, "") == nil {
		t.Error("a call goes on by the former rules")
	}
}
