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

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/httplimit"
	"tandem/persist/datadir"
)

const (
	// maxBody is the maximum size of a request body in bytes.
	maxBody = 16 << 20
	// sessionIdle is how long a session may go without a request.
	sessionIdle = 6 * time.Hour
	// replayBytes is how much of its event streams a server keeps for clients that reconnect.
	replayBytes = 1 << 20
	// shutdownTimeout limits how long running requests delay the server's exit.
	shutdownTimeout = 2 * time.Second
)

// HTTPOptions configure an HTTP server for agents.
type HTTPOptions struct {
	Addr         string   // host:port; without a host, the loopback interface
	DataDir      string   // the data directory, absolute
	TokenFile    string   // absolute; default: agent-tokens in the data directory
	AllowHosts   []string // accepted Host headers besides those of the loopback interface
	AllowOrigins []string // origins of web pages allowed to send requests
	Insecure     bool     // serve networks without TLS
	Notices      io.Writer
}

// ServeHTTP serves agents over HTTP until ctx ends: MCP at /mcp, the engine's operations at /v1/,
// and /healthz.
func ServeHTTP(ctx context.Context, o toolkit.Options, h HTTPOptions) error {
	l, err := h.listen(ctx)
	if err != nil {
		return err
	}
	defer l.Close() // fails harmlessly after serving
	if err := restrictEmptyDir(h.DataDir); err != nil {
		return err
	}
	keys, err := readKeyring(h.tokenPath(), h.Notices)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.Notices, "tandem: serving agents at http://%s/mcp\n", l.Addr())
	ctx, cancel := context.WithCancel(ctx)
	w := newHTTPServer(ctx, o.HideSecrets(), h, keys)
	defer w.close()
	defer cancel()
	return w.serveListener(ctx, l)
}

// restrictEmptyDir makes an empty data directory private before the server writes to it. The engine
// rejects an accessible directory with files in it as a mistake.
func restrictEmptyDir(dir string) error {
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

// TokenFiles returns the paths of the default tokens file and, if set, of TokenFile.
func (h HTTPOptions) TokenFiles() []string {
	files := []string{filepath.Join(h.DataDir, datadir.AgentTokens)}
	if h.TokenFile != "" {
		files = append(files, h.TokenFile)
	}
	return files
}

func (h HTTPOptions) tokenPath() string {
	if h.TokenFile != "" {
		return h.TokenFile
	}
	return filepath.Join(h.DataDir, datadir.AgentTokens)
}

// An httpServer serves agents over HTTP. Each token has MCP servers of its own.
type httpServer struct {
	ctx      context.Context
	o        toolkit.Options
	h        HTTPOptions
	keys     *keyring
	engine   http.Handler // the operation table
	bodyTime time.Duration
	tasks    sync.WaitGroup // goroutines that end with ctx

	mu        sync.Mutex
	servers   map[serverKey]*server
	stateful  http.Handler // for protocol versions with sessions
	stateless http.Handler // for later versions
}

// A serverKey identifies one of the MCP servers of an httpServer.
type serverKey struct {
	token    *token
	stateful bool
}

func newHTTPServer(ctx context.Context, o toolkit.Options, h HTTPOptions, keys *keyring) *httpServer {
	w := &httpServer{ctx: ctx, o: o, h: h, keys: keys, bodyTime: httplimit.BodyTime, servers: map[serverKey]*server{}}
	events := sdk.NewMemoryEventStore(nil)
	events.SetMaxBytes(replayBytes)
	w.stateful = sdk.NewStreamableHTTPHandler(w.serverOf(true), &sdk.StreamableHTTPOptions{
		EventStore: events, SessionTimeout: sessionIdle, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true})
	w.stateless = sdk.NewStreamableHTTPHandler(w.serverOf(false), &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true, PropagateRequestCancellation: true})
	w.engine = w.operationsHandler()
	w.tasks.Go(func() { keys.watchFile(ctx) })
	return w
}

// close shuts all MCP servers down and waits for them. The caller has ended w.ctx.
func (w *httpServer) close() {
	w.mu.Lock()
	servers := w.servers
	w.servers = nil
	w.mu.Unlock()
	for _, s := range servers {
		s.close()
	}
	w.tasks.Wait()
}

// serverOf returns a function finding the MCP server for a request by its token.
func (w *httpServer) serverOf(stateful bool) func(*http.Request) *sdk.Server {
	return func(r *http.Request) *sdk.Server {
		t := tokenOf(r.Context())
		w.mu.Lock()
		defer w.mu.Unlock()
		// The token may have been revoked, or the server closed, since the request was authorized.
		if t == nil || t.life.Err() != nil || w.servers == nil {
			return nil
		}
		key := serverKey{t, stateful}
		if w.servers[key] == nil {
			w.servers[key] = w.newTokenServer(key)
		}
		return w.servers[key].sdk
	}
}

