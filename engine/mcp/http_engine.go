package mcp

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

// operationsHandler passes the engine's operations on: calls, the event stream and attached
// terminals, each in the name of the token's bearer.
func (w *httpServer) operationsHandler() http.Handler {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return client.DialEngine(ctx, w.h.DataDir)
		},
		DisableCompression: true,
	}
	context.AfterFunc(w.ctx, transport.CloseIdleConnections)
	// The proxy flushes the event stream by itself. Other replies stay buffered until their call is
	// in the audit log, which keeps the log in the order of the calls.
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "tandem"})
			w.setIdentity(p)
		},
		Transport:    transport,
		ErrorHandler: proxyError,
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		t := tokenOf(r.Context())
		name := strings.TrimPrefix(r.URL.Path, "/v1/")
		switch {
		case len(t.profiles) > 0:
			writeError(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "call %s: this token is only for the tools at /mcp", name))
			return
		case (t.readOnly || w.o.ReadOnly) && !isReadOnly(name):
			writeError(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "call %s: this token is read-only", name))
			return
		}
		r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
		w.serveOperation(rw, r, name, proxy)
	})
}

// proxyError reports a request that did not reach the engine.
func proxyError(rw http.ResponseWriter, _ *http.Request, err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		writeError(rw, http.StatusRequestEntityTooLarge, api.Errorf(api.CodeInvalid, "the request is larger than %d bytes", maxBody))
		return
	}
	writeError(rw, http.StatusServiceUnavailable, api.Errorf(api.CodeUnavailable, "reach the engine: %v", err).
		WithHint("the engine may be restarting: try again"))
}

// setIdentity sets the client, owner and bounds of a request to the engine, and removes any sent by
// the client.
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
	h.Set("Tandem-Client", name)
	h.Set("Tandem-Owner", t.owner())
	h.Set(api.BoundsHeader, w.boundsOf(t).Header())
	if strings.HasSuffix(p.Out.URL.Path, "/session.attach") {
		q := p.Out.URL.Query()
		q.Set("client", name)
		if t.readOnly || w.o.ReadOnly {
			q.Set("read_only", "true")
		}
		p.Out.URL.RawQuery = q.Encode()
	}
}

// boundsOf returns the bounds for the bearer of a token.
func (w *httpServer) boundsOf(t *token) *api.Bounds {
	return optionsFor(w.o, *t).WithDefaults().Bounds()
}

// isReadOnly reports whether an operation changes nothing. Unknown operations pass, for the engine
// to reject.
func isReadOnly(name string) bool {
	return !slices.ContainsFunc(api.Operations(), func(e api.Entry) bool { return e.Name == name && e.Effect != api.Read })
}
