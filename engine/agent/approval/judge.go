package approval

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/engine/agent/policy"
	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
	"tandem/engine/base/names"
	"tandem/engine/base/shell"
)

// An action is what the policy decides on: one operation, or a call that consists of several.
type action struct {
	operations []string
	subjects   []api.Subject // with absolute paths and the variables in the command
	write      bool
	host       string // the machine; "" for this one

	caller api.Caller
	tools  []string // the tool called, and others whose rules apply too
	whole  bool     // it is a call, and covers its operations
}

// Judge decides on an agent's call of an operation. It asks the user if the policy requires it,
// unless they have allowed the whole call of the tool.
func (a *Arbiter) Judge(ctx context.Context, e api.Entry, effect api.Effect, in any) error {
	caller := api.CallerOf(ctx)
	switch {
	case !caller.Agent(), e.Access == api.UserOnly, e.Access == api.Bookkeeping:
		return nil // package access decides on these
	case caller.IsServer(effect):
		return nil
	}
	p := a.currentPolicy()
	if p.AllowsAll() {
		return nil
	}
	act := action{operations: []string{e.Name}, write: effect != api.Read, caller: caller, tools: caller.Tools}
	if len(act.tools) == 0 {
		act.tools = act.operations
	}
	if slices.Contains(caller.Uses, e.Name) { // the decision on it covers the tool's other operations
		act.operations, act.whole = caller.Uses, true
	}
	subject := e.Subject(in)
	if e.Access == api.Starting && subject.CWD == "" {
		subject.CWD = homeDir()
	}
	act.subjects = a.resolve(ctx, act, subject)
	return a.decide(ctx, p, act, "")
}

// MayRead reports whether the caller may call an operation that only reads without asking the user.
// Rules for the tool of the same name apply too.
func (a *Arbiter) MayRead(ctx context.Context, operation string) bool {
	caller, p := api.CallerOf(ctx), a.currentPolicy()
	if !caller.Agent() || p.AllowsAll() {
		return true
	}
	names := []string{operation, strings.ReplaceAll(operation, ".", "_")}
	return verdictOn(p, action{operations: names[:1], tools: names, caller: caller}).Decision == policy.Allow
}

// CheckCall decides on a whole call before its first operation. If the user allows it, its
// operations are allowed until End.
func (a *Arbiter) CheckCall(ctx context.Context, in api.PolicyCheckInput) error {
	caller := api.CallerOf(ctx)
	if len(caller.Tools) == 0 || caller.Call == "" {
		return api.Errorf(api.CodeInvalid, "check policy: the headers %s and %s must name the call", api.ToolHeader, api.CallHeader)
	}
	switch {
	case in.Answer != "" && !caller.Bounds.Elicits:
		return api.Errorf(api.CodeForbidden, "check policy: this client may not answer for the user")
	case in.Answer != "" && in.Answer != allowWord && in.Answer != denyWord:
		return api.Errorf(api.CodeInvalid, "check policy: answer %q: must be %s or %s", in.Answer, allowWord, denyWord)
	}
	act := action{operations: in.Operations, write: in.Write, host: in.Host, caller: caller, tools: caller.Tools, whole: true}
	act.subjects = a.resolve(ctx, act, in.Subjects...)
	return a.decide(ctx, a.currentPolicy(), act, in.Answer)
}

// Words for the user's answer.
const (
	allowWord = "allow"
	denyWord  = "deny"
)

// End forgets what the user has allowed for the call that ctx belongs to.
func (a *Arbiter) End(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.calls.byKey, callOf(api.CallerOf(ctx)))
}

// Started records that the call of ctx has started a session or process, so that the call may read
// its output.
func (a *Arbiter) Started(ctx context.Context, id string) {
	key := callOf(api.CallerOf(ctx))
	a.mu.Lock()
	known := a.calls.find(key)
	a.mu.Unlock()
	if known == nil {
		return
	}
	s := a.describeSession(ctx, api.Subject{Session: id})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls.addSession(key, s.Session)
}