// newTokenServer makes an MCP server and closes it when its token is revoked. The caller holds
// w.mu.
func (w *httpServer) newTokenServer(key serverKey) *server {
	ctx, cancel := context.WithCancel(w.ctx)
	s := newServer(ctx, optionsFor(w.o, *key.token))
	s.stateful = key.stateful
	context.AfterFunc(key.token.life, func() {
		if w.removeServer(key) {
			defer w.tasks.Done()
			cancel()
			s.close()
		}
	})
	return s
}

// removeServer removes the MCP server of a revoked token. The caller must then close it and call
// w.tasks.Done. removeServer returns false if close is already closing all servers.
func (w *httpServer) removeServer(key serverKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.servers == nil {
		return false
	}
	delete(w.servers, key)
	// Under the lock, so that close cannot pass Wait before this task is counted.
	w.tasks.Add(1)
	return true
}

// optionsFor returns the options narrowed to what a token permits.
func optionsFor(o toolkit.Options, t token) toolkit.Options {
	if len(t.profiles) > 0 {
		o.Profiles = t.profiles
	}
	o.Name, o.ReadOnly = t.name, o.ReadOnly || t.readOnly
	return o
}

// serveListener answers requests until ctx ends.
func (w *httpServer) serveListener(ctx context.Context, l net.Listener) error {
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
	err := s.Serve(httplimit.LimitConnections(l, httplimit.MaxConnections))
	if stop() {
		s.Close()
		return fmt.Errorf("serve agents: %w", err)
	}
	<-done
	return nil
}

// ServeHTTP checks the Host and Origin of a request and passes it on.
func (w *httpServer) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	httplimit.LimitBody(rw, r, w.bodyTime, 0)
	// These checks also protect /healthz, which needs no token.
	switch {
	case !w.allowsHost(r.Host):
		writeError(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "the Host header names another server").
			WithHint("tandem --serve --allow-host NAME allows it"))
	case !w.allowsOrigins(r.Header.Values("Origin")):
		writeError(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "pages from this Origin may not send requests").
			WithHint("tandem --serve --allow-origin ORIGIN allows it"))
	case w.handlePreflight(rw, r):
	case r.URL.Path == "/healthz":
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(rw, "ok")
	default:
		w.authorize(rw, r)
	}
}

// authorize serves a request with a valid bearer token, and rejects others. Revoking the token
// cancels the request.
func (w *httpServer) authorize(rw http.ResponseWriter, r *http.Request) {
	secret, ok := parseBearer(r.Header.Get("Authorization"))
	challenge := `Bearer realm="tandem"`
	var t *token
	if ok {
		challenge += `, error="invalid_token"`
		t = findToken(w.keys.currentTokens(), secret)
	}
	if t == nil {
		rw.Header().Set("WWW-Authenticate", challenge)
		writeError(rw, http.StatusUnauthorized, api.Errorf(api.CodeForbidden, "the bearer token is missing or unknown").
			WithHint("send Authorization: Bearer TOKEN with a token from the server's token file, or from agent-tokens in the data folder"))
		return
	}
	if r.ContentLength > maxBody {
		rw.Header().Set("Connection", "close")
		writeError(rw, http.StatusRequestEntityTooLarge, api.Errorf(api.CodeInvalid, "the request is larger than %d bytes", maxBody))
		return
	}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), tokenKey{}, t))
	defer cancel()
	stop := context.AfterFunc(t.life, cancel)
	defer stop()
	r = r.WithContext(ctx)
	switch {
	case r.URL.Path == "/mcp":
		w.protocolHandler(t).ServeHTTP(rw, r)
	case strings.HasPrefix(r.URL.Path, "/v1/"):
		w.engine.ServeHTTP(rw, r)
	default:
		writeError(rw, http.StatusNotFound, api.Errorf(api.CodeNotFound, "no such path").WithHint("use /mcp, /v1/ or /healthz"))
	}
}

type tokenKey struct{}

func tokenOf(ctx context.Context) *token {
	t, _ := ctx.Value(tokenKey{}).(*token)
	return t
}

// protocolHandler serves MCP with the SDK handler for the request's protocol version. It gives the
// SDK the token's id, so that no other token can use the session.
func (w *httpServer) protocolHandler(t *token) http.Handler {
	known := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: t.id()}, nil
	}
	byVersion := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("MCP-Protocol-Version") >= toolkit.WithoutSessions {
			w.stateless.ServeHTTP(rw, r)
			return
		}
		w.stateful.ServeHTTP(rw, r)
	})
	return auth.RequireBearerToken(known, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(byVersion)
}

// writeError sends an error in the format of the engine's operations.
func writeError(rw http.ResponseWriter, status int, e *api.Error) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(e) // the client may have disconnected
}
