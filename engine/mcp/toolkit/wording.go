package toolkit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
)

// noSuchResource answers calls for a resource that there is not, up to the last
// version with sessions (MCP 2025-11-25, Resources, Error Handling).
const noSuchResource = -32002

// messageMost is how long what an agent is told of an error may be: it can
// repeat what the agent has sent.
const messageMost = 4 << 10

// Worded is an error as a client is told of it: with a code that JSON-RPC knows,
// and what to do.
func Worded(method string, req sdk.Request, err error) error {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return uncoded(method, err)
	}
	invalid := func(format string, args ...any) error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: method + ": " + fmt.Sprintf(format, args...)}
	}
	switch r := req.(type) {
	case *sdk.CallToolRequest:
		if strings.HasPrefix(wire.Message, "unknown tool ") {
			return invalid("no tool is named %q; tools/list lists them", Brief(r.Params.Name))
		}
	case *sdk.GetPromptRequest:
		if strings.HasPrefix(wire.Message, "unknown prompt ") {
			return invalid("no prompt is named %q; prompts/list lists them", Brief(r.Params.Name))
		}
	case *sdk.ReadResourceRequest:
		if wire.Message == "Resource not found" {
			return noResource(method, r.Params.URI, r.ProtocolVersion())
		}
	case *sdk.SubscribeRequest:
		if wire.Message == "Resource not found" {
			return noResource(method, r.Params.URI, r.ProtocolVersion())
		}
	}
	if wire.Message == "invalid params" && strings.HasSuffix(method, "/list") {
		return NoCursor(method)
	}
	return err
}

// uncoded gives an error that is none of JSON-RPC its code.
func uncoded(method string, err error) error {
	if strings.HasPrefix(err.Error(), "duplicate ") {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: method + ": this connection is already initialized"}
	}
	e := api.AsError(err)
	answer := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: e.Message}
	switch e.Code {
	case api.CodeInvalid, api.CodeNotFound, api.CodeAmbiguous:
		answer.Code = jsonrpc.CodeInvalidParams
	}
	if e.Hint != "" {
		answer.Message += "\nhint: " + e.Hint
	}
	return answer
}

// noResource answers a call for a resource that there is not.
func noResource(method, uri, version string) error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("%s: nothing at %q; resources/list lists what there is", method, Brief(uri))}
	if cmp.Or(version, WithoutSessions) < WithoutSessions {
		e.Code = noSuchResource
	}
	e.Data, _ = json.Marshal(map[string]string{"uri": Brief(uri)}) // a text always can
	return e
}

func NoCursor(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: method + ": unknown cursor; leave it out to start from the beginning"}
}

// Coded gives an error that the SDK answers with before any method its code: a
// call that came too early, or a mistake of ours.
func Coded(method string, err error) error {
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &wire):
		return err
	case strings.HasSuffix(err.Error(), "is invalid during session initialization"):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: method + ": call initialize first"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// Advised is the error of a call of a tool, with what to do next where only the
// tool tells that.
func Advised(t Tool, err error) error {
	e := api.AsError(err)
	switch {
	case lostEngine().MatchString(e.Message):
		told := *e
		told.Message = lostEngine().ReplaceAllString(e.Message, "call "+t.Name+": lost the engine: ")
		return &told
	case e.Code == api.CodeEnded && e.Hint == "" && strings.HasPrefix(t.Name, "session_"):
		return e.WithHint("session_screen shows its last screen, session_start starts another")
	}
	return err
}

// lostEngine matches the beginning of the error of a call whose engine went away: its
// operation and socket mean nothing to an agent.
var lostEngine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^call [a-z_.]+: lost the engine at .*?: `) })

// Legible is a message that may repeat what an agent or a program has made: of
// a size to be read, and without characters that cannot be seen.
func Legible(message string) string {
	if len(message) > messageMost {
		head, tail := message[:messageMost/2], message[len(message)-messageMost/4:]
		message = strings.ToValidUTF8(head, "") + "…" + strings.ToValidUTF8(tail, "")
	}
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	}
	if !strings.ContainsFunc(message, hidden) {
		return message
	}
	var b strings.Builder
	for _, r := range message {
		if hidden(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ForAgents is a hint of the engine, which speaks of commands and operations,
// with the tools in their place.
func ForAgents(hint string) string {
	hint = processCommand().ReplaceAllString(hint, "process_$1")
	return strings.NewReplacer(
		"tandem ls shows all", "session_list and process_list show all",
		"tandem screen shows", "session_screen shows",
		"`tandem ps` shows", "process_get shows",
		"`tandem machine list` shows", "machine_list shows",
		"session.", "session_", "process.", "process_",
	).Replace(hint)
}

// processCommand matches commands that the tools process_log and process_stop stand for.
var processCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`tandem (log|stop)s? [^`]*`") })

// toolWord matches what is the name of a tool for sessions or processes.
var toolWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:session|process|machine)_[a-z_]+\b`) })

// Hinting is a hint for agents with tools by the names that they have here. What
// it says of tools that are not offered is left out.
func Hinting(hint string, named func(tool string) (name string, offered bool)) string {
	var kept []string
	for _, clause := range strings.Split(ForAgents(hint), "; ") {
		if rest, ok := strings.CutSuffix(clause, "session_list and process_list show all"); ok {
			if _, sessions := named("session_list"); !sessions {
				clause = rest + "process_list shows all"
			}
		}
		all := !strings.HasPrefix(clause, "tandem env") // there is no tool for that
		clause = toolWord().ReplaceAllStringFunc(clause, func(tool string) string {
			name, offered := named(tool)
			all = all && offered
			return name
		})
		if all {
			kept = append(kept, clause)
		}
	}
	return strings.Join(kept, "; ")
}
