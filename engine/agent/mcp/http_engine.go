package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/httplimit"
)

const (
	attachStream = "session.attach"
	openStream   = "engine.open"
)

// operationsHandler passes the engine's operations and streams on, in the name of the token's
// bearer. The engine judges, limits and records them.
func (w *httpServer) operationsHandler() http.Handler {
	transport := &http.Transport{DialContext: w.dialEngine, DisableCompression: true}
	context.AfterFunc(w.ctx, transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "tandem"})
			w.setIdentity(p)
		},
		Transport:    transport,
		ErrorHandler: proxyError,
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if len(tokenOf(r.Context()).profiles) > 0 {
			writeError(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "call %s: this token is only for the tools at /mcp", operationOf(r)))
			return
		}
		if _, known := api.Find(operationOf(r)); !known {
			writeError(rw, http.StatusNotFound, api.Errorf(api.CodeNotFound, "call %s: there is no such operation", operationOf(r)).WithHint("docs/api.md lists the operations"))
			return
		}
		if operationOf(r) == openStream { // nothing would remove the client's headers from that connection
			writeError(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "call %s: a token gives no access to other machines", openStream))
			return
		}
		// Read the request before involving the engine: a client may send slowly or too much.
		body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
		if err != nil {
			status, e := httpError(err)
			writeError(rw, status, e)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(rw, r)
	})
}

// operationOf returns the name of the operation in a request's path.
func operationOf(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/v1/") }

// dialEngine connects to the engine, and starts one if none is running.
func (w *httpServer) dialEngine(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := client.DialEngine(ctx, w.h.DataDir)
	if err == nil {
		return conn, nil
	}
	started, err := w.o.Connect(ctx, "", "", nil)
	if err != nil {
		return nil, err
	}
	started.Close()
	return client.DialEngine(ctx, w.h.DataDir)
}

// proxyError reports a request that the engine has not answered.
func proxyError(rw http.ResponseWriter, _ *http.Request, err error) {
	writeError(rw, http.StatusServiceUnavailable, api.Errorf(api.CodeUnavailable, "reach the engine: %v", err).
		WithHint("the engine may be restarting: try again"))
}

// httpError returns the status and body for an error.
func httpError(err error) (status int, e *api.Error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge, api.Errorf(api.CodeInvalid, "the request is larger than %d bytes", large.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return http.StatusRequestTimeout, api.Errorf(api.CodeInvalid, "the request took longer than %v to arrive", httplimit.BodyTime)
	}
	e = api.AsError(err)
	return e.Code.Status(), e
}

// setIdentity sets the caller, the called operation and the bounds of a request to the engine, and
// removes any sent by the client.
func (w *httpServer) setIdentity(p *httputil.ProxyRequest) {
	h := p.Out.Header
	maps.DeleteFunc(h, func(name string, _ []string) bool { return strings.HasPrefix(strings.ToLower(name), "tandem-") })
	p.Out.Trailer = nil
	h.Del("Authorization")
	h.Del("Origin") // checked here; unknown to the engine
	t := tokenOf(p.In.Context())
	// To the engine, the bearer of a token is always an agent: it cannot type over the user or
	// answer requests of agents.
	name := t.actor()
	h.Set(api.ClientHeader, name)
	h.Set(api.OwnerHeader, t.owner())
	bounds := w.boundsOf(t)
	bounds.ToolsOnly, bounds.Elicits = false, false // the client could give the user's answer itself
	h.Set(api.BoundsHeader, bounds.Header())
	if operationOf(p.In) == attachStream {
		q := p.Out.URL.Query()
		q.Set("client", name)
		if bounds.ReadOnly {
			q.Set("read_only", "true")
		}
		p.Out.URL.RawQuery = q.Encode()
	}
}

// boundsOf returns the bounds for the bearer of a token.
func (w *httpServer) boundsOf(t *token) *api.Bounds {
	return optionsFor(w.o, *t).WithDefaults().Bounds()
}

// owner returns the id of the token's bearer as an owner of processes.
func (t *token) owner() string { return toolkit.LastingOwner(t.id(), t.actor()) }

// actor returns the name of the token's bearer in the engine.
func (t *token) actor() string { return "agent:http-" + toolkit.PlainName(t.name) }
