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
	"tandem/engine/api/client"
	"tandem/engine/mcp/toolkit"
)

const (
	// auditTimeout is how long a call waits for the audit log at most.
	auditTimeout = 2 * time.Second
	// recordedText is how much of one text argument is sent to the audit log.
	recordedText = 4 << 10
	// recordedItems is how much of a list, and recordedAll how many bytes of all
	// texts together.
	recordedItems = 100
	recordedAll   = 128 << 10
)

// permit asks whether an agent may make a call; nil if it may, else what it is
// told instead: that it was refused or, for programs that take questions as
// answers, what to ask. Where the policy asks the person, the first answer counts:
// from the dashboard or, if the agent's program can ask too, from there. noted are
// the call's arguments for the audit log. Of a call on another machine
// both engines are asked: f is the agent at the one that is.
func (s *server) permit(ctx context.Context, c call, f *toolkit.Agent, noted json.RawMessage) *toolkit.Result {
	t, req := c.tool, c.req
	in := inquiry(c.at, t, c.args)
	note := s.note
	if f != c.at { // nothing is done there
		in.Host, note = c.host, s.noteHere
	}
	in.NoAsk = true
	out, err := api.PolicyCheck.Call(ctx, f.Engine, in)
	if like := in; err == nil && t.Like != "" && out.Decision != "deny" {
		like.Tool = t.Like
		said, wrong := api.PolicyCheck.Call(ctx, f.Engine, like)
		if err = wrong; said.Decision != "allow" {
			in, out = like, said
		}
	}
	if err == nil && out.Decision == "ask" {
		in.NoAsk = false
		if asksInRounds(f, req) {
			var more *toolkit.Result
			if out, more, err = s.askInRounds(ctx, f, in, out.Reason, req); more != nil {
				return more
			}
		} else {
			out, err = askBoth(ctx, f, in, out.Reason, req)
		}
	}
	if err == nil && out.Decision == "allow" {
		return nil
	}
	if err == nil {
		err = notAllowed(t.Name, out)
	}
	recorded := err
	if !bytes.Equal(noted, c.args) { // the reason tells what was typed
		recorded = api.Errorf(api.CodeForbidden, "call %s: not allowed", t.Name)
	}
	note(ctx, c, noted, toolkit.Result{}, recorded, 0)
	refused := s.failure(err)
	return &refused
}

