package readiness

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"tandem/engine/api"
	"tandem/persist/store"
)

func TestHTTPSendsHeadersAndChecksStatus(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "app.test" || r.Header.Get("X-Token") != "t" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
	}))
	defer server.Close()
	headers := map[string]string{"Host": "app.test", "X-Token": "t"}
	for _, c := range []struct {
		path    string
		status  int
		headers map[string]string
		ready   bool
	}{
		{"/200", 0, headers, true},
		{"/204", 0, headers, true},
		{"/204", 200, headers, false},
		{"/302", 302, headers, true},
		{"/401", 401, headers, true},
		{"/401", 0, headers, false},
		{"/200", 0, nil, false},
	} {
		err := Anywhere().HTTP(t.Context(), &store.Readiness{HTTP: server.URL + c.path, HTTPStatus: c.status, HTTPHeaders: c.headers})
		if ready := err == nil; ready != c.ready {
			t.Errorf("%s, status %d, %v: %v", c.path, c.status, c.headers, err)
		}
	}
}

func TestCheckRejectsBadHTTPConditions(t *testing.T) {
	const address = "http://localhost"
	for name, r := range map[string]api.Readiness{
		"status without a URL":  {Port: 1, HTTPStatus: 200},
		"headers without a URL": {Port: 1, HTTPHeaders: map[string]string{"A": "b"}},
		"status":                {HTTP: address, HTTPStatus: 99},
		"header name":           {HTTP: address, HTTPHeaders: map[string]string{"A b": "c"}},
		"header value":          {HTTP: address, HTTPHeaders: map[string]string{"A": "b\r\nC: d"}},
	} {
		if Check(&r) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
