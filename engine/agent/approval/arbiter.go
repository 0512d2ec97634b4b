// Package approval decides on agents' calls. It follows the user's policy file, asks the user if
// the policy requires it, and keeps the open requests. engine/agent/policy interprets the rules; callers
// check who may answer.
package approval

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/agent/policy"
	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/persist/store"
)

const (
	// maxQuestions is the maximum number of open requests.
	maxQuestions = 100
	// maxQuestionsOf is the maximum number of open requests of one agent.
	maxQuestionsOf = 20
	// maxQuestionText is the maximum length in bytes of a command to ask about. Open requests
	// stay in memory.
	maxQuestionText = 1 << 20
)

// An Arbiter holds the user's policy and the open requests.
type Arbiter struct {
	path     string       // policy.toml; "" for none
	data     *store.Store // where to save the last valid policy; nil for nowhere
	log      *slog.Logger
	announce func(api.Event)
	// Sessions returns the session or process that id identifies: its id, the beginning of its id,
	// or its name. For a running session, s has the folder of its program. ok is false if there is
	// none.
	Sessions func(ctx context.Context, id string) (s Session, ok bool)

	reading sync.Mutex // held while the file is read; guards what follows
	policy  policy.Policy
	kept    []byte      // text of the last valid policy; nil for none
	unsaved bool        // saving kept failed; retried at the next poll
	read    fileVersion // version of the file at the last read
	loaded  bool        // the file could be read
	text    []byte      // content of the file at the last read

	mu        sync.Mutex // never held while the file is read, because the control loop lists requests
	lastFault string     // why the file's policy does not apply; "" if it does
	open      map[string]*question
	always    map[string]standing // by sameness; until the engine exits
	calls     calls               // allowed by the user
}

// An answer is the user's answer to a request.
type answer struct {
	allow  bool
	reason string // of a denial
	hint   string
}

// failure returns the error for a denied call of tool, nil for an allowed one.
func (a answer) failure(tool string) error {
	if a.allow {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "call %s: not allowed: %s", tool, a.reason).WithReason(api.ReasonDenied).WithHint(a.hint)
}

// A standing answer is given to every later action with the same sameness key.
type standing struct {
	answer
	request api.Request
}

// A question is an open request.
type question struct {
	request  api.Request
	sameness string
	answered chan answer // buffered, capacity 1
}

// New returns an arbiter for the policy at path, which need not exist. It calls announce with an
// event for each request and each fault of the policy; announce must not block.
func New(path string, log *slog.Logger, announce func(api.Event)) *Arbiter {
	return &Arbiter{path: path, log: log, announce: announce}
}

// A Session is what a question says about a session or process.
type Session struct{ ID, Name, Folder string }

