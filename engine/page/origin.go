package page

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An Origin describes where the page is served.
type Origin struct {
	Secure   bool     // over TLS
	Port     int      // port of the listener
	Hosts    []string // names and addresses accepted in requests, in addition to the loopback interface's
	Loopback string   // loopback address of a listener without TLS, or ""
}

// setSecurityHeaders sets the security headers of all responses.
func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// checkRequest rejects requests for other host names, which a page can send by DNS rebinding, and
// requests from pages of other origins.
func (o Origin) checkRequest(r *http.Request) error {
	if !o.isFor(r.Host) {
		return errors.New("this server does not use that name; to allow it, run `tandem web` with --host-name NAME")
	}
	origins := r.Header.Values("Origin")
	if slices.ContainsFunc(origins, func(origin string) bool { return !o.isOwn(origin, r.Host) }) {
		return errors.New("requests from other pages are refused")
	}
	site := r.Header.Get("Sec-Fetch-Site")
	upgrade := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	switch {
	// "none" means that the user entered the address.
	case site == "same-origin", site == "none" && r.Method == http.MethodGet && !upgrade:
		return nil
	case site != "" && !isPageItself(r):
		return errors.New("requests from other pages are refused")
	case (r.Method != http.MethodGet && r.Method != http.MethodHead || upgrade) && len(origins) == 0:
		return errors.New("a request that changes something must have an Origin header")
	}
	return nil
}

// linkPage matches the path of a link to one session.
var linkPage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/link/[^/]+/$`) })

// isPageItself reports whether a request navigates to the page itself, which other pages may link
// to.
func isPageItself(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "/" || linkPage().MatchString(r.URL.Path)) && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// isFor reports whether a Host header names this server.
func (o Origin) isFor(header string) bool {
	host, port := hostOf(header, o.Secure)
	if port != strconv.Itoa(o.Port) {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() ||
		slices.ContainsFunc(o.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// isOwn reports whether an Origin header equals the origin of the request.
func (o Origin) isOwn(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != o.scheme() {
		return false
	}
	name, port := hostOf(u.Host, o.Secure)
	own, ownPort := hostOf(host, o.Secure)
	return name == own && port == ownPort
}

func (o Origin) scheme() string {
	if o.Secure {
		return "https"
	}
	return "http"
}

// hostOf splits a Host header. The port defaults to the scheme's.
func hostOf(header string, secure bool) (host, port string) {
	host, port, err := net.SplitHostPort(header)
	if err != nil {
		host, port = strings.Trim(header, "[]"), "80"
		if secure {
			port = "443"
		}
	}
	return strings.TrimSuffix(strings.ToLower(host), "."), port
}

// originOf returns the origin of a request, in the form browsers use.
func (o Origin) originOf(r *http.Request) string { return o.scheme() + "://" + strings.ToLower(r.Host) }

// redirectFor returns the redirect for a request to a loopback name other than Loopback: another
// program may listen on the same port at a different loopback address, and keys are bound to one
// origin.
func (o Origin) redirectFor(r *http.Request) (to string, ok bool) {
	host, port := hostOf(r.Host, o.Secure)
	ip := net.ParseIP(host)
	if o.Loopback == "" || host == o.Loopback || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", false
	}
	return o.scheme() + "://" + net.JoinHostPort(o.Loopback, port) + r.URL.RequestURI(), true
}

// oldCookie matches the name of a cookie of release 0.2.0, which no longer grants access.
var oldCookie = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(__Host-|__Secure-)?tandem-([0-9]+)(-link)?$`) })

func (o Origin) isOldCookie(name string) bool {
	m := oldCookie().FindStringSubmatch(name)
	return m != nil && m[2] == strconv.Itoa(o.Port)
}

// noCookie returns a cookie that deletes an old one.
func (o Origin) noCookie(name, link string) *http.Cookie {
	path := "/"
	if link != "" {
		path += LinkPath(link)
	}
	return &http.Cookie{Name: name, Path: path, MaxAge: -1, HttpOnly: true, Secure: o.Secure, SameSite: http.SameSiteStrictMode}
}
