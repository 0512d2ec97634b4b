package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/httplimit"
	"tandem/engine/mcp/toolkit"
	"tandem/engine/shell"
)

const (
	eventsStream = "events.watch"
	attachStream = "session.attach"
)

// An operationCall is a call of an engine operation. Its input is decoded as the engine decodes it
// and encoded again, so that the policy judges exactly the input passed on.
type operationCall struct {
	name  string
	write bool
	in    any    // pointer to the operation's input; nil for a stream
	id    string // the session of a stream
}

// serveOperation passes a request to the engine if the user's policy allows it, within the bounds
// for all agents, and records the call in the audit log.
func (w *httpServer) serveOperation(rw http.ResponseWriter, r *http.Request, name string, engine http.Handler) {
	t := tokenOf(r.Context())
	client, err := w.o.Connect(r.Context(), t.actor(), t.owner(), w.boundsOf(t))
	if err != nil {
		writeError(rw, http.StatusServiceUnavailable, api.AsError(err))
		return
	}
	defer client.Close()
	if name == eventsStream {
		w.streamEvents(rw, r, client, engine)
		return
	}
	call, err := readOperation(r, name)
	// A read-only token attaches as a viewer, see setIdentity, so the policy must not see a write.
	call.write = call.write && !t.readOnly && !w.o.ReadOnly
	if err == nil {
		err = call.confine(w.o.WithDefaults(), t.actor())
	}
	if err == nil {
		err = w.checkPolicy(r.Context(), client, call, t)
	}
	if err == nil {
		err = call.replaceBody(r)
	}
	began, answer := time.Now(), &statusRecorder{ResponseWriter: rw}
	if err != nil {
		status, e := httpError(err)
		writeError(answer, status, e)
	} else {
		engine.ServeHTTP(answer, r)
	}
	outcome := answer.callOutcome(r.Context(), err)
	if name == api.EngineStop.Name && outcome == "ok" {
		return // the engine recorded it before stopping
	}
	w.recordCall(r.Context(), client, call, t, outcome, time.Since(began))
}

// streamEvents serves the event stream. It is not recorded, because watching clients reconnect
// often.
func (w *httpServer) streamEvents(rw http.ResponseWriter, r *http.Request, conn *client.Client, engine http.Handler) {
	if err := w.checkPolicy(r.Context(), conn, operationCall{name: eventsStream}, tokenOf(r.Context())); err != nil {
		status, e := httpError(err)
		writeError(rw, status, e)
		return
	}
	engine.ServeHTTP(rw, r)
}

// readOperation reads the body of a request as the operation's input.
func readOperation(r *http.Request, name string) (operationCall, error) {
	call := operationCall{name: name}
	if name == attachStream {
		call.write, call.id = lastQueryValue(r, "read_only") != "true", lastQueryValue(r, "id")
		return call, nil
	}
	i := slices.IndexFunc(api.Operations(), func(e api.Entry) bool { return e.Name == name })
	if i < 0 {
		return call, api.Errorf(api.CodeNotFound, "call %s: there is no such operation", name).WithHint("docs/api.md lists the operations")
	}
	entry := api.Operations()[i]
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return call, err
	}
	in := reflect.New(entry.In).Interface()
	if err := api.DecodeInput(name, body, in); err != nil {
		return call, err
	}
	call.write, call.in = entry.Effect != api.Read, in
	return call, nil
}

