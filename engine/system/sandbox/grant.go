package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/base/panics"
)

// credentials are presented by a client of the proxy.
type credentials struct {
	user, password string
}

// A grant is one process's access to the proxy.
type grant struct {
	proxy     *Proxy
	own       credentials
	hosts     hosts
	onRefused func(line string)
	ctx       context.Context // ends with the grant
	cancel    context.CancelFunc
	transport *http.Transport
	active    atomic.Int64
}

// Grant gives the holder of the returned URL access to everything the layers allow, until revoke is
// called, which also closes open connections. The URL has the form
// http://user:password@127.0.0.1:port and is a secret of the process. refused is called with a
// line, without newline, for each refused connection, possibly concurrently, so it must not block
// for long. It may be nil.
func (p *Proxy) Grant(l Layers, refused func(line string)) (proxyURL string, revoke func(), err error) {
	own := credentials{rand.Text(), rand.Text()}
	revoke, err = p.addGrant(own, l, refused)
	if err != nil {
		return "", nil, fmt.Errorf("grant network: %w", err)
	}
	u := url.URL{Scheme: "http", User: url.UserPassword(own.user, own.password), Host: p.listener.Addr().String()}
	return u.String(), revoke, nil
}

// Restore renews a grant made by another proxy under a URL. The process can connect only to that
// URL's port, so this proxy must have the same one.
func (p *Proxy) Restore(proxyURL string, l Layers, refused func(line string)) (revoke func(), err error) {
	address, own, ok := splitURL(proxyURL)
	if !ok || len(own.user) < 16 || len(own.password) < 16 {
		return nil, errors.New("restore network: not the address of a proxy")
	}
	if here := p.listener.Addr().String(); address != here {
		return nil, fmt.Errorf("restore network: the process was given the proxy at %s, which is now at %s; restart the process", address, here)
	}
	revoke, err = p.addGrant(own, l, refused)
	if err != nil {
		return nil, fmt.Errorf("restore network: %w", err)
	}
	return revoke, nil
}

func (p *Proxy) addGrant(own credentials, l Layers, refused func(line string)) (revoke func(), err error) {
	hosts, err := l.hosts()
	if err != nil {
		return nil, err
	}
	if refused == nil {
		refused = func(string) {}
	}
	g := &grant{proxy: p, own: own, hosts: hosts, onRefused: refused}
	g.ctx, g.cancel = context.WithCancel(p.ctx)
	g.transport = &http.Transport{
		DialContext:           g.dialAddress,
		DisableCompression:    true,
		MaxIdleConns:          16,
		MaxConnsPerHost:       p.o.MaxPerGrant,
		IdleConnTimeout:       30 * time.Second,
		ResponseHeaderTimeout: p.o.Idle,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, taken := p.grants[own.user]; taken || p.closed {
		g.cancel()
		return nil, errors.New("the proxy is closed, or has this grant already")
	}
	p.grants[own.user] = g
	return sync.OnceFunc(func() { p.removeGrant(g) }), nil
}

func (p *Proxy) removeGrant(g *grant) {
	p.mu.Lock()
	delete(p.grants, g.own.user)
	p.mu.Unlock()
	g.cancel()
	g.transport.CloseIdleConnections()
}

// findGrant returns the grant with the given credentials; nil if there is none.
func (p *Proxy) findGrant(shown credentials) *grant {
	p.mu.Lock()
	g := p.grants[shown.user]
	p.mu.Unlock()
	// In constant time, so that timing reveals no part of the password.
	if g == nil || subtle.ConstantTimeCompare([]byte(g.own.password), []byte(shown.password)) != 1 {
		return nil
	}
	return g
}

// beginRequest counts a request or tunnel; call end after it. ok is false if there are too many.
func (g *grant) beginRequest() (end func(), ok bool) {
	if g.active.Add(1) > int64(g.proxy.o.MaxPerGrant) {
		g.active.Add(-1)
		return nil, false
	}
	return func() { g.active.Add(-1) }, true
}

// withGrant returns a context that also ends with the grant.
func (g *grant) withGrant(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(g.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// A refusedError is a refusal by the profile, as opposed to a network failure.
type refusedError struct {
	target string
	cause  error
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("refused connection to %s: %v", e.target, e.cause)
}

// dialHost connects to a host allowed by the profile. A refusal is reported and is a *refusedError.
func (g *grant) dialHost(ctx context.Context, host string, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, g.proxy.o.DialTimeout)
	defer cancel()
	if err := g.hosts.checkHost(host); err != nil {
		return nil, g.reportRefusal(host, port, err)
	}
	addresses, err := g.resolveHost(ctx, host)
	if err != nil {
		return nil, err
	}
	var firstErr error
	for i, address := range addresses {
		if err := g.hosts.checkAddress(host, address); err != nil {
			addressErr := g.reportRefusal(host, port, err)
			if firstErr == nil {
				firstErr = addressErr
			}
			continue
		}
		connection, err := g.dialAddr(ctx, netip.AddrPortFrom(address.Unmap(), port), len(addresses)-i)
		if err == nil {
			return connection, nil
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	return nil, firstErr
}

// dialAddr connects to an address rather than a name, so that the address checked is the one
// reached. left is the number of addresses sharing the remaining time: one that never answers must
// not use up all of it.
func (g *grant) dialAddr(ctx context.Context, address netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return g.proxy.o.Dial(ctx, "tcp", address.String())
}

func (g *grant) resolveHost(ctx context.Context, host string) ([]netip.Addr, error) {
	if address, ok := parseAddress(host); ok {
		return []netip.Addr{address}, nil
	}
	addresses, err := g.proxy.o.Resolve(ctx, normalName(host))
	if err == nil && len(addresses) == 0 {
		err = fmt.Errorf("look up %s: no address found", host)
	}
	return addresses, err
}

// Dial connects to "host:port" on behalf of the process with a URL, if the process itself may.
func (p *Proxy) Dial(ctx context.Context, proxyURL, address string) (net.Conn, error) {
	_, shown, ok := splitURL(proxyURL)
	if !ok {
		return nil, errors.New("dial: not the address of a proxy")
	}
	g := p.findGrant(shown)
	if g == nil {
		return nil, errors.New("dial: the process has no network access")
	}
	return g.dialAddress(ctx, "tcp", address)
}

// dialAddress is dialHost for "host:port". An HTTP transport calls it on its own goroutines.
func (g *grant) dialAddress(ctx context.Context, _, address string) (c net.Conn, err error) {
	panicked := panics.Log(g.proxy.o.Log, "connection of a sandbox", func() {
		var host string
		var port uint16
		if host, port, err = splitTarget(address); err != nil {
			return
		}
		// The transport may continue dialing for a later request.
		ctx, cancel := g.withGrant(ctx)
		defer cancel()
		c, err = g.dialHost(ctx, host, port)
	})
	if panicked {
		return nil, errors.New("internal error in the proxy; engine.log has the details")
	}
	return c, err
}

func (g *grant) reportRefusal(host string, port uint16, cause error) error {
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) || len(host) > 255 {
		host = strconv.QuoteToASCII(host[:min(len(host), 255)])
	}
	err := &refusedError{net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(int(port))), cause}
	g.onRefused("tandem: sandbox: " + err.Error())
	return err
}

// splitTarget splits "host:port"; the port is a number, at least 1.
func splitTarget(target string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(target)
	if err != nil {
		return "", 0, fmt.Errorf("target %q is not host:port", target)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || host == "" {
		return "", 0, fmt.Errorf("target %q is not host:port", target)
	}
	return host, uint16(n), nil
}
