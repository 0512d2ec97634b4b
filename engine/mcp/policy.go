package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

const (
	// auditTimeout limits the wait for the audit log.
	auditTimeout = 2 * time.Second
	// maxRecordedText is the maximum size of one text argument in the audit log, in bytes.
	maxRecordedText = 4 << 10
	// maxRecordedItems is the maximum length of a recorded list or object, and maxRecordedBytes the
	// maximum size of all texts of a call together.
	maxRecordedItems = 100
	maxRecordedBytes = 128 << 10
)

// permitCall asks the policy about a call and returns nil if it is allowed. Otherwise the result
// tells the agent that the call was denied or, for clients taking questions as results, asks the
// question. If the policy asks the user, the first answer counts, from the dashboard or from the
// agent's own program. recordedArgs are the arguments for the audit log. A call on another machine
// is judged by both engines; f is the agent at the engine to ask.
func (s *server) permitCall(ctx context.Context, c call, f *toolkit.Agent, recordedArgs json.RawMessage) *toolkit.Result {
	t, req := c.tool, c.req
	in := policyInput(c.agent, t, c.args)
	note := s.recordCall
	if f != c.agent { // the call only passes through this engine
		in.Host, note = c.host, s.recordLocally
	}
	// Ask without involving the user first: a rule that denies must not open a dialog.
	in.NoAsk = true
	out, err := api.PolicyCheck.Call(ctx, f.Engine, in)
	if likeInput := in; err == nil && t.RulesLike != "" && out.Decision != "deny" {
		likeInput.Tool = t.RulesLike
		likeOutput, likeErr := api.PolicyCheck.Call(ctx, f.Engine, likeInput)
		if err = likeErr; likeOutput.Decision != "allow" {
			in, out = likeInput, likeOutput
		}
	}
	if err == nil && out.Decision == "ask" {
		in.NoAsk = false
		if supportsRounds(f, req) {
			var more *toolkit.Result
			if out, more, err = s.askInRounds(ctx, f, in, out.Reason, req); more != nil {
				return more
			}
		} else {
			out, err = askUser(ctx, f, in, out.Reason, req)
		}
	}
	if err == nil && out.Decision == "allow" {
		return nil
	}
	if err == nil {
		err = notAllowed(t.Name, out)
	}
	// The reason quotes the command. If the arguments were redacted, the quote would reveal the
	// secret.
	recorded := err
	if !bytes.Equal(recordedArgs, c.args) {
		recorded = api.Errorf(api.CodeForbidden, "call %s: not allowed", t.Name)
	}
	note(ctx, c, recordedArgs, toolkit.Result{}, recorded, 0)
	refused := s.failureResult(err)
	return &refused
}

// permitRead returns an error unless the policy allows an agent to read a resource. It asks about
// the tool reading the same data.
func permitRead(ctx context.Context, f *toolkit.Agent, what resourceURI) error {
	name := "process_log"
	if what.screen {
		name = "session_screen"
	}
	out, err := api.PolicyCheck.Call(ctx, f.Engine, api.PolicyCheckInput{Tool: name, Actor: f.Actor})
	if err == nil && out.Decision != "allow" {
		err = notAllowed(name, out)
	}
	return err
}

// notAllowed returns the error for a denied call.
func notAllowed(name string, out api.PolicyCheckOutput) *api.Error {
	return api.Errorf(api.CodeForbidden, "call %s: not allowed: %s", name, out.Reason).WithHint(out.Hint)
}

// policyInput returns the policy's input for a call.
func policyInput(f *toolkit.Agent, t toolkit.Tool, args json.RawMessage) api.PolicyCheckInput {
	about := t.Subject(f, args).WithVariables(f.Options.Sandbox != nil)
	return api.PolicyCheckInput{
		Tool: t.Name, Actor: f.Actor, Command: about.Command, Argv: about.Argv,
		Paths: about.Paths, CWD: about.CWD, Session: about.Session, Write: t.Effect != api.Read,
	}
}

// askUser asks the user in the dashboard and, if possible, in the agent's own program. The first
// answer counts.
func askUser(ctx context.Context, f *toolkit.Agent, in api.PolicyCheckInput, rule string, req *sdk.CallToolRequest) (api.PolicyCheckOutput, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // withdraws the other question
	replies := make(chan verdict, 2)
	go func() {
		out, err := api.PolicyCheck.Call(ctx, f.Engine, in)
		replies <- verdict{out, err}
	}()
	if !f.Options.NoElicit && canElicit(req.Session) {
		go func() {
			if out, ok := elicitAnswer(ctx, req.Session, in, rule); ok {
				replies <- verdict{out, nil}
			}
		}()
	}
	r := <-replies
	return r.out, r.err
}

// canElicit reports whether an agent's program can ask its user.
func canElicit(session *sdk.ServerSession) bool {
	if session == nil {
		return false
	}
	p := session.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil
}

// elicitation is the schema of the form for allowing a call.
var elicitation = json.RawMessage(`{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow it","default":false}},"required":["allow"]}`)

