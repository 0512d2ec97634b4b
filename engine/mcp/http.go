package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/httplimit"
	"tandem/engine/mcp/toolkit"
	"tandem/persist/datadir"
)

const (
	// bodyMost is how large a request may be.
	bodyMost = 16 << 20
	// sessionIdle is how long a session may be without a request.
	sessionIdle = 6 * time.Hour
	// replayBytes is how much of its event streams a server keeps for clients
	// that lost their connection.
	replayBytes = 1 << 20
	// shutdownTimeout is how long requests may take to end when the server does.
	shutdownTimeout = 2 * time.Second
)

// HTTPOptions say where a server listens and whom it lets in.
type HTTPOptions struct {
	Addr         string   // host:port; a host that is not loopback must be said
	DataDir      string   // the data folder, absolute
	TokenFile    string   // absolute; default agent-tokens in the data folder
	AllowHosts   []string // names that requests may be for, beside the loopback interface's
	AllowOrigins []string // origins of web pages that may send requests
	Insecure     bool     // let agents in over a network without TLS
	Tell         io.Writer
}

// ServeHTTP serves agents over HTTP until ctx ends: MCP at /mcp, the engine's
// operations at /v1/, and /healthz.
func ServeHTTP(ctx context.Context, o toolkit.Options, h HTTPOptions) error {
	l, err := h.listen(ctx)
	if err != nil {
		return err
	}
	defer l.Close() // in vain once it was served
	if err := closeEmpty(h.DataDir); err != nil {
		return err
	}
	keys, err := readKeyring(h.tokenFile(), h.Tell)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.Tell, "tandem: serving agents at http://%s/mcp\n", l.Addr())
	ctx, cancel := context.WithCancel(ctx)
	w := newWeb(ctx, o.Hiding(), h, keys)
	defer w.close()
	defer cancel()
	return w.serve(ctx, l)
}

// closeEmpty closes an empty data folder to others before anything of ours is
// in it: the engine takes one that is open and holds something for a mistake.
func closeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) > 0:
		return nil
	case err == nil:
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("prepare data folder: %w", err)
	}
	return nil
}

// TokenFiles are where the tokens of agents are, and where they are by default.
func (h HTTPOptions) TokenFiles() []string {
	files := []string{filepath.Join(h.DataDir, datadir.AgentTokens)}
	if h.TokenFile != "" {
		files = append(files, h.TokenFile)
	}
	return files
}

func (h HTTPOptions) tokenFile() string {
	if h.TokenFile != "" {
		return h.TokenFile
	}
	return filepath.Join(h.DataDir, datadir.AgentTokens)
}

// A web is what is served over HTTP: for each token, servers of its own.
type web struct {
	ctx      context.Context
	o        toolkit.Options
	h        HTTPOptions
	keys     *keyring
	engine   http.Handler // the operation table
	bodyTime time.Duration
	tasks    sync.WaitGroup // goroutines that end with ctx

	mu        sync.Mutex
	servers   map[serverKey]*server
	stateful  http.Handler // protocol versions with sessions
	stateless http.Handler // those without
}

// A serverKey tells a web's servers apart.
type serverKey struct {
	token    *token
	stateful bool
}

func newWeb(ctx context.Context, o toolkit.Options, h HTTPOptions, keys *keyring) *web {
	w := &web{ctx: ctx, o: o, h: h, keys: keys, bodyTime: httplimit.BodyTime, servers: map[serverKey]*server{}}
	events := sdk.NewMemoryEventStore(nil)
	events.SetMaxBytes(replayBytes)
	w.stateful = sdk.NewStreamableHTTPHandler(w.serverOf(true), &sdk.StreamableHTTPOptions{
		EventStore: events, SessionTimeout: sessionIdle, MaxRequestBodyBytes: bodyMost, DisableLocalhostProtection: true})
	w.stateless = sdk.NewStreamableHTTPHandler(w.serverOf(false), &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: bodyMost, DisableLocalhostProtection: true, PropagateRequestCancellation: true})
	w.engine = w.operations()
	w.tasks.Go(func() { keys.follow(ctx) })
	return w
}

// close ends all servers. Its ctx has ended.
func (w *web) close() {
	w.mu.Lock()
	servers := w.servers
	w.servers = nil
	w.mu.Unlock()
	for _, s := range servers {
		s.close()
	}
	w.tasks.Wait()
}

// serverOf finds the server of a request, by its token.
func (w *web) serverOf(stateful bool) func(*http.Request) *sdk.Server {
	return func(r *http.Request) *sdk.Server {
		t := tokenOf(r.Context())
		w.mu.Lock()
		defer w.mu.Unlock()
		if t == nil || t.life.Err() != nil || w.servers == nil {
			return nil
		}
		key := serverKey{t, stateful}
		if w.servers[key] == nil {
			w.servers[key] = w.newServer(key)
		}
		return w.servers[key].sdk
	}
}