// lastQueryValue returns the last value of a query parameter, because the engine uses the last of
// several.
func lastQueryValue(r *http.Request, name string) string {
	values := r.URL.Query()[name]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// confine limits a call to the server's folders and sets actor as its author. It rejects calls
// agents may not make at all.
func (c operationCall) confine(o toolkit.Options, actor string) error {
	switch in := c.in.(type) {
	case *api.ExecInput:
		in.Actor = actor
	case *api.ProcessStartInput:
		in.Actor = actor
	case *api.SessionStartInput:
		in.Actor = actor
	case *api.PolicyCheckInput:
		in.Actor = actor
	case *api.AuditAddInput:
		return api.Errorf(api.CodeForbidden, "call %s: agents cannot write the audit log", c.name)
	}
	if scope := c.scope(); scope != nil {
		// The engine would resolve the call's own roots before narrowing them to the server's.
		scope.Roots, scope.Base = o.Roots, cmp.Or(scope.Base, o.CWD)
	}
	return nil
}

// scope returns the file scope of a call on files, and nil for others.
func (c operationCall) scope() *api.FileScope {
	if s, ok := c.in.(interface{ Scope() *api.FileScope }); ok {
		return s.Scope()
	}
	return nil
}

// checkPolicy returns an error unless the user's policy allows the call.
func (w *httpServer) checkPolicy(ctx context.Context, conn *client.Client, c operationCall, t *token) error {
	about := c.Subject(w.o.Home).WithVariables(w.o.Sandbox != nil)
	out, err := api.PolicyCheck.Call(ctx, conn, api.PolicyCheckInput{
		Tool: c.name, Actor: t.actor(), Command: about.Command, Argv: about.Argv,
		Paths: about.Paths, CWD: about.CWD, Session: about.Session, Write: c.write,
	})
	if err == nil && out.Decision != "allow" {
		err = notAllowed(c.name, out)
	}
	return err
}

// Subject returns the command, files and session a call is about.
func (c operationCall) Subject(home string) toolkit.Subject {
	switch in := c.in.(type) {
	case *api.ExecInput:
		return toolkit.Subject{Argv: in.Command, CWD: cmp.Or(in.CWD, home), Env: toolkit.NewVariables(in.Env, in.Environ)}
	case *api.SessionStartInput:
		return toolkit.Subject{Argv: in.Command, CWD: cmp.Or(in.CWD, home), Env: toolkit.NewVariables(in.Env, in.Environ)}
	case *api.ProcessStartInput:
		s := toolkit.Subject{Argv: in.Command, CWD: cmp.Or(in.CWD, home), Env: toolkit.NewVariables(in.Env, in.Environ)}
		if in.Ready != nil && len(in.Ready.Command) > 0 {
			s.Command, s.Argv = shell.Quote(in.Command...)+"\n"+shell.Quote(in.Ready.Command...), nil
		}
		return s
	case *api.SessionExecInput:
		return toolkit.Subject{Command: in.Command, Session: in.ID}
	case *api.SessionWriteInput:
		return toolkit.Subject{Command: in.Text + in.Paste, Session: in.ID}
	case *api.ProcessWriteInput:
		return toolkit.Subject{Command: in.Text, Session: in.ID}
	case *api.FilesWriteOutputInput:
		return toolkit.Subject{Paths: []string{filepath.Join(home, "outputs")}}
	}
	return toolkit.Subject{Paths: c.namedPaths(home), Session: cmp.Or(c.id, toolkit.IDOf(c.in))}
}

// namedPaths returns the absolute paths of the files named in a call.
func (c operationCall) namedPaths(home string) []string {
	if c.in == nil {
		return nil
	}
	scope, fields := c.scope(), reflect.ValueOf(c.in).Elem()
	var named []string
	for _, name := range []string{"Path", "To"} {
		if field := fields.FieldByName(name); field.IsValid() && field.Kind() == reflect.String && field.String() != "" {
			named = append(named, field.String())
		}
	}
	if field := fields.FieldByName("Items"); field.IsValid() {
		items, _ := field.Interface().([]api.FileMove)
		for _, item := range items {
			named = append(named, item.Path)
			if item.To != "" {
				named = append(named, item.To)
			}
		}
	}
	if scope == nil {
		return named
	}
	// Without a path, the call is about its base folder.
	if len(named) == 0 && fields.FieldByName("Path").IsValid() {
		named = []string{scope.Base}
	}
	var paths []string
	for _, path := range named {
		paths = append(paths, toolkit.PolicyPaths(toolkit.AbsolutePath(scope.In(path), scope.Base, home))...)
	}
	return paths
}

// replaceBody sets the body of a request to the input judged by the policy.
func (c operationCall) replaceBody(r *http.Request) error {
	if c.in == nil {
		return nil
	}
	body, err := json.Marshal(c.in)
	if err != nil {
		return api.Errorf(api.CodeInternal, "call %s: pass on the input: %v", c.name, err)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// recordCall adds a call to the audit log.
func (w *httpServer) recordCall(ctx context.Context, conn *client.Client, c operationCall, t *token, outcome string, took time.Duration) {
	entry := api.AuditEntry{Actor: t.actor(), Client: t.owner(), Tool: c.name,
		Outcome: outcome, DurationMS: float64(took.Microseconds()) / 1000}
	if c.in != nil {
		body, _ := json.Marshal(c.in) // replaceBody has reported any error
		entry.Arguments = recordableArguments(body)
		entry.Process, _ = entry.Arguments["id"].(string)
	}
	if err := writeAudit(conn, entry); err != nil && w.o.Log != nil {
		w.o.Log.Error("write audit log", "operation", c.name, "error", err)
	}
}

// httpError returns the status and body for an error.
func httpError(err error) (status int, e *api.Error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge, api.Errorf(api.CodeInvalid, "the request is larger than %d bytes", large.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return http.StatusRequestTimeout, api.Errorf(api.CodeInvalid, "the request took longer than %v to arrive", httplimit.BodyTime)
	}
	e = api.AsError(err)
	switch e.Code {
	case api.CodeForbidden:
		return http.StatusForbidden, e
	case api.CodeNotFound:
		return http.StatusNotFound, e
	case api.CodeInvalid:
		return http.StatusBadRequest, e
	}
	return http.StatusServiceUnavailable, e
}

// A statusRecorder remembers the status of a reply.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (a *statusRecorder) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets streams flush and hijack the connection.
func (a *statusRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// callOutcome returns the word for the audit log. A client that disconnects after its reply has not
// cancelled the call.
func (a *statusRecorder) callOutcome(ctx context.Context, err error) string {
	switch {
	case a.status == http.StatusForbidden:
		return "denied"
	case err == nil && a.status >= http.StatusOK && a.status < http.StatusMultipleChoices:
		return "ok"
	case ctx.Err() != nil:
		return "cancelled"
	}
	return "error"
}

// owner returns the id of the token's bearer as an owner of processes.
func (t *token) owner() string { return toolkit.LastingOwner(t.id(), t.actor()) }

// actor returns the name of the token's bearer in the engine.
func (t *token) actor() string { return fmt.Sprintf("agent:http-%s", toolkit.PlainName(t.name)) }
