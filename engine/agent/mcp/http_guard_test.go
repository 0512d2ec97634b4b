package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/persist/datadir"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

func TestListeningOnNetworkWithoutTLSNeedsInsecure(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		addr     string
		insecure bool
		refused  string
		warns    string
	}{
		{"0.0.0.0:0", false, "serve agents at http://0.0.0.0:0: tokens and output would cross the network unencrypted", ""},
		{"[::]:0", false, "serve agents at http://[::]:0: ", ""},
		{"0.0.0.0:0", true, "", "no TLS at http://0.0.0.0:0"},
		{":0", false, "", ""},
		{"127.0.0.1:0", true, "", ""},
		{"localhost:0", false, "", ""},
		{"7777", false, "not a host:port", ""},
	} {
		var told bytes.Buffer
		l, err := HTTPOptions{Addr: tc.addr, Insecure: tc.insecure, Notices: &told}.listen(t.Context())
		if err == nil {
			l.Close()
		}
		if (err != nil) != (tc.refused != "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
			t.Errorf("%s: %v", tc.addr, err)
		}
		if tc.warns == "" && told.Len() > 0 || !strings.Contains(told.String(), tc.warns) {
			t.Errorf("%s: it says %q", tc.addr, &told)
		}
	}
}

// newKeyringSite returns a site whose tokens are in a file. write replaces the file's text, and
// told returns the notices printed about it.
func newKeyringSite(t *testing.T, text string) (s *site, write func(text string), told func() string) {
	e := newFakeEngine(t)
	path := filepath.Join(t.TempDir(), "tokens")
	write = func(text string) {
		draft := path + ".new"
		if err := os.WriteFile(draft, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(draft, path); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	said := &lockedBuffer{}
	keys, err := readKeyring(path, said)
	if err != nil {
		t.Fatal(err)
	}
	s = newSiteWith(t, e.options(), keys, e.dir)
	s.engine = e
	return s, write, said.String
}

// A lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *lockedBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *lockedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// openStream opens an event stream. gone is closed when the stream ends.
func (s *site) openStream(path string, headers ...string) (gone <-chan struct{}) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.Fatal(resp, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, resp.Body) // only its end matters
		resp.Body.Close()
	}()
	s.Cleanup(func() { cancel(); <-ended })
	return ended
}

func TestRemovingTokenDisconnectsItsClients(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	s, write, _ := newKeyringSite(t, masterToken+" name=master\n"+readerToken+" name=reader\n")
	for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
		if _, err := s.connect(masterToken, version).ListResources(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	s.engine.awaitAgents(t, 2)
	session := s.initializeSession()
	open := map[string]<-chan struct{}{
		"events":                s.openStream("/v1/events.watch", session[:2]...),
		"an agent's session":    s.openStream("/mcp", session...),
		"somebody else's still": s.openStream("/v1/events.watch", "Authorization", "Bearer "+readerToken),
	}
	write(readerToken + " name=reader\n")
	for what, gone := range open {
		if strings.HasSuffix(what, "still") {
			continue
		}
		wait.Receive(t, "the end of "+what, gone)
	}
	s.engine.awaitAgents(t, 1) // only the read-only client is left
	select {
	case <-open["somebody else's still"]:
		t.Error("another token's stream was cut")
	default:
	}
	for _, path := range []string{"/mcp", "/v1/process.list"} {
		if got, answer, _ := s.sendRequest(http.MethodPost, path, "", session...); got != http.StatusUnauthorized {
			t.Errorf("%s: status %d: %s", path, got, answer)
		}
	}
	write(masterToken + " name=master\n")
	if got, answer, _ := s.sendRequest(http.MethodPost, "/v1/process.list", "", session[:2]...); got != http.StatusOK {
		t.Errorf("once it is there again: status %d: %s", got, answer)
	}
	if got, answer, _ := s.sendRequest(http.MethodPost, "/mcp", callMessage("ping", "{}"), session...); got != http.StatusNotFound {
		t.Errorf("the session of before: status %d: %s", got, answer)
	}
}

func TestChangedTokenAppliesToNextRequest(t *testing.T) {
	t.Parallel()
	s, write, told := newKeyringSite(t, masterToken+" name=master\n")
	bearer := []string{"Authorization", "Bearer " + masterToken}
	may := func(path string, want int) {
		t.Helper()
		if got, answer, _ := s.sendRequest(http.MethodPost, path, "", bearer...); got != want {
			t.Errorf("%s: status %d, want %d: %s", path, got, want, answer)
		}
	}
	session := s.initializeSession()
	may("/v1/session.kill", 200)
	write(masterToken + " name=master read-only\n")
	may("/v1/session.kill", 403)
	may("/v1/process.list", 200)
	wait.Poll(t, "the end of the session", func() (status int, done bool) {
		status, _, _ = s.sendRequest(http.MethodPost, "/mcp", callMessage("ping", "{}"), session...)
		return status, status == http.StatusNotFound
	})
	list, err := s.connect(masterToken, toolkit.WithoutSessions).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name == "exec" {
			t.Error("who only reads is offered exec")
		}
	}
	write("short\n")
	may("/v1/process.list", 200)
	may("/v1/session.kill", 403)
	if want := "line 1: the token is shorter than 16 characters; the old tokens stay valid\n"; strings.Count(told(), want) != 1 {
		t.Errorf("it says %q", told())
	}
	write(masterToken + " name=master profile=os\n")
	may("/v1/process.list", 403)
}

func TestMissingBodyTimesOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.web.bodyTime = 20 * time.Millisecond // before the first request
	for token, status := range map[string][2]int{
		masterToken: {http.StatusBadRequest, http.StatusRequestTimeout}, // of the SDK, and of the operations
		"nope":      {http.StatusUnauthorized, http.StatusUnauthorized},
	} {
		for i, path := range []string{"/mcp", "/v1/process.list"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.SetDeadline(time.Now().Add(wait.Timeout)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n"+
				"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\r\n{", path, token)
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err != nil || resp.StatusCode != status[i] {
				t.Fatalf("%s with %s: %v, %v", path, token, resp, err)
			}
			if _, err := io.Copy(io.Discard, in); err != nil {
				t.Errorf("%s with %s: the connection stays open: %v", path, token, err)
			}
			conn.Close()
		}
	}
	if got, answer, _ := s.sendRequest(http.MethodPost, "/v1/process.list", "{}", "Authorization", "Bearer "+masterToken); got != http.StatusOK {
		t.Errorf("a body that arrives: status %d: %s", got, answer)
	}
}

// The engine must not see a client's identity headers, in any spelling or position.
func TestClientHeadersDoNotReachEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	forged := (&api.Bounds{Name: "forged"}).Header()
	for _, head := range []string{
		"Tandem-Bounds: " + forged + "\r\nTandem-Owner: x\r\nTandem-Client: dashboard\r\nContent-Length: 0\r\n\r\n",
		"tAnDeM-bOuNdS: " + forged + "\r\ntandem-owner: \r\nContent-Length: 0\r\n\r\n",
		"Connection: Tandem-Bounds, tandem-owner, Tandem-Client\r\nContent-Length: 0\r\n\r\n",
		"Connection: Upgrade, Tandem-Bounds\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n",
		"Transfer-Encoding: chunked\r\nTrailer: Tandem-Bounds, Tandem-Owner\r\n\r\n2\r\n{}\r\n0\r\nTandem-Bounds: " + forged + "\r\nTandem-Owner: x\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v1/process.list HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s", readerToken, head)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%q: %v, %v", head, resp, err)
		}
		conn.Close()
	}
	for _, got := range s.engine.callers {
		if got.Name != "agent:http-reader" || got.Owner != s.web.keys.currentTokens()[1].owner() || got.Bounds.Name != "reader" || !got.Bounds.ReadOnly {
			t.Errorf("the engine sees %+v", got)
		}
	}
	if len(s.engine.callers) != 5 {
		t.Errorf("the engine was called %d times", len(s.engine.callers))
	}
}

// On a connection to another machine, the client would write the headers itself.
func TestTokenOpensNoConnectionToAnotherMachine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/v1/engine.open", "/v1/engine%2Eopen"} {
		status, answer, _ := s.sendRequest(http.MethodGet, path+"?machine=b", "", "Authorization", "Bearer "+masterToken,
			"Connection", "Upgrade", "Upgrade", "tandem")
		if status != http.StatusForbidden {
			t.Errorf("%s: status %d: %s", path, status, answer)
		}
	}
}

