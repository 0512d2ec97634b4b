package tree

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
)

// apiReference returns the reference page of the API in Markdown: every operation with its
// fields, the two streams, the shared shapes and the error codes. It is generated from the
// operation table and the types, so one program always yields the same page.
func apiReference() string {
	p := &page{}
	p.intro()
	for _, e := range api.Operations() {
		p.operation(e)
	}
	p.streams()
	p.sharedShapes()
	p.errorCodes()
	return p.b.String()
}

// A page is a reference page under construction.
type page struct {
	b      strings.Builder
	shared []reflect.Type // structs referenced by fields, in order of appearance
}

func (p *page) intro() {
	fmt.Fprintf(&p.b, `# API

The engine serves protocol %d over HTTP/1.1 on its unix socket (`+"`tandem info`"+` tells the path), to its own user
and root only. An operation is a POST with a JSON object; fields marked *optional* may be left out. The headers %s
and %s say who calls, %s in which protocol. Without the latter a field that the engine does not know is an error;
with it the field is left out, and the header %s of the answer names it.

    curl --unix-socket "$SOCKET" -d '{"command":["htop"]}' http://tandem/v1/session.start

Operations with the effect read also take a unique beginning of a name as id; others take a whole name, or
a prefix of an id with at least four characters.

An error has an HTTP status of 400 or above and a body of code, message and, where something can be done, hint. Some have
a reason too: it tells causes with the same code apart. Decide by code and reason, because messages may be reworded.

An agents' server also says for whom it calls (%s) within which bounds (%s), and which tool's call
a request is part of (%s, %s, and %s if the first operation names all that
the call works on). With %s: no, the engine answers with the question instead of asking the user. *Agents* says
what agents may do with an operation, within the limits that you set.

If the engine dies before it answers, a client cannot tell whether the call ran. *Repeat* states whether the client may
retry the call; reads may always be retried. The values are %s; %s (not_found then means that the first call succeeded);
%s (ended then means the same); %s (only if the input has an id, time or revision from the caller, by which the engine
recognizes a completed call and rejects one that would undo a newer change); and %s.

## Operations

`, api.Protocol, code(api.ClientHeader), code(api.VersionHeader), code(api.ProtocolHeader), code(api.IgnoredHeader),
		code(api.OwnerHeader), code(api.BoundsHeader), code(api.ToolHeader), code(api.CallHeader), code(api.UsesHeader), code(api.AskHeader),
		api.RepeatAlways, api.RepeatGone, api.RepeatEnded, api.RepeatMarked, api.RepeatNever)
}

func (p *page) operation(e api.Entry) {
	fmt.Fprintf(&p.b, "### %s\n\n%s Effect: %s.", e.Name, e.Doc, e.Effect)
	if e.Effect != api.Read {
		fmt.Fprintf(&p.b, " Repeat: %s.", api.RepeatOf(e.Name, e.Effect))
	}
	agents := agentsText()[e.Access]
	if e.Name == api.EngineStop.Name {
		agents = "only to restart the same engine"
	}
	fmt.Fprintf(&p.b, " Agents: %s.\n\n", agents)
	p.fields("Input", e.In)
	p.result(e.Out)
}

// agentsText says what each kind of access means to agents.
func agentsText() map[api.Access]string {
	return map[api.Access]string{
		api.Unrestricted: "yes",
		api.UserOnly:     "no",
		api.Bookkeeping:  "by their server",
		api.Starting:     "in their sandbox",
		api.OnFiles:      "in their folders and sandbox",
		api.Typing:       "not into a session outside their sandbox, nor while you lock the keyboard",
		api.Changing:     "not while you lock the keyboard",
		api.OnVariables:  "their own variables only",
		api.Filtered:     "only in what they may read",
	}
}

// result lists the fields of an output, or links to the shared shape.
func (p *page) result(t reflect.Type) {
	if slices.Contains(commonShapes(), t) {
		fmt.Fprintf(&p.b, "Output: %s.\n\n", p.typeName(t))
		return
	}
	p.fields("Output", t)
}

