package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/control/supervise"
	"tandem/engine/service"
	"tandem/persist/store"
)

// The timeout may expire before the busy control loop has found the process.
func TestWaitWithAnExpiredTimeoutReturnsTheProcess(t *testing.T) {
	t.Parallel()
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	withLoop(t, func(r *loop) {
		p := r.startRunning(record("a"))
		mux := server.NewMux(nil)
		(&service.Processes{Control: r.c, Store: data}).Handle(mux)
		go r.c.Visit(r.Context(), func(supervise.Entry) { time.Sleep(time.Second) })
		synctest.Wait()
		answer := httptest.NewRecorder()
		body := fmt.Sprintf(`{"id":%q,"exit":true,"timeout_ms":1}`, p.ID)
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/v1/process.wait", strings.NewReader(body)))
		var out api.ProcessWaitOutput
		if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil || out.Met != "" || out.Process.ID != p.ID {
			t.Errorf("it came to %s, %v", answer.Body, err)
		}
	})
}
