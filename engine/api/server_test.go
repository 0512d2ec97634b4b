package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCallCarriesInputAndOutput(t *testing.T) {
	m := infoMux("1.2.3")
	var got SessionStartInput
	var caller Caller
	Handle(m, SessionStart, func(ctx context.Context, in SessionStartInput) (Process, error) {
		got, caller = in, CallerOf(ctx)
		return Process{ID: "0123456789ab", State: StateRunning, Terminal: &Terminal{Cols: in.Cols}}, nil
	})
	c := connect(t, serve(t, m))
	in := SessionStartInput{Command: []string{"sh", "-c", "exit"}, Env: map[string]string{"A": "b"}, Cols: 80}
	out, err := SessionStart.Call(t.Context(), c, in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, got); diff != "" {
		t.Errorf("the handler's input differs (-sent +got):\n%s", diff)
	}
	want := Process{ID: "0123456789ab", State: StateRunning, Terminal: &Terminal{Cols: 80}}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("the output differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Caller{Name: "test", Version: "1.2.3", Peer: Peer{PID: os.Getpid(), UID: os.Getuid()}}, caller); diff != "" {
		t.Errorf("CallerOf (-want +got):\n%s", diff)
	}
}

func TestCallReturnsTheHandlersError(t *testing.T) {
	for _, tc := range []struct {
		give error
		want *Error
	}{
		{Errorf(CodeAmbiguous, "which one of %d", 2).WithHint("more letters"), &Error{CodeAmbiguous, "which one of 2", "more letters"}},
		{errors.New("disk on fire"), &Error{Code: CodeInternal, Message: "disk on fire"}},
		{Errorf("brand_new", "from a newer engine"), &Error{Code: "brand_new", Message: "from a newer engine"}},
	} {
		m := infoMux("1")
		Handle(m, SessionGet, func(context.Context, IDInput) (Process, error) { return Process{}, tc.give })
		_, err := SessionGet.Call(t.Context(), connect(t, serve(t, m)), IDInput{ID: "x"})
		var got *Error
		if !errors.As(err, &got) {
			t.Fatalf("Call = %v, want an *Error", err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("error differs (-want +got):\n%s", diff)
		}
		if !errors.Is(err, tc.want.Code) {
			t.Errorf("errors.Is(%v, %v) = false", err, tc.want.Code)
		}
	}
}

func TestAPanicInAHandlerCostsOnlyItsCall(t *testing.T) {
	m := infoMux("1")
	Handle(m, SessionGet, func(context.Context, IDInput) (Process, error) { panic("oh no") })
	c := connect(t, serve(t, m))
	if _, err := SessionGet.Call(t.Context(), c, IDInput{}); !errors.Is(err, CodeInternal) {
		t.Errorf("Call = %v, want CodeInternal", err)
	}
	if _, err := EngineInfo.Call(t.Context(), c, Empty{}); err != nil {
		t.Errorf("the next call fails: %v", err)
	}
}

func TestRequestsThatDoNotFitTheTableAreRefused(t *testing.T) {
	m := infoMux("1")
	Handle(m, SessionResize, func(context.Context, SessionResizeInput) (Empty, error) { return Empty{}, nil })
	o := serve(t, m)
	c := rawClient(t, o.DataDir)
	for _, tc := range []struct {
		method, path, body string
		status             int
		code               Code
		says               string
	}{
		{"POST", "/v1/session.resize", `{"id":"a","cols":1,"rows":1}`, 200, "", ""},
		{"POST", "/v1/session.resize", ``, 200, "", ""},
		{"POST", "/v1/session.resize", `{"id":"a","colls":1}`, 400, CodeInvalid, `unknown field "colls"`},
		{"POST", "/v1/session.resize", `{"cols":"wide"}`, 400, CodeInvalid, `field "cols"`},
		{"POST", "/v1/session.resize", `[]`, 400, CodeInvalid, "not an object"},
		{"POST", "/v1/session.resize", `{"id":`, 400, CodeInvalid, "no JSON"},
		{"POST", "/v1/session.resize", `{}}`, 400, CodeInvalid, "follows"},
		{"POST", "/v1/session.resize", `{"id":"` + strings.Repeat("x", maxRequestBody) + `"}`, 400, CodeInvalid, "larger than"},
		{"GET", "/v1/session.resize", ``, 405, CodeInvalid, "POST"},
		{"POST", "/v1/session.fold", `{}`, 404, CodeNotFound, "session.fold"},
		{"POST", "/session.resize", `{}`, 404, CodeNotFound, "session.resize"},
	} {
		name := tc.method + " " + tc.path + " " + tc.body[:min(len(tc.body), 30)]
		req, err := http.NewRequest(tc.method, "http://tandem"+tc.path, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		var e Error
		if err := json.Unmarshal(body, &e); err != nil {
			t.Errorf("%s: the answer %q is no JSON: %v", name, body, err)
		}
		if resp.StatusCode != tc.status || e.Code != tc.code || !strings.Contains(e.Message, tc.says) {
			t.Errorf("%s: %d %+v, want %d %s with %q", name, resp.StatusCode, e, tc.status, tc.code, tc.says)
		}
	}
}

func TestAClientOfAnotherProtocolIsToldSo(t *testing.T) {
	m := infoMux("1")
	Handle(m, SessionList, func(context.Context, Empty) (SessionListOutput, error) { return SessionListOutput{}, nil })
	c := connect(t, serve(t, m))
	c.header.Set(protocolHeader, "0")
	var e *Error
	if _, err := SessionList.Call(t.Context(), c, Empty{}); !errors.As(err, &e) || e.Code != CodeConflict || e.Hint == "" {
		t.Errorf("session.list = %v, want CodeConflict with a hint", err)
	}
	if _, err := EngineInfo.Call(t.Context(), c, Empty{}); err != nil {
		t.Errorf("engine.info = %v, want an answer in every protocol", err)
	}
}

func TestEveryCodeHasAnHTTPStatusOfItsKind(t *testing.T) {
	for code, want := range map[Code]int{
		CodeInvalid: 400, CodeNotFound: 404, CodeAmbiguous: 409, CodeConflict: 409, CodeEnded: 410,
		CodeUnavailable: 503, CodeInternal: 500, "other": 500,
	} {
		if got := code.status(); got != want {
			t.Errorf("%s has status %d, want %d", code, got, want)
		}
	}
}

func TestHandlingAnOperationTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the second Handle did not panic")
		}
	}()
	m := infoMux("1")
	Handle(m, EngineInfo, func(context.Context, Empty) (Info, error) { return Info{}, nil })
}

func TestServeLetsTheAnswerOfEngineStopOut(t *testing.T) {
	m := infoMux("1")
	var stop func()
	ready := make(chan struct{})
	Handle(m, EngineStop, func(context.Context, EngineStopInput) (Empty, error) {
		<-ready
		go stop()
		return Empty{}, nil
	})
	dir := shortDir(t)
	stop = serveAt(t, m, dir)
	close(ready)
	c := connect(t, ConnectOptions{DataDir: dir})
	defer stop()
	if _, err := EngineStop.Call(t.Context(), c, EngineStopInput{}); err != nil {
		t.Errorf("engine.stop = %v", err)
	}
}