// openQuestion opens a question and announces it.
func (a *Arbiter) openQuestion(request api.Request, sameness string, timeout time.Duration) (*question, error) {
	if len(request.Command) > maxQuestionText {
		return nil, api.Errorf(api.CodeInvalid, "ask the user: the command is longer than %d bytes", maxQuestionText).
			WithHint("write it to a file and run that")
	}
	request.ID, request.AskedAt = api.NewID(), time.Now()
	request.ExpiresAt = request.AskedAt.Add(timeout)
	q := &question{request: request, sameness: sameness, answered: make(chan answer, 1)}
	a.mu.Lock()
	defer a.mu.Unlock()
	own := 0
	for _, open := range a.open {
		if open.request.Actor == request.Actor && open.request.Agent == request.Agent {
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
func (a *Arbiter) awaitAnswer(ctx context.Context, q *question, timeout time.Duration) answer {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case answer := <-q.answered:
		return answer
	case <-timer.C:
	case <-ctx.Done():
	}
	a.closeQuestion(q.request.ID, answer{
		reason: fmt.Sprintf("nobody answered the request within %v", timeout),
		hint:   "try again later, or do something else",
	}, "expired", "", false)
	// The user may have answered at the last moment, before close.
	return <-q.answered
}

// Answer records the user's answer to a request.
func (a *Arbiter) Answer(in api.RequestAnswerInput, answerer string) (api.Request, error) {
	out, word := answer{allow: true}, "allow"
	if !in.Allow {
		out, word = denial(in.Reason), "deny"
	}
	id, err := a.findOpen(in.ID)
	if err != nil {
		return api.Request{}, err
	}
	q := a.closeQuestion(id, out, word, answerer, in.Always)
	if q == nil {
		return api.Request{}, errNoRequest(in.ID)
	}
	return q.request, nil
}

// Undo takes back the standing answer to the request whose id begins with prefix. The user is then
// asked again about the next identical action.
func (a *Arbiter) Undo(prefix string) (api.Request, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var found []string
	if len(prefix) >= api.MinIDPrefix {
		for sameness, known := range a.always {
			if strings.HasPrefix(known.request.ID, prefix) {
				found = append(found, sameness)
			}
		}
	}
	switch {
	case len(found) == 0:
		return api.Request{}, api.Errorf(api.CodeNotFound, "no request with a standing answer has an id that begins with %s", names.Shown(prefix)).
			WithHint("`tandem allow --list` and `tandem deny --list` print them")
	case len(found) > 1:
		return api.Request{}, api.Errorf(api.CodeAmbiguous, "take back the answer to %s: several ids begin with it", names.Shown(prefix))
	}
	request := a.always[found[0]].request
	delete(a.always, found[0])
	request.Always = false
	a.announce(api.Event{Type: api.EventRequest, Request: &request})
	return request, nil
}

// denial returns the answer that denies a request, with the user's reason unless it is "".
func denial(why string) answer {
	d := answer{reason: "the user denied it", hint: "do something else or ask them why"}
	if why != "" {
		d.reason += ": " + why
	}
	return d
}

func errNoRequest(id string) error {
	return api.Errorf(api.CodeNotFound, "no open request begins with %s", names.Shown(id)).
		WithHint("it may have been answered already, or it timed out; `tandem requests` lists the open ones; the first four characters of an id are enough")
}

// findOpen returns the id of the open request that starts with prefix.
func (a *Arbiter) findOpen(prefix string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var found []string
	for id := range a.open {
		if len(prefix) >= api.MinIDPrefix && strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	switch {
	case len(found) == 0:
		return "", errNoRequest(prefix)
	case len(found) > 1:
		return "", api.Errorf(api.CodeAmbiguous, "answer request %s: several ids begin with it", names.Shown(prefix))
	}
	return found[0], nil
}

// closeQuestion answers a question and returns it, or returns nil if it is no longer open. word is
// the answer as the client gave it, and answerer is who gave it. If remember is set, later actions
// with the same sameness key get the same answer.
func (a *Arbiter) closeQuestion(id string, out answer, word, answerer string, remember bool) *question {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open[id]
	if q == nil {
		return nil
	}
	delete(a.open, id)
	now := time.Now()
	q.request.Answer, q.request.By, q.request.At, q.request.Always = word, answerer, &now, remember
	if remember {
		if a.always == nil {
			a.always = make(map[string]standing)
		}
		a.always[q.sameness] = standing{out, q.request}
	}
	q.answered <- out
	announced := q.request
	a.announce(api.Event{Type: api.EventRequest, Request: &announced})
	return q
}

// Requests returns the open requests, and those with a standing answer; each oldest first.
func (a *Arbiter) Requests() (open, answered []api.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	open = []api.Request{}
	for _, q := range a.open {
		open = append(open, q.request)
	}
	for _, known := range a.always {
		answered = append(answered, known.request)
	}
	for _, list := range [][]api.Request{open, answered} {
		slices.SortFunc(list, func(a, b api.Request) int { return a.AskedAt.Compare(b.AskedAt) })
	}
	return open, answered
}
