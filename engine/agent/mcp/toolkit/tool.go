package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
)

// A Tool is one entry of tools/list.
type Tool struct {
	Name      string
	Doc       string // for agents: its purpose and use, short
	Effect    api.Effect
	Profiles  []Profile // profiles offering it, besides All and TerminalTools
	Files     bool      // a file tool, which clients often have themselves
	Hosted    bool      // accepts another machine as host
	Large     bool      // its result is as large as the call asks
	RulesLike string    // another tool with the same effect, whose policy rules apply too; may be ""
	In, Out   reflect.Type

	// Uses names the operations that the tool calls. If the first operation names everything that
	// the call works on, the engine's decision about it covers the others. Otherwise Declared is
	// set, and the engine judges the call's Subjects before the first operation.
	Uses     []string
	Declared bool

	// Call runs the tool. An error becomes a failed result.
	Call func(ctx context.Context, f *Agent, args json.RawMessage) (Result, error)
}

// HostArgument is the name of the argument of Hosted tools.
const HostArgument = "host"

// Subject is what a call would run, read or change.
type Subject = api.Subject

// A subjectProvider is an input able to describe its call.
type subjectProvider interface {
	Subject(f *Agent) Subject
}

// A subjectsProvider is an input able to describe a call of several commands.
type subjectsProvider interface {
	Subjects(f *Agent) []Subject
}

// IDOf returns the session or process named by a call, or "".
func IDOf(in any) string {
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

// None is the output type of tools returning only text.
type None struct{}

// Define completes a tool with its types and its function. In is a struct with json names and short
// doc tags; fields without omitempty are required. Out is the type of the structured content.
func Define[In, Out any](t Tool, call func(ctx context.Context, f *Agent, in In) (Result, error)) Tool {
	t.In, t.Out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	t.Call = func(ctx context.Context, f *Agent, args json.RawMessage) (Result, error) {
		in, err := Decode[In](t, args)
		if err != nil {
			return Result{}, err
		}
		return call(ctx, f, in)
	}
	return t
}

// ConvertErrors returns tools that return the result of convert instead of an error.
func ConvertErrors(tools []Tool, convert func(error) Result) []Tool {
	for i := range tools {
		call := tools[i].Call
		tools[i].Call = func(ctx context.Context, f *Agent, args json.RawMessage) (Result, error) {
			r, err := call(ctx, f, args)
			if err != nil {
				return convert(err).AsFailure(), nil
			}
			return r, nil
		}
	}
	return tools
}

// Subjects describes a call for the policy. The error is that of invalid arguments.
func (t Tool) Subjects(f *Agent, args json.RawMessage) ([]Subject, error) {
	value := reflect.New(t.In)
	if err := decodeInto(t, args, value.Interface()); err != nil {
		return nil, err
	}
	switch in := value.Elem().Interface().(type) {
	case subjectsProvider:
		return in.Subjects(f), nil
	case subjectProvider:
		about := in.Subject(f)
		about.Session = cmp.Or(about.Session, IDOf(in))
		return []Subject{about}, nil
	default:
		if id := IDOf(in); id != "" {
			return []Subject{{Session: id}}, nil
		}
	}
	return nil, nil
}

// A Result is the reply of a tool.
type Result struct {
	Content    []sdk.Content
	Structured any    // of type Out, or nil
	SameAsText bool   // the text and the structured content have the same facts
	Failed     bool   // reported to the agent as a failed call
	Process    string // id of a started or affected process, for the audit log

	// Input asks the agent's user instead of returning a reply, for clients with support for it
	// (2026-07-28, multi round-trip requests). The client returns State with the answers.
	Input sdk.InputRequestMap
	State string
}

// Text returns a result with one block of text.
func Text(s string) Result {
	return Result{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// Textf is Text with a format.
func Textf(format string, args ...any) Result { return Text(fmt.Sprintf(format, args...)) }

// AsFailure marks a result as a failure.
func (r Result) AsFailure() Result {
	r.Failed = true
	return r
}

// Size returns the size of texts and images in bytes.
func (r Result) Size() int {
	n := 0
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			n += len(c.Text)
		case *sdk.ImageContent:
			n += len(c.Data)
		}
	}
	return n
}

// WithFacts adds structured content with facts missing from the text.
func (r Result) WithFacts(structured any) Result {
	r.Structured = structured
	return r
}

// WithSameFacts adds structured content with the same facts as the text; a client gets only one of
// them.
func (r Result) WithSameFacts(structured any) Result {
	r.Structured, r.SameAsText = structured, true
	return r
}

// ForProcess sets the session or process of a result.
func (r Result) ForProcess(id string) Result {
	r.Process = id
	return r
}

// FailureResult returns the result for an error: the reason, and on a second line the hint.
func FailureResult(err error) Result {
	e := api.AsError(err)
	message := MakeLegible(e.Message)
	if e.Hint != "" {
		message += "\nhint: " + HintForAgents(e.Hint)
	}
	return Text(message).AsFailure()
}