func TestStreamObeysBoundsOfItsToken(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	p, err := api.SessionStart.Call(t.Context(), r.userClient(), api.SessionStartInput{Command: []string{"cat"}, Name: "mine", CWD: "/"})
	if err != nil {
		t.Fatal(err)
	}
	s := r.newHTTPSite(func(o *toolkit.Options) { o.Sandbox = &api.Sandbox{} })
	attach := []string{"Authorization", "Bearer " + masterToken, "Connection", "Upgrade, Tandem-Bounds", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg==", "Tandem-Bounds", (&api.Bounds{}).Header(), "tandem-owner", ""}
	if got, answer, _ := s.sendRequest(http.MethodGet, "/v1/session.attach?raw=true&client=dashboard&id="+p.ID, "", attach...); got != http.StatusForbidden ||
		!strings.Contains(answer, "outside the agents' sandbox") {
		t.Errorf("status %d: %s", got, answer)
	}
	r.writePolicy("[[rule]]\ndecision = \"deny\"\nwrite = true\ntool = [\"session.attach\"]")
	free := r.newHTTPSite(func(*toolkit.Options) {})
	for _, query := range []string{"", "&read_only=false", "&read_only=true&read_only=false"} {
		if got, answer, _ := free.sendRequest(http.MethodGet, "/v1/session.attach?raw=true&id="+p.ID+query, "", attach...); got != http.StatusForbidden ||
			!strings.Contains(answer, "rule 1") {
			t.Errorf("%s: status %d: %s", query, got, answer)
		}
	}
	r.writePolicy("[[rule]]\ndecision = \"deny\"\ntool = [\"events.watch\", \"process_list\"]")
	if got, answer, _ := s.sendRequest(http.MethodGet, "/v1/events.watch", "", "Authorization", "Bearer "+masterToken); got != http.StatusForbidden {
		t.Errorf("status %d: %s", got, answer)
	}
	list, err := r.serveClient(nil).ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 0 {
		t.Errorf("a list that is denied has %+v, %v", list, err)
	}
}

func TestSandboxHidesTokensFiles(t *testing.T) {
	t.Parallel()
	here := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(here, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := toolkit.Options{Sandbox: &api.Sandbox{}, Secrets: []string{here, here, here + "-not"}}
	if got := o.HideSecrets().Sandbox.Filesystem.DenyRead; len(got) != 1 || got[0] != here {
		t.Errorf("it hides %v", got)
	}
	if len(o.Sandbox.Filesystem.DenyRead) != 0 {
		t.Error("the options have changed")
	}
	r := newRig(t, toolkit.Native)
	tokens := filepath.Join(r.dir, datadir.AgentTokens)
	if err := os.WriteFile(tokens, []byte(masterToken), 0o600); err != nil {
		t.Fatal(err)
	}
	r.agent.Options.Sandbox, r.agent.Options.Secrets = &api.Sandbox{}, HTTPOptions{DataDir: r.dir}.TokenFiles()
	if text, _ := r.callAsClient(r.serveClient(nil), "exec", object{"command": "cat " + tokens}); strings.Contains(text, masterToken) || !strings.Contains(text, "ermission denied") {
		t.Errorf("an agent reads %s", text)
	}
	if o.Sandbox = nil; o.HideSecrets().Sandbox != nil {
		t.Error("there was no sandbox")
	}
}

func TestRemovingTokenDisconnectsAttachedTerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	p, err := api.SessionStart.Call(t.Context(), r.agent.Engine, api.SessionStartInput{Command: []string{"cat"}, CWD: "/"})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := parseTokens(masterToken)
	if err != nil {
		t.Fatal(err)
	}
	keys := fixedKeyring(tokens)
	s := newSiteWith(r, *r.agent.Options, keys, r.dir)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(wait.Timeout)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /v1/session.attach?raw=true&id=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\n"+
		"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n", p.ID, masterToken)
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	keys.mu.Lock()
	keys.replaceTokens(nil)
	keys.mu.Unlock()
	if _, err := io.Copy(io.Discard, in); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it stays attached")
	}
}
