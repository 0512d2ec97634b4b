package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/httplimit"
	"tandem/engine/base/sleep"
)

// conformanceToken is added to the suite's requests, which have none.
const conformanceToken = "conformance-0123456789"

// serveConformance serves only the tools of the protocol's conformance suite
// (@modelcontextprotocol/conformance), behind the HTTP handler used for every agent.
func serveConformance(ctx context.Context, addr string) error {
	l, err := HTTPOptions{Addr: addr, Notices: os.Stderr}.listen(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	w, err := newConformanceHTTP(ctx)
	if err != nil {
		cancel()
		return err
	}
	defer w.close()
	defer cancel()
	fmt.Fprintf(os.Stderr, "serving the conformance fixtures at http://%s/mcp\n", l.Addr())
	server := &http.Server{Handler: withConformanceToken(w), ReadHeaderTimeout: httplimit.HeaderTime}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

// withConformanceToken adds the token to requests without one.
func withConformanceToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Bearer "+conformanceToken)
		}
		next.ServeHTTP(rw, r)
	})
}

// newConformanceHTTP returns an HTTP server with one token and the fixtures.
func newConformanceHTTP(ctx context.Context) (*httpServer, error) {
	tokens, err := parseTokens(conformanceToken)
	if err != nil {
		return nil, err
	}
	o := toolkit.Options{Connect: func(context.Context, string, string, *api.Bounds) (*client.Client, error) {
		return nil, api.Errorf(api.CodeUnavailable, "the fixtures have no engine")
	}}
	keys := fixedKeyring(tokens)
	w := newHTTPServer(ctx, o, HTTPOptions{Notices: io.Discard}, keys)
	for _, stateful := range []bool{true, false} {
		s := newConformanceServer(ctx, o)
		s.stateful = stateful
		w.servers[serverKey{keys.currentTokens()[0], stateful}] = s
	}
	return w, nil
}

// newConformanceServer returns a server with the fixtures instead of our tools, prompts and
// resources.
func newConformanceServer(ctx context.Context, o toolkit.Options) *server {
	s := newServer(ctx, o)
	capabilities := s.capabilities()
	//lint:ignore SA1019 the suite checks logging as long as clients may ask for it
	capabilities.Logging = &sdk.LoggingCapabilities{}
	s.list, s.names = nil, map[string]bool{}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "tandem-conformance", Version: "1"}, &sdk.ServerOptions{
		Capabilities:       capabilities,
		CompletionHandler:  completeFixture,
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	s.addFixtures()
	s.sdk.AddReceivingMiddleware(s.receiveMiddleware)
	s.sdk.AddReceivingMiddleware(listFixtures)
	return s
}

// listFixtures answers resources/list, which would otherwise ask the engine.
func listFixtures(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "resources/list" {
			list := &sdk.ListResourcesResult{Resources: fixtureResources()}
			list.CacheScope = "private" // like our own lists
			return list, nil
		}
		return next(ctx, method, req)
	}
}

func TestConformanceFixturesAreServedWithoutAToken(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w, err := newConformanceHTTP(ctx)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(withConformanceToken(w))
	t.Cleanup(func() { server.CloseClientConnections(); cancel(); w.close(); server.Close() })
	session, err := sdk.NewClient(&sdk.Implementation{Name: "suite", Version: "1"}, nil).Connect(ctx,
		&sdk.StreamableClientTransport{Endpoint: server.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	got, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "test_simple_text"})
	if err != nil || got.IsError || len(got.Content) != 1 {
		t.Errorf("tools/call: %v, %+v", err, got)
	}
	list, err := session.ListTools(ctx, nil)
	if err != nil || len(list.Tools) != len(fixtureTools()) {
		t.Errorf("tools/list: %v, %+v", err, list)
	}
	resources, err := session.ListResources(ctx, nil)
	if err != nil || len(resources.Resources) != len(fixtureResources()) || resources.CacheScope != "private" {
		t.Errorf("resources/list: %v, %+v", err, resources)
	}
	if err := session.Subscribe(ctx, &sdk.SubscribeParams{URI: "test://watched-resource"}); err != nil {
		t.Errorf("resources/subscribe: %v", err)
	}
}

