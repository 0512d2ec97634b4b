package page

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/engine/api/sockets"
	"tandem/engine/page/devices"
	"tandem/tests/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A rig is a page and its fake engine.
type rig struct {
	testing.TB
	book    *devices.Book
	page    *Page
	server  *httptest.Server
	dir     string
	options Options
}

func newRig(t testing.TB, m *server.Mux, change func(o *Options)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, _ := sockets.Paths(dir)
	l, err := server.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx, l) }()
	r := &rig{TB: t, book: devices.Open(dir), server: httptest.NewUnstartedServer(nil)}
	o := Options{Book: r.book, Version: "1.2.3", Log: io.Discard, Engine: func(ctx context.Context, _ string) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Name: "page", Version: "1.2.3"})
	}}
	o.Origin.Port, _ = strconv.Atoi(r.server.Listener.Addr().String()[strings.LastIndexByte(r.server.Listener.Addr().String(), ':')+1:])
	if change != nil {
		change(&o)
	}
	r.dir, r.options = dir, o
	r.page = New(o)
	r.server.Config = r.page.Server()
	r.server.Start()
	t.Cleanup(func() {
		r.page.Close()
		r.server.Close()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return r
}

// infoMux is an engine that tells its version.
func infoMux() *server.Mux {
	m := server.NewMux(nil)
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{EnginePID: os.Getpid(), Version: "1.2.3", Protocol: api.Protocol}, nil
	})
	server.Handle(m, api.EnginePeer, func(context.Context, api.EnginePeerInput) (api.EnginePeerOutput, error) {
		return api.EnginePeerOutput{}, nil
	})
	return m
}

// A browser keeps cookies, and one key each for the page and for every link.
type browser struct {
	*rig
	http http.Client
	base string // of a link
	keys map[string]*browserKey
}

// A browserKey is the key of a browser, with the id of the device it was paired as and the bearer
// token for its latest proof.
type browserKey struct {
	private *ecdsa.PrivateKey
	device  string
	bearer  string
}

func (r *rig) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.Fatal(err)
	}
	b := &browser{rig: r, http: http.Client{Jar: jar, Transport: &http.Transport{}}, keys: map[string]*browserKey{}}
	r.Cleanup(b.http.CloseIdleConnections)
	return b
}

// paired returns a browser that is paired with the permissions in grant and has a bearer token.
func (r *rig) paired(grant devices.Grant) *browser {
	r.Helper()
	b := r.browser()
	if grant.Session != "" {
		b.base = "/" + strings.TrimSuffix(LinkPath(grant.Session), "/")
	}
	if status, body := b.pair(r.code(grant)); status != http.StatusOK {
		r.Fatalf("pair: %d %s", status, body)
	}
	return b
}

func (r *rig) code(grant devices.Grant) string {
	r.Helper()
	code, err := r.book.NewCode(grant)
	if err != nil {
		r.Fatal(err)
	}
	return code
}

// pair makes a key, pairs with it and proves it.
func (b *browser) pair(code string) (status int, body string) {
	b.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	status, body = b.post("/pair", `{"code":"`+code+`","key":"`+base64.StdEncoding.EncodeToString(public)+`"}`)
	if status != http.StatusOK {
		return status, body
	}
	var me Me
	if err := json.Unmarshal([]byte(body), &me); err != nil {
		b.Fatalf("%s: %v", body, err)
	}
	b.keys[b.base] = &browserKey{private: private, device: me.Device}
	if status, body := b.prove(b.nonce(), b.server.URL); status != http.StatusOK {
		b.Fatalf("prove: %d %s", status, body)
	}
	return status, body
}

func (b *browser) nonce() string {
	b.Helper()
	var c challenge
	if status, body := b.post("/session", `{}`); status != http.StatusOK || json.Unmarshal([]byte(body), &c) != nil {
		b.Fatalf("%d %s", status, body)
	}
	return c.Nonce
}

// signed is a nonce, signed at an origin.
func (b *browser) signed(nonce, origin string) string {
	b.Helper()
	k := b.keys[b.base]
	sum := sha256.Sum256([]byte(toSign(origin, k.device, nonce)))
	x, y, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	if err != nil {
		b.Fatal(err)
	}
	raw := make([]byte, 64)
	x.FillBytes(raw[:32])
	y.FillBytes(raw[32:])
	return `{"device":"` + k.device + `","nonce":"` + nonce + `","signature":"` + base64.StdEncoding.EncodeToString(raw) + `"}`
}

// prove signs a nonce at an origin and keeps the bearer for it.
func (b *browser) prove(nonce, origin string) (status int, body string) {
	b.Helper()
	status, body = b.post("/session", b.signed(nonce, origin))
	var out session
	if status == http.StatusOK {
		if err := json.Unmarshal([]byte(body), &out); err != nil {
			b.Fatalf("%s: %v", body, err)
		}
		b.keys[b.base].bearer = out.Bearer
	}
	return status, body
}

func (b *browser) post(path, body string) (int, string) {
	b.Helper()
	return b.send(b.request(http.MethodPost, path, body))
}

func (b *browser) get(path string) (int, string) {
	b.Helper()
	return b.send(b.request(http.MethodGet, path, ""))
}

// request is one as the page sends it.
func (b *browser) request(method, path, body string) *http.Request {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.server.URL+b.base+path, bytes.NewBufferString(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Origin", b.server.URL)
	}
	if k := b.keys[b.base]; k != nil {
		r.Header.Set("Authorization", "Bearer "+k.bearer)
	}
	return r
}

func (b *browser) send(r *http.Request) (int, string) {
	b.Helper()
	answer, err := b.http.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// events opens the event stream. next returns the next event; ok is false once the stream has
// ended.
func (b *browser) events() (next func() (name string, e api.Event, ok bool)) {
	b.Helper()
	answer, err := b.http.Do(b.request(http.MethodGet, "/events", ""))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK {
		b.Fatalf("events: %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	return func() (name string, e api.Event, ok bool) {
		for lines.Scan() {
			if event, is := strings.CutPrefix(lines.Text(), "event: "); is {
				name = event
			}
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					b.Errorf("event %s: %v", data, err)
				}
				return name, e, true
			}
		}
		return "", e, false
	}
}
