package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"
)

// Proxies give sandboxed processes access to the hosts allowed by their profiles. The first opens
// when a process needs one. After an engine restart, one opens at each port known to running
// processes.
type Proxies struct {
	Log *slog.Logger

	mu     sync.Mutex
	open   []*Proxy              // new processes use the first one
	grants map[string]proxyGrant // by process id
}

// A proxyGrant is one process's access to a proxy.
type proxyGrant struct {
	proxy  *Proxy
	url    string // a secret of the process
	revoke func()
}

// Grant returns the URL for a process to reach its proxy. known is the URL it had, or its
// last run had, under an earlier engine; it stays valid if possible.
func (ps *Proxies) Grant(id, known string, layers Layers, refused func(line string)) (string, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	// The process and its readiness check share one grant.
	if p, ok := ps.grants[id]; ok {
		return p.url, nil
	}
	proxy, err := ps.listenProxy(known)
	if err != nil {
		return "", err
	}
	if ps.grants == nil {
		ps.grants = make(map[string]proxyGrant)
	}
	if known != "" {
		revoke, err := proxy.Restore(known, layers, refused)
		if err == nil {
			ps.grants[id] = proxyGrant{proxy, known, revoke}
			return known, nil
		}
		ps.Log.Warn("restore network", "id", id, "error", err)
	}
	made, revoke, err := proxy.Grant(layers, refused)
	if err != nil {
		return "", err
	}
	ps.grants[id] = proxyGrant{proxy, made, revoke}
	return made, nil
}

// listenProxy returns the proxy listening at the port of a known URL or, if that fails, any other.
func (ps *Proxies) listenProxy(known string) (*Proxy, error) {
	port := ProxyPort(known)
	for _, p := range ps.open {
		if port == 0 || p.Port() == port {
			return p, nil
		}
	}
	p, err := NewProxy(ProxyOptions{Port: port, Log: ps.Log})
	if err != nil && port != 0 {
		ps.Log.Warn("open proxy again", "error", err)
		return ps.listenProxy("")
	}
	if err != nil {
		return nil, err
	}
	ps.open = append(ps.open, p)
	return p, nil
}

// ProxyPort returns the port of a proxy's URL; 0 if it has none.
func ProxyPort(proxyURL string) int {
	u, err := url.Parse(proxyURL)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}

// DialerFor returns a dialer restricted to the hosts allowed for a process.
func (ps *Proxies) DialerFor(id string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		ps.mu.Lock()
		p, ok := ps.grants[id]
		ps.mu.Unlock()
		if !ok {
			return nil, errors.New("its sandbox allows no network")
		}
		return p.proxy.Dial(ctx, p.url, address)
	}
}

// Revoke ends the grant of a process, if it has one.
func (ps *Proxies) Revoke(id string) {
	ps.mu.Lock()
	p, ok := ps.grants[id]
	delete(ps.grants, id)
	ps.mu.Unlock()
	if ok {
		p.revoke()
	}
}

// Close closes all proxies.
func (ps *Proxies) Close() {
	ps.mu.Lock()
	all := ps.open
	ps.mu.Unlock()
	for _, p := range all {
		p.Close()
	}
}
