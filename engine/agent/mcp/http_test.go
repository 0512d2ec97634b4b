package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
)

const (
	masterToken = "master-0123456789abcdef"
	readerToken = "reader-0123456789abcdef"
	seedToken   = "seeds-0123456789abcdef"
)

// A site is an HTTP server on a fake engine.
type site struct {
	testing.TB
	engine *fakeEngine
	url    string
	web    *httpServer
}

func newSite(t testing.TB) *site {
	t.Helper()
	e := newFakeEngine(t)
	tokens, err := parseTokens(masterToken + "\n" + readerToken + " read-only name=reader\n" + seedToken + " profile=os name=seeds\n")
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteWith(t, e.options(), fixedKeyring(tokens), e.dir)
	s.engine = e
	return s
}

// newSiteWith returns a server with the given options, tokens and engine.
func newSiteWith(t testing.TB, o toolkit.Options, keys *keyring, dataDir string) *site {
	ctx, cancel := context.WithCancel(context.Background())
	w := newHTTPServer(ctx, o, HTTPOptions{Addr: "127.0.0.1:0", DataDir: dataDir, Notices: io.Discard,
		AllowHosts: []string{"box.example"}, AllowOrigins: []string{"https://app.example"}}, keys)
	server := httptest.NewServer(w)
	t.Cleanup(func() {
		server.CloseClientConnections()
		cancel()
		w.close()
		server.Close()
	})
	return &site{TB: t, url: server.URL, web: w}
}

// sendRequest sends a request. headers are pairs of name and value.
func (s *site) sendRequest(method, path, body string, headers ...string) (status int, answer string, h http.Header) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

func TestRequestsNeedTokenHostAndOrigin(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	authorized := []string{"Authorization", "Bearer " + masterToken}
	for _, tc := range []struct {
		name, path string
		headers    []string
		want       int
	}{
		{"no token", "/mcp", nil, 401},
		{"a wrong token", "/mcp", []string{"Authorization", "Bearer nope"}, 401},
		{"a token that begins like one", "/mcp", []string{"Authorization", "Bearer " + masterToken[:20]}, 401},
		{"another scheme", "/mcp", []string{"Authorization", "Basic " + masterToken}, 401},
		{"a wrong token for operations", "/v1/process.list", []string{"Authorization", "Bearer nope"}, 401},
		{"a foreign host", "/mcp", append([]string{"Host", "evil.example"}, authorized...), 403},
		{"a foreign host with our port", "/v1/process.list", append([]string{"Host", "evil.example:7777"}, authorized...), 403},
		{"a host that looks local", "/v1/process.list", append([]string{"Host", "127.0.0.1.evil.example"}, authorized...), 403},
		{"a foreign host asks for health", "/healthz", []string{"Host", "evil.example"}, 403},
		{"a foreign page", "/v1/process.list", append([]string{"Origin", "https://evil.example"}, authorized...), 403},
		{"a page of no origin", "/v1/process.list", append([]string{"Origin", "null"}, authorized...), 403},
		{"a page that looks local", "/v1/process.list", append([]string{"Origin", "http://localhost.evil.example"}, authorized...), 403},
		{"the token", "/v1/process.list", authorized, 200},
		{"the scheme in capitals", "/v1/process.list", []string{"Authorization", "BEARER " + masterToken}, 200},
		{"localhost", "/v1/process.list", append([]string{"Host", "localhost:7777"}, authorized...), 200},
		{"IPv6", "/v1/process.list", append([]string{"Host", "[::1]:7777"}, authorized...), 200},
		{"an allowed host", "/v1/process.list", append([]string{"Host", "box.example:7777"}, authorized...), 200},
		{"an allowed page", "/v1/process.list", append([]string{"Origin", "https://app.example"}, authorized...), 200},
		{"a local page", "/v1/process.list", append([]string{"Origin", "http://localhost:3000"}, authorized...), 200},
		{"nothing there", "/secret", authorized, 404},
		{"no such operation", "/v1/no.such", authorized, 404},
		{"health", "/healthz", nil, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			method := http.MethodPost
			if tc.path == "/healthz" {
				method = http.MethodGet
			}
			got, answer, h := s.sendRequest(method, tc.path, "", tc.headers...)
			if got != tc.want {
				t.Errorf("status %d, want %d: %s", got, tc.want, answer)
			}
			if challenge := h.Get("WWW-Authenticate"); (got == 401) != strings.HasPrefix(challenge, "Bearer ") {
				t.Errorf("status %d with the challenge %q", got, challenge)
			}
		})
	}
}

