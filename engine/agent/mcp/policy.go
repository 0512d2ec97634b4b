package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// The engine judges each operation by the user's policy, asks the user in the dashboard, and writes
// the audit log. An agents' server names the tool of each operation, declares calls of several
// operations beforehand, and asks in the agent's own program too.

// withTool returns a context for the operations of a call.
func withTool(ctx context.Context, id string, t toolkit.Tool, noAsk bool) (context.Context, *api.ToolCall) {
	c := &api.ToolCall{ID: id, Tools: []string{t.Name}, NoAsk: noAsk}
	if !t.Declared {
		c.Uses = t.Uses
	}
	if t.RulesLike != "" {
		c.Tools = append(c.Tools, t.RulesLike)
	}
	return api.WithToolCall(ctx, c), c
}

// withRead returns a context for reading a tool's data outside a call, as a resource. The user is
// not asked, because clients read resources on their own.
func withRead(ctx context.Context, tool string) context.Context {
	ctx, _ = withTool(ctx, api.NewID(), toolkit.Tool{Name: tool}, true)
	return ctx
}

// A permit obtains the permission for one call.
type permit struct {
	s     *server
	call  call
	id    string
	round *round           // the question that this call answers; nil if none
	asked []*toolkit.Agent // where the user has allowed it
}

// runPermitted runs a call within the user's policy. For clients taking questions as results, it
// returns the question.
func (s *server) runPermitted(ctx context.Context, c call, run func(context.Context) error) (question *toolkit.Result, err error) {
	p := &permit{s: s, call: c, id: api.NewID(), round: s.rounds.takeRound(c.req.Params.RequestState, callDigest(c.own, c.req))}
	if p.round != nil {
		p.id, p.asked = p.round.id, []*toolkit.Agent{c.own, c.agent} // the dashboard may have allowed it
		defer p.round.withdraw()
	}
	defer p.end(ctx)
	whole, valid := c.declaration()
	if c.remote != nil && valid { // both machines decide
		there := whole
		there.Host = c.host
		if question, err := p.declare(ctx, c.own, there); question != nil || err != nil {
			return question, err
		}
	}
	if c.tool.Declared && valid {
		if question, err := p.declare(ctx, c.agent, whole); question != nil || err != nil {
			return question, err
		}
		ctx, _ := withTool(ctx, p.id, c.tool, false)
		return nil, run(ctx)
	}
	// The call's first operation says what the call is about. Not declaring it saves a round trip.
	once, made := withTool(ctx, p.id, c.tool, true)
	err = run(once)
	refusal := made.Refusal()
	switch {
	case refusal == nil:
		return nil, err
	case refusal.Question == nil:
		return nil, refusal // the tool may have worded it as a failure of its own
	}
	if question, err := p.ask(ctx, c.agent, refusal.Question); question != nil || err != nil {
		return question, err
	}
	again, _ := withTool(ctx, p.id, c.tool, true)
	return nil, run(again)
}

// declaration returns what a call is about; valid is false if its arguments are not.
func (c call) declaration() (in api.PolicyCheckInput, valid bool) {
	subjects, err := c.tool.Subjects(c.agent, c.args)
	return api.PolicyCheckInput{Operations: c.tool.Uses, Subjects: subjects, Write: c.tool.Effect != api.Read}, err == nil
}

// declare asks the engine of an agent to judge a whole call before its first operation.
func (p *permit) declare(ctx context.Context, f *toolkit.Agent, in api.PolicyCheckInput) (question *toolkit.Result, err error) {
	checked, made := withTool(ctx, p.id, p.call.tool, true)
	err = api.PolicyCheck.Run(checked, f.Engine, in)
	if refusal := made.Refusal(); refusal != nil && refusal.Question != nil {
		return p.ask(ctx, f, refusal.Question)
	}
	return nil, err
}

