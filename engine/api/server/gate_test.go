package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/record/audit"
	"tandem/persist/store"
)

// A gateRig is a Mux that records the steps of each call.
type gateRig struct {
	*testing.T
	m     *Mux
	path  string // of the audit log
	steps []string
	fail  map[string]error // by step

	answer string // the beginning of the last one
}

func newGateRig(t *testing.T) *gateRig {
	r := &gateRig{T: t, path: filepath.Join(t.TempDir(), "audit"), fail: map[string]error{}}
	r.m = NewMux(func(context.Context, string, api.Effect, any) error { return r.step("bounds") })
	r.m.Policy = func(context.Context, api.Entry, api.Effect, any) error { return r.step("policy") }
	r.m.Audit = audit.New(store.NewLines(r.path))
	r.m.Secret = func(_ context.Context, session string) bool { return session == "password" }
	r.m.Started = func(_ context.Context, id string) { _ = r.step("started " + id) }
	Handle(r.m, api.Exec, func(context.Context, api.ExecInput) (api.ExecOutput, error) {
		return api.ExecOutput{Process: api.Process{ID: "p1"}}, r.step("handler")
	})
	Handle(r.m, api.ProcessList, func(context.Context, api.ProcessListInput) (api.ProcessListOutput, error) {
		return api.ProcessListOutput{}, r.step("handler")
	})
	Handle(r.m, api.SessionWrite, func(_ context.Context, in api.SessionWriteInput) (api.SessionWriteOutput, error) {
		return api.SessionWriteOutput{}, r.step("handler")
	})
	return r
}

func (r *gateRig) step(name string) error {
	if text, err := os.ReadFile(r.path); err == nil && strings.Contains(string(text), `"started"`) {
		name += " after a line"
	}
	r.steps = append(r.steps, name)
	if err := r.fail[strings.TrimSuffix(name, " after a line")]; err != nil {
		if err == errPanic {
			panic("oh no")
		}
		return err
	}
	return nil
}

var errPanic = errors.New("panic")

// call sends a request, with headers and an origin, and returns its status and steps.
func (r *gateRig) call(name, body string, origin api.Origin, headers ...string) (status int, steps []string) {
	req := httptest.NewRequest(http.MethodPost, "/v1/"+name, strings.NewReader(body))
	req = req.WithContext(context.WithValue(req.Context(), originKey{}, origin))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.steps = nil
	r.m.ServeHTTP(w, req)
	r.answer = w.Body.String()[:min(w.Body.Len(), 25)]
	return w.Code, r.steps
}

// A farMachine is the machine box.
type farMachine struct{ r *gateRig }

func (f farMachine) Knows(_ context.Context, machine string) bool { return machine == "box" }

func (f farMachine) MayReach(ctx context.Context) bool { return !api.CallerOf(ctx).Agent() }

func (f farMachine) Call(_ context.Context, machine, operation string, _ api.Effect, in, out any) error {
	if exec, ok := in.(api.ExecInput); ok {
		out.(*api.ExecOutput).Process.ID = exec.ID
	}
	return f.r.step(operation + " on " + machine)
}

func TestCallThatNamesAMachineIsCarriedOutThere(t *testing.T) {
	r := newGateRig(t)
	r.m.Machines = farMachine{r}
	user := api.Origin{}
	body := `{"id":"box/p1","command":["true"]}`
	status, steps := r.call("exec", body, user)
	if want := []string{"policy", "bounds", "exec on box"}; status != http.StatusOK || !slices.Equal(steps, want) {
		t.Errorf("%d after %q, want %q", status, steps, want)
	}
	if r.answer != `{"process":{"id":"box/p1"` {
		t.Errorf("it answers %s", r.answer)
	}
	r.fail["bounds"] = api.Errorf(api.CodeForbidden, "no")
	if status, steps = r.call("exec", body, user); status != http.StatusForbidden || slices.Contains(steps, "exec on box") {
		t.Errorf("out of bounds: %d after %q", status, steps)
	}
	delete(r.fail, "bounds")
	if status, steps = r.call("session.write", `{"id":"box/p1","text":"x"}`, user, api.OwnerHeader, "a1"); !slices.Contains(steps, "handler after a line") {
		t.Errorf("an agent's: %d after %q", status, steps)
	}
	r.fail["exec on box"] = api.Errorf(api.CodeUnavailable, "reach machine box: it is offline")
	if status, _ = r.call("exec", body, user); status != http.StatusServiceUnavailable {
		t.Errorf("offline: %d", status)
	}
}