func TestPreflightFromAllowedOriginSucceeds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ask := []string{"Access-Control-Request-Method", "POST", "Origin"}
	if got, _, h := s.sendRequest(http.MethodOptions, "/mcp", "", append(ask, "https://app.example")...); got != 204 ||
		h.Get("Access-Control-Allow-Origin") != "https://app.example" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("status %d, %v", got, h)
	}
	if got, _, h := s.sendRequest(http.MethodOptions, "/mcp", "", append(ask, "https://evil.example")...); got != 403 || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("status %d, %v", got, h)
	}
}

// An endlessBody counts the bytes read of it.
type endlessBody struct{ read atomic.Int64 }

func (e *endlessBody) Read(p []byte) (int, error) {
	if e.read.Add(int64(len(p))) > 100<<20 {
		return 0, io.EOF
	}
	return len(p), nil
}

func TestOversizedBodyIsRejectedUnread(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/mcp", "/v1/process.list"} {
		body := &endlessBody{}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + masterToken}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}}
		// A client still sending may see the connection closed instead of the reply.
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		if err == nil && resp.StatusCode != http.StatusRequestEntityTooLarge || body.read.Load() > 3*maxBody {
			t.Errorf("%s: %v, %v after %d bytes", path, resp, err, body.read.Load())
		}
		if got := s.announceBody(path, 100<<20); got != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: status %d before the body is sent", path, got)
		}
	}
}

// announceBody sends the headers of a request without its body.
func (s *site) announceBody(path string, size int) (status int) {
	s.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", path, masterToken, size)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestInvalidMessageIsRejectedOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, body := range []string{"", "{", "[]", `{"jsonrpc":"1.0"}`, "\x00"} {
		if got, answer, _ := s.sendRequest(http.MethodPost, "/mcp", body, "Authorization", "Bearer "+masterToken); got != http.StatusBadRequest {
			t.Errorf("%q: status %d: %s", body, got, answer)
		}
	}
	if got, _, _ := s.sendRequest(http.MethodPut, "/mcp", "", "Authorization", "Bearer "+masterToken); got != http.StatusMethodNotAllowed {
		t.Errorf("PUT: status %d", got)
	}
	if got, _, _ := s.sendRequest(http.MethodPost, "/mcp", hello, "Authorization", "Bearer "+masterToken, "Mcp-Session-Id", "guess"); got != http.StatusNotFound {
		t.Errorf("a session that is not there: status %d", got)
	}
}

// A tokenTransport adds a token to requests.
type tokenTransport struct{ token string }

func (b tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (s *site) connect(token, version string) *sdk.ClientSession {
	s.Helper()
	return s.connectWith(token, version, nil)
}

func (s *site) connectWith(token, version string, o *sdk.ClientOptions) *sdk.ClientSession {
	s.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "7"}, o)
	session, err := c.Connect(context.Background(), &sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: tokenTransport{token}}},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		session.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return session
}

func TestVersionsWithAndWithoutSessionsAreServed(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-06-18", withHandshake, toolkit.WithoutSessions} {
		t.Run(version, func(t *testing.T) {
			s := newSite(t)
			session := s.connect(masterToken, version)
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) == 0 {
				t.Fatalf("%v, %v", list, err)
			}
			for range 3 {
				r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "session_list"})
				if err != nil || r.IsError {
					t.Fatalf("%+v, %v", r, err)
				}
			}
			s.engine.awaitAgents(t, 1)
			if got := session.InitializeResult(); version == withHandshake && got.ProtocolVersion != version {
				t.Errorf("the server speaks %s", got.ProtocolVersion)
			}
			if (session.ID() == "") != (version == toolkit.WithoutSessions) {
				t.Errorf("the session is %q", session.ID())
			}
		})
	}
}

func TestOtherTokenCannotUseASession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	session := s.connect(masterToken, withHandshake)
	got, answer, _ := s.sendRequest(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		"Authorization", "Bearer "+readerToken, "Mcp-Session-Id", session.ID())
	if got != http.StatusForbidden {
		t.Errorf("status %d: %s", got, answer)
	}
}

func TestDeletedSessionIsUnknown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	session := s.connect(masterToken, withHandshake)
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "session_list"}); err != nil {
		t.Fatal(err)
	}
	s.engine.awaitAgents(t, 1)
	session.Close()
	s.engine.awaitAgents(t, 0)
}

