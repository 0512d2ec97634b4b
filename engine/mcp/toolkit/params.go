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
	// NestedMost is how deep arrays and objects may lie in each other; the SDK
	// takes no more.
	NestedMost = 1000
	// mistakeKey is where, in the _meta of a call's params, stands what is wrong
	// with the params that were sent.
	mistakeKey = "tandem/mistake"
	// toldMost is how many bytes of what a client has sent an error repeats.
	toldMost = 80
)

// A shape is what the params of a method have to be.
type shape struct {
	params   any    // pointer to the SDK's type of them
	required string // member that must be a text with something in it
	example  string // what to give; "" if it may be left out
}

// Shapes are those of the methods that clients call (MCP 2025-11-25 and
// 2026-07-28, Schema).
func Shapes(method string) (shape, bool) {
	const uri = `{"uri": "one that resources/list gives"}`
	switch method {
	case "initialize":
		return shape{&sdk.InitializeParams{}, "",
			`{"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "…", "version": "…"}}`}, true
	case "tools/call":
		return shape{&sdk.CallToolParamsRaw{}, "name", `{"name": "one that tools/list gives", "arguments": {…}}`}, true
	case "prompts/get":
		return shape{&sdk.GetPromptParams{}, "name", `{"name": "one that prompts/list gives", "arguments": {"…": "text"}}`}, true
	case "resources/read":
		return shape{&sdk.ReadResourceParams{}, "uri", uri}, true
	case "resources/subscribe":
		return shape{&sdk.SubscribeParams{}, "uri", uri}, true
	case "resources/unsubscribe":
		return shape{&sdk.UnsubscribeParams{}, "uri", uri}, true
	case "completion/complete":
		return shape{&sdk.CompleteParams{}, "",
			`{"ref": {"type": "ref/prompt", "name": "…"}, "argument": {"name": "…", "value": "…"}}`}, true
	case "subscriptions/listen":
		return shape{&sdk.SubscriptionsListenParams{}, "", `{"notifications": {…}}`}, true
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		return shape{&sdk.ListToolsParams{}, "", ""}, true
	case "ping", "server/discover":
		return shape{&sdk.PingParams{}, "", ""}, true
	}
	return shape{}, false
}

// paramsProblem says in words what is wrong with the params of a call, and what to
// give; "" for nothing. The SDK says it in Go's words.
func paramsProblem(method string, params json.RawMessage) string {
	s, known := Shapes(method)
	if !known {
		return ""
	}
	wrong := s.paramsProblem(params)
	if wrong == "" {
		return ""
	}
	wrong = method + ": " + wrong
	if s.example != "" {
		wrong += "; give " + s.example
	}
	return wrong
}

func (s shape) paramsProblem(params json.RawMessage) string {
	if len(params) == 0 || string(params) == "null" {
		if s.example != "" {
			return "params are missing"
		}
		return ""
	}
	if err := json.Unmarshal(s.light(params), s.params); err != nil {
		return unfitting(reflect.TypeOf(s.params).Elem(), err)
	}
	if s.required != "" && textIn(params, s.required) == "" {
		return "params." + s.required + " is missing"
	}
	if p, ok := s.params.(interface{ GetProgressToken() any }); ok {
		switch p.GetProgressToken().(type) {
		case nil, string, float64:
		default:
			return "params._meta.progressToken must be a string or a number"
		}
	}
	return ""
}

// light is the params of a call without what is for the tool alone to judge, and
// may be large.
func (s shape) light(params json.RawMessage) json.RawMessage {
	if _, ok := s.params.(*sdk.CallToolParamsRaw); !ok || params[0] != '{' {
		return params
	}
	start, end := memberAt(params, "arguments")
	if end == 0 || Nested(params[start:end]) >= NestedMost {
		return params
	}
	return slices.Concat(params[:start], []byte("{}"), params[end:])
}

// unfitting says which part of a call's params does not have the type that it
// should have.
func unfitting(t reflect.Type, err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return "params are not what the protocol says"
	}
	if wrong.Field == "" {
		return fmt.Sprintf("params must be %s, not %s", kindOf(wrong.Type), valueOf(wrong.Value))
	}
	return fmt.Sprintf("%s must be %s, not %s", misplaced(t, "params."+Brief(wrong.Field), wrong), kindOf(wrong.Type), valueOf(wrong.Value))
}

// misplaced names what has a wrong type: a member of an object, or what is in
// it.
func misplaced(t reflect.Type, name string, wrong *json.UnmarshalTypeError) string {
	for _, f := range reflect.VisibleFields(t) {
		if known, _, _ := strings.Cut(f.Tag.Get("json"), ","); known == wrong.Field && kindOf(f.Type) != kindOf(wrong.Type) {
			return "what is in " + name
		}
	}
	return name
}

// kindOf names a type as JSON knows it.
func kindOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return article(schemaType(t))
}

// valueOf names what stands where something else should, after a decoder's
// word for it.
func valueOf(value string) string {
	word, rest, _ := strings.Cut(value, " ")
	switch {
	case word == "number" && rest != "":
		return Brief(rest)
	case word == "bool":
		return "a boolean"
	case word == "number", word == "string", word == "array", word == "object":
		return article(word)
	}
	return "something else"
}

func article(word string) string {
	if word == "" {
		return "anything"
	}
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

// Brief is a text that a client has sent, as short as an error should be.
func Brief(s string) string {
	if len(s) <= toldMost {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:toldMost], "") + "…"
}

// textIn is a text in a JSON object.
func textIn(object json.RawMessage, name string) string {
	var s string
	if len(object) == 0 || object[0] != '{' {
		return ""
	}
	if value, ok := Member(object, name); !ok || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// flagged is what the SDK is given instead of params with a mistake, so that it
// finds session, version and call as with any others: what the protocol looks
// at, and the mistake.
func flagged(params json.RawMessage, mistake string) json.RawMessage {
	var given struct {
		Meta map[string]any `json:"_meta"`
	}
	_ = json.Unmarshal(params, &given) // what cannot be read is left out
	meta := map[string]any{mistakeKey: mistake}
	for name, value := range given.Meta {
		if strings.HasPrefix(name, "io.modelcontextprotocol/") {
			meta[name] = value
		}
	}
	instead := map[string]any{"_meta": meta}
	for _, name := range []string{"name", "uri"} {
		if s := textIn(params, name); s != "" {
			instead[name] = s
		}
	}
	b, err := json.Marshal(instead)
	if err != nil {
		return json.RawMessage(`{"_meta":{"` + mistakeKey + `":"the params cannot be read"}}`)
	}
	return b
}

// Flag gives a call whose params have a mistake others that tell of it; false
// if they have none.
func Flag(r *jsonrpc.Request) bool {
	if !r.IsCall() {
		return false
	}
	mistake := paramsProblem(r.Method, r.Params)
	if mistake != "" {
		r.Params = flagged(r.Params, mistake)
	}
	return mistake != ""
}

// MistakeOf is the error of a call that was flagged; nil for others.
func MistakeOf(req sdk.Request) error {
	p := req.GetParams()
	if p == nil || reflect.ValueOf(p).IsNil() {
		return nil
	}
	if text, ok := p.GetMeta()[mistakeKey].(string); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
	}
	return nil
}