// permitReading asks whether an agent may read a resource, as it is asked for
// the tool that reads the same.
func permitReading(ctx context.Context, f *toolkit.Agent, what resourceURI) error {
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

// notAllowed is what an agent is told of a call that the policy or the person
// has refused.
func notAllowed(name string, out api.PolicyCheckOutput) *api.Error {
	return api.Errorf(api.CodeForbidden, "call %s: not allowed: %s", name, out.Reason).WithHint(out.Hint)
}

// inquiry is what the policy is asked about a call.
func inquiry(f *toolkit.Agent, t toolkit.Tool, args json.RawMessage) api.PolicyCheckInput {
	about := t.About(f, args).Steered(f.Options.Sandbox != nil)
	return api.PolicyCheckInput{
		Tool: t.Name, Actor: f.Actor, Command: about.Command, Argv: about.Argv,
		Paths: about.Paths, CWD: about.CWD, Session: about.Session, Write: t.Effect != api.Read,
	}
}

// askBoth puts a request before the person in the dashboard and, where it can,
// in the agent's own program.
func askBoth(ctx context.Context, f *toolkit.Agent, in api.PolicyCheckInput, rule string, req *sdk.CallToolRequest) (api.PolicyCheckOutput, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // withdraws the question that was not answered
	replies := make(chan verdict, 2)
	go func() {
		out, err := api.PolicyCheck.Call(ctx, f.Engine, in)
		replies <- verdict{out, err}
	}()
	if !f.Options.NoElicit && canElicit(req.Session) {
		go func() {
			if out, ok := elicit(ctx, req.Session, in, rule); ok {
				replies <- verdict{out, nil}
			}
		}()
	}
	r := <-replies
	return r.out, r.err
}

// canElicit reports whether an agent's program can ask its person.
func canElicit(session *sdk.ServerSession) bool {
	if session == nil {
		return false
	}
	p := session.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil
}

// elicitation is the form with which a person allows a call.
var elicitation = json.RawMessage(`{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow it","default":false}},"required":["allow"]}`)

// elicit asks through the agent's program; ok is false when nobody has answered
// there.
func elicit(ctx context.Context, session *sdk.ServerSession, in api.PolicyCheckInput, rule string) (out api.PolicyCheckOutput, ok bool) {
	answer, err := session.Elicit(ctx, &sdk.ElicitParams{Message: question(in, rule), RequestedSchema: elicitation})
	if err != nil {
		return out, false
	}
	return decided(answer)
}

// decided is what a person has answered; ok is false if they have put it off.
func decided(answer *sdk.ElicitResult) (out api.PolicyCheckOutput, ok bool) {
	if answer.Action == "cancel" {
		return out, false
	}
	if allow, _ := answer.Content["allow"].(bool); answer.Action == "accept" && allow {
		return api.PolicyCheckOutput{Decision: "allow"}, true
	}
	return api.PolicyCheckOutput{Decision: "deny", Reason: "the user denied it", Hint: "do something else or ask them why"}, true
}

// question is a request in words.
func question(in api.PolicyCheckInput, rule string) string {
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

// entryOf is a call's line in the audit log.
func entryOf(ctx context.Context, f *toolkit.Agent, t toolkit.Tool, args json.RawMessage, r toolkit.Result, err error, took time.Duration, at time.Time) api.AuditEntry {
	entry := api.AuditEntry{
		Time: at, Actor: f.Actor, Client: f.Owner, Tool: t.Name, Arguments: recordable(args),
		Outcome: outcome(ctx, r, err), DurationMS: float64(took.Microseconds()) / 1000, Process: r.Process,
	}
	if err != nil {
		entry.Error = err.Error()
	}
	return entry
}

// addToAudit writes lines of the audit log. That they could not be written does
// not concern the agent, as the calls have been made.
func addToAudit(engine *client.Client, entries ...api.AuditEntry) error {
	ctx, cancel := context.WithTimeout(context.Background(), auditTimeout)
	defer cancel()
	_, err := api.AuditAdd.Call(ctx, engine, api.AuditAddInput{Entries: entries})
	return err
}

// outcome is how a call ended, in a word.
func outcome(ctx context.Context, r toolkit.Result, err error) string {
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

// withoutSecret are the arguments of a call as they may be recorded: what is typed where
// nothing is echoed is a secret.
func withoutSecret(ctx context.Context, f *toolkit.Agent, t toolkit.Tool, args json.RawMessage) json.RawMessage {
	if t.Effect == api.Read {
		return args
	}
	about := t.About(f, args)
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

// recordable is what is sent of arguments: the engine takes the secrets out, long
// texts stay here.
func recordable(args json.RawMessage) map[string]any {
	var m map[string]any
	if json.Unmarshal(args, &m) != nil {
		return nil
	}
	left := recordedAll
	return cut(m, &left).(map[string]any)
}

// cut shortens the texts of a value of JSON, and leaves out what does not fit
// into left bytes of all of them.
func cut(value any, left *int) any {
	switch v := value.(type) {
	case string:
		if most := min(recordedText, max(*left, 0)); len(v) > most {
			v = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(v[:most], ""), len(v))
		}
		*left -= len(v)
		return v
	case []any:
		short := make([]any, 0, min(len(v), recordedItems))
		for _, e := range v[:min(len(v), recordedItems)] {
			short = append(short, cut(e, left))
		}
		return short
	case map[string]any:
		short := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(short) == recordedItems || len(name) > recordedText {
				continue
			}
			*left -= len(name)
			short[name] = cut(v[name], left)
		}
		return short
	}
	return value
}