// A fixture is a tool of the suite.
type fixture struct {
	name, doc string
	schema    string // default: no arguments
	call      func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)
}

const noArguments = `{"type":"object","properties":{}}`

func fixtureTools() []fixture {
	says := func(content ...sdk.Content) func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: content}, nil
		}
	}
	image := &sdk.ImageContent{Data: onePixelPNG(), MIMEType: "image/png"}
	embedded := &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
		URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content."}}
	tools := []fixture{
		{"test_simple_text", "Gives text.", "", says(&sdk.TextContent{Text: "This is a simple text response for testing."})},
		{"test_image_content", "Gives an image.", "", says(image)},
		{"test_audio_content", "Gives sound.", "", says(&sdk.AudioContent{Data: silentWAV(), MIMEType: "audio/wav"})},
		{"test_embedded_resource", "Gives a resource.", "", says(embedded)},
		{"test_multiple_content_types", "Gives text, an image and a resource.", "",
			says(&sdk.TextContent{Text: "Multiple content types test:"}, image, embedded)},
		{"test_error_handling", "Fails.", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return toolResult(toolkit.FailureResult(errors.New("this tool intentionally returns an error for testing"))), nil
		}},
		{"test_tool_with_logging", "Logs.", "", logFixture},
		{"test_tool_with_progress", "Tells of its progress.", "", progressFixture},
		{"test_sampling", "Asks the client's model.", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, samplingFixture},
		{"test_elicitation", "Asks the client's person.", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
			elicitFixture(`{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},"required":["username","email"]}`)},
		{"test_elicitation_sep1034_defaults", "Asks with defaults.", "", elicitFixture(elicitDefaults)},
		{"test_elicitation_sep1330_enums", "Asks with choices.", "", elicitFixture(elicitChoices)},
		{"json_schema_2020_12_tool", "Has a schema of draft 2020-12.", fixtureSchema, says(&sdk.TextContent{Text: "called"})},
		{"test_reconnection", "Closes its stream before it answers.", "", reconnectFixture},
		{"test_logging_tool", "Logs.", "", logFixture},
		{"test_missing_capability", "Needs sampling.", "", incapableFixture},
		{"test_x_mcp_header", "Has an argument that is a header too.", headerSchema, says(&sdk.TextContent{Text: "called"})},
	}
	asked := roundTools()
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		tools = append(tools, fixture{name, "Answers with questions.", "", roundsFixture(name, asked[name])})
	}
	return tools
}

const (
	fixtureSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
		`"$defs":{"address":{"$anchor":"address","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
		`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false,` +
		`"allOf":[{"anyOf":[{"required":["name"]},{"required":["address"]},{"maxProperties":0}]}],` +
		`"if":{"required":["address"]},"then":{"maxProperties":2},"else":{"maxProperties":1}}`
	headerSchema   = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	elicitDefaults = `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},` +
		`"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},` +
		`"verified":{"type":"boolean","default":true}}}`
	elicitChoices = `{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},` +
		`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},` +
		`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},` +
		`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},` +
		`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`
)

// addFixtures adds everything the suite uses to a server.
func (s *server) addFixtures() {
	for _, f := range fixtureTools() {
		l := listedTool{Name: f.name, Doc: f.doc, In: json.RawMessage(f.schema)}
		if f.schema == "" {
			l.In = json.RawMessage(noArguments)
		}
		s.names[l.Name] = true
		s.list = append(s.list, l)
		s.sdk.AddTool(&sdk.Tool{Name: l.Name, InputSchema: l.In}, f.call)
	}
	s.addFixtureResources()
	s.addFixturePrompts()
}

func logFixture(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		//lint:ignore SA1019 the suite checks logging as long as clients may ask for it
		if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line}); err != nil {
			return nil, err
		}
		_ = sleep.For(ctx, 50*time.Millisecond)
	}
	return toolResult(toolkit.Text("Logged.")), nil
}

