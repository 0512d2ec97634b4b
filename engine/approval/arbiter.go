// Package approval decides what agents may do: it reads the policy of the person, asks them where that says so, and
// keeps the requests that wait for an answer. What the rules mean is engine/policy, who may answer is the caller's to see.
package approval

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/cellwidth"
	"tandem/engine/names"
	"tandem/engine/policy"
	"tandem/engine/shell"
	"tandem/persist/store"
)

const (
	// maxQuestions is how many requests may be open at a time.
	maxQuestions = 100
	// maxQuestionsOf is how many of them may be one agent's.
	maxQuestionsOf = 20
)

// An Arbiter knows the person's policy and what agents wait to be allowed.
type Arbiter struct {
	path     string       // policy.toml; "" for none
	data     *store.Store // where the last valid policy is kept; nil for nowhere
	log      *slog.Logger
	announce func(api.Event)

	reading sync.Mutex // held while the file is read; guards what follows
	policy  policy.Policy
	kept    []byte      // the text of the last valid policy; nil for none
	unsaved bool        // writing kept failed; retried at the next poll
	read    fileVersion // of the file that was looked at last
	loaded  bool        // it could be read

	mu     sync.Mutex // never held while the file is read: the control loop lists requests
	fault  string     // why the policy is another than that of the file; "" if it is not
	open   map[string]*question
	always map[string]api.PolicyCheckOutput // by sameness; until the engine ends
}

// A question is a request that nobody has answered.
type question struct {
	request  api.Request
	sameness string
	answered chan api.PolicyCheckOutput // of 1
}

// New makes the arbiter of the policy at path, which need not be there.
// announce gets an event for each request and for each fault of the policy; it
// must not block.
func New(path string, log *slog.Logger, announce func(api.Event)) *Arbiter {
	return &Arbiter{path: path, log: log, announce: announce}
}

// Check decides, and waits for the person where the policy says so.
func (a *Arbiter) Check(ctx context.Context, in api.PolicyCheckInput) (api.PolicyCheckOutput, error) {
	p, caller := a.current(), server.CallerOf(ctx)
	name := caller.Bounds.Name
	v := p.Decide(policy.Action{
		Tool: in.Tool, Agent: name, Host: in.Host, Command: in.Command, Argv: in.Argv,
		Paths: in.Paths, Write: in.Write, CWD: in.CWD, Home: homeFolder(),
	})
	switch {
	case v.Decision == policy.Allow:
		return api.PolicyCheckOutput{Decision: string(policy.Allow)}, nil
	case v.Decision == policy.Deny:
		return denied(v), nil
	}
	sameness := samenessOf(caller, in)
	if answer, ok := a.remembered(sameness); ok {
		return answer, nil
	}
	if in.NoAsk {
		return api.PolicyCheckOutput{Decision: string(policy.Ask), Reason: v.Reason}, nil
	}
	timeout := p.AskTimeout
	if timeout == 0 {
		timeout = policy.DefaultAskTimeout
	}
	q, err := a.ask(in, caller, v, sameness, timeout)
	if err != nil {
		return api.PolicyCheckOutput{}, err
	}
	return a.await(ctx, q, timeout)
}

// samenessOf tells one request from every other: each field stands behind its length, so that
// no text in one can pass for the next.
func samenessOf(caller server.Caller, in api.PolicyCheckInput) string {
	fields := []string{caller.Origin.From, in.Host, caller.Bounds.Name, in.Actor, in.Tool, in.Command, in.Session, in.CWD, strconv.FormatBool(in.Write), strconv.Itoa(len(in.Argv))}
	var b strings.Builder
	for _, field := range slices.Concat(fields, in.Argv, in.Paths) {
		fmt.Fprintf(&b, "%d:%s", len(field), field)
	}
	return b.String()
}

func denied(v policy.Verdict) api.PolicyCheckOutput {
	reason := v.Reason
	if v.What != "" {
		reason = fmt.Sprintf("%s: %s", names.Shown(v.What), v.Reason)
	}
	return api.PolicyCheckOutput{
		Decision: string(policy.Deny), Reason: reason,
		Hint: "the user's policy does not allow it; do something else or ask them",
	}
}

// homeFolder is where ~ leads; "/" for a user without one.
func homeFolder() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return home
}

func (a *Arbiter) remembered(sameness string) (api.PolicyCheckOutput, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.always[sameness]
	return answer, ok
}

