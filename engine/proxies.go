package engine

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"

	"tandem/engine/readiness"
	"tandem/engine/sandbox"
)

// proxies let confined processes out to the hosts that their profiles allow. There
// is one as soon as a process needs it, and one at each port that processes of
// engines before know.
type proxies struct {
	log *slog.Logger

	mu     sync.Mutex
	open   []*sandbox.Proxy // the first one is for new processes
	grants map[string]grant // by process id
}

// A grant is one process's way out.
type grant struct {
	proxy  *sandbox.Proxy
	url    string // a secret of the process
	revoke func()
}

// grant gives the URL under which a process can get out. known is the one that
// it, or its last run, had from an engine before; that stays good if it can.
func (ps *proxies) grant(id, known string, layers sandbox.Layers, refused func(line string)) (string, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p, ok := ps.grants[id]; ok {
		return p.url, nil
	}
	proxy, err := ps.listening(known)
	if err != nil {
		return "", err
	}
	if ps.grants == nil {
		ps.grants = make(map[string]grant)
	}
	if known != "" {
		revoke, err := proxy.Restore(known, layers, refused)
		if err == nil {
			ps.grants[id] = grant{proxy, known, revoke}
			return known, nil
		}
		ps.log.Warn("restore network", "id", id, "error", err)
	}
	made, revoke, err := proxy.Grant(layers, refused)
	if err != nil {
		return "", err
	}
	ps.grants[id] = grant{proxy, made, revoke}
	return made, nil
}

// listening gives the proxy that listens at the port of a known URL or, if that
// cannot be, any.
func (ps *proxies) listening(known string) (*sandbox.Proxy, error) {
	port := portOf(known)
	for _, p := range ps.open {
		if port == 0 || p.Port() == port {
			return p, nil
		}
	}
	p, err := sandbox.NewProxy(sandbox.ProxyOptions{Port: port, Log: ps.log})
	if err != nil && port != 0 {
		ps.log.Warn("open proxy again", "error", err)
		return ps.listening("")
	}
	if err != nil {
		return nil, err
	}
	ps.open = append(ps.open, p)
	return p, nil
}

// portOf is the port of a proxy's URL, 0 if it has none.
func portOf(proxyURL string) int {
	u, err := url.Parse(proxyURL)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}

// dialer connects as a confined process that has a grant may.
func (ps *proxies) dialer(id string) readiness.Dialer {
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

// revoke ends the grant of a process, if it has one.
func (ps *proxies) revoke(id string) {
	ps.mu.Lock()
	p, ok := ps.grants[id]
	delete(ps.grants, id)
	ps.mu.Unlock()
	if ok {
		p.revoke()
	}
}

func (ps *proxies) close() {
	ps.mu.Lock()
	all := ps.open
	ps.mu.Unlock()
	for _, p := range all {
		p.Close()
	}
}
