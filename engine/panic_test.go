package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tandem/engine/agent/approval"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/control/host"
	"tandem/engine/service"
	"tandem/persist/store"
)

func TestPanicInAnOperationLogsNoSecrets(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"text":  "run mysql --password hunter2",
		"error": errors.New("fetch https://ada:hunter2@example.org"),
		"other": struct{ Line string }{"PASSWORD=hunter2"},
	} {
		var log bytes.Buffer
		data, err := store.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		logger := newLogger(&log)
		h := host.New(t.Context(), host.Options{Log: logger, Store: data})
		files := service.NewFiles(t.Context(), t.TempDir(), nil, logger)
		mux := (&engine{log: logger, store: data, host: h, files: files, arbiter: approval.New("", logger, func(api.Event) {})}).newMux()
		op := api.NewOperation[api.Empty, api.Empty]("test.panic", "", "", api.Row[api.Empty]{})
		server.Handle(mux, op, func(context.Context, api.Empty) (api.Empty, error) { panic(value) })
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/"+op.Name, strings.NewReader("{}")))
		if !strings.Contains(log.String(), "operation=test.panic") || strings.Contains(log.String(), "hunter2") {
			t.Errorf("%s: the log says %s", name, log.String())
		}
		var e api.Error
		if err := json.Unmarshal(answer.Body.Bytes(), &e); err != nil || e.Code != api.CodeInternal || strings.Contains(answer.Body.String(), "hunter2") {
			t.Errorf("%s: the answer is %s", name, answer.Body)
		}
	}
}

// An operation that waits for several conditions starts a goroutine for each.
func TestPanicInAWaitFailsOnlyItsOperation(t *testing.T) {
	t.Parallel()
	withLoop(t, func(l *loop) {
		l.startRunning(record("a"))
		var log bytes.Buffer
		mux := server.NewMux(nil)
		mux.Log = newLogger(&log)
		(&service.Processes{Control: l.c}).Handle(mux) // without logs, so reading one panics
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/process.wait", strings.NewReader(`{"id":"a","idle_ms":1}`)))
		var e api.Error
		if err := json.Unmarshal(answer.Body.Bytes(), &e); err != nil || e.Code != api.CodeInternal {
			t.Errorf("the answer is %s", answer.Body)
		}
		if !strings.Contains(log.String(), "operation=process.wait") || !strings.Contains(log.String(), "WaitIdle") {
			t.Errorf("the log says %s", log.String())
		}
	})
}