// entries returns the audit log, oldest first, and empties it.
func (r *gateRig) entries() []api.AuditEntry {
	out, err := r.m.Audit.(*audit.Log).List(api.AuditListInput{Operations: true})
	if err != nil {
		r.Fatal(err)
	}
	if err := os.RemoveAll(r.path); err != nil {
		r.Fatal(err)
	}
	slices.Reverse(out.Entries)
	return out.Entries
}

func agentHeaders(b api.Bounds) []string {
	return []string{api.OwnerHeader, "o1", api.ClientHeader, "agent:x/1", api.BoundsHeader, b.Header()}
}

// A shell that stops its own session is killed before it has the answer.
func TestCallThatMayEndItsCallerIsCompleted(t *testing.T) {
	var seen error
	r := newGateRig(t)
	Handle(r.m, api.SessionKill, func(ctx context.Context, _ api.IDInput) (api.Process, error) {
		seen = ctx.Err()
		return api.Process{}, seen
	})
	gone, leave := context.WithCancel(t.Context())
	leave()
	req := httptest.NewRequest(http.MethodPost, "/v1/session.kill", strings.NewReader(`{"id":"own"}`))
	r.m.ServeHTTP(httptest.NewRecorder(), req.WithContext(context.WithValue(gone, originKey{}, api.Origin{})))
	if seen != nil {
		t.Errorf("the handler ends with its caller: %v", seen)
	}
}

func TestGateTakesItsStepsInOrder(t *testing.T) {
	refusal := api.Errorf(api.CodeForbidden, "no")
	agent := agentHeaders(api.Bounds{Name: "ci"})
	server := agentHeaders(api.Bounds{ToolsOnly: true})
	visitor := api.Origin{From: "ann", Person: "ann", Role: api.RoleAdmin}
	for name, c := range map[string]struct {
		operation string
		fail      map[string]error
		origin    api.Origin
		headers   []string
		status    int
		steps     []string
		outcomes  []string
	}{
		"a person": {"exec", nil, api.Origin{}, nil, 200, []string{"policy", "bounds", "handler", "started p1"}, nil},
		"an agent that writes": {"exec", nil, api.Origin{}, agent, 200,
			[]string{"policy", "bounds", "handler after a line", "started p1 after a line"}, []string{"ok"}},
		"an agent that reads":       {"process.list", nil, api.Origin{}, agent, 200, []string{"policy", "bounds", "handler"}, []string{"ok"}},
		"an agent's server":         {"process.list", nil, api.Origin{}, server, 200, []string{"policy", "bounds", "handler"}, nil},
		"an agent's server, writes": {"exec", nil, api.Origin{}, server, 200, []string{"policy", "bounds", "handler after a line", "started p1 after a line"}, []string{"ok"}},
		"refused by the policy":     {"exec", map[string]error{"policy": refusal}, api.Origin{}, agent, 403, []string{"policy"}, []string{"denied"}},
		"refused by its bounds":     {"process.list", map[string]error{"bounds": refusal}, api.Origin{}, server, 403, []string{"policy", "bounds"}, []string{"denied"}},
		"a failed handler":          {"process.list", map[string]error{"handler": errors.New("x")}, api.Origin{}, agent, 500, []string{"policy", "bounds", "handler"}, []string{"error"}},
		"a panic of the policy":     {"exec", map[string]error{"policy": errPanic}, api.Origin{}, agent, 500, []string{"policy"}, []string{"error"}},
		"a panic of the handler":    {"exec", map[string]error{"handler": errPanic}, api.Origin{}, agent, 500, []string{"policy", "bounds", "handler after a line"}, []string{"error"}},
		"a question":                {"exec", map[string]error{"policy": &api.Error{Code: api.CodeForbidden, Question: &api.Question{}}}, api.Origin{}, agent, 403, []string{"policy"}, nil},
		"a visitor who writes":      {"exec", nil, visitor, nil, 200, []string{"policy", "bounds", "handler after a line", "started p1 after a line"}, []string{"ok"}},
		"a visitor who reads":       {"process.list", nil, visitor, nil, 200, []string{"policy", "bounds", "handler"}, nil},
		"a visitor who is refused":  {"process.list", map[string]error{"bounds": refusal}, visitor, nil, 403, []string{"policy", "bounds"}, []string{"denied"}},
		"a read-only connection":    {"exec", nil, api.Origin{From: "u@h", ReadOnly: true}, nil, 403, []string{"policy"}, nil},
		"an agent's old server":     {"process.list", nil, api.Origin{}, append(slices.Clone(agent), api.ProtocolHeader, "1"), 409, nil, nil},
	} {
		r := newGateRig(t)
		r.m.Log = slog.New(slog.DiscardHandler)
		r.fail = c.fail
		status, steps := r.call(c.operation, `{}`, c.origin, c.headers...)
		if status != c.status || !slices.Equal(steps, c.steps) {
			t.Errorf("%s: status %d, steps %q", name, status, steps)
		}
		var outcomes []string
		for _, e := range r.entries() {
			outcomes = append(outcomes, e.Outcome)
		}
		if !slices.Equal(outcomes, c.outcomes) {
			t.Errorf("%s: recorded %v", name, outcomes)
		}
	}
}

