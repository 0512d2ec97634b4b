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

// ParamsOf is where the params of a call are read into, as the SDK reads them;
// nil for a method that clients do not call (MCP 2025-11-25 and 2026-07-28, Schema).
func ParamsOf(method string) any {
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

// paramsProblem says in words which part of a call's params does not have the type
// that it should have; "" for none. The SDK says it in Go's words.
func paramsProblem(method string, params json.RawMessage) string {
	into := ParamsOf(method)
	if into == nil || len(params) == 0 {
		return ""
	}
	if method == "tools/call" {
		params = withoutArguments(params)
	}
	if err := json.Unmarshal(params, into); err != nil {
		return method + ": " + unfitting(reflect.TypeOf(into).Elem(), err)
	}
	return ""
}

// withoutArguments is the params of a call without what is for the tool alone to
// judge, and may be large.
func withoutArguments(params json.RawMessage) json.RawMessage {
	if params[0] != '{' {
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
	case word == "null":
		return word
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