// forgetCalls forgets all allowed calls, because the rules have changed.
func (a *Arbiter) forgetCalls() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = calls{}
}

// decide returns nil if an action is allowed. given is the user's answer if they have been asked
// already.
func (a *Arbiter) decide(ctx context.Context, p policy.Policy, act action, given string) error {
	if a.covers(act) {
		return nil
	}
	v, tool := verdictOn(p, act), act.tools[0]
	switch v.Decision {
	case policy.Allow:
		a.allow(act)
		return nil
	case policy.Deny:
		return denialOf(v).failure(tool)
	}
	request, sameness := act.request(v, tool), act.sameness()
	switch answer, known := a.recall(sameness); {
	case known:
		if answer.allow {
			a.allow(act)
		}
		return answer.failure(tool)
	case given == denyWord:
		return denial("").failure(tool)
	case given == allowWord:
		a.allow(act)
		return nil
	case act.caller.NoAsk:
		e := api.Errorf(api.CodeForbidden, "call %s: the user has to allow it: %s", tool, v.Reason).WithReason(api.ReasonAskUser)
		e.Question = &api.Question{Operations: act.operations, Subjects: act.subjects, Write: act.write, Request: request}
		return e
	}
	timeout := cmp.Or(p.AskTimeout, policy.DefaultAskTimeout)
	q, err := a.openQuestion(request, sameness, timeout)
	if err != nil {
		return err
	}
	answer := a.awaitAnswer(ctx, q, timeout)
	if answer.allow {
		a.allow(act)
	}
	return answer.failure(tool)
}

// verdictOn returns the strictest verdict on an action.
func verdictOn(p policy.Policy, act action) policy.Verdict {
	worst := policy.Verdict{Decision: policy.Allow, Rule: -1}
	subjects := act.subjects
	if len(subjects) == 0 {
		subjects = []api.Subject{{}}
	}
	for _, name := range act.tools {
		for _, s := range subjects {
			v := p.Decide(policy.Action{
				Tool: name, Agent: act.caller.Bounds.Name, Host: act.host, Command: s.Command, Argv: s.Argv,
				Paths: s.Paths, Write: act.write, CWD: s.CWD, Home: homeDir(),
			})
			if worst.Rule < 0 || v.Decision.StricterThan(worst.Decision) {
				worst = v
			}
		}
	}
	return worst
}

// denialOf returns the denial by a rule.
func denialOf(v policy.Verdict) answer {
	reason := v.Reason
	if v.What != "" {
		reason = fmt.Sprintf("%s: %s", names.Shown(v.What), v.Reason)
	}
	return answer{reason: reason, hint: "the user's policy does not allow it; do something else or ask them"}
}

// recall returns the user's standing answer to actions with this sameness key, if there is one.
func (a *Arbiter) recall(sameness string) (answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, ok := a.always[sameness]
	return known.answer, ok
}

// covers reports whether an action is part of an allowed call.
func (a *Arbiter) covers(act action) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls.covers(act)
}

