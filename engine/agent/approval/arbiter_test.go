package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

// arbiterWith returns an arbiter for a policy, and the list that its events are added to.
func arbiterWith(t *testing.T, text string) (*Arbiter, *[]api.Event) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.toml")
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var events []api.Event
	a := New(path, slog.New(slog.DiscardHandler), func(e api.Event) { events = append(events, e) })
	return a, &events
}

// A check is an action of one subject.
type check struct {
	api.Subject
	Tool  string
	Agent string // its own name; default x/1
	Write bool
	NoAsk bool
}

func (c check) action() action {
	caller := api.Caller{Name: cmp.Or(c.Agent, "x/1"), Owner: "o", NoAsk: c.NoAsk}
	return action{operations: []string{"exec"}, subjects: []api.Subject{c.Subject}, write: c.Write, caller: caller, tools: []string{c.Tool}}
}

// A verdict is the outcome of a check: allow, ask or deny, and the error's texts.
type verdict struct{ Decision, Reason, Hint string }

func (a *Arbiter) check(ctx context.Context, c check) error {
	return a.decide(ctx, a.currentPolicy(), c.action(), "")
}

func checked(t *testing.T, a *Arbiter, c check) verdict {
	t.Helper()
	err := a.check(t.Context(), c)
	if err == nil {
		return verdict{Decision: "allow"}
	}
	e := api.AsError(err)
	switch {
	case e.Code != api.CodeForbidden:
		t.Fatal(err)
	case e.Question != nil:
		return verdict{"ask", e.Message, e.Hint}
	}
	return verdict{"deny", e.Message, e.Hint}
}

const asking = "default = \"ask\"\nask_timeout = \"30s\"\n[[rule]]\ndecision = \"deny\"\ncommand = [\"rm\"]\nreason = \"no\""

var aCommand = check{Tool: "exec", Subject: api.Subject{Command: "make", CWD: "/"}, Write: true}

func TestCheckAllowsEverythingWithoutPolicy(t *testing.T) {
	a, events := arbiterWith(t, "")
	if out := checked(t, a, aCommand); out.Decision != "allow" || len(*events) != 0 {
		t.Errorf("%+v, %v", out, *events)
	}
}

func TestDenialNamesCommandAndReason(t *testing.T) {
	a, _ := arbiterWith(t, asking)
	out := checked(t, a, check{Tool: "exec", Subject: api.Subject{Command: "ls && rm -r x", CWD: "/"}})
	if out.Decision != "deny" || !strings.Contains(out.Reason, "rm -r x: no") || out.Hint == "" {
		t.Errorf("%+v", out)
	}
}

func TestAnswerReachesTheAgent(t *testing.T) {
	for _, allow := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a, events := arbiterWith(t, asking)
			answer := make(chan verdict)
			go func() { answer <- checked(t, a, aCommand) }()
			synctest.Wait()
			open, _ := a.Requests()
			if len(open) != 1 || open[0].Command != "make" || open[0].Actor != "agent:x/1" || !open[0].ExpiresAt.Equal(time.Now().Add(30*time.Second)) {
				t.Fatalf("open: %+v", open)
			}
			r, err := a.Answer(api.RequestAnswerInput{ID: open[0].ID[:4], Allow: allow, Reason: "because"}, "dashboard")
			if err != nil || r.By != "dashboard" || r.At == nil {
				t.Errorf("%+v, %v", r, err)
			}
			out := <-answer
			if (out.Decision == "allow") != allow || !allow && !strings.Contains(out.Reason, "because") {
				t.Errorf("%+v", out)
			}
			if len(*events) != 2 || (*events)[0].Request.Answer != "" || (*events)[1].Request.Answer == "" {
				t.Errorf("announced %+v", *events)
			}
			if _, err := a.Answer(api.RequestAnswerInput{ID: open[0].ID}, ""); !errors.Is(err, api.CodeNotFound) {
				t.Errorf("answered twice: %v", err)
			}
		})
	}
}

func TestUnansweredRequestIsDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := arbiterWith(t, asking)
		began := time.Now()
		out := checked(t, a, aCommand)
		if out.Decision != "deny" || time.Since(began) != 30*time.Second || len(openIn(a)) != 0 {
			t.Errorf("%+v after %v", out, time.Since(began))
		}
	})
}

func TestRequestIsWithdrawnWithItsAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := arbiterWith(t, asking)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = a.check(ctx, aCommand)
		}()
		synctest.Wait()
		cancel()
		<-done
		if len(openIn(a)) != 0 {
			t.Error("it is still open")
		}
	})
}

