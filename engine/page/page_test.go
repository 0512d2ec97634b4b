package page

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/page/devices"
)

func TestCodePairsOneDeviceOnce(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	code := r.code(devices.Grant{})
	b := r.browser()
	if status, _ := b.get("/me"); status != http.StatusUnauthorized {
		t.Errorf("before it was paired /me answers %d", status)
	}
	status, body := b.pair(strings.ToLower(code))
	if status != http.StatusOK || !strings.Contains(body, `"read_only":false`) {
		t.Fatalf("pair: %d %s", status, body)
	}
	if status, _ := b.get("/me"); status != http.StatusOK {
		t.Errorf("paired, /me answers %d", status)
	}
	if status, _ := r.browser().pair(code); status != http.StatusForbidden {
		t.Errorf("the used code answers %d", status)
	}
	if status, _ := r.browser().get("/me"); status != http.StatusUnauthorized {
		t.Errorf("another browser gets %d", status)
	}
	if status, _ := b.post("/leave", "{}"); status != http.StatusNoContent {
		t.Errorf("leave answers %d", status)
	}
	if status, _ := b.get("/me"); status != http.StatusUnauthorized {
		t.Errorf("after it has left /me answers %d", status)
	}
}

func TestPageSetsNoCookie(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	b := r.browser()
	for _, q := range []*http.Request{
		b.request(http.MethodGet, "/", ""), b.request(http.MethodPost, "/session", "{}"),
		b.request(http.MethodPost, "/pair", `{"code":"`+r.code(devices.Grant{})+`","key":"`+base64.StdEncoding.EncodeToString(publicKey(t))+`"}`),
	} {
		answer, err := b.http.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || len(answer.Header.Values("Set-Cookie")) > 0 {
			t.Errorf("%s: %s, cookies %v", q.URL.Path, answer.Status, answer.Header.Values("Set-Cookie"))
		}
	}
}

func publicKey(t testing.TB) []byte {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return public
}

func TestLinkKeepsKeyOfPairedBrowser(t *testing.T) {
	r := newRig(t, sessionMux(t), nil)
	b := r.paired(devices.Grant{})
	for _, session := range []string{"0123456789ab", "ba9876543210"} {
		b.base = "/link/" + session
		if status, body := b.pair(r.code(devices.Grant{Session: session, Until: time.Now().Add(time.Hour)})); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	for base, session := range map[string]string{"": "", "/link/0123456789ab": "0123456789ab", "/link/ba9876543210": "ba9876543210"} {
		b.base = base
		var me Me
		if status, body := b.get("/me"); status != http.StatusOK || json.Unmarshal([]byte(body), &me) != nil || me.Session != session || me.ReadOnly != (session != "") {
			t.Errorf("%s/me: %d %s", base, status, body)
		}
		for _, other := range []string{"", "/link/0123456789ab", "/link/ba9876543210", "/link/cccccccccccc"} {
			q := b.request(http.MethodGet, "/me", "")
			q.URL.Path = other + "/me"
			if status, body := b.send(q); other != base && status != http.StatusUnauthorized {
				t.Errorf("the bearer of %q gives %d %s at %q", base, status, body, other)
			}
		}
	}
	b.base = "/link/cccccccccccc"
	if status, _ := b.get("/me"); status != http.StatusUnauthorized {
		t.Errorf("a link that was not opened answers %d", status)
	}
	if status, body := b.get("/"); status != http.StatusOK || !strings.Contains(body, "<title>Tandem</title>") {
		t.Errorf("its page: %d %s", status, body)
	}
}

func TestCodeGuessingIsRateLimited(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	b := r.browser()
	for i := range triesPerMinute {
		if status, _ := b.pair("WRONG"); status != http.StatusForbidden {
			t.Fatalf("try %d: %d", i, status)
		}
	}
	if status, _ := b.pair(r.code(devices.Grant{})); status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", status)
	}
}

func TestCrossOriginRequestsAreRejected(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	b := r.paired(devices.Grant{})
	tests := []struct {
		name   string
		method string
		path   string
		change func(q *http.Request)
		want   int
	}{
		{"the page's own", "POST", "/call/engine.info", nil, 200},
		{"another origin", "POST", "/call/engine.info", func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }, 403},
		{"another port", "POST", "/call/engine.info", func(q *http.Request) { q.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"https beside http", "POST", "/call/engine.info", func(q *http.Request) { q.Header.Set("Origin", "https"+strings.TrimPrefix(r.server.URL, "http")) }, 403},
		{"no page", "POST", "/call/engine.info", func(q *http.Request) { q.Header.Set("Origin", "null") }, 403},
		{"a form of another page", "POST", "/call/engine.info", func(q *http.Request) { q.Header.Del("Origin"); q.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"nobody says where from", "POST", "/call/engine.info", func(q *http.Request) { q.Header.Del("Origin"); q.Header.Del("Sec-Fetch-Site") }, 403},
		{"another name for this address", "GET", "/me", func(q *http.Request) { q.Host = "evil.example" }, 403},
		{"another port of this host", "GET", "/me", func(q *http.Request) { q.Host = "127.0.0.1:1" }, 403},
		{"a picture of another page", "GET", "/me", func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"a link of another page", "GET", "/", func(q *http.Request) {
			q.Header.Set("Sec-Fetch-Site", "cross-site")
			q.Header.Set("Sec-Fetch-Mode", "navigate")
		}, 200},
		{"a link into it", "GET", "/me", func(q *http.Request) {
			q.Header.Set("Sec-Fetch-Site", "cross-site")
			q.Header.Set("Sec-Fetch-Mode", "navigate")
		}, 403},
		{"a WebSocket of another page", "GET", "/attach?id=x", func(q *http.Request) {
			q.Header.Set("Upgrade", "websocket")
			q.Header.Set("Origin", "http://evil.example")
		}, 403},
		{"a WebSocket of nobody", "GET", "/attach?id=x", func(q *http.Request) {
			q.Header.Set("Upgrade", "websocket")
			q.Header.Del("Sec-Fetch-Site")
		}, 403},
	}
	for _, test := range tests {
		q := b.request(test.method, test.path, "{}")
		if test.change != nil {
			test.change(q)
		}
		if status, body := b.send(q); status != test.want {
			t.Errorf("%s: %d %s, not %d", test.name, status, body, test.want)
		}
	}
}

func TestAllResponsesHaveSecurityHeaders(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	b := r.browser()
	for _, path := range []string{"/", "/me", "/nothing"} {
		answer, err := b.http.Do(b.request(http.MethodGet, path, ""))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		for name, part := range map[string]string{
			"Content-Security-Policy": "default-src 'self';", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		} {
			if !strings.Contains(answer.Header.Get(name), part) {
				t.Errorf("%s: %s is %q", path, name, answer.Header.Get(name))
			}
		}
		if csp := answer.Header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") || strings.Contains(csp, "*") {
			t.Errorf("%s: %s", path, csp)
		}
	}
}

