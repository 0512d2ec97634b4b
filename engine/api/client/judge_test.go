package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/api/wire"
)

// A judge decides as it is told, and remembers what it was asked.
type judge struct {
	decision string
	err      error
	asked    []api.PolicyCheckInput
}

func (j *judge) check(_ context.Context, in api.PolicyCheckInput) (api.PolicyCheckOutput, error) {
	j.asked = append(j.asked, in)
	return api.PolicyCheckOutput{Decision: j.decision, Reason: "because", Hint: "do not"}, j.err
}

// courthouse serves an operation under a judge, and tells the inputs with which
// it was carried out.
func courthouse(j *judge) (m *server.Mux, done *[]string) {
	m, done = infoMux("1"), new([]string)
	if j != nil {
		server.Handle(m, api.PolicyCheck, j.check)
	}
	server.Handle(m, api.SessionGet, func(_ context.Context, in api.IDInput) (api.Process, error) {
		*done = append(*done, in.ID)
		if in.ID == "bad" {
			return api.Process{}, api.Errorf(api.CodeNotFound, "there is none")
		}
		return api.Process{ID: in.ID}, nil
	})
	return m, done
}

func TestAllowedCallsAreCarriedOutAndJudgedOnce(t *testing.T) {
	j := &judge{decision: "allow"}
	m, done := courthouse(j)
	c := connect(t, serve(t, m))
	ctx, verdict, err := WithJudgement(t.Context(), api.PolicyCheckInput{Tool: "look", Actor: "agent:x", Command: "é <&>"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.SessionGet.Call(ctx, c, api.IDInput{ID: "bad"}); !errors.Is(err, api.CodeNotFound) {
		t.Errorf("an operation that fails: %v", err)
	}
	if p, err := api.SessionGet.Call(ctx, c, api.IDInput{ID: "a"}); err != nil || p.ID != "a" {
		t.Errorf("%+v, %v", p, err)
	}
	if len(j.asked) != 1 || j.asked[0].Tool != "look" || j.asked[0].Command != "é <&>" || !j.asked[0].NoAsk {
		t.Errorf("the policy was asked about %+v", j.asked)
	}
	if len(*done) != 2 || verdict.Refused() {
		t.Errorf("done: %v, refused: %v", *done, verdict.Refused())
	}
}

func TestDeniedCallsAreNotCarriedOut(t *testing.T) {
	for _, decision := range []string{"deny", "ask", "", "ALLOW"} {
		j := &judge{decision: decision}
		m, done := courthouse(j)
		c := connect(t, serve(t, m))
		ctx, verdict, err := WithJudgement(t.Context(), api.PolicyCheckInput{Tool: "look"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := api.SessionGet.Call(ctx, c, api.IDInput{ID: "a"})
			if !errors.Is(err, api.CodeForbidden) || !strings.Contains(err.Error(), "not allowed") {
				t.Errorf("%q: %v", decision, err)
			}
		}
		if len(*done) != 0 {
			t.Errorf("%q: carried out", decision)
		}
		if decision != "" && (!verdict.Refused() || len(j.asked) != 1) {
			t.Errorf("%q: refused %v, asked %d times", decision, verdict.Refused(), len(j.asked))
		}
	}
}

func TestCallsWithAQuestionFailWithoutAPolicy(t *testing.T) {
	for name, j := range map[string]*judge{"no policy": nil, "a policy that fails": {decision: "allow", err: errors.New("no")}} {
		m, done := courthouse(j)
		ctx, verdict, err := WithJudgement(t.Context(), api.PolicyCheckInput{Tool: "look"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := api.SessionGet.Call(ctx, connect(t, serve(t, m)), api.IDInput{ID: "a"}); err == nil || len(*done) > 0 || verdict.Refused() {
			t.Errorf("%s: %v, done: %v, refused: %v", name, err, *done, verdict.Refused())
		}
	}
}

// An engine that does not know the header must not take the operation for one
// that is allowed.
func TestMalformedQuestionIsRejected(t *testing.T) {
	var in api.IDInput
	if err := api.DecodeInput("x", []byte(`{"tool":"look"}{"id":"a"}`), &in); err == nil {
		t.Error("a question and an operation are an operation")
	}
	if err := api.DecodeInput("x", []byte(`{"tool":"look"}{}`), &api.PolicyCheckInput{}); err == nil {
		t.Error("two inputs are one")
	}
}

func TestQuestionOfAWrongLengthIsRejected(t *testing.T) {
	m, done := courthouse(&judge{decision: "allow"})
	o := serve(t, m)
	c := rawClient(t, o.DataDir)
	question, input := `{"tool":"look"}`, `{"id":"a"}`
	for length, status := range map[string]int{
		strconv.Itoa(len(question)): 200, "0": 400, "-1": 400, "1": 400, "25": 400, "26": 400, "999": 400, "x": 400, "99999999999": 400,
	} {
		*done = nil
		req, err := http.NewRequest(http.MethodPost, baseURL+api.SessionGet.Name, strings.NewReader(question+input))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(wire.JudgeHeader, length)
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != status || (len(*done) == 1) != (status == 200) {
			t.Errorf("a question of %s bytes: status %d, done: %v", length, resp.StatusCode, *done)
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("15", []byte(`{"tool":"look"}{"id":"a"}`))
	f.Add("0", []byte(`{"id":"a"}`))
	f.Add("2", []byte(`{}`))
	f.Fuzz(func(t *testing.T, length string, body []byte) {
		m, done := courthouse(&judge{decision: "deny"})
		r := httptest.NewRequest(http.MethodPost, wire.RoutePrefix+api.SessionGet.Name, bytes.NewReader(body))
		r.Header[wire.JudgeHeader] = []string{length}
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		if length != "" && (w.Code == http.StatusOK || len(*done) > 0) {
			t.Errorf("%q of %q is allowed", length, body)
		}
	})
}
