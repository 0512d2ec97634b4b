package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/engine/page/devices"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is a page over an engine that a test makes up.
type rig struct {
	testing.TB
	book   *devices.Book
	page   *Page
	server *httptest.Server
}

func newRig(t testing.TB, m *server.Mux, change func(o *Options)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, _ := api.Sockets(dir)
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
	r.page = New(o)
	r.server.Config.Handler = r.page
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
	return m
}

// A browser keeps a cookie.
type browser struct {
	*rig
	http http.Client
	base string // of a link
}

func (r *rig) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.Fatal(err)
	}
	b := &browser{rig: r, http: http.Client{Jar: jar, Transport: &http.Transport{}}}
	r.Cleanup(b.http.CloseIdleConnections)
	return b
}

// paired is a browser that was paired.
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

func (b *browser) pair(code string) (status int, body string) {
	b.Helper()
	return b.post("/pair", `{"code":"`+code+`"}`)
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

// events opens the stream; next gives its events, and false once it has ended.
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
