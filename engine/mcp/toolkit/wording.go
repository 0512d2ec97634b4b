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

// codeNoResource is the error code for a missing resource in versions with sessions (MCP
// 2025-11-25, Resources, Error Handling).
const codeNoResource = -32002

// maxMessage is the maximum length of an error message, which may quote the agent's own text.
const maxMessage = 4 << 10

// WordError returns an error for a client: with a JSON-RPC code, and a suggestion.
func WordError(method string, req sdk.Request, err error) error {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return assignCode(method, err)
	}
	invalid := func(format string, args ...any) error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: method + ": " + fmt.Sprintf(format, args...)}
	}
	switch r := req.(type) {
	case *sdk.CallToolRequest:
		if strings.HasPrefix(wire.Message, "unknown tool ") {
			return invalid("no tool is named %q; tools/list lists them", Abbreviate(r.Params.Name))
		}
	case *sdk.GetPromptRequest:
		if strings.HasPrefix(wire.Message, "unknown prompt ") {
			return invalid("no prompt is named %q; prompts/list lists them", Abbreviate(r.Params.Name))
		}
	case *sdk.ReadResourceRequest:
		if wire.Message == "Resource not found" {
			return resourceError(method, r.Params.URI, r.ProtocolVersion())
		}
	case *sdk.SubscribeRequest:
		if wire.Message == "Resource not found" {
			return resourceError(method, r.Params.URI, r.ProtocolVersion())
		}
	}
	if wire.Message == "invalid params" && strings.HasSuffix(method, "/list") {
		return CursorError(method)
	}
	return err
}

// assignCode gives an engine error a JSON-RPC code.
func assignCode(method string, err error) error {
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

// resourceError returns the error for a missing resource.
func resourceError(method, uri, version string) error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("%s: nothing at %q; resources/list lists the resources", method, Abbreviate(uri))}
	if cmp.Or(version, WithoutSessions) < WithoutSessions {
		e.Code = codeNoResource
	}
	e.Data, _ = json.Marshal(map[string]string{"uri": Abbreviate(uri)}) // strings cannot fail
	return e
}

func CursorError(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: method + ": unknown cursor; leave it out to start from the beginning"}
}

// EnsureCode adds a code to an error raised by the SDK before any method runs: a call before
// initialize, or an internal error.
func EnsureCode(method string, err error) error {
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &wire):
		return err
	case strings.HasSuffix(err.Error(), "is invalid during session initialization"):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: method + ": call initialize first"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// AddAdvice adds a hint depending on the tool.
func AddAdvice(t Tool, err error) error {
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

// lostEngine matches the beginning of an error about a lost engine, with an operation and a socket
// unknown to agents.
var lostEngine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^call [a-z_.]+: lost the engine at .*?: `) })

// MakeLegible truncates a message and escapes invisible characters, because it may quote text from
// an agent or a program.
func MakeLegible(message string) string {
	if len(message) > maxMessage {
		head, tail := message[:maxMessage/2], message[len(message)-maxMessage/4:]
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

// HintForAgents replaces commands and operations in an engine's hint by tools.
func HintForAgents(hint string) string {
	hint = processCommand().ReplaceAllString(hint, "process_$1")
	return strings.NewReplacer(
		"tandem ls shows all", "session_list and process_list show all",
		"tandem screen shows", "session_screen shows",
		"`tandem ps` shows", "process_get shows",
		"`tandem machine list` shows", "machine_list shows",
		"session.", "session_", "process.", "process_",
	).Replace(hint)
}

// processCommand matches commands with equivalents in process_log and process_stop.
var processCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`tandem (log|stop)s? [^`]*`") })

// toolWord matches names of session, process and machine tools.
var toolWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:session|process|machine)_[a-z_]+\b`) })

// RewriteHint returns a hint with the tools' names on this server. It drops clauses about tools not
// offered.
func RewriteHint(hint string, lookup func(tool string) (name string, offered bool)) string {
	var kept []string
	for _, clause := range strings.Split(HintForAgents(hint), "; ") {
		if rest, ok := strings.CutSuffix(clause, "session_list and process_list show all"); ok {
			if _, sessions := lookup("session_list"); !sessions {
				clause = rest + "process_list shows all"
			}
		}
		all := !strings.HasPrefix(clause, "tandem env") // has no equivalent tool
		clause = toolWord().ReplaceAllStringFunc(clause, func(tool string) string {
			name, offered := lookup(tool)
			all = all && offered
			return name
		})
		if all {
			kept = append(kept, clause)
		}
	}
	return strings.Join(kept, "; ")
}
