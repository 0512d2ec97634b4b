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

// An Origin is where the page is served.
type Origin struct {
	Secure   bool     // over TLS
	Port     int      // that is listened on
	Hosts    []string // names and addresses that requests may be for, beside the loopback interface's
	Loopback string   // the loopback address that is listened on in the clear, if one is
}

// protect sets what a browser has to keep to with everything that is served.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// check refuses requests for another host, which a page can send by having its own name
// resolve to this one's address, and requests that another origin's page sends.
func (o Origin) check(r *http.Request) error {
	if !o.isFor(r.Host) {
		return errors.New("this server does not go by that name; say --host-name NAME to `tandem web` if it should")
	}
	origins := r.Header.Values("Origin")
	if slices.ContainsFunc(origins, func(origin string) bool { return !o.isOwn(origin, r.Host) }) {
		return errors.New("requests from other pages are refused")
	}
	site := r.Header.Get("Sec-Fetch-Site")
	upgrade := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	switch {
	case site == "same-origin", site == "none" && r.Method == http.MethodGet && !upgrade:
		return nil
	case site != "" && !isPageItself(r):
		return errors.New("requests from other pages are refused")
	case (r.Method != http.MethodGet && r.Method != http.MethodHead || upgrade) && len(origins) == 0:
		return errors.New("a request that changes something has to say where it comes from")
	}
	return nil
}

// linkPage is the page of a link to one session.
var linkPage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/link/[^/]+/$`) })

// isPageItself reports whether a link of another page leads here: that may be followed.
func isPageItself(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "/" || linkPage().MatchString(r.URL.Path)) && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// isFor reports whether a Host header means this server.
func (o Origin) isFor(header string) bool {
	host, port := hostOf(header, o.Secure)
	if port != strconv.Itoa(o.Port) {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() ||
		slices.ContainsFunc(o.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// isOwn reports whether an Origin header names the origin that the request is for.
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

// hostOf divides a Host header; a port that is left out is the scheme's.
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

// of is the origin that a request is for, as browsers write it.
func (o Origin) of(r *http.Request) string { return o.scheme() + "://" + strings.ToLower(r.Host) }

// elsewhere is where a request for another loopback name than Loopback belongs: others may listen
// at localhost's other address, or at another one, with the same port. Keys are at one origin only.
func (o Origin) elsewhere(r *http.Request) (to string, ok bool) {
	host, port := hostOf(r.Host, o.Secure)
	ip := net.ParseIP(host)
	if o.Loopback == "" || host == o.Loopback || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", false
	}
	return o.scheme() + "://" + net.JoinHostPort(o.Loopback, port) + r.URL.RequestURI(), true
}

// oldCookie is the name of a cookie of release 0.2.0, which opens nothing any more.
var oldCookie = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(__Host-|__Secure-)?tandem-([0-9]+)(-link)?$`) })

func (o Origin) isOldCookie(name string) bool {
	m := oldCookie().FindStringSubmatch(name)
	return m != nil && m[2] == strconv.Itoa(o.Port)
}

// noCookie ends one.
func (o Origin) noCookie(name, link string) *http.Cookie {
	path := "/"
	if link != "" {
		path += LinkPath(link)
	}
	return &http.Cookie{Name: name, Path: path, MaxAge: -1, HttpOnly: true, Secure: o.Secure, SameSite: http.SameSiteStrictMode}
}