// allow records an allowed call for its later operations. It does nothing for a single operation,
// which the engine carries out at once.
func (a *Arbiter) allow(act action) {
	if !act.whole {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls.allow(act)
}

// resolve completes subjects: it makes paths absolute, fills in a folder given as that of a session,
// adds ids to the names of sessions, and adds to the command the variables that affect which programs
// run.
func (a *Arbiter) resolve(ctx context.Context, act action, subjects ...api.Subject) []api.Subject {
	all := make([]api.Subject, 0, len(subjects))
	for _, s := range subjects {
		s = a.findFolder(ctx, s)
		if len(s.Check) > 0 {
			s.Command, s.Argv, s.Check = shell.Quote(s.Argv...)+"\n"+shell.Quote(s.Check...), nil, nil
		}
		if len(act.caller.Sandboxes()) == 0 { // in a sandbox, variables give access to nothing new
			s = s.WithVariables(act.isBare())
		}
		var paths []string
		base := cmp.Or(s.Base, act.caller.Bounds.Base, homeDir())
		for _, path := range s.Paths {
			paths = append(paths, policyPaths(api.AbsolutePath(path, base, homeDir()))...)
		}
		s.Env, s.Environ, s.Base, s.Paths = nil, nil, "", paths
		if act.host == "" && s.Session != "" { // otherwise it is on that machine
			s = a.describeSession(ctx, s)
		}
		all = append(all, s)
	}
	return all
}

// findFolder returns s with its folder, if that is the folder of another session.
func (a *Arbiter) findFolder(ctx context.Context, s api.Subject) api.Subject {
	if s.CWDOf != "" && a.Sessions != nil {
		if known, ok := a.Sessions(ctx, s.CWDOf); ok {
			s.CWD = cmp.Or(known.Folder, s.CWD)
		}
	}
	s.CWDOf = ""
	return s
}

// isBare reports whether the operation was called directly, not through a tool.
func (act action) isBare() bool { return len(act.caller.Tools) == 0 }

// describeSession puts the name and id of the session into s, so that an answer about it does not
// cover others with the same name. A command typed into the session gets the folder of its program.
// An unknown session stays as it is: nothing can be done to it anyway.
func (a *Arbiter) describeSession(ctx context.Context, s api.Subject) api.Subject {
	if a.Sessions == nil {
		return s
	}
	known, ok := a.Sessions(ctx, s.Session)
	if !ok {
		return s
	}
	s.Session = fmt.Sprintf("%s (%s)", known.Name, known.ID)
	if s.CWD == "" && s.Command != "" {
		s.CWD = known.Folder
	}
	return s
}

// request returns the question about an action.
func (act action) request(v policy.Verdict, tool string) api.Request {
	r := api.Request{
		Actor: act.caller.Actor(), Agent: act.caller.Bounds.Name, Tool: tool, Host: act.host, From: act.caller.Origin.From, Rule: v.Reason,
	}
	var commands, sessions, folders []string
	add := func(to *[]string, text string) {
		if text != "" && !slices.Contains(*to, text) {
			*to = append(*to, text)
		}
	}
	for _, s := range act.subjects {
		add(&commands, commandLine(s))
		add(&sessions, s.Session)
		add(&folders, s.CWD)
		r.Paths = append(r.Paths, s.Paths...)
	}
	r.Command, r.Session, r.CWD = strings.Join(commands, "\n"), strings.Join(sessions, ", "), strings.Join(folders, ", ")
	shown := r.Text(cellwidth.Spell, cellwidth.SpellLines)
	r.Shown = &shown
	return r
}

func commandLine(s api.Subject) string {
	if len(s.Argv) > 0 {
		return shell.Quote(s.Argv...)
	}
	return s.Command
}

// sameness returns a key that is equal only for identical actions. Each field follows its length,
// so text in one field cannot imitate the next.
func (act action) sameness() string {
	var b strings.Builder
	add := func(fields ...string) {
		fmt.Fprintf(&b, "%d;", len(fields))
		for _, field := range fields {
			fmt.Fprintf(&b, "%d:%s", len(field), field)
		}
	}
	add(act.caller.Origin.From, act.host, act.caller.Bounds.Name, act.caller.Actor(), fmt.Sprint(act.write))
	add(act.tools...)
	add(act.operations...)
	for _, s := range act.subjects {
		add(s.Command, s.Session, s.CWD)
		add(s.Argv...)
		add(s.Paths...)
	}
	return b.String()
}

// homeDir returns the user's home directory, or "/" if there is none.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return home
}

// policyPaths returns the paths to judge for one path. A question cannot show bytes other than
// UTF-8, and an agent's server may send them back changed, so the resolved form is added.
func policyPaths(path string) []string {
	if utf8.ValidString(path) {
		return []string{path}
	}
	// Resolve the longest existing part; the rest may not exist yet.
	rest := ""
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return []string{path, filepath.Join(real, rest)}
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
	return []string{path}
}
