package observe

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/persist/store"
)

// The process may have started long ago, when no engine ran and could check it.
func TestProbeTimeoutCountsFromTheFirstCheck(t *testing.T) {
	var ready atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	synctest.Test(t, func(t *testing.T) {
		const timeout = 10 * time.Second
		began := time.Now()
		r := store.Record{ID: "0123456789ab", StartedAt: began.Add(-time.Hour)}
		r.Ready = &store.Readiness{HTTP: server.URL, TimeoutMS: int(timeout.Milliseconds())}
		o := &Observer{}
		if err, took := o.Probe(t.Context(), r), time.Since(began); err == nil || took != timeout {
			t.Errorf("never ready: %v after %v", err, took)
		}
		began = time.Now()
		time.AfterFunc(timeout-time.Second, func() {
			if got := o.OpenCheck(r.ID); got != server.URL {
				t.Errorf("the open check is %q", got)
			}
			ready.Store(true)
		})
		if err, took := o.Probe(t.Context(), r), time.Since(began); err != nil || took < timeout-time.Second {
			t.Errorf("ready just in time: %v after %v", err, took)
		}
		if got := o.OpenCheck(r.ID); got != "" {
			t.Errorf("when ready, the open check is %q", got)
		}
	})
}
