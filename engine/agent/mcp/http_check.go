package mcp

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// handlePreflight adds the CORS headers for allowed origins (Fetch standard, CORS protocol), and
// answers a preflight request. It reports whether the request was a preflight.
func (w *httpServer) handlePreflight(rw http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	h := rw.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	h.Add("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Max-Age", "600")
	rw.WriteHeader(http.StatusNoContent)
	return true
}

// allowsHost reports whether a Host header names this server. The check defeats DNS rebinding: a
// page served under a name that resolves to the loopback address sends that name.
func (w *httpServer) allowsHost(header string) bool {
	host, port, err := net.SplitHostPort(header)
	if err != nil {
		host, port = strings.Trim(header, "[]"), ""
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.EqualFold(host, "localhost") || isLoopback(host) {
		return true
	}
	// The host of the listening address is a name of this server too.
	if bound, _, err := net.SplitHostPort(w.h.Addr); err == nil && bound != "" && !isUnspecified(bound) && strings.EqualFold(bound, host) {
		return true
	}
	return slices.ContainsFunc(w.h.AllowHosts, func(name string) bool {
		return strings.EqualFold(name, host) || strings.EqualFold(name, net.JoinHostPort(host, port))
	})
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func isUnspecified(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsUnspecified()
}

// allowsOrigins reports whether every Origin header of a request is allowed. Requests without one
// do not come from a page.
func (w *httpServer) allowsOrigins(headers []string) bool {
	return !slices.ContainsFunc(headers, func(origin string) bool { return !w.allowsOrigin(origin) })
}

func (w *httpServer) allowsOrigin(origin string) bool {
	if slices.ContainsFunc(w.h.AllowOrigins, func(o string) bool { return strings.EqualFold(strings.TrimSuffix(o, "/"), origin) }) {
		return true
	}
	rest, ok := strings.CutPrefix(strings.ToLower(origin), "http://")
	if !ok {
		rest, ok = strings.CutPrefix(strings.ToLower(origin), "https://")
	}
	host, _, err := net.SplitHostPort(rest)
	if err != nil {
		host = strings.Trim(rest, "[]")
	}
	return ok && (host == "localhost" || isLoopback(host))
}