// ask returns nil once the user has allowed a call. They are asked in the dashboard and, if
// possible, in the agent's own program; the first answer counts.
func (p *permit) ask(ctx context.Context, f *toolkit.Agent, q *api.Question) (question *toolkit.Result, err error) {
	in := api.PolicyCheckInput{Operations: q.Operations, Subjects: q.Subjects, Write: q.Write, Host: q.Request.Host}
	p.asked = append(p.asked, f)
	switch {
	case !supportsRounds(f, p.call.req):
		return nil, p.askBoth(ctx, f, in, q.Request)
	case p.round == nil || !reflect.DeepEqual(p.round.question, in): // an answer is to one question
		return p.openRound(f, in, q.Request), nil
	}
	answer, err := p.round.awaitAnswer(ctx, p.call.req.Params.InputResponses[allowInput])
	p.round = nil // it counts once
	if answer == "" {
		return nil, err
	}
	return nil, p.check(ctx, f, in, answer)
}

// check asks an engine to decide on a call, which may ask the user there. in describes the call. A
// non-empty answer is the user's, and the engine takes it for the decision.
func (p *permit) check(ctx context.Context, f *toolkit.Agent, in api.PolicyCheckInput, answer string) error {
	in.Answer = answer
	ctx, _ = withTool(ctx, p.id, p.call.tool, false)
	return api.PolicyCheck.Run(ctx, f.Engine, in)
}

// endTimeout limits the end of a call.
const endTimeout = 2 * time.Second

// end tells the engines that were asked to forget the user's answers to this call. It does so even
// if the call was cancelled.
func (p *permit) end(ctx context.Context) {
	for _, f := range p.asked {
		if p.s.rounds.isOpen(p.id) {
			continue // the call goes on with the answer
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		ctx = api.WithToolCall(ctx, &api.ToolCall{ID: p.id})
		_ = api.PolicyEnd.Run(ctx, f.Engine, api.Empty{}) // the engine forgets it later otherwise
		cancel()
	}
}

// askBoth asks the user in the dashboard and in the agent's own program.
func (p *permit) askBoth(ctx context.Context, f *toolkit.Agent, in api.PolicyCheckInput, request api.Request) error {
	if f.Options.NoElicit || !canElicit(p.call.req.Session) {
		return p.check(ctx, f, in, "")
	}
	asking, withdraw := context.WithCancel(ctx)
	defer withdraw()
	dashboard, program := make(chan error, 1), make(chan string, 1)
	go func() { dashboard <- p.check(asking, f, in, "") }()
	go func() { program <- elicitAnswer(asking, p.call.req.Session, request) }()
	select {
	case err := <-dashboard:
		return err
	case answer := <-program:
		if answer == "" {
			return <-dashboard
		}
		withdraw()
		if err := <-dashboard; errors.Is(err, api.ReasonDenied) {
			return err // the user denied it in the dashboard at the same moment
		}
		return p.check(ctx, f, in, answer)
	}
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

// elicitAnswer asks the user through the agent's program. It returns "" without an answer.
func elicitAnswer(ctx context.Context, session *sdk.ServerSession, request api.Request) string {
	answer, err := session.Elicit(ctx, &sdk.ElicitParams{Message: questionText(request), RequestedSchema: elicitation})
	if err != nil {
		return ""
	}
	return answerFrom(answer)
}

// answerFrom returns the user's answer, allow or deny; "" if they dismissed the question.
func answerFrom(answer *sdk.ElicitResult) string {
	if answer.Action == "cancel" {
		return ""
	}
	if allow, _ := answer.Content["allow"].(bool); answer.Action == "accept" && allow {
		return "allow"
	}
	return "deny"
}

// questionText returns the question about a call.
func questionText(r api.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to call %s", strings.TrimPrefix(r.Actor, "agent:"), r.Tool)
	if r.Host != "" {
		fmt.Fprintf(&b, " on %s", r.Host)
	}
	switch {
	case r.Command != "":
		fmt.Fprintf(&b, ": %q", r.Command)
	case len(r.Paths) > 0:
		fmt.Fprintf(&b, " on %q", r.Paths)
	}
	if r.Session != "" {
		fmt.Fprintf(&b, " for %q", r.Session)
	}
	if r.CWD != "" {
		fmt.Fprintf(&b, " in %q", r.CWD)
	}
	return fmt.Sprintf("%s. Asked because of: %s", b.String(), r.Rule)
}
