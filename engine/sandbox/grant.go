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

	"tandem/engine/panics"
)

// credentials are what a client of the proxy shows.
type credentials struct {
	user, password string
}

// A grant is one process's allowance.
type grant struct {
	proxy     *Proxy
	own       credentials
	hosts     hosts
	refused   func(line string)
	ctx       context.Context // ends with the grant
	cancel    context.CancelFunc
	transport *http.Transport
	active    atomic.Int64
}

// Grant lets whoever has the URL reach what the layers allow, until revoke is
// called, which also cuts what is connected. The URL has the form
// http://user:password@127.0.0.1:port and is a secret of the process. refused is
// called with a line, without its end, for each connection that is refused;
// from several goroutines at once, so it must not wait for long. It may be nil.
func (p *Proxy) Grant(l Layers, refused func(line string)) (proxyURL string, revoke func(), err error) {
	own := credentials{rand.Text(), rand.Text()}
	revoke, err = p.add(own, l, refused)
	if err != nil {
		return "", nil, fmt.Errorf("grant network: %w", err)
	}
	u := url.URL{Scheme: "http", User: url.UserPassword(own.user, own.password), Host: p.listener.Addr().String()}
	return u.String(), revoke, nil
}

// Restore grants again what another proxy has granted under a URL. The process
// can connect to that URL's port alone, so this proxy must have the same.
func (p *Proxy) Restore(proxyURL string, l Layers, refused func(line string)) (revoke func(), err error) {
	address, own, ok := splitURL(proxyURL)
	if !ok || len(own.user) < 16 || len(own.password) < 16 {
		return nil, errors.New("restore network: not the address of a proxy")
	}
	if here := p.listener.Addr().String(); address != here {
		return nil, fmt.Errorf("restore network: the process was given the proxy at %s, which is now at %s; restart the process", address, here)
	}
	revoke, err = p.add(own, l, refused)
	if err != nil {
		return nil, fmt.Errorf("restore network: %w", err)
	}
	return revoke, nil
}

func (p *Proxy) add(own credentials, l Layers, refused func(line string)) (revoke func(), err error) {
	hosts, err := l.hosts()
	if err != nil {
		return nil, err
	}
	if refused == nil {
		refused = func(string) {}
	}
	g := &grant{proxy: p, own: own, hosts: hosts, refused: refused}
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
		return nil, errors.New("the proxy is closed, or has already granted this")
	}
	p.grants[own.user] = g
	return sync.OnceFunc(func() { p.revoke(g) }), nil
}

func (p *Proxy) revoke(g *grant) {
	p.mu.Lock()
	delete(p.grants, g.own.user)
	p.mu.Unlock()
	g.cancel()
	g.transport.CloseIdleConnections()
}

// granted finds the grant that belongs to credentials, nil if there is none.
func (p *Proxy) granted(shown credentials) *grant {
	p.mu.Lock()
	g := p.grants[shown.user]
	p.mu.Unlock()
	if g == nil || subtle.ConstantTimeCompare([]byte(g.own.password), []byte(shown.password)) != 1 {
		return nil
	}
	return g
}

// begin counts a request or tunnel; end is to be called after it. ok is false
// when there are too many.
func (g *grant) begin() (end func(), ok bool) {
	if g.active.Add(1) > int64(g.proxy.o.MaxPerGrant) {
		g.active.Add(-1)
		return nil, false
	}
	return func() { g.active.Add(-1) }, true
}

// with gives a context that ends with the grant, too.
func (g *grant) with(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(g.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// A refusal to connect is the profile's will, not the network's.
type refusedError struct {
	target string
	cause  error
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("refused connection to %s: %v", e.target, e.cause)
}

// dial connects to a host that the profile allows. What it refuses is reported
// and gives a *refusedError.
func (g *grant) dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, g.proxy.o.DialTimeout)
	defer cancel()
	if err := g.hosts.checkHost(host); err != nil {
		return nil, g.refuse(host, port, err)
	}
	addresses, err := g.lookUp(ctx, host)
	if err != nil {
		return nil, err
	}
	var firstErr error
	for i, address := range addresses {
		if err := g.hosts.checkAddress(host, address); err != nil {
			addressErr := g.refuse(host, port, err)
			if firstErr == nil {
				firstErr = addressErr
			}
			continue
		}
		connection, err := g.attempt(ctx, netip.AddrPortFrom(address.Unmap(), port), len(addresses)-i)
		if err == nil {
			return connection, nil
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	return nil, firstErr
}

// attempt connects to an address, so that what was checked is what is reached.
// left is how many are to share the time that remains: one that never answers
// must not cost the others theirs.
func (g *grant) attempt(ctx context.Context, address netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return g.proxy.o.Dial(ctx, "tcp", address.String())
}

func (g *grant) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if address, ok := parseAddress(host); ok {
		return []netip.Addr{address}, nil
	}
	addresses, err := g.proxy.o.Resolve(ctx, normalName(host))
	if err == nil && len(addresses) == 0 {
		err = fmt.Errorf("look up %s: no address found", host)
	}
	return addresses, err
}

// Dial connects to "host:port" where the process that has a URL may, for what is
// done on its behalf.
func (p *Proxy) Dial(ctx context.Context, proxyURL, address string) (net.Conn, error) {
	_, shown, ok := splitURL(proxyURL)
	if !ok {
		return nil, errors.New("dial: not the address of a proxy")
	}
	g := p.granted(shown)
	if g == nil {
		return nil, errors.New("dial: the process has no network access")
	}
	return g.dialAddress(ctx, "tcp", address)
}

// dialAddress is dial for "host:port". An HTTP transport calls it on goroutines of its own.
func (g *grant) dialAddress(ctx context.Context, _, address string) (c net.Conn, err error) {
	panicked := panics.Log(g.proxy.o.Log, "connection of a sandbox", func() {
		var host string
		var port uint16
		if host, port, err = splitTarget(address); err != nil {
			return
		}
		// The transport may go on dialing for the next request.
		ctx, cancel := g.with(ctx)
		defer cancel()
		c, err = g.dial(ctx, host, port)
	})
	if panicked {
		return nil, errors.New("internal error in the proxy; engine.log has the details")
	}
	return c, err
}

func (g *grant) refuse(host string, port uint16, cause error) error {
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) || len(host) > 255 {
		host = strconv.QuoteToASCII(host[:min(len(host), 255)])
	}
	err := &refusedError{net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(int(port))), cause}
	g.refused("tandem: sandbox: " + err.Error())
	return err
}

// splitTarget takes "host:port" apart; the port is a number from 1 on.
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