// newServer makes a server that ends with its token. The lock is held.
func (w *web) newServer(key serverKey) *server {
	ctx, cancel := context.WithCancel(w.ctx)
	s := newServer(ctx, optionsOf(w.o, *key.token))
	s.stateful = key.stateful
	context.AfterFunc(key.token.life, func() {
		if w.drop(key) {
			defer w.tasks.Done()
			cancel()
			s.close()
		}
	})
	return s
}

// drop takes the server of a token that is no longer good, to be closed; false if
// all are being closed.
func (w *web) drop(key serverKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.servers == nil {
		return false
	}
	delete(w.servers, key)
	w.tasks.Add(1)
	return true
}

// optionsOf is what a token leaves of the options.
func optionsOf(o toolkit.Options, t token) toolkit.Options {
	if len(t.profiles) > 0 {
		o.Profiles = t.profiles
	}
	o.Name, o.ReadOnly = t.name, o.ReadOnly || t.readOnly
	return o
}

// serve answers requests until ctx ends.
func (w *web) serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler:           w,
		ReadHeaderTimeout: httplimit.HeaderTime,
		IdleTimeout:       httplimit.IdleTime,
		MaxHeaderBytes:    httplimit.MaxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if s.Shutdown(grace) != nil {
			s.Close()
		}
	})
	err := s.Serve(httplimit.Connections(l, httplimit.MaxConnections))
	if stop() {
		s.Close()
		return fmt.Errorf("serve agents: %w", err)
	}
	<-done
	return nil
}

// ServeHTTP checks who asks for what from where, and passes it on.
func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	httplimit.Body(rw, r, w.bodyTime, 0)
	switch {
	case !w.knowsHost(r.Host):
		refuse(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "the Host header names another server").
			WithHint("tandem --serve --allow-host NAME allows it"))
	case !w.knowsOrigin(r.Header.Values("Origin")):
		refuse(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "pages from this Origin may not send requests").
			WithHint("tandem --serve --allow-origin ORIGIN allows it"))
	case w.preflight(rw, r):
	case r.URL.Path == "/healthz":
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(rw, "ok")
	default:
		w.authorize(rw, r)
	}
}

// authorize lets in who has a token.
func (w *web) authorize(rw http.ResponseWriter, r *http.Request) {
	secret, ok := bearer(r.Header.Get("Authorization"))
	challenge := `Bearer realm="tandem"`
	var t *token
	if ok {
		challenge += `, error="invalid_token"`
		t = find(w.keys.current(), secret)
	}
	if t == nil {
		rw.Header().Set("WWW-Authenticate", challenge)
		refuse(rw, http.StatusUnauthorized, api.Errorf(api.CodeForbidden, "the bearer token is missing or unknown").
			WithHint("send Authorization: Bearer TOKEN with a token of the file that the server was given, or of agent-tokens in the data folder"))
		return
	}
	if r.ContentLength > bodyMost {
		rw.Header().Set("Connection", "close")
		refuse(rw, http.StatusRequestEntityTooLarge, api.Errorf(api.CodeInvalid, "the request is larger than %d bytes", bodyMost))
		return
	}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), tokenKey{}, t))
	defer cancel()
	stop := context.AfterFunc(t.life, cancel)
	defer stop()
	r = r.WithContext(ctx)
	switch {
	case r.URL.Path == "/mcp":
		w.protocol(t).ServeHTTP(rw, r)
	case strings.HasPrefix(r.URL.Path, "/v1/"):
		w.engine.ServeHTTP(rw, r)
	default:
		refuse(rw, http.StatusNotFound, api.Errorf(api.CodeNotFound, "no such path").WithHint("use /mcp, /v1/ or /healthz"))
	}
}

type tokenKey struct{}

func tokenOf(ctx context.Context) *token {
	t, _ := ctx.Value(tokenKey{}).(*token)
	return t
}

// protocol serves MCP by the version that the request is in. The SDK is told
// whose request it is, so that no other token can use a session.
func (w *web) protocol(t *token) http.Handler {
	known := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: t.id()}, nil
	}
	byVersion := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answer, r := examined(rw, r)
		switch {
		case answer == nil:
		case r.Header.Get("MCP-Protocol-Version") >= toolkit.WithoutSessions:
			w.stateless.ServeHTTP(answer, r)
		default:
			w.stateful.ServeHTTP(answer, r)
		}
	})
	return auth.RequireBearerToken(known, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(byVersion)
}

// refuse answers with an error as the operations do.
func refuse(rw http.ResponseWriter, status int, e *api.Error) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(e) // a client that has gone need not know
}
