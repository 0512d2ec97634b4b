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
	"time"
)

// An Origin is where the page is served.
type Origin struct {
	Secure bool     // over TLS
	Port   int      // that is listened on
	Hosts  []string // names and addresses that requests may be for, beside the loopback interface's
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
var linkPage = regexp.MustCompile(`^/link/[^/]+/$`)

// isPageItself reports whether a link of another page leads here: that may be followed.
func isPageItself(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "/" || linkPage.MatchString(r.URL.Path)) && r.Header.Get("Sec-Fetch-Mode") == "navigate"
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

// cookie is the name of the page's cookie, or of that of a link to a session: browsers do not
// tell ports apart.
func (o Origin) cookie(link string) string {
	name := "tandem-" + strconv.Itoa(o.Port)
	switch {
	case link != "" && o.Secure:
		return "__Secure-" + name + "-link" // __Host- goes with no path
	case link != "":
		return name + "-link"
	case o.Secure:
		return "__Host-" + name
	}
	return name
}

// cookieLife is how long a browser keeps a cookie without an end: browsers allow 400 days.
const cookieLife = 400 * 24 * time.Hour

func (o Origin) newCookie(link, token string, until time.Time) *http.Cookie {
	if until.IsZero() {
		until = time.Now().Add(cookieLife)
	}
	path := "/"
	if link != "" {
		path += LinkPath(link)
	}
	return &http.Cookie{Name: o.cookie(link), Value: token, Path: path, Expires: until, HttpOnly: true, Secure: o.Secure, SameSite: http.SameSiteStrictMode}
}
