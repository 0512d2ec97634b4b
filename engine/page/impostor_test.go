package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/page/devices"
)

// TestServerOnAnotherPortGainsNoAccess opens a server on another port of the host in a paired
// browser, because browsers send it the cookies of every port. The server then tries to use what it
// received.
func TestServerOnAnotherPortGainsNoAccess(t *testing.T) {
	r := newRig(t, sessionMux(t), nil)
	b := r.paired(devices.Grant{})
	var sent http.Header
	impostor := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { sent = q.Header.Clone() }))
	defer impostor.Close()
	answer, err := b.http.Get(impostor.URL)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()

	thief := r.browser()
	for _, path := range []string{"/call/session.kill", "/me", "/events", "/usage", "/push", "/attach?id=0123456789ab", "/leave"} {
		method, body := http.MethodGet, ""
		if strings.HasPrefix(path, "/call/") || path == "/leave" {
			method, body = http.MethodPost, `{"id":"0123456789ab"}`
		}
		q := thief.request(method, path, body)
		for name, values := range sent {
			q.Header[name] = append(values, q.Header[name]...)
		}
		if strings.HasPrefix(path, "/attach") {
			q.Header.Set("Upgrade", "websocket")
			q.Header.Set("Connection", "Upgrade")
			q.Header.Set("Origin", r.server.URL)
		}
		answer, err := thief.http.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close() // a stream would not end
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s %s with what the browser sent to another port: %s", method, path, answer.Status)
		}
	}
	at, _ := url.Parse(impostor.URL)
	if cookies := b.http.Jar.Cookies(at); len(cookies) > 0 {
		t.Errorf("another port is sent %v", cookies)
	}
}

// TestServerOnSamePortGainsNoLastingAccess imitates a server that takes the page's port while the
// page is stopped. The page that starts later must reject all that the browser has sent and signed,
// and every proof made for another origin.
func TestServerOnSamePortGainsNoLastingAccess(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	b := r.paired(devices.Grant{})
	before := b.nonce()
	stolen := b.keys[""].bearer
	signed := b.signed(before, r.server.URL)

	// The page is restarted with the same devices, as if by another process.
	r.page.proofs = newProofs()
	if status, body := b.get("/me"); status != http.StatusUnauthorized {
		t.Errorf("the bearer from before: %d %s", status, body)
	}
	if status, body := b.post("/session", signed); status != http.StatusUnauthorized {
		t.Errorf("a nonce from before: %d %s", status, body)
	}
	if status, body := b.prove(b.nonce(), "http://127.0.0.1:1"); status != http.StatusUnauthorized {
		t.Errorf("a proof made at another origin: %d %s", status, body)
	}
	own := b.nonce()
	if status, body := b.prove(own, r.server.URL); status != http.StatusOK {
		t.Fatalf("a proof: %d %s", status, body)
	}
	if status, body := b.prove(own, r.server.URL); status != http.StatusUnauthorized {
		t.Errorf("the same proof again: %d %s", status, body)
	}
	if status, body := b.prove(strings.ToUpper(own), r.server.URL); status != http.StatusUnauthorized {
		t.Errorf("a proof of the same nonce in capitals: %d %s", status, body)
	}
	if status, _ := b.get("/me"); status != http.StatusOK || b.keys[""].bearer == stolen {
		t.Errorf("then /me answers %d", status)
	}
	q := b.request(http.MethodGet, "/me", "")
	q.Host = strings.Replace(strings.TrimPrefix(r.server.URL, "http://"), "127.0.0.1", "localhost", 1)
	if status, body := b.send(q); status != http.StatusUnauthorized {
		t.Errorf("the bearer at another origin of this server: %d %s", status, body)
	}
}