func TestTokenIsLimitedToItsProfileAndReadOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	names := func(token string) map[string]bool {
		list, err := s.connect(token, withHandshake).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, one := range list.Tools {
			names[one.Name] = true
		}
		return names
	}
	if all, read := names(masterToken), names(readerToken); !all["session_kill"] || read["session_kill"] || !read["session_list"] {
		t.Errorf("the master has %v, the reader %v", all, read)
	}
	if seeds := names(seedToken); seeds["session_list"] {
		t.Errorf("the seeds' token has %v", seeds)
	}
	for _, tc := range []struct {
		token, path string
		want        int
	}{
		{masterToken, "/v1/session.kill", 200}, {readerToken, "/v1/session.kill", 403}, {readerToken, "/v1/process.list", 200},
		{seedToken, "/v1/process.list", 403},
	} {
		if got, answer, _ := s.sendRequest(http.MethodPost, tc.path, "", "Authorization", "Bearer "+tc.token); got != tc.want {
			t.Errorf("%s for %s: status %d, want %d: %s", tc.path, tc.token, got, tc.want, answer)
		}
	}
}

func TestTokenBearerIsAnAgentToTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if got, answer, _ := s.sendRequest(http.MethodPost, "/v1/process.list", "", "Authorization", "Bearer "+readerToken,
		"Tandem-Client", "dashboard", "Tandem-Owner", ""); got != 200 || !json.Valid([]byte(answer)) {
		t.Fatalf("status %d: %s", got, answer)
	}
	if got := s.engine.callers[0]; got.Name != "agent:http-reader" || !got.Agent() {
		t.Errorf("the engine sees %+v", got)
	}
}

func TestHTTPStreamsEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/events.watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+masterToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, len(`data: {"type":"snapshot"`))
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != `data: {"type":"snapshot"` {
		t.Errorf("%q, %v", first, err)
	}
}

func TestOldestStatelessAgentsAreEvicted(t *testing.T) {
	t.Parallel()
	f := agents{byKey: map[any]*connection{}}
	ended := 0
	for i := range statelessLimit {
		f.byKey[i] = &connection{cancel: func() { ended++ }}
	}
	if f.evictOldest(statelessLimit - 1); len(f.byKey) != statelessLimit-1 || ended != 1 {
		t.Errorf("%d are left, %d were ended", len(f.byKey), ended)
	}
}

func TestTokensFileIsCreatedOnceAndPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "agent-tokens")
	var told bytes.Buffer
	made, err := readKeyring(path, &told)
	if err != nil || len(made.currentTokens()) != 1 || !strings.Contains(told.String(), path) {
		t.Fatalf("%v, %v, told %q", made, err, &told)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	told.Reset()
	again, err := readKeyring(path, &told)
	if err != nil || again.currentTokens()[0].sum != made.currentTokens()[0].sum || told.Len() > 0 {
		t.Errorf("%v, %v, told %q", again, err, &told)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readKeyring(path, &told); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}

func TestTokensFileMistakesAreReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "it contains no token",
		"# only\n\n":                            "it contains no token",
		"short\n":                               "line 1: the token is shorter",
		masterToken + "\n" + masterToken + "\n": "line 2: another line has this token",
		masterToken + " name=a\n" + readerToken + " name=a": "line 2: another line has this token or name",
		masterToken + " colour=red":                         `"colour=red" is neither`,
		masterToken + " profile=none":                       "profile",
		masterToken + "é":                                   "not allowed in an HTTP header",
	} {
		if _, err := parseTokens(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add(masterToken + " read-only profile=core,os name=x\n# c\n")
	f.Add("\x00\n \n=")
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := parseTokens(text)
		if (err == nil) != (len(tokens) > 0) {
			t.Fatalf("%v and %v", tokens, err)
		}
		for _, one := range tokens {
			if one.name == "" {
				t.Fatal("a token has no name")
			}
		}
	})
}

