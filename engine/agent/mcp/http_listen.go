package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"

	"tandem/engine/api"
)

// listen opens the address. Without a host it uses the loopback interface. Any other interface
// needs Insecure, because there is no TLS.
func (h HTTPOptions) listen(ctx context.Context) (net.Listener, error) {
	host, port, err := net.SplitHostPort(h.Addr)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "listen on %q: not a host:port", h.Addr).WithHint("for example 127.0.0.1:7777")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "listen on %s: %v", h.Addr, errors.Unwrap(err))
	}
	// Check the bound address: a host name resolves only when listening.
	if bound, ok := l.Addr().(*net.TCPAddr); ok && bound.IP.IsLoopback() {
		return l, nil
	}
	if !h.Insecure {
		l.Close()
		return nil, api.Errorf(api.CodeForbidden, "serve agents at http://%s: tokens and output would cross the network unencrypted", h.Addr).
			WithHint("listen on 127.0.0.1 behind a TLS proxy or an SSH tunnel, or use --insecure")
	}
	fmt.Fprintf(h.Notices, "tandem: warning: no TLS at http://%s: anyone on the network can read tokens and output\n", h.Addr)
	return l, nil
}