func openIn(a *Arbiter) []api.Request {
	open, _ := a.Requests()
	return open
}

func TestAlwaysAnswerAppliesToIdenticalRequestsUntilUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, events := arbiterWith(t, asking)
		go a.check(t.Context(), aCommand)
		synctest.Wait()
		answered, err := a.Answer(api.RequestAnswerInput{ID: openIn(a)[0].ID, Allow: true, Always: true}, "")
		if err != nil || !answered.Always {
			t.Fatal(answered, err)
		}
		if out := checked(t, a, aCommand); out.Decision != "allow" {
			t.Errorf("the same again: %+v", out)
		}
		other := aCommand
		other.Command, other.NoAsk = "make install", true
		if out := checked(t, a, other); out.Decision != "ask" {
			t.Errorf("another: %+v", out)
		}
		other = aCommand
		other.Session, other.NoAsk = "web (123)", true
		if out := checked(t, a, other); out.Decision != "ask" {
			t.Errorf("in a session: %+v", out)
		}

		if _, listed := a.Requests(); len(listed) != 1 || listed[0].ID != answered.ID || listed[0].Answer != "allow" || !listed[0].Always {
			t.Errorf("listed %+v", listed)
		}
		if _, err := a.Undo(""); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("without an id: %v", err)
		}
		undone, err := a.Undo(answered.ID[:4])
		if last := (*events)[len(*events)-1].Request; err != nil || undone.ID != answered.ID || last.ID != answered.ID || last.Always || last.Answer == "" {
			t.Errorf("%+v, %v, announced %+v", undone, err, last)
		}
		again := aCommand
		again.NoAsk = true
		if out := checked(t, a, again); out.Decision != "ask" {
			t.Errorf("after it was taken back: %+v", out)
		}
		if _, err := a.Undo(answered.ID); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("taken back twice: %v", err)
		}
	})
}

func TestChangedPolicyAppliesAtOnceUnlessInvalid(t *testing.T) {
	a, events := arbiterWith(t, "")
	rewrite := func(text string) {
		t.Helper()
		if err := os.WriteFile(a.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a.read.size = -1 // a clock may stand still between two writes
	}
	noAsk := aCommand
	noAsk.NoAsk = true
	for _, c := range []struct{ text, want string }{
		{"nonsense", "ask"},
		{"default = \"deny\"", "deny"},
		{"default = \"nonsense\"", "deny"},
		{"default = \"allow\"", "allow"},
	} {
		rewrite(c.text)
		if out := checked(t, a, noAsk); out.Decision != c.want {
			t.Errorf("after %q: %+v", c.text, out)
		}
		checked(t, a, noAsk)
	}
	var faults []bool
	for _, e := range *events {
		faults = append(faults, e.Fault != "")
	}
	if want := []bool{true, false, true, false}; !slices.Equal(faults, want) {
		t.Errorf("faults %v, want one for each bad file and its end", faults)
	}
}

func TestTooManyOpenRequestsAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := arbiterWith(t, asking)
		ctx, cancel := context.WithCancel(t.Context())
		from := func(agent int) check {
			c := aCommand
			c.Agent = fmt.Sprint(agent)
			return c
		}
		for range maxQuestionsOf {
			go a.check(ctx, from(0))
		}
		synctest.Wait()
		if err := a.check(ctx, from(0)); !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "20 of them from this agent") {
			t.Errorf("one more of an agent: %v", err)
		}
		for i := range maxQuestions - maxQuestionsOf {
			go a.check(ctx, from(1+i/maxQuestionsOf))
		}
		synctest.Wait()
		if err := a.check(ctx, from(maxQuestions)); !errors.Is(err, api.CodeUnavailable) {
			t.Errorf("one more: %v", err)
		}
		cancel()
		synctest.Wait()
	})
}

func TestCommandTooLongToReadIsRejected(t *testing.T) {
	a, events := arbiterWith(t, asking)
	long := aCommand
	long.Command = "echo " + strings.Repeat("x", maxQuestionText)
	if err := a.check(t.Context(), long); !errors.Is(err, api.CodeInvalid) || len(*events) != 0 {
		t.Errorf("%v, asked %d", err, len(*events))
	}
}

func TestRequestsDoesNotWaitForThePolicyFile(t *testing.T) {
	a, _ := arbiterWith(t, "nonsense")
	told := false
	a.announce = func(api.Event) { // of what is wrong with the file that is being read
		if told = a.mu.TryLock(); told {
			a.mu.Unlock()
		}
	}
	noAsk := aCommand
	noAsk.NoAsk = true
	checked(t, a, noAsk)
	if !told {
		t.Error("who lists requests waits for the policy")
	}
}
