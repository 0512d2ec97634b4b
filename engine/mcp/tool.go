package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
)

// A tool is one entry of tools/list.
type tool struct {
	name       string
	doc        string // for the agent: what it does and when to use it, short
	effect     api.Effect
	idempotent bool
	profiles   []Profile // that offer it, beside All
	in, out    reflect.Type

	// judged says that all it does are operations called with the context given,
	// so that the engine can judge it by the person's policy as it carries out
	// the first one.
	judged bool

	// call runs the tool. An error is told to the agent as a failed result.
	call func(ctx context.Context, f *face, args json.RawMessage) (result, error)
	// about says what a call would do, for the person's policy.
	about func(f *face, args json.RawMessage) subject
}

// A subject is what a call would run, read or write.
type subject struct {
	command string            // line for a shell
	argv    []string          // program and arguments without a shell
	paths   []string          // absolute
	cwd     string            // absolute
	env     map[string]string // set for what it runs
	session string            // or process that it is about; if a command is typed into it its folder counts where cwd is empty
}

// A subjected input says what a call with it would do.
type subjected interface {
	subject(f *face) subject
}

// idIn is the session or process that a call names; "" if it names none.
func idIn(in any) string {
	fields := reflect.Indirect(reflect.ValueOf(in))
	for _, name := range []string{"ID", "SessionID"} {
		if fields.Kind() != reflect.Struct {
			break
		}
		if id := fields.FieldByName(name); id.Kind() == reflect.String {
			return id.String()
		}
	}
	return ""
}

// none is the output of tools that give text alone.
type none struct{}

// define completes a tool with its types and what it does. In is a struct
// whose fields carry json names and, in a doc tag, a few words each; a field
// without omitempty is required. Out is the type of result.structured.
func define[In, Out any](t tool, do func(ctx context.Context, f *face, in In) (result, error)) tool {
	t.in, t.out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	t.call = func(ctx context.Context, f *face, args json.RawMessage) (result, error) {
		in, err := decode[In](t, args)
		if err != nil {
			return result{}, err
		}
		return do(ctx, f, in)
	}
	t.about = func(f *face, args json.RawMessage) subject {
		in, err := decode[In](t, args)
		var about subject
		if s, ok := any(in).(subjected); ok && err == nil {
			about = s.subject(f)
		}
		about.session = cmp.Or(about.session, idIn(in))
		return about
	}
	return t
}

// A result is what a tool answers.
type result struct {
	content    []sdk.Content
	structured any    // of the tool's Out, or nil
	failed     bool   // the agent is told that the call failed
	process    string // id of what it started or dealt with, for the audit log

	// input asks the agent's person instead of answering, where the client
	// does that (2026-07-28, multi round-trip requests); state comes back with
	// the answers.
	input sdk.InputRequestMap
	state string
}

// text answers with one block of text.
func text(s string) result {
	return result{content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// textf is text with a format.
func textf(format string, args ...any) result { return text(fmt.Sprintf(format, args...)) }

// fail marks a result as a failure.
func (r result) fail() result {
	r.failed = true
	return r
}

// size is how many bytes of text and pictures a result holds.
func (r result) size() int {
	n := 0
	for _, c := range r.content {
		switch c := c.(type) {
		case *sdk.TextContent:
			n += len(c.Text)
		case *sdk.ImageContent:
			n += len(c.Data)
		}
	}
	return n
}

// with adds structured content.
func (r result) with(structured any) result {
	r.structured = structured
	return r
}

// of tells which session or process a result is about.
func (r result) of(id string) result {
	r.process = id
	return r
}

// failure is how an error is told to an agent: what was wrong, and on a second
// line what to do.
func failure(err error) result {
	e := api.AsError(err)
	message := e.Message
	if e.Code == api.CodeLocked && !strings.HasPrefix(message, string(e.Code)) {
		message = string(e.Code) + ": " + message
	}
	if errors.Is(err, context.Canceled) {
		message = strings.Replace(message, context.Canceled.Error(), "it was cancelled", 1)
	}
	message = legible(message)
	if e.Hint != "" {
		message += "\nhint: " + forAgents(e.Hint)
	}
	return text(message).fail()
}

// toolset is the tools of the chosen profiles, in a fixed order. Of two with a
// name the native one stands back.
func toolset(o Options) []tool {
	var chosen []tool
	for _, t := range slices.Concat(pluginTools(), nativeTools(), coreTools(), osTools(), terminalTools(), androidTools()) {
		if o.offers(t) && !slices.ContainsFunc(chosen, func(c tool) bool { return c.name == t.name }) {
			chosen = append(chosen, t)
		}
	}
	return chosen
}

func (o Options) offers(t tool) bool {
	if o.ReadOnly && t.effect != api.Read {
		return false
	}
	return slices.Contains(o.Profiles, All) ||
		slices.ContainsFunc(o.Profiles, func(p Profile) bool { return slices.Contains(t.profiles, p) })
}