// An impostor on the page's previous port could have the browser sign a nonce for the new one.
func TestKeyWorksOnlyAtItsOrigin(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	b := r.paired(devices.Grant{})
	now := strings.Replace(r.server.URL, "127.0.0.1", "localhost", 1)
	post := func(body string) (int, string) {
		q := b.request(http.MethodPost, "/session", body)
		q.Host = strings.TrimPrefix(now, "http://")
		q.Header.Set("Origin", now)
		return b.send(q)
	}
	var c challenge
	if status, body := post("{}"); status != http.StatusOK || json.Unmarshal([]byte(body), &c) != nil {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := post(b.signed(c.Nonce, now)); status != http.StatusUnauthorized {
		t.Errorf("key paired at another origin: %d %s", status, body)
	}
}

func TestProofExpires(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	b := r.paired(devices.Grant{})
	now := time.Now()
	r.page.proofs.now = func() time.Time { return now }
	nonce := b.nonce()
	now = now.Add(nonceTime)
	if status, body := b.prove(nonce, r.server.URL); status != http.StatusUnauthorized {
		t.Errorf("an old nonce: %d %s", status, body)
	}
	now = now.Add(bearerTime)
	if status, body := b.get("/me"); status != http.StatusUnauthorized {
		t.Errorf("an old bearer: %d %s", status, body)
	}
	for range 2 * maxBearers {
		if status, body := b.prove(b.nonce(), r.server.URL); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	if n := len(r.page.proofs.bearers); n > maxBearers {
		t.Errorf("one device has %d bearers", n)
	}
	if status, body := b.get("/me"); status != http.StatusOK {
		t.Errorf("the newest bearer: %d %s", status, body)
	}
}

// TestBrowserDropsFilesCachedFromImpostor checks that the page tells a browser to clear its cache,
// and that each server has scripts and styles at new addresses.
func TestBrowserDropsFilesCachedFromImpostor(t *testing.T) {
	one, two := newRig(t, infoMux(), nil), newRig(t, infoMux(), nil)
	scripts := regexp.MustCompile(`(?:src|href)="([^"]+\.(?:js|mjs|css))"`)
	b := one.browser()
	_, here := b.get("/")
	_, there := two.browser().get("/")
	found := scripts.FindAllStringSubmatch(here, -1)
	if len(found) == 0 {
		t.Fatal("the page has no script")
	}
	for _, m := range found {
		if strings.Contains(there, m[0]) {
			t.Errorf("%s is at the same address on every server", m[1])
		}
		if status, _ := b.get("/" + m[1]); status != http.StatusOK {
			t.Errorf("%s answers %d", m[1], status)
		}
		if status, _ := b.get("/link/0123456789ab/" + m[1]); status != http.StatusOK {
			t.Errorf("%s of a link answers %d", m[1], status)
		}
	}
	for _, path := range []string{"/", "/sw.js", "/icon.svg"} {
		if tagOf(t, one, path) == tagOf(t, two, path) {
			t.Errorf("%s has the same tag on every server", path)
		}
	}

	for _, path := range []string{"/evil.js", "/app/main.js", "/link/x/evil.js"} {
		q := b.request(http.MethodGet, path, "")
		q.Header.Set("Service-Worker", "script")
		if status, body := b.send(q); status != http.StatusOK || !strings.Contains(body, "unregister()") {
			t.Errorf("the service worker %s is answered with %d %s", path, status, body)
		}
	}

	b = one.paired(devices.Grant{})
	one.page.proofs = newProofs()
	for i, want := range []string{`"cache"`, ""} { // once for each server
		answer, err := b.http.Do(b.request(http.MethodPost, "/session", b.signed(b.nonce(), one.server.URL)))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Clear-Site-Data"); got != want {
			t.Errorf("proof %d clears %q, want %q", i+1, got, want)
		}
	}
}

func tagOf(t *testing.T, r *rig, path string) string {
	t.Helper()
	b := r.browser()
	answer, err := b.http.Do(b.request(http.MethodGet, path, ""))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.Header.Get("ETag")
}

// A browser may reach the page as localhost, where another server can listen on the same port at
// another loopback address. TestPageRedirectsToOneLoopbackAddress checks that it is redirected
// before it can be paired.
func TestPageRedirectsToOneLoopbackAddress(t *testing.T) {
	r := newRig(t, infoMux(), func(o *Options) { o.Origin.Loopback = "127.0.0.1" })
	b := r.browser()
	b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, host := range []string{"localhost", "[::1]", "127.0.0.2"} {
		for _, path := range []string{"/", "/session", "/link/0123456789ab/"} {
			q := b.request(http.MethodGet, path, "")
			if path == "/session" {
				q = b.request(http.MethodPost, path, "{}")
				q.Header.Del("Origin")
			}
			q.Host = fmt.Sprintf("%s:%d", host, r.options.Origin.Port)
			answer, err := b.http.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if to := answer.Header.Get("Location"); answer.StatusCode != http.StatusTemporaryRedirect || to != r.server.URL+path {
				t.Errorf("%s%s: %s to %q", host, path, answer.Status, to)
			}
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		at, err := Listen(t.Context(), Where{Address: address, DataDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		at.Close()
		if ip := at.Origin.Loopback; net.ParseIP(ip) == nil || !strings.Contains(at.URL, ip) {
			t.Errorf("%s is shown at %s", address, at.URL)
		}
	}
}

// TestPageRejectsConnectionsOfAgents uses an engine that names the agent behind each connection.
func TestPageRejectsConnectionsOfAgents(t *testing.T) {
	agent := ""
	m := server.NewMux(nil)
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{EnginePID: os.Getpid(), Version: "1.2.3", Protocol: api.Protocol}, nil
	})
	asked := make(chan api.EnginePeerInput, 10)
	server.Handle(m, api.EnginePeer, func(_ context.Context, in api.EnginePeerInput) (api.EnginePeerOutput, error) {
		asked <- in
		return api.EnginePeerOutput{Agent: agent}, nil
	})
	r := newRig(t, m, nil)
	b := r.paired(devices.Grant{})
	in := <-asked
	if !strings.HasPrefix(in.Client, "127.0.0.1:") || "http://"+in.Server != r.server.URL {
		t.Errorf("asked about %+v", in)
	}
	b.http.CloseIdleConnections() // a connection is asked about once
	agent = "build, which agent:claude started"
	for _, path := range []string{"/session", "/pair", "/call/engine.info", "/leave"} {
		if status, body := b.post(path, "{}"); status != http.StatusForbidden || !strings.Contains(body, agent) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for _, path := range []string{"/me", "/events", "/usage", "/push", "/attach?id=0123456789ab"} {
		if status, body := b.get(path); status != http.StatusForbidden || !strings.Contains(body, agent) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	agent = ""
	if status, body := b.get("/me"); status != http.StatusOK {
		t.Errorf("once the connection is known to be the user's: %d %s", status, body)
	}
}

func TestBrowserOfRelease020MustPairAgain(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	sum := sha256.Sum256([]byte("old"))
	record := `{"devices":[{"id":"3f9a2c11","name":"Firefox","token":"` + hex.EncodeToString(sum[:]) + `","added":"2026-01-02T15:04:05Z","seen":"2026-01-02T15:04:05Z"}]}`
	if err := os.MkdirAll(filepath.Dir(r.book.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.book.Path(), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	b := r.browser()
	at, _ := url.Parse(r.server.URL)
	b.http.Jar.SetCookies(at, []*http.Cookie{{Name: "tandem-" + at.Port(), Value: "old"}})
	if status, body := b.get("/me"); status != http.StatusUnauthorized {
		t.Errorf("the cookie alone: %d %s", status, body)
	}
	if status, body := b.post("/session", "{}"); status != http.StatusOK || !strings.Contains(body, `"pair_again":true`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := b.pair(r.code(devices.Grant{})); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if all, err := r.book.List(); err != nil || len(all) != 1 || all[0].PairAgain() {
		t.Errorf("then there are %+v, %v", all, err)
	}
	if left := b.http.Jar.Cookies(at); len(left) > 0 {
		t.Errorf("the browser keeps %v", left)
	}
}