func TestCallFailsIfItsAuditLineCannotBeWritten(t *testing.T) {
	for operation, steps := range map[string][]string{
		"exec": {"policy", "bounds"}, "process.list": {"policy", "bounds", "handler"},
	} {
		r := newGateRig(t)
		if err := os.Mkdir(r.path, 0o700); err != nil {
			t.Fatal(err)
		}
		if status, got := r.call(operation, `{}`, api.Origin{}, agentHeaders(api.Bounds{})...); status != 503 || !slices.Equal(got, steps) {
			t.Errorf("%s: status %d, steps %q", operation, status, got)
		}
		if status, _ := r.call(operation, `{}`, api.Origin{}); status != 200 {
			t.Errorf("%s of the user: status %d", operation, status)
		}
	}
}

func TestAuditLineNamesCallerToolAndProcess(t *testing.T) {
	r := newGateRig(t)
	headers := append(agentHeaders(api.Bounds{Name: "ci"}), api.ToolHeader, "run,session_write", api.CallHeader, "c1")
	r.call("exec", `{"command":["make"],"actor":"person","environ":{"A":"b"}}`, api.Origin{From: "box"}, headers...)
	// An agent on another machine needs bounds from its engine.
	if all := r.entries(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	r.call("exec", `{"command":["make"],"actor":"person","environ":{"A":"b"}}`, api.Origin{}, headers...)
	e := r.entries()[0]
	if e.Actor != "agent:x/1" || e.Agent != "ci" || e.Client != "o1" || e.Tool != "run" || e.Operation != "exec" || e.Call != "c1" || e.Process != "p1" ||
		len(e.Arguments) != 1 || e.Arguments["command"] == nil {
		t.Errorf("%+v", e)
	}
}

func TestAuditLineHidesTypedSecretsInArgumentsAndError(t *testing.T) {
	for _, session := range []string{"password", "shell"} {
		r := newGateRig(t)
		for _, step := range []string{"policy", "handler"} {
			r.fail = map[string]error{step: api.Errorf(api.CodeForbidden, "no xyzzy here")}
			r.call("session.write", `{"id":"`+session+`","text":"xyzzy"}`, api.Origin{}, agentHeaders(api.Bounds{})...)
		}
		text, err := os.ReadFile(r.path)
		if err != nil || strings.Contains(string(text), "xyzzy") != (session == "shell") {
			t.Errorf("%s: %v\n%s", session, err, text)
		}
	}
}

// An agent may not ask for a private session, so its attempt is recorded as a whole.
func TestAuditLineOfAPrivateStartHasNoContent(t *testing.T) {
	for who, c := range map[string]struct {
		origin  api.Origin
		headers []string
		has     bool
	}{
		"somebody in a fleet": {api.Origin{From: "ann", Person: "ann", Role: api.RoleAdmin}, nil, false},
		"an agent":            {api.Origin{}, agentHeaders(api.Bounds{}), true},
	} {
		r := newGateRig(t)
		Handle(r.m, api.SessionStart, func(context.Context, api.SessionStartInput) (api.Process, error) {
			return api.Process{}, api.Errorf(api.CodeInvalid, "start xyzzy: no such program")
		})
		r.call("session.start", `{"private":true,"command":["xyzzy"],"cwd":"/xyzzy"}`, c.origin, c.headers...)
		text, err := os.ReadFile(r.path)
		if err != nil || len(text) == 0 || strings.Contains(string(text), "xyzzy") != c.has {
			t.Errorf("%s: %v\n%s", who, err, text)
		}
	}
}

// BenchmarkGate measures calls of an agent and of a user, without the network.
func BenchmarkGate(b *testing.B) {
	for name, headers := range map[string][]string{"person": nil, "agent": agentHeaders(api.Bounds{ToolsOnly: true})} {
		b.Run(name, func(b *testing.B) {
			m := NewMux(nil)
			m.Audit = audit.New(store.NewLines(filepath.Join(b.TempDir(), "audit")))
			Handle(m, api.Exec, func(context.Context, api.ExecInput) (api.ExecOutput, error) { return api.ExecOutput{}, nil })
			body := `{"command":["bash","-c","true"],"cwd":"/","environ":{"PATH":"/bin"},"id":"0123456789ab"}`
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/v1/exec", strings.NewReader(body))
				for i := 0; i < len(headers); i += 2 {
					r.Header.Set(headers[i], headers[i+1])
				}
				m.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}