func FuzzHostAndOrigin(f *testing.F) {
	f.Add("127.0.0.1:1", "http://localhost", "Bearer "+masterToken)
	f.Add("[::1", "https://[", "bearer\t")
	tokens, err := parseTokens(masterToken)
	if err != nil {
		f.Fatal(err)
	}
	keys := fixedKeyring(tokens)
	w := &httpServer{keys: keys, h: HTTPOptions{Addr: "127.0.0.1:7777"}}
	f.Fuzz(func(t *testing.T, host, origin, authorization string) {
		if w.allowsHost(host) && strings.Contains(strings.ToLower(host), "example") {
			t.Fatalf("%q is let in", host)
		}
		if w.allowsOrigins([]string{origin}) && strings.Contains(strings.ToLower(origin), "example") {
			t.Fatalf("%q is let in", origin)
		}
		secret, ok := parseBearer(authorization)
		if found := findToken(keys.currentTokens(), secret); ok && (found != nil) != (secret == masterToken) {
			t.Fatalf("%q is let in", authorization)
		}
	})
}

// initializeSession starts a session and returns the headers for requests in it.
func (s *site) initializeSession() []string {
	s.Helper()
	token := []string{"Authorization", "Bearer " + masterToken}
	status, answer, h := s.sendRequest(http.MethodPost, "/mcp", hello, token...)
	if status != 200 || h.Get("Mcp-Session-Id") == "" {
		s.Fatalf("status %d: %s", status, answer)
	}
	return append(token, "Mcp-Session-Id", h.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-11-25")
}

func TestInvalidRequestsGetAnErrorStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	session := s.initializeSession()
	ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for _, tc := range []struct {
		name, body string
		headers    []string
		status     int
	}{
		{"no body", "", nil, 400},
		{"no JSON", "{", nil, 400},
		{"no object", "7", nil, 400},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, nil, 400},
		{"a batch", "[" + ping + "]", nil, 400},
		{"an unknown method", callMessage("no/such", "{}"), nil, 400},
		{"a session that is over", ping, []string{"Mcp-Session-Id", "nope"}, 404},
		{"another type", ping, []string{"Content-Type", "text/plain"}, 415},
	} {
		status, answer, _ := s.sendRequest(http.MethodPost, "/mcp", tc.body, append(session[:len(session):len(session)], tc.headers...)...)
		if status != tc.status || answer == "" {
			t.Errorf("%s: status %d, want %d: %s", tc.name, status, tc.status, answer)
		}
	}
}

func TestBatchesAreAcceptedInOldVersions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	session := append(s.initializeSession(), "MCP-Protocol-Version", "2025-03-26")
	status, answer, _ := s.sendRequest(http.MethodPost, "/mcp", "["+callMessage("ping", "{}")+","+callMessage("ping", "{}")+"]", session...)
	if status != 200 || !strings.Contains(answer, `"id":7`) {
		t.Errorf("status %d: %s", status, answer)
	}
	status, answer, _ = s.sendRequest(http.MethodPost, "/mcp", "["+callMessage("tools/call", "[]")+"]", session...)
	if got := summarizeReply(t, answer); status != 200 || got.Code != -32602 {
		t.Errorf("status %d: %+v", status, got)
	}
}

func TestClientWithoutSessionsKeepsItsOwnerID(t *testing.T) {
	t.Parallel()
	if a, b := toolkit.LastingOwner("master", "agent:x/1"), toolkit.LastingOwner("master", "agent:x/1"); a != b || len(a) != 12 {
		t.Errorf("owners %s and %s", a, b)
	}
	if toolkit.LastingOwner("master", "agent:x/1") == toolkit.LastingOwner("other", "agent:x/1") || toolkit.LastingOwner("a", "b") == toolkit.LastingOwner("a", "c") {
		t.Error("two clients are one owner")
	}
	if a, b := (token{name: "default", sum: [32]byte{1}}), (token{name: "default", sum: [32]byte{2}}); a.id() == b.id() {
		t.Error("two tokens of one name are one client")
	}
	s := &server{stateful: true}
	if who := (caller{token: "master", actor: "agent:x/1"}); func() bool { first := s.ownerOf(who); return first == s.ownerOf(who) }() {
		t.Error("two sessions are one owner")
	}
}

func TestEmptyDataDirIsMadePrivateBeforeTokens(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		holds string
		want  os.FileMode
	}{"an empty one": {"", 0o700}, "one in use": {"notes", 0o755}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if tc.holds != "" {
				if err := os.WriteFile(filepath.Join(dir, tc.holds), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := restrictEmptyDir(dir); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(dir)
			if err != nil || info.Mode().Perm() != tc.want {
				t.Errorf("its mode is %v, want %v: %v", info.Mode().Perm(), tc.want, err)
			}
		})
	}
	if err := restrictEmptyDir(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
}