// commonShapes are the outputs described once, in a section of their own.
func commonShapes() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[api.Info](), reflect.TypeFor[api.Process]()}
}

func (p *page) fields(title string, t reflect.Type) {
	if t.NumField() == 0 {
		fmt.Fprintf(&p.b, "%s: none.\n\n", title)
		return
	}
	fmt.Fprintf(&p.b, "| %s | type | |\n|---|---|---|\n", title)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || f.Tag.Get("json") == "-" {
			continue // its fields follow inline, as in JSON
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		doc := f.Tag.Get("jsonschema")
		if strings.Contains(options, "omit") {
			doc = strings.TrimSuffix("*optional*; "+doc, "; ")
		}
		fmt.Fprintf(&p.b, "| %s | %s | %s |\n", code(name), p.typeName(f.Type), strings.ReplaceAll(doc, "|", `\|`))
	}
	p.b.WriteByte('\n')
}

// typeName returns the JSON name of a type, and queues structs to describe.
func (p *page) typeName(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "time (RFC 3339)"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.typeName(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "string (base64)"
		}
		return "array of " + p.typeName(t.Elem())
	case reflect.Map:
		return "object of " + p.typeName(t.Elem())
	case reflect.Struct:
		if !slices.Contains(p.shared, t) {
			p.shared = append(p.shared, t)
		}
		return fmt.Sprintf("[%s](#%s)", t.Name(), strings.ToLower(t.Name()))
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Interface:
		return "any"
	case reflect.Float64:
		return "number"
	}
	return "integer"
}

func (p *page) streams() {
	p.b.WriteString(`## Streams

### events.watch

` + "`GET /v1/events.watch`" + ` is a stream of server-sent events, each with one Event in JSON as its data; the snapshot
comes first and what follows it leaves no gap. With lasting=true it leaves one-shot commands (exec) out. An event named error carries an error and ends the stream. A reader
that takes nothing for ten seconds is cut; watching again starts with a new snapshot.

`)
	p.fields("Event", reflect.TypeFor[api.Event]())
	p.b.WriteString(`### session.attach

` + "`GET /v1/session.attach?id=ID`" + ` is a WebSocket that shows a session and takes input for it. On the
engine's own socket, a request that asks for the protocol tandem-messages in its Upgrade header, in place of a WebSocket, gets a connection
on which each message follows its length (4 bytes, most significant first). Further parameters: raw,
read_only and clips (true or false), cols and rows (size of the viewer's area), client (who attaches), lines (FIRST,COUNT:
scrollback to send first, also for a session that has ended), pictures and, with raw, apart (true: those that programs print, apart
from the bytes), input (an unguessable name for this viewer's input, see below). Every message is
binary, one byte of kind and then a body:

| to the session | body | | from the session | body |
|---|---|---|---|---|
| b | bytes, sent as they are | | b | bytes of the terminal (raw) |
| k | a key | | f | a frame |
| m | a mouse event | | l | lines of scrollback |
| p | text of a paste | | e | the session has ended: a Process in JSON |
| f | focus, 0 or 1 | | x | the engine ends the attachment: an error in JSON |
| r | columns, rows; 0, 0 while the pane is hidden | | c | what the program puts on the clipboard (clips) |
| l | first line, count | | n | a mark that came back, nanoseconds it was held |
| n | a mark: a number, larger than the last | | g | a picture that lines which follow show (pictures) |
| d | the viewer's terminal: width and height of a cell in pixels; colours of text, ground and cursor, and the sixteen with numbers: 33554432 + red·65536 + green·256 + blue, 0 for what is not known; whether it can tell the mouse in pixels | | i | the number of the last message that the terminal has accepted, or that was discarded (input) |

With input, messages are numbered from 1 over all connections with that name, without sizes, marks and
messages about the connection itself (h, t, w). The response headers say what has become of them:
Tandem-Input-Taken is the number of the last one that the engine has or may have written (empty if it
knows no such input): send only what is above it. Tandem-Input-Unsure is how many messages up to that one
an engine that crashed may have written only in part: report them, and do not send them again. With
Tandem-Input-Cut, the engine has ended a bracketed paste of yours: do not send its rest.

Numbers are varints; framecodec.go and attachcodec.go in engine/api define the bodies.

`)
}

