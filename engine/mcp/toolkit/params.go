package toolkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// MaxNesting is the maximum nesting of arrays and objects; the SDK accepts no more.
	MaxNesting = 1000
	// mistakeKey is the _meta key of a call's invalid parameters. Its value is the error.
	mistakeKey = "tandem/mistake"
	// maxQuoted is the maximum length of client text quoted in an error.
	maxQuoted = 80
)

// NewParams returns a pointer to decode a method's parameters into, as the SDK does. It returns nil
// for methods not called by clients (MCP 2025-11-25 and 2026-07-28, Schema).
func NewParams(method string) any {
	switch method {
	case "initialize":
		return &sdk.InitializeParams{}
	case "tools/call":
		return &sdk.CallToolParamsRaw{}
	case "prompts/get":
		return &sdk.GetPromptParams{}
	case "resources/read":
		return &sdk.ReadResourceParams{}
	case "resources/subscribe":
		return &sdk.SubscribeParams{}
	case "resources/unsubscribe":
		return &sdk.UnsubscribeParams{}
	case "completion/complete":
		return &sdk.CompleteParams{}
	case "subscriptions/listen":
		return &sdk.SubscriptionsListenParams{}
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		return &sdk.ListToolsParams{}
	case "ping", "server/discover":
		return &sdk.PingParams{}
	}
	return nil
}

// checkParams returns an error message for parameters with a wrong type, or "". The SDK's message
// would mention Go types.
func checkParams(method string, params json.RawMessage) string {
	into := NewParams(method)
	if into == nil || len(params) == 0 {
		return ""
	}
	if method == "tools/call" {
		params = stripArguments(params)
	}
	if err := json.Unmarshal(params, into); err != nil {
		return method + ": " + describeParamError(reflect.TypeOf(into).Elem(), err)
	}
	return ""
}

// stripArguments removes a tool call's arguments, because only the tool can check them and they may
// be large.
func stripArguments(params json.RawMessage) json.RawMessage {
	if params[0] != '{' {
		return params
	}
	start, end := findMember(params, "arguments")
	if end == 0 || NestingDepth(params[start:end]) >= MaxNesting {
		return params
	}
	return slices.Concat(params[:start], []byte("{}"), params[end:])
}

// describeParamError names the parameter with the wrong type.
func describeParamError(t reflect.Type, err error) string {
	var typeErr *json.UnmarshalTypeError
	if !errors.As(err, &typeErr) {
		return "params do not match the protocol"
	}
	if typeErr.Field == "" {
		return fmt.Sprintf("params must be %s, not %s", jsonTypeOf(typeErr.Type), describeValue(typeErr.Value))
	}
	return fmt.Sprintf("%s must be %s, not %s", describePlace(t, "params."+Abbreviate(typeErr.Field), typeErr), jsonTypeOf(typeErr.Type), describeValue(typeErr.Value))
}

// describePlace names the place of a wrong type: a member of an object, or a value inside it.
func describePlace(t reflect.Type, name string, typeErr *json.UnmarshalTypeError) string {
	for _, f := range reflect.VisibleFields(t) {
		if known, _, _ := strings.Cut(f.Tag.Get("json"), ","); known == typeErr.Field && jsonTypeOf(f.Type) != jsonTypeOf(typeErr.Type) {
			return "what is in " + name
		}
	}
	return name
}

// jsonTypeOf returns the JSON name of a type, with an article.
func jsonTypeOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return addArticle(schemaType(t))
}

// describeValue describes an actual value from the decoder's word for it.
func describeValue(value string) string {
	word, rest, _ := strings.Cut(value, " ")
	switch {
	case word == "number" && rest != "":
		return Abbreviate(rest)
	case word == "null":
		return word
	case word == "bool":
		return "a boolean"
	case word == "number", word == "string", word == "array", word == "object":
		return addArticle(word)
	}
	return "something else"
}

func addArticle(word string) string {
	if word == "" {
		return "anything"
	}
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

// Abbreviate returns client text in a length suitable for an error.
func Abbreviate(s string) string {
	if len(s) <= maxQuoted {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:maxQuoted], "") + "…"
}

func stringMember(object json.RawMessage, name string) string {
	var s string
	if len(object) == 0 || object[0] != '{' {
		return ""
	}
	if value, ok := Member(object, name); !ok || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// replaceParams returns parameters for the SDK in place of invalid ones. They hold the protocol's
// own members, so that the SDK finds session, version and call as usual, and the error.
func replaceParams(params json.RawMessage, mistake string) json.RawMessage {
	var given struct {
		Meta map[string]any `json:"_meta"`
	}
	_ = json.Unmarshal(params, &given) // unreadable parts are left out
	meta := map[string]any{mistakeKey: mistake}
	for name, value := range given.Meta {
		if strings.HasPrefix(name, "io.modelcontextprotocol/") {
			meta[name] = value
		}
	}
	instead := map[string]any{"_meta": meta}
	for _, name := range []string{"name", "uri"} {
		if s := stringMember(params, name); s != "" {
			instead[name] = s
		}
	}
	b, err := json.Marshal(instead)
	if err != nil {
		return json.RawMessage(`{"_meta":{"` + mistakeKey + `":"the params cannot be read"}}`)
	}
	return b
}

// FlagInvalid replaces a call's invalid parameters by valid ones holding the error, and reports
// whether it has.
func FlagInvalid(r *jsonrpc.Request) bool {
	if !r.IsCall() {
		return false
	}
	mistake := checkParams(r.Method, r.Params)
	if mistake != "" {
		r.Params = replaceParams(r.Params, mistake)
	}
	return mistake != ""
}

// MistakeError returns the error of a flagged call, and nil for others.
func MistakeError(req sdk.Request) error {
	p := req.GetParams()
	if p == nil || reflect.ValueOf(p).IsNil() {
		return nil
	}
	if text, ok := p.GetMeta()[mistakeKey].(string); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
	}
	return nil
}