// elicitAnswer asks the user through the agent's program. ok is false without an answer from there.
func elicitAnswer(ctx context.Context, session *sdk.ServerSession, in api.PolicyCheckInput, rule string) (out api.PolicyCheckOutput, ok bool) {
	answer, err := session.Elicit(ctx, &sdk.ElicitParams{Message: questionText(in, rule), RequestedSchema: elicitation})
	if err != nil {
		return out, false
	}
	return decisionFrom(answer)
}

// decisionFrom returns the user's decision. ok is false if the user dismissed the question.
func decisionFrom(answer *sdk.ElicitResult) (out api.PolicyCheckOutput, ok bool) {
	if answer.Action == "cancel" {
		return out, false
	}
	if allow, _ := answer.Content["allow"].(bool); answer.Action == "accept" && allow {
		return api.PolicyCheckOutput{Decision: "allow"}, true
	}
	return api.PolicyCheckOutput{Decision: "deny", Reason: "the user denied it", Hint: "do something else or ask them why"}, true
}

// questionText returns the question about a call.
func questionText(in api.PolicyCheckInput, rule string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to call %s", strings.TrimPrefix(in.Actor, "agent:"), in.Tool)
	if in.Host != "" {
		fmt.Fprintf(&b, " on %s", in.Host)
	}
	switch {
	case in.Command != "":
		fmt.Fprintf(&b, ": %q", in.Command)
	case len(in.Argv) > 0:
		fmt.Fprintf(&b, ": %q", in.Argv)
	case len(in.Paths) > 0:
		fmt.Fprintf(&b, " on %q", in.Paths)
	}
	if in.Session != "" {
		fmt.Fprintf(&b, " for %q", in.Session)
	}
	if in.CWD != "" {
		fmt.Fprintf(&b, " in %s", in.CWD)
	}
	return fmt.Sprintf("%s. Asked because of: %s", b.String(), rule)
}

// auditEntry returns a call's entry for the audit log.
func auditEntry(ctx context.Context, f *toolkit.Agent, t toolkit.Tool, args json.RawMessage, r toolkit.Result, err error, took time.Duration, at time.Time) api.AuditEntry {
	entry := api.AuditEntry{
		Time: at, Actor: f.Actor, Client: f.Owner, Tool: t.Name, Arguments: recordableArguments(args),
		Outcome: callOutcome(ctx, r, err), DurationMS: float64(took.Microseconds()) / 1000, Process: r.Process,
	}
	if err != nil {
		entry.Error = err.Error()
	}
	return entry
}

// writeAudit adds entries to the audit log, waiting at most auditTimeout. It uses its own context:
// the calls have been made, even if the agent cancelled them.
func writeAudit(engine api.Engine, entries ...api.AuditEntry) error {
	ctx, cancel := context.WithTimeout(context.Background(), auditTimeout)
	defer cancel()
	_, err := api.AuditAdd.Call(ctx, engine, api.AuditAddInput{Entries: entries})
	return err
}

// callOutcome returns the word for the audit log.
func callOutcome(ctx context.Context, r toolkit.Result, err error) string {
	switch {
	case ctx.Err() != nil:
		return "cancelled"
	case err != nil && api.AsError(err).Code == api.CodeForbidden:
		return "denied"
	case err != nil || r.Failed:
		return "error"
	}
	return "ok"
}

// redactSecret returns the arguments of a call for the audit log. Text typed at a prompt without
// echo is a secret and is replaced.
func redactSecret(ctx context.Context, f *toolkit.Agent, t toolkit.Tool, args json.RawMessage) json.RawMessage {
	if t.Effect == api.Read {
		return args
	}
	about := t.Subject(f, args)
	if about.Session == "" {
		return args
	}
	p, err := api.SessionGet.Call(ctx, f.Engine, api.IDInput{ID: about.Session})
	if err != nil || p.Terminal == nil || p.Terminal.Waiting != "secret" {
		return args
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return nil
	}
	for _, name := range [...]string{"text", "paste", "keys", "input", "command"} {
		if _, ok := members[name]; ok {
			members[name] = json.RawMessage(`"***"`)
		}
	}
	noted, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return noted
}

// recordableArguments decodes arguments and shortens long texts. The engine removes secrets.
func recordableArguments(args json.RawMessage) map[string]any {
	var m map[string]any
	if json.Unmarshal(args, &m) != nil {
		return nil
	}
	left := maxRecordedBytes
	return truncateValue(m, &left).(map[string]any)
}

// truncateValue shortens the texts of a JSON value. left is the number of bytes remaining for all
// texts together and is updated.
func truncateValue(value any, left *int) any {
	switch v := value.(type) {
	case string:
		if limit := min(maxRecordedText, max(*left, 0)); len(v) > limit {
			v = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(v[:limit], ""), len(v))
		}
		*left -= len(v)
		return v
	case []any:
		short := make([]any, 0, min(len(v), maxRecordedItems))
		for _, e := range v[:min(len(v), maxRecordedItems)] {
			short = append(short, truncateValue(e, left))
		}
		return short
	case map[string]any:
		short := make(map[string]any)
		// In sorted order, so that equal calls are truncated alike.
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(short) == maxRecordedItems || len(name) > maxRecordedText {
				continue
			}
			*left -= len(name)
			short[name] = truncateValue(v[name], left)
		}
		return short
	}
	return value
}
