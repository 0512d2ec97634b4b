// Package mcptest tests agents' tools against a fake engine, without any other process.
package mcptest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// An Engine answers operations with the functions given to Handle.
type Engine struct {
	testing.TB
	Calls []string // names of the operations called

	handlers map[string]func(in any) (any, error)
}

// Handle makes an engine answer an operation with f.
func Handle[In, Out any](e *Engine, op api.Operation[In, Out], f func(In) (Out, error)) {
	if e.handlers == nil {
		e.handlers = map[string]func(any) (any, error){}
	}
	e.handlers[op.Name] = func(in any) (any, error) { return f(in.(In)) }
}

// Do implements api.Engine.
func (e *Engine) Do(_ context.Context, name string, _ api.Effect, in, out any) error {
	e.Calls = append(e.Calls, name)
	f := e.handlers[name]
	if f == nil {
		e.Errorf("unexpected call of %s with %+v", name, in)
		return api.Errorf(api.CodeInternal, "call %s: unexpected", name)
	}
	answer, err := f(in)
	if err != nil {
		return err
	}
	b, err := json.Marshal(answer)
	if err == nil {
		err = json.Unmarshal(b, out)
	}
	return err
}

// ServeLog makes an engine answer process.log with text, the log of any process.
func (e *Engine) ServeLog(text string, state api.State) {
	Handle(e, api.ProcessLog, func(in api.ProcessLogInput) (out api.ProcessLogOutput, err error) {
		end := int64(len(text))
		begin := int64(0)
		if in.Since != nil {
			if begin = *in.Since; begin < 0 {
				begin += end
			}
		}
		begin = min(max(begin, 0), end)
		page := text[begin:min(end, begin+int64(in.Max))]
		out = api.ProcessLogOutput{Data: page, Start: begin, NextCursor: begin + int64(len(page)), End: end, State: state}
		if in.Exact && !utf8.ValidString(page) {
			out.Data, out.DataBytes = "", base64.StdEncoding.EncodeToString([]byte(page))
		}
		return out, nil
	})
}

// Once implements toolkit.Engine.
func (e *Engine) Once() api.Engine { return e }

// WatchFor implements toolkit.Engine; there are no events.
func (e *Engine) WatchFor(context.Context, api.WatchInput) iter.Seq2[api.Event, error] {
	return func(func(api.Event, error) bool) {}
}

// Reach implements toolkit.Engine.
func (e *Engine) Reach(context.Context) error { return nil }

// Close implements toolkit.Engine.
func (e *Engine) Close() {}

// An Agent calls the tools of a profile on a fake engine.
type Agent struct {
	*toolkit.Agent
	Fake  *Engine
	Tools []toolkit.Tool
}

// NewAgent returns an agent whose home and working folder is home.
func NewAgent(t testing.TB, home string, profile toolkit.Profile, tools []toolkit.Tool) *Agent {
	o := &toolkit.Options{Version: "1.2.3", Profiles: []toolkit.Profile{profile}, CWD: home, Home: home, Roots: []string{home}}
	engine := &Engine{TB: t}
	return &Agent{&toolkit.Agent{Options: o, Engine: engine, Actor: "agent:test/1", Owner: "0123456789ab", Roots: o.Roots}, engine, tools}
}

// Call calls a tool with arguments in JSON. It returns the result's text and whether the tool failed.
func (a *Agent) Call(name, args string) (text string, failed bool) {
	a.Fake.Helper()
	i := slices.IndexFunc(a.Tools, func(t toolkit.Tool) bool { return t.Name == name })
	if i < 0 {
		a.Fake.Fatalf("there is no tool %s", name)
	}
	r, err := a.Tools[i].Call(a.Fake.Context(), a.Agent, json.RawMessage(args))
	if err != nil {
		r = toolkit.FailureResult(err)
	}
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String(), r.Failed
}

// Check calls a tool and compares its text.
func (a *Agent) Check(name, args, want string, failed bool) {
	a.Fake.Helper()
	if got, f := a.Call(name, args); got != want || f != failed {
		a.Fake.Errorf("%s %s gives (failed: %v)\n%.1000s\nwant (failed: %v)\n%.1000s", name, args, f, got, failed, want)
	}
}
