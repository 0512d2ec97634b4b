package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
)

// A Tool is one entry of tools/list.
type Tool struct {
	Name     string
	Doc      string // for the agent: what it does and when to use it, short
	Effect   api.Effect
	Profiles []Profile // that offer it, beside All and TerminalTools
	Files    bool      // works on files, as tools of the client's own may do
	Hosted   bool      // takes the machine to do it on, as host
	Large    bool      // its result is as large as the call asks
	Like     string    // the tool whose rules of the policy hold for it too, as it does the same; "" for none
	In, Out  reflect.Type

	// Judged says that all it does are operations called with the context given,
	// so that the engine can judge it by the person's policy as it carries out
	// the first one.
	Judged bool

	// Call runs the tool. An error is told to the agent as a failed result.
	Call func(ctx context.Context, f *Agent, args json.RawMessage) (Result, error)
}

// HostArgument is the argument of Hosted tools.
const HostArgument = "host"

// A Subject is what a call would run, read or write.
type Subject struct {
	Command string            // line for a shell
	Argv    []string          // program and arguments without a shell
	Paths   []string          // absolute
	CWD     string            // absolute
	Env     map[string]string // set for what it runs
	Session string            // or process that it is about; if a command is typed into it its folder counts where cwd is empty
}

// A subjected input says what a call with it would do.
type subjected interface {
	Subject(f *Agent) Subject
}

// IdIn is the session or process that a call names; "" if it names none.
func IdIn(in any) string {
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

// None is the output of tools that give text alone.
type None struct{}

// Define completes a tool with its types and what it does. In is a struct
// whose fields carry json names and, in a doc tag, a few words each; a field
// without omitempty is required. Out is the type of result.structured.
func Define[In, Out any](t Tool, do func(ctx context.Context, f *Agent, in In) (Result, error)) Tool {
	t.In, t.Out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	t.Call = func(ctx context.Context, f *Agent, args json.RawMessage) (Result, error) {
		in, err := Decode[In](t, args)
		if err != nil {
			return Result{}, err
		}
		return do(ctx, f, in)
	}
	return t
}

// About says what a call would do, for the person's policy.
func (t Tool) About(f *Agent, args json.RawMessage) Subject {
	value := reflect.New(t.In)
	err := decode(t, args, value.Interface())
	in := value.Elem().Interface()
	var about Subject
	if s, ok := in.(subjected); ok && err == nil {
		about = s.Subject(f)
	}
	about.Session = cmp.Or(about.Session, IdIn(in))
	return about
}

// A Result is what a tool answers.
type Result struct {
	Content    []sdk.Content
	Structured any    // of the tool's Out, or nil
	Told       bool   // text and structured content say the same
	Failed     bool   // the agent is told that the call failed
	Process    string // id of what it started or dealt with, for the audit log

	// Input asks the agent's person instead of answering, where the client
	// does that (2026-07-28, multi round-trip requests); state comes back with
	// the answers.
	Input sdk.InputRequestMap
	State string
}

// Text answers with one block of text.
func Text(s string) Result {
	return Result{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// Textf is text with a format.
func Textf(format string, args ...any) Result { return Text(fmt.Sprintf(format, args...)) }

// Fail marks a result as a failure.
func (r Result) Fail() Result {
	r.Failed = true
	return r
}

// Size is how many bytes of text and pictures a result holds.
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

// With adds structured content: facts that the text does not tell.
func (r Result) With(structured any) Result {
	r.Structured = structured
	return r
}

// As adds structured content that says what the text says: a client is given
// one of them.
func (r Result) As(structured any) Result {
	r.Structured, r.Told = structured, true
	return r
}

// Of tells which session or process a result is about.
func (r Result) Of(id string) Result {
	r.Process = id
	return r
}

// Failure is how an error is told to an agent: what was wrong, and on a second
// line what to do.
func Failure(err error) Result {
	e := api.AsError(err)
	message := e.Message
	if e.Code == api.CodeLocked && !strings.HasPrefix(message, string(e.Code)) {
		message = string(e.Code) + ": " + message
	}
	if errors.Is(err, context.Canceled) {
		message = strings.Replace(message, context.Canceled.Error(), "cancelled", 1)
	}
	message = Legible(message)
	if e.Hint != "" {
		message += "\nhint: " + ForAgents(e.Hint)
	}
	return Text(message).Fail()
}
