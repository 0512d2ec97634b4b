package mcp

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/wait"
)

// serveRounds runs a server, and a client that receives questions as results.
func (r *rig) serveRounds(session func(*sdk.ClientOptions) *sdk.ClientSession) *sdk.ClientSession {
	r.writePolicy(careful)
	return session(&sdk.ClientOptions{
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		Capabilities:   &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			r.Error("the program was asked while the call ran")
			return nil, nil
		},
	})
}

func (r *rig) serveLatest(o *sdk.ClientOptions) *sdk.ClientSession {
	return serveClient(r, *r.agent.Options, toolkit.WithoutSessions, o)
}

// callRound calls exec, first alone and later with an answer to the last question.
func (r *rig) callRound(session *sdk.ClientSession, command, state string, answer *sdk.ElicitResult) (text string, got *sdk.CallToolResult) {
	r.Helper()
	in := &sdk.CallToolParams{Name: "exec", Arguments: object{"command": command}, RequestState: state}
	if answer != nil {
		in.InputResponses = sdk.InputResponseMap{allowInput: answer}
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout)
	defer cancel()
	got, err := session.CallTool(ctx, in)
	if err != nil {
		r.Fatal(err)
	}
	return resultText(toolkit.Result{Content: got.Content}), got
}

func acceptAnswer() *sdk.ElicitResult {
	return &sdk.ElicitResult{Action: "accept", Content: object{"allow": true}}
}

func TestClientWithRoundsAsksItsUser(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	overHTTP := func(o *sdk.ClientOptions) *sdk.ClientSession {
		return r.newHTTPSite(nil).connectWith(masterToken, toolkit.WithoutSessions, o)
	}
	for _, session := range []*sdk.ClientSession{r.serveRounds(r.serveLatest), r.serveRounds(overHTTP)} {
		testRounds(r, session)
	}
}

func testRounds(r *rig, session *sdk.ClientSession) {
	r.Helper()
	const push = ": || git push; echo pushed"
	_, first := r.callRound(session, push, "", nil)
	asked, _ := first.InputRequests[allowInput].(*sdk.ElicitParams)
	if !first.NeedsInput() || first.IsError || asked == nil || first.RequestState == "" {
		r.Fatalf("the first answer is %+v", first)
	}
	if !strings.HasPrefix(asked.Message, fmt.Sprintf("tester/7 wants to call exec: %q", push)) || !strings.Contains(asked.Message, "rule 2 of policy.toml") {
		r.Errorf("the user is asked %q", asked.Message)
	}
	r.waitForRequest()
	if text, got := r.callRound(session, push, first.RequestState, acceptAnswer()); got.NeedsInput() || !strings.HasPrefix(text, "pushed\n") {
		r.Errorf("allowed: %q", text)
	}
	r.waitForRequests(0)
	_, again := r.callRound(session, push, first.RequestState, acceptAnswer())
	if !again.NeedsInput() {
		r.Error("an answer counted twice")
	}
	r.callRound(session, push, again.RequestState, &sdk.ElicitResult{Action: "decline"})
	for _, no := range []*sdk.ElicitResult{{Action: "decline"}, {Action: "accept", Content: object{"allow": false}}} {
		_, first := r.callRound(session, push, "", nil)
		if text, got := r.callRound(session, push, first.RequestState, no); !got.IsError || !strings.Contains(text, "the user denied it") {
			r.Errorf("%+v: %q", no, text)
		}
	}
}

func TestAnswerAllowsOnlyItsOwnCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	session := r.serveRounds(r.serveLatest)
	_, first := r.callRound(session, ": || git push", "", nil)
	for _, c := range []struct{ command, state string }{
		{": || git push --force", first.RequestState}, {": || git push", "made-up"}, {": || git push", ""},
	} {
		if _, got := r.callRound(session, c.command, c.state, acceptAnswer()); !got.NeedsInput() {
			t.Errorf("%+v is allowed: %+v", c, got)
		}
	}
	other := r.serveRounds(r.serveLatest)
	if _, got := r.callRound(other, ": || git push", first.RequestState, acceptAnswer()); !got.NeedsInput() {
		t.Error("another agent's answer counts")
	}
}

// Between a question and its answer, the session may go to another folder.
func TestAnswerAllowsOnlyTheQuestionShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	session := r.serveRounds(r.serveLatest)
	shell, err := api.SessionStart.Call(t.Context(), r.agent.Engine, api.SessionStartInput{Command: []string{"sh", "-c", "read line; cd /usr; read line"}, CWD: "/"})
	if err != nil {
		t.Fatal(err)
	}
	exec := func(state string) (question string, got *sdk.CallToolResult) {
		in := &sdk.CallToolParams{Name: "session_exec", Arguments: object{"id": shell.ID, "command": "git push"}, RequestState: state}
		if state != "" {
			in.InputResponses = sdk.InputResponseMap{allowInput: acceptAnswer()}
		}
		got, err := session.CallTool(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if asked, ok := got.InputRequests[allowInput].(*sdk.ElicitParams); ok {
			question = asked.Message
		}
		return question, got
	}
	asked, first := exec("")
	if !strings.Contains(asked, ` in "/".`) {
		t.Fatalf("the user is asked %q", asked)
	}
	if err := api.TypeInto(t.Context(), r.userClient(), api.SessionWriteInput{ID: shell.ID, Keys: []string{"enter"}}); err != nil {
		t.Fatal(err)
	}
	wait.Poll(r, "the other folder", func() (string, bool) {
		folder, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", shell.PID))
		return folder, folder == "/usr"
	})
	if asked, _ := exec(first.RequestState); !strings.Contains(asked, ` in "/usr".`) {
		t.Errorf("the answer is taken for another folder: %q", asked)
	}
}

func TestDashboardAnswerTakesPrecedence(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	session := r.serveRounds(r.serveLatest)
	for _, c := range []struct {
		allow bool
		given *sdk.ElicitResult
	}{{true, &sdk.ElicitResult{Action: "cancel"}}, {true, nil}, {false, nil}} {
		_, first := r.callRound(session, ": || git push", "", nil)
		r.answerRequest(api.RequestAnswerInput{ID: r.waitForRequest().ID, Allow: c.allow})
		if text, got := r.callRound(session, ": || git push", first.RequestState, c.given); got.NeedsInput() || got.IsError == c.allow {
			t.Errorf("%+v: %q", c, text)
		}
	}
}

func TestOldestRoundIsDroppedAtTheLimit(t *testing.T) {
	t.Parallel()
	withdrawn := 0
	var q rounds
	var states []string
	for range maxRounds + 3 {
		states = append(states, q.openRound(&round{withdraw: func() { withdrawn++ }}))
	}
	if withdrawn != 3 || len(q.open) != maxRounds || len(q.order) != maxRounds {
		t.Errorf("%d withdrawn, %d open", withdrawn, len(q.open))
	}
	var none round
	if q.takeRound(states[2], none.call) != nil || q.takeRound(states[3], none.call) == nil || q.takeRound(states[3], none.call) != nil {
		t.Error("not the oldest are forgotten")
	}
}