// ask puts a question before the person.
func (a *Arbiter) ask(in api.PolicyCheckInput, caller server.Caller, v policy.Verdict, sameness string, timeout time.Duration) (*question, error) {
	command := in.Command
	if len(in.Argv) > 0 {
		command = shell.Quote(in.Argv...)
	}
	now, name := time.Now(), caller.Bounds.Name
	q := &question{
		request: api.Request{
			ID: api.NewID(), Actor: in.Actor, Agent: name, Tool: in.Tool, Host: in.Host, From: caller.Origin.From, Command: command, Paths: in.Paths, Session: in.Session, CWD: in.CWD,
			Rule: v.Reason, AskedAt: now, ExpiresAt: now.Add(timeout),
		},
		sameness: sameness,
		answered: make(chan api.PolicyCheckOutput, 1),
	}
	shown := q.request.Text(cellwidth.Spell, cellwidth.SpellLines)
	q.request.Shown = &shown
	a.mu.Lock()
	defer a.mu.Unlock()
	own := 0
	for _, open := range a.open {
		if open.request.Actor == in.Actor && open.request.Agent == name {
			own++
		}
	}
	if len(a.open) >= maxQuestions || own >= maxQuestionsOf {
		return nil, api.Errorf(api.CodeUnavailable, "ask the user: %d requests wait already, %d of them this agent's", len(a.open), own)
	}
	if a.open == nil {
		a.open = make(map[string]*question)
	}
	a.open[q.request.ID] = q
	told := q.request
	a.announce(api.Event{Type: api.EventRequest, Request: &told})
	return q, nil
}

// await waits for the answer. What nobody has answered in time is refused; what
// nobody waits for any more is withdrawn.
func (a *Arbiter) await(ctx context.Context, q *question, timeout time.Duration) (api.PolicyCheckOutput, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case answer := <-q.answered:
		return answer, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	a.close(q.request.ID, api.PolicyCheckOutput{
		Decision: string(policy.Deny),
		Reason:   fmt.Sprintf("nobody has answered the request within %v", timeout),
		Hint:     "try again when somebody is there, or do something else",
	}, "expired", "")
	// It may have been answered at the last moment.
	return <-q.answered, nil
}

// Answer is the person's.
func (a *Arbiter) Answer(in api.RequestAnswerInput, by string) (api.Request, error) {
	out, word := api.PolicyCheckOutput{Decision: string(policy.Allow), Reason: in.Reason}, "allow"
	if !in.Allow {
		out, word = api.PolicyCheckOutput{
			Decision: string(policy.Deny), Reason: "the user denied it", Hint: "do something else or ask them why",
		}, "deny"
		if in.Reason != "" {
			out.Reason = "the user denied it: " + in.Reason
		}
	}
	id, err := a.find(in.ID)
	if err != nil {
		return api.Request{}, err
	}
	q := a.close(id, out, word, by)
	if q == nil {
		return api.Request{}, errNoRequest(in.ID)
	}
	if in.Always {
		a.mu.Lock()
		if a.always == nil {
			a.always = make(map[string]api.PolicyCheckOutput)
		}
		a.always[q.sameness] = out
		a.mu.Unlock()
	}
	return q.request, nil
}

func errNoRequest(id string) error {
	return api.Errorf(api.CodeNotFound, "no open request begins with %s", names.Shown(id)).
		WithHint("it may have been answered already, or it timed out; `tandem requests` lists those that are open")
}

// find completes a prefix of an open request's id.
func (a *Arbiter) find(prefix string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var found []string
	for id := range a.open {
		if strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	switch {
	case len(found) == 0 || prefix == "":
		return "", errNoRequest(prefix)
	case len(found) > 1:
		return "", api.Errorf(api.CodeAmbiguous, "answer request %s: several ids begin like this", names.Shown(prefix))
	}
	return found[0], nil
}

// close answers a question if it is still open.
func (a *Arbiter) close(id string, out api.PolicyCheckOutput, word, by string) *question {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open[id]
	if q == nil {
		return nil
	}
	delete(a.open, id)
	now := time.Now()
	q.request.Answer, q.request.By, q.request.At = word, by, &now
	q.answered <- out
	told := q.request
	a.announce(api.Event{Type: api.EventRequest, Request: &told})
	return q
}

// Requests lists what is open, oldest first.
func (a *Arbiter) Requests() []api.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := []api.Request{}
	for _, q := range a.open {
		all = append(all, q.request)
	}
	slices.SortFunc(all, func(a, b api.Request) int { return a.AskedAt.Compare(b.AskedAt) })
	return all
}