func progressFixture(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}
		if err := req.Session.NotifyProgress(ctx, p); err != nil {
			return nil, err
		}
		_ = sleep.For(ctx, 50*time.Millisecond)
	}
	return toolResult(toolkit.Text(fmt.Sprint(token))), nil
}

func samplingFixture(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	//lint:ignore SA1019 the suite checks sampling as long as servers may ask for it
	message := sdk.SamplingMessage{Role: "user", Content: &sdk.TextContent{Text: in.Prompt}}
	//lint:ignore SA1019 see above
	got, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{&message}})
	if err != nil {
		return toolResult(toolkit.FailureResult(err)), nil
	}
	said, _ := got.Content.(*sdk.TextContent)
	if said == nil {
		return toolResult(toolkit.Text("LLM response: none")), nil
	}
	return toolResult(toolkit.Text("LLM response: " + said.Text)), nil
}

func elicitFixture(schema string) func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		got, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Please say", RequestedSchema: json.RawMessage(schema)})
		if err != nil {
			return toolResult(toolkit.FailureResult(err)), nil
		}
		content, err := json.Marshal(got.Content)
		return toolResult(toolkit.Textf("User response: action=%s, content=%s", got.Action, content)), err
	}
}

func reconnectFixture(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	_ = sleep.For(ctx, 100*time.Millisecond)
	return toolResult(toolkit.Text("Answered after the stream was closed.")), nil
}

// onePixelPNG returns an image of one pixel.
func onePixelPNG() []byte {
	b, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	return b // well-formed
}

// silentWAV returns a sound without samples.
func silentWAV() []byte {
	b, _ := base64.StdEncoding.DecodeString("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")
	return b // well-formed
}

// fixtureResources returns the suite's resources.
func fixtureResources() []*sdk.Resource {
	return []*sdk.Resource{
		{URI: "test://static-text", Name: "static-text", MIMEType: "text/plain", Description: "Text."},
		{URI: "test://static-binary", Name: "static-binary", MIMEType: "image/png", Description: "A picture."},
		{URI: "test://watched-resource", Name: "watched-resource", MIMEType: "text/plain", Description: "Can be watched."},
	}
}

func (s *server) addFixtureResources() {
	read := func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		c := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: "This is the content of the static text resource."}
		if req.Params.URI == "test://static-binary" {
			c = &sdk.ResourceContents{URI: req.Params.URI, MIMEType: "image/png", Blob: onePixelPNG()}
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
	}
	for _, r := range fixtureResources() {
		s.sdk.AddResource(r, read)
	}
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			body, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
				{URI: req.Params.URI, MIMEType: "application/json", Text: string(body)}}}, err
		})
}

func (s *server) addFixturePrompts() {
	add := func(name string, arguments []string, content func(given map[string]string) []sdk.Content) {
		p := &sdk.Prompt{Name: name, Description: "A prompt of the suite."}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Required: true})
		}
		s.sdk.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			r := &sdk.GetPromptResult{}
			for _, c := range content(req.Params.Arguments) {
				r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return r, nil
		})
	}
	s.addRoundPrompt()
	add("test_simple_prompt", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.TextContent{Text: "This is a simple prompt for testing."}}
	})
	add("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(given map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", given["arg1"], given["arg2"])}}
	})
	add("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(given map[string]string) []sdk.Content {
		return []sdk.Content{
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: given["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
			&sdk.TextContent{Text: "Please process the embedded resource above."}}
	})
	add("test_prompt_with_image", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.ImageContent{Data: onePixelPNG(), MIMEType: "image/png"}, &sdk.TextContent{Text: "Please analyze the image above."}}
	})
}

// completeFixture answers completion/complete as the suite expects.
func completeFixture(_ context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	var values []string
	for _, v := range []string{"test1", "test2", "other"} {
		if strings.HasPrefix(v, req.Params.Argument.Value) {
			values = append(values, v)
		}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: append([]string{}, values...), Total: len(values)}}, nil
}
