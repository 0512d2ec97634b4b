package mcp

//lint:file-ignore SA1019 the suite checks sampling and roots as long as servers may ask for them

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
)

// roundTools maps the suite's tools with questions as results (2026-07-28) to the questions of each
// round.
func roundTools() map[string][]sdk.InputRequestMap {
	name := elicitParams("What is your name?", "name", "string")
	one := func(key string, asked sdk.InputRequest) []sdk.InputRequestMap {
		return []sdk.InputRequestMap{{key: asked}}
	}
	return map[string][]sdk.InputRequestMap{
		"test_input_required_result_elicitation":     one("user_name", name),
		"test_input_required_result_sampling":        one("capital_question", samplingParams("What is the capital of France?")),
		"test_input_required_result_list_roots":      one("client_roots", &sdk.ListRootsParams{}),
		"test_input_required_result_request_state":   one("confirm", elicitParams("Please confirm", "ok", "boolean")),
		"test_input_required_result_tampered_state":  one("confirm", elicitParams("Please confirm", "ok", "boolean")),
		"test_input_required_result_multiple_inputs": {{"user_name": name, "greeting": samplingParams("Generate a greeting"), "client_roots": &sdk.ListRootsParams{}}},
		"test_input_required_result_multi_round": {
			{"step1": elicitParams("Step 1: What is your name?", "name", "string")},
			{"step2": elicitParams("Step 2: What is your favorite color?", "color", "string")}},
		"test_input_required_result_capabilities": {{"name": name, "greeting": samplingParams("Generate a greeting")}},
		"test_streaming_elicitation":              one("user_name", name),
	}
}

func elicitParams(message, key, kind string) *sdk.ElicitParams {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, key, kind, key)
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

func samplingParams(question string) *sdk.CreateMessageParams {
	message := &sdk.SamplingMessage{Role: "user", Content: &sdk.TextContent{Text: question}}
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{message}}
}

// nextRound returns the questions to ask now and the state going with them. done reports that all
// rounds are answered.
func nextRound(name string, rounds []sdk.InputRequestMap, given sdk.InputResponseMap, state string) (ask sdk.InputRequestMap, next string, done bool, err error) {
	round := 0
	if state != "" {
		number, _, _ := strings.Cut(state, ".")
		if round, err = strconv.Atoi(number); err != nil || round < 0 || round >= len(rounds) || !hmac.Equal([]byte(state), []byte(signState(name, round))) {
			return nil, "", false, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state is not one of ours"}
		}
	}
	answered := true
	for key := range rounds[round] {
		answered = answered && given[key] != nil
	}
	if answered {
		round++
	}
	if round == len(rounds) {
		return nil, "", true, nil
	}
	return rounds[round], signState(name, round), false, nil
}

// signState returns the state of a round, signed against forgery.
func signState(name string, round int) string {
	sum := hmac.New(sha256.New, []byte(conformanceToken))
	fmt.Fprint(sum, name, round)
	return strconv.Itoa(round) + "." + hex.EncodeToString(sum.Sum(nil))
}

func roundsFixture(name string, rounds []sdk.InputRequestMap) func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		able := make([]sdk.InputRequestMap, len(rounds))
		for i := range rounds {
			able[i] = supportedInputs(rounds[i], req.ClientCapabilities())
		}
		ask, state, done, err := nextRound(name, able, req.Params.InputResponses, req.Params.RequestState)
		if err != nil {
			return nil, err
		}
		if done {
			return toolResult(toolkit.Text("Answered, state-ok.")), nil
		}
		return &sdk.CallToolResult{InputRequests: ask, RequestState: state}, nil
	}
}

// supportedInputs drops questions a client has declared it cannot answer.
func supportedInputs(all sdk.InputRequestMap, can *sdk.ClientCapabilities) sdk.InputRequestMap {
	asked := sdk.InputRequestMap{}
	for key, request := range all {
		if _, elicits := request.(*sdk.ElicitParams); elicits && can != nil && can.Elicitation == nil {
			continue
		}
		asked[key] = request
	}
	return asked
}

// incapableFixture needs the client's model.
func incapableFixture(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if can := req.ClientCapabilities(); can != nil && can.Sampling != nil {
		return toolResult(toolkit.Text("The client can sample.")), nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "this tool needs sampling", Data: data}
}

// addRoundPrompt adds the suite's prompt with a question as its result.
func (s *server) addRoundPrompt() {
	const name = "test_input_required_result_prompt"
	rounds := []sdk.InputRequestMap{{"user_context": elicitParams("What context should the prompt use?", "context", "string")}}
	s.sdk.AddPrompt(&sdk.Prompt{Name: name, Description: "A prompt that answers with a question."}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		ask, state, done, err := nextRound(name, rounds, req.Params.InputResponses, req.Params.RequestState)
		if err != nil || !done {
			return &sdk.GetPromptResult{InputRequests: ask, RequestState: state}, err
		}
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "With the context."}}}}, nil
	})
}

func TestRoundFixturesEndAfterLastAnswer(t *testing.T) {
	t.Parallel()
	rounds := roundTools()["test_input_required_result_multi_round"]
	given := sdk.InputResponseMap{}
	state := ""
	for _, key := range []string{"step1", "step2"} {
		ask, next, done, err := nextRound("x", rounds, given, state)
		if err != nil || done || ask[key] == nil || next == state {
			t.Fatalf("%s: asks %v, %q, %v, %v", key, ask, next, done, err)
		}
		given, state = sdk.InputResponseMap{key: &sdk.ElicitResult{Action: "accept"}}, next
	}
	if _, _, done, err := nextRound("x", rounds, given, state); err != nil || !done {
		t.Errorf("not done: %v", err)
	}
	if _, _, _, err := nextRound("y", rounds, given, state); err == nil {
		t.Error("a state of another tool is taken")
	}
}