func (p *page) sharedShapes() {
	p.b.WriteString("## Shapes\n\n")
	for i := 0; i < len(p.shared); i++ { // describing one may append others
		t := p.shared[i]
		fmt.Fprintf(&p.b, "### %s\n\n", t.Name())
		p.fields("Field", t)
	}
}

func (p *page) errorCodes() {
	p.b.WriteString("## Errors\n\n| code | status | meaning |\n|---|---|---|\n")
	for _, c := range codes() {
		fmt.Fprintf(&p.b, "| %s | %d | %s |\n", code(string(c.code)), c.code.Status(), c.meaning)
	}
	p.b.WriteString("\nReasons, of engines after 0.2.0:\n\n| reason | meaning |\n|---|---|\n")
	for _, r := range reasons() {
		fmt.Fprintf(&p.b, "| %s | %s |\n", code(r[1]), r[2])
	}
}

// reasons returns the reasons with their comments in the source.
func reasons() [][]string {
	return regexp.MustCompile(`(?m)^\tReason\w+ +Reason = "(\w+)" +// (.*)$`).FindAllStringSubmatch(errorSource(), -1)
}

// errorSource returns the file that declares the codes and the reasons.
func errorSource() string {
	text, err := os.ReadFile("engine/api/error.go")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func code(s string) string { return "`" + s + "`" }

// codes returns all error codes with their descriptions.
func codes() []struct {
	code    api.Code
	meaning string
} {
	return []struct {
		code    api.Code
		meaning string
	}{
		{api.CodeInvalid, "the input is wrong"},
		{api.CodeNotFound, "no such session, process or operation"},
		{api.CodeAmbiguous, "an id prefix or name that several have"},
		{api.CodeConflict, "the state of things does not allow it"},
		{api.CodeEnded, "the session has ended"},
		{api.CodeUnavailable, "the engine cannot do it now"},
		{api.CodeForbidden, "outside what the caller may reach, or refused by the person's policy"},
		{api.CodeNotSupported, "this engine does not have it: it is of an older release, and the hint says how to upgrade it"},
		{api.CodeLocked, "a person has taken the session's keyboard"},
		{api.CodeUnsure, "it may have been done; the message says what to look at"},
		{api.CodeInternal, "an internal error in the engine"},
	}
}

func TestReferenceCoversEveryOperation(t *testing.T) {
	page := apiReference()
	if page != apiReference() {
		t.Error("two runs generate different pages")
	}
	for _, e := range api.Operations() {
		if !strings.Contains(page, "\n### "+e.Name+"\n") {
			t.Errorf("%s is missing", e.Name)
		}
	}
	for _, c := range codesOfTheSource(t) {
		if !strings.Contains(page, "`"+c+"`") {
			t.Errorf("code %s is missing", c)
		}
	}
	if n := len(reasons()); n == 0 || n != strings.Count(errorSource(), " Reason = ") {
		t.Errorf("%d reasons have a comment", n)
	}
	for _, link := range regexp.MustCompile(`\]\(#([a-z]+)\)`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(strings.ToLower(page), "\n### "+link[1]+"\n") {
			t.Errorf("broken link: #%s", link[1])
		}
	}
}

// codesOfTheSource returns the codes declared in the package's source.
func codesOfTheSource(t *testing.T) (codes []string) {
	t.Helper()
	for _, found := range regexp.MustCompile(`(?m)^\tCode\w+ +Code = "(\w+)"`).FindAllStringSubmatch(errorSource(), -1) {
		codes = append(codes, found[1])
	}
	if len(codes) == 0 {
		t.Error("the package declares no codes")
	}
	return codes
}
