// Package approval decides on agents' calls. It follows the user's policy file, asks the user if
// the policy requires it, and keeps the open requests. engine/policy interprets the rules; callers
// check who may answer.
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
	// maxQuestions is the maximum number of open requests.
	maxQuestions = 100
	// maxQuestionsOf is the maximum number of open requests of one agent.
	maxQuestionsOf = 20
)

// An Arbiter holds the user's policy and the open requests.
type Arbiter struct {
	path     string       // policy.toml; "" for none
	data     *store.Store // where to save the last valid policy; nil for nowhere
	log      *slog.Logger
	announce func(api.Event)

	reading sync.Mutex // held while the file is read; guards what follows
	policy  policy.Policy
	kept    []byte      // text of the last valid policy; nil for none
	unsaved bool        // saving kept failed; retried at the next poll
	read    fileVersion // version of the file at the last read
	loaded  bool        // the file could be read

	mu        sync.Mutex // never held while the file is read: the control loop lists requests
	lastFault string     // why the file's policy does not apply; "" if it does
	open      map[string]*question
	always    map[string]api.PolicyCheckOutput // by sameness; until the engine exits
}

// A question is an open request.
type question struct {
	request  api.Request
	sameness string
	answered chan api.PolicyCheckOutput // buffered, capacity 1
}

// New returns an arbiter for the policy at path, which need not exist. It calls announce with an
// event for each request and each fault of the policy; announce must not block.
func New(path string, log *slog.Logger, announce func(api.Event)) *Arbiter {
	return &Arbiter{path: path, log: log, announce: announce}
}

// Check decides on a call. If the policy requires it, Check asks the user and waits for the
// answer.
func (a *Arbiter) Check(ctx context.Context, in api.PolicyCheckInput) (api.PolicyCheckOutput, error) {
	p, caller := a.currentPolicy(), server.CallerOf(ctx)
	name := caller.Bounds.Name
	v := p.Decide(policy.Action{
		Tool: in.Tool, Agent: name, Host: in.Host, Command: in.Command, Argv: in.Argv,
		Paths: in.Paths, Write: in.Write, CWD: in.CWD, Home: homeDir(),
	})
	switch {
	case v.Decision == policy.Allow:
		return api.PolicyCheckOutput{Decision: string(policy.Allow)}, nil
	case v.Decision == policy.Deny:
		return denyOutput(v), nil
	}
	sameness := samenessOf(caller, in)
	if answer, ok := a.recallAnswer(sameness); ok {
		return answer, nil
	}
	if in.NoAsk {
		return api.PolicyCheckOutput{Decision: string(policy.Ask), Reason: v.Reason}, nil
	}
	timeout := p.AskTimeout
	if timeout == 0 {
		timeout = policy.DefaultAskTimeout
	}
	q, err := a.openQuestion(in, caller, v, sameness, timeout)
	if err != nil {
		return api.PolicyCheckOutput{}, err
	}
	return a.awaitAnswer(ctx, q, timeout)
}

// samenessOf returns a key that is equal only for identical requests. Each field follows its
// length, so text in one field cannot imitate the next.
func samenessOf(caller server.Caller, in api.PolicyCheckInput) string {
	fields := []string{caller.Origin.From, in.Host, caller.Bounds.Name, in.Actor, in.Tool, in.Command, in.Session, in.CWD, strconv.FormatBool(in.Write), strconv.Itoa(len(in.Argv))}
	var b strings.Builder
	for _, field := range slices.Concat(fields, in.Argv, in.Paths) {
		fmt.Fprintf(&b, "%d:%s", len(field), field)
	}
	return b.String()
}

func denyOutput(v policy.Verdict) api.PolicyCheckOutput {
	reason := v.Reason
	if v.What != "" {
		reason = fmt.Sprintf("%s: %s", names.Shown(v.What), v.Reason)
	}
	return api.PolicyCheckOutput{
		Decision: string(policy.Deny), Reason: reason,
		Hint: "the user's policy does not allow it; do something else or ask them",
	}
}

// homeDir returns the user's home directory, or "/" if there is none.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return home
}

func (a *Arbiter) recallAnswer(sameness string) (api.PolicyCheckOutput, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.always[sameness]
	return answer, ok
}

// openQuestion opens a question and announces it.
func (a *Arbiter) openQuestion(in api.PolicyCheckInput, caller server.Caller, v policy.Verdict, sameness string, timeout time.Duration) (*question, error) {
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
	// A flood of requests from one agent must not hide those of others.
	if len(a.open) >= maxQuestions || own >= maxQuestionsOf {
		return nil, api.Errorf(api.CodeUnavailable, "ask the user: %d requests are already open, %d of them from this agent", len(a.open), own)
	}
	if a.open == nil {
		a.open = make(map[string]*question)
	}
	a.open[q.request.ID] = q
	announced := q.request
	a.announce(api.Event{Type: api.EventRequest, Request: &announced})
	return q, nil
}

// awaitAnswer waits for the answer. If there is none within timeout, the request is denied; if ctx ends,
// it is withdrawn.
func (a *Arbiter) awaitAnswer(ctx context.Context, q *question, timeout time.Duration) (api.PolicyCheckOutput, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case answer := <-q.answered:
		return answer, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	a.closeQuestion(q.request.ID, api.PolicyCheckOutput{
		Decision: string(policy.Deny),
		Reason:   fmt.Sprintf("nobody answered the request within %v", timeout),
		Hint:     "try again later, or do something else",
	}, "expired", "")
	// The user may have answered at the last moment, before close.
	return <-q.answered, nil
}

// Answer records the user's answer to a request.
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
	id, err := a.findOpen(in.ID)
	if err != nil {
		return api.Request{}, err
	}
	q := a.closeQuestion(id, out, word, by)
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
		WithHint("it may have been answered already, or it timed out; `tandem requests` lists the open ones")
}

// findOpen returns the id of the open request that starts with prefix.
func (a *Arbiter) findOpen(prefix string) (string, error) {
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
		return "", api.Errorf(api.CodeAmbiguous, "answer request %s: several ids begin with it", names.Shown(prefix))
	}
	return found[0], nil
}

// closeQuestion answers a question if it is still open.
func (a *Arbiter) closeQuestion(id string, out api.PolicyCheckOutput, word, by string) *question {
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
	announced := q.request
	a.announce(api.Event{Type: api.EventRequest, Request: &announced})
	return q
}

// Requests returns the open requests, oldest first.
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