// sessionMux returns an engine whose operations return the id they were called with. A call that
// would stop the engine fails the test.
func sessionMux(t *testing.T) *server.Mux {
	m := infoMux()
	server.Handle(m, api.ProcessGet, func(_ context.Context, in api.IDInput) (api.Process, error) {
		return api.Process{ID: in.ID, Name: "build"}, nil
	})
	server.Handle(m, api.SessionKill, func(_ context.Context, in api.IDInput) (api.Process, error) {
		return api.Process{ID: in.ID}, nil
	})
	server.Handle(m, api.EngineStop, func(context.Context, api.EngineStopInput) (api.Empty, error) {
		t.Error("the engine was told to stop")
		return api.Empty{}, nil
	})
	return m
}

func TestDeviceIsLimitedToItsGrant(t *testing.T) {
	const own, other = "0123456789ab", "ba9876543210"
	r := newRig(t, sessionMux(t), nil)
	full, looks, link := r.paired(devices.Grant{}), r.paired(devices.Grant{ReadOnly: true}), r.paired(devices.Grant{Session: own})
	tests := []struct {
		who  *browser
		path string
		in   string
		want int
	}{
		{full, "/call/process.get", `{"id":"` + own + `"}`, 200},
		{full, "/call/session.kill", `{"id":"` + own + `"}`, 200},
		{full, "/call/engine.stop", `{}`, 404},
		{full, "/call/exec", `{"command":"true"}`, 404},
		{full, "/call/process.get", `{"id":`, 400},
		{full, "/call/process.get", `{"id":1}`, 422},
		{looks, "/call/process.get", `{"id":"` + own + `"}`, 200},
		{looks, "/call/session.kill", `{"id":"` + own + `"}`, 403},
		{link, "/call/process.get", `{"id":"` + own + `"}`, 200},
		{link, "/call/process.get", `{"id":"` + other + `"}`, 403},
		{link, "/call/process.get", `{"id":"` + own + `","ID":"` + other + `"}`, 403},
		{link, "/call/process.get?host=box", `{"id":"` + own + `"}`, 403},
		{link, "/call/session.kill", `{"id":"` + own + `"}`, 403},
		{link, "/call/process.list", `{}`, 403},
		{link, "/call/history.search", `{}`, 403},
		{link, "/call/output.search", `{"text":"x"}`, 403},
		{link, "/call/output.search", `{"id":"` + own + `","text":"x"}`, 403},
		{link, "/call/engine.info", `{}`, 403},
	}
	for _, test := range tests {
		if status, body := test.who.post(test.path, test.in); status != test.want {
			t.Errorf("%s %s: %d %s, not %d", test.path, test.in, status, body, test.want)
		}
	}
	for _, path := range []string{"/attach?id=" + other, "/attach?id=" + own + "&host=box", "/events?host=box"} {
		if status, _ := link.get(path); status != http.StatusForbidden {
			t.Errorf("the link gets %d of %s", status, path)
		}
	}
}

func TestReadOnlyPageAllowsNoChanges(t *testing.T) {
	r := newRig(t, sessionMux(t), func(o *Options) { o.ReadOnly = true })
	b := r.paired(devices.Grant{})
	if status, _ := b.post("/call/session.kill", `{"id":"0123456789ab"}`); status != http.StatusForbidden {
		t.Errorf("kill answers %d", status)
	}
	var me Me
	if _, body := b.get("/me"); json.Unmarshal([]byte(body), &me) != nil || !me.ReadOnly {
		t.Errorf("/me says %s", body)
	}
}

func TestPageOperationsExistInTheAPI(t *testing.T) {
	if n := len(operations()); n != 25 {
		t.Errorf("%d operations", n)
	}
}

func TestOnlyChangedFilesAreFetchedAgain(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	b := r.browser()
	answer, err := b.http.Do(b.request(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	q := b.request(http.MethodGet, "/", "")
	q.Header.Set("If-None-Match", answer.Header.Get("ETag"))
	if status, _ := b.send(q); status != http.StatusNotModified {
		t.Errorf("asked again it answers %d", status)
	}
	if status, _ := b.get("/../page.go"); status != http.StatusNotFound {
		t.Errorf("what is no file of the page answers %d", status)
	}
}

func TestBrowserNameRecognisesBrowsers(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                                  "Firefox on Linux",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":                         "Chrome on Android",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":           "Edge on Windows",
		"": "A browser",
	} {
		if got := browserName(agent); got != want {
			t.Errorf("%s: %s", agent, got)
		}
	}
}
