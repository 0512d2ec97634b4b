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

// operations passes the engine's operation table on: calls, the event stream
// and attached terminals, each as the bearer of the token.
func (w *web) operations() http.Handler {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return client.DialEngine(ctx, w.h.DataDir)
		},
		DisableCompression: true,
	}
	context.AfterFunc(w.ctx, transport.CloseIdleConnections)
	// Events go out as they come, which the proxy sees to by itself; an answer does
	// not before the call is in the audit log, so that calls are there in order.
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "tandem"})
			w.speakAs(p)
		},
		Transport:    transport,
		ErrorHandler: proxyError,
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		t := tokenOf(r.Context())
		name := strings.TrimPrefix(r.URL.Path, "/v1/")
		switch {
		case len(t.profiles) > 0:
			refuse(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "call %s: this token is only for the tools at /mcp", name))
			return
		case (t.readOnly || w.o.ReadOnly) && !reads(name):
			refuse(rw, http.StatusForbidden, api.Errorf(api.CodeForbidden, "call %s: this token is read-only", name))
			return
		}
		r.Body = http.MaxBytesReader(rw, r.Body, bodyMost)
		w.pass(rw, r, name, proxy)
	})
}

// proxyError answers a request that did not reach the engine.
func proxyError(rw http.ResponseWriter, _ *http.Request, err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		refuse(rw, http.StatusRequestEntityTooLarge, api.Errorf(api.CodeInvalid, "the request is larger than %d bytes", bodyMost))
		return
	}
	refuse(rw, http.StatusServiceUnavailable, api.Errorf(api.CodeUnavailable, "reach the engine: %v", err).
		WithHint("the engine may be restarting: try again"))
}

// speakAs says in whose name a request reaches the engine.
func (w *web) speakAs(p *httputil.ProxyRequest) {
	h := p.Out.Header
	maps.DeleteFunc(h, func(name string, _ []string) bool { return strings.HasPrefix(strings.ToLower(name), "tandem-") })
	p.Out.Trailer = nil
	h.Del("Authorization")
	h.Del("Origin") // checked here; the engine knows no pages
	t := tokenOf(p.In.Context())
	// Who comes with a token is an agent to the engine, whatever it says: it
	// does not type over a person, nor answer what agents ask for.
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

// boundsOf is what the bearer of a token is held to.
func (w *web) boundsOf(t *token) *api.Bounds {
	return optionsOf(w.o, *t).Complete().Bounds()
}

// reads reports whether an operation changes nothing. What is not in the table
// is the engine's to refuse.
func reads(name string) bool {
	return !slices.ContainsFunc(api.Operations(), func(e api.Entry) bool { return e.Name == name && e.Effect != api.Read })
}
