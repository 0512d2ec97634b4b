package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/unixsocket"
)

func TestCallCarriesInputAndOutput(t *testing.T) {
	m := infoMux("1.2.3")
	var got api.SessionStartInput
	var caller api.Caller
	server.Handle(m, api.SessionStart, func(ctx context.Context, in api.SessionStartInput) (api.Process, error) {
		got, caller = in, api.CallerOf(ctx)
		return api.Process{ID: "0123456789ab", State: api.StateRunning, Terminal: &api.Terminal{Cols: in.Cols}}, nil
	})
	c := connect(t, serve(t, m))
	in := api.SessionStartInput{Command: []string{"sh", "-c", "exit"}, Env: map[string]string{"A": "b"}, Cols: 80}
	out, err := api.SessionStart.Call(t.Context(), c, in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, got); diff != "" {
		t.Errorf("the handler's input differs (-sent +got):\n%s", diff)
	}
	want := api.Process{ID: "0123456789ab", State: api.StateRunning, Terminal: &api.Terminal{Cols: 80}}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("the output differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(api.Caller{Name: "test", Version: "1.2.3", Peer: api.Peer{PID: os.Getpid(), UID: os.Getuid()}}, caller); diff != "" {
		t.Errorf("CallerOf (-want +got):\n%s", diff)
	}
}

func TestCallReturnsTheHandlersError(t *testing.T) {
	for _, tc := range []struct {
		give error
		want *api.Error
	}{
		{api.Errorf(api.CodeAmbiguous, "which one of %d", 2).WithHint("more letters"), &api.Error{Code: api.CodeAmbiguous, Message: "which one of 2", Hint: "more letters"}},
		{errors.New("disk on fire"), &api.Error{Code: api.CodeInternal, Message: "disk on fire"}},
		{api.Errorf("brand_new", "from a newer engine"), &api.Error{Code: "brand_new", Message: "from a newer engine"}},
	} {
		m := infoMux("1")
		server.Handle(m, api.SessionGet, func(context.Context, api.IDInput) (api.Process, error) { return api.Process{}, tc.give })
		_, err := api.SessionGet.Call(t.Context(), connect(t, serve(t, m)), api.IDInput{ID: "x"})
		var got *api.Error
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

func TestPanicInAHandlerFailsOnlyItsCall(t *testing.T) {
	m := infoMux("1")
	server.Handle(m, api.SessionGet, func(context.Context, api.IDInput) (api.Process, error) { panic("oh no") })
	c := connect(t, serve(t, m))
	if _, err := api.SessionGet.Call(t.Context(), c, api.IDInput{}); !errors.Is(err, api.CodeInternal) {
		t.Errorf("Call = %v, want CodeInternal", err)
	}
	if _, err := api.EngineInfo.Call(t.Context(), c, api.Empty{}); err != nil {
		t.Errorf("the next call fails: %v", err)
	}
}

func TestRequestsOutsideTheTableAreRejected(t *testing.T) {
	m := infoMux("1")
	server.Handle(m, api.SessionResize, func(context.Context, api.SessionResizeInput) (api.Empty, error) { return api.Empty{}, nil })
	o := serve(t, m)
	c := rawClient(t, o.DataDir)
	for _, tc := range []struct {
		method, path, body string
		status             int
		code               api.Code
		says               string
	}{
		{"POST", "/v1/session.resize", `{"id":"a","cols":1,"rows":1}`, 200, "", ""},
		{"POST", "/v1/session.resize", ``, 200, "", ""},
		{"POST", "/v1/session.resize", `{"id":"a","colls":1}`, 400, api.CodeInvalid, `unknown field "colls"`},
		{"POST", "/v1/session.resize", `{"cols":"wide"}`, 400, api.CodeInvalid, `field "cols"`},
		{"POST", "/v1/session.resize", `[]`, 400, api.CodeInvalid, "not an object"},
		{"POST", "/v1/session.resize", `{"id":`, 400, api.CodeInvalid, "not JSON"},
		{"POST", "/v1/session.resize", `{}}`, 400, api.CodeInvalid, "unexpected data"},
		{"POST", "/v1/session.resize", `{"id":"` + strings.Repeat("x", server.MaxRequestBody) + `"}`, 400, api.CodeInvalid, "larger than"},
		{"GET", "/v1/session.resize", ``, 405, api.CodeInvalid, "POST"},
		{"POST", "/v1/session.fold", `{}`, 501, api.CodeNotSupported, "session.fold"},
		{"POST", "/session.resize", `{}`, 404, api.CodeNotFound, "session.resize"},
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
		var e api.Error
		if err := json.Unmarshal(body, &e); err != nil {
			t.Errorf("%s: the answer %q is no JSON: %v", name, body, err)
		}
		if resp.StatusCode != tc.status || e.Code != tc.code || !strings.Contains(e.Message, tc.says) {
			t.Errorf("%s: %d %+v, want %d %s with %q", name, resp.StatusCode, e, tc.status, tc.code, tc.says)
		}
	}
}

func TestClientOfAnotherProtocolIsRejected(t *testing.T) {
	m := infoMux("1")
	server.Handle(m, api.SessionList, func(context.Context, api.Empty) (api.SessionListOutput, error) { return api.SessionListOutput{}, nil })
	c := connect(t, serve(t, m))
	for _, protocol := range []string{"0", strconv.Itoa(api.Protocol + 1), "new"} {
		c.header.Set(api.ProtocolHeader, protocol)
		if _, err := api.SessionList.Call(t.Context(), c, api.Empty{}); !errors.Is(err, api.CodeConflict) {
			t.Errorf("session.list in protocol %s = %v, want CodeConflict", protocol, err)
		}
	}
	var e *api.Error
	if _, err := api.SessionList.Call(t.Context(), c, api.Empty{}); !errors.As(err, &e) || e.Code != api.CodeConflict || e.Hint == "" {
		t.Errorf("session.list = %v, want CodeConflict with a hint", err)
	}
	if _, err := api.EngineInfo.Call(t.Context(), c, api.Empty{}); err != nil {
		t.Errorf("engine.info = %v, want an answer in every protocol", err)
	}
}

func TestEveryCodeHasAMatchingHTTPStatus(t *testing.T) {
	for code, want := range map[api.Code]int{
		api.CodeInvalid: 400, api.CodeNotFound: 404, api.CodeAmbiguous: 409, api.CodeConflict: 409, api.CodeEnded: 410,
		api.CodeUnavailable: 503, api.CodeInternal: 500, "other": 500,
	} {
		if got := code.Status(); got != want {
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
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) { return api.Info{}, nil })
}

func TestServeSendsTheAnswerOfEngineStop(t *testing.T) {
	m := infoMux("1")
	var stop func()
	ready := make(chan struct{})
	server.Handle(m, api.EngineStop, func(context.Context, api.EngineStopInput) (api.Empty, error) {
		<-ready
		go stop()
		return api.Empty{}, nil
	})
	dir := shortDir(t)
	stop = serveAt(t, m, dir)
	close(ready)
	c := connect(t, Options{DataDir: dir})
	defer stop()
	if _, err := api.EngineStop.Call(t.Context(), c, api.EngineStopInput{}); err != nil {
		t.Errorf("engine.stop = %v", err)
	}
}

func TestEngineWithALongDataFolderIsFound(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", shortDir(t))
	dir := filepath.Join(shortDir(t), strings.Repeat("d", unixsocket.MaxPath))
	serveAt(t, infoMux("1"), dir)
	connect(t, Options{DataDir: dir})
}
