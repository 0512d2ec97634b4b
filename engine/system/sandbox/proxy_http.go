package sandbox

import (
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"
)

// serveHTTP answers one request to the proxy.
func (p *Proxy) serveHTTP(w http.ResponseWriter, r *http.Request) {
	p.running.Add(1) // a handler may keep the connection as a tunnel
	defer p.running.Done()
	shown, _ := basicCredentials(r.Header.Get("Proxy-Authorization"))
	g := p.findGrant(shown)
	if g == nil {
		w.Header().Set("Proxy-Authenticate", `Basic realm="tandem"`)
		http.Error(w, "tandem: sandbox: unknown user or password", http.StatusProxyAuthRequired)
		return
	}
	end, ok := g.beginRequest()
	if !ok {
		http.Error(w, "tandem: sandbox: too many connections at once", http.StatusServiceUnavailable)
		return
	}
	defer end()
	ctx, cancel := g.withGrant(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	if r.Method == http.MethodConnect {
		g.serveConnect(w, r)
		return
	}
	g.forwardRequest(w, r)
}

// basicCredentials parses the value of Proxy-Authorization (RFC 7617).
func basicCredentials(header string) (credentials, bool) {
	scheme, encoded, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return credentials{}, false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return credentials{}, false
	}
	user, password, ok := strings.Cut(string(decoded), ":")
	return credentials{user, password}, ok
}

// serveConnect turns the connection into a tunnel.
func (g *grant) serveConnect(w http.ResponseWriter, r *http.Request) {
	host, port, err := splitTarget(r.Host)
	if err != nil {
		http.Error(w, "tandem: sandbox: "+err.Error(), http.StatusBadRequest)
		return
	}
	upstream, err := g.dialHost(r.Context(), host, port)
	if err != nil {
		writeError(w, err)
		return
	}
	defer upstream.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		writeError(w, err)
		return
	}
	defer client.Close()
	client.SetDeadline(time.Time{})
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	tunnel(g.ctx, g.proxy.o.Idle, client, buffered, upstream)
}

// forwardRequest passes one request to its http URL.
func (g *grant) forwardRequest(w http.ResponseWriter, r *http.Request) {
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "tandem: sandbox: this is a proxy for CONNECT and http URLs", http.StatusBadRequest)
		return
	}
	target := r.URL.Host
	if r.URL.Port() == "" {
		target = net.JoinHostPort(r.URL.Hostname(), "80")
	}
	host, port, err := splitTarget(target)
	if err == nil {
		// A connection kept open is reused without dialing, so check first.
		if hostErr := g.hosts.checkHost(host); hostErr != nil {
			writeError(w, g.reportRefusal(host, port, hostErr))
			return
		}
	}
	if err != nil {
		http.Error(w, "tandem: sandbox: "+err.Error(), http.StatusBadRequest)
		return
	}
	proxy := httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {}, // the URL already is the target
		Transport:     g.transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { writeError(w, err) },
	}
	proxy.ServeHTTP(w, r)
}

// writeError reports to the client why there is no connection.
func writeError(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	var refused *refusedError
	var timeout net.Error
	switch {
	case errors.As(err, &refused):
		status = http.StatusForbidden
	case errors.As(err, &timeout) && timeout.Timeout():
		status = http.StatusGatewayTimeout
	}
	http.Error(w, "tandem: sandbox: "+err.Error(), status)
}
