package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"
)

var errUnreachable = errors.New("unreachable")

func FuzzHostsNeverLeadInside(f *testing.F) {
	for _, host := range []string{"example.org", "127.0.0.1", "[::1]", "0x7f.1", "localhost", "::ffff:10.0.0.1", "a..b", "*", "1.2.3.4."} {
		f.Add(host)
	}
	hosts, err := newDomains(Network{AllowedDomains: []string{"*", "*.example.org"}, DeniedDomains: []string{"bad.example.org"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if hosts.checkHost(host) != nil {
			return
		}
		if _, err := netip.ParseAddr(host); err == nil {
			t.Errorf("the address %q is allowed", host)
		}
		if normalName(host) == "bad.example.org" {
			t.Errorf("%q is allowed", host)
		}
		if hosts.checkAddress(host, netip.MustParseAddr("127.0.0.1")) == nil {
			t.Errorf("%q may be this machine", host)
		}
	})
}

func FuzzSOCKSRequest(f *testing.F) {
	f.Add([]byte{5, 1, 0, 1, 1, 2, 3, 4, 0, 80})
	f.Add(socksTo("example.org", 80))
	f.Add(append([]byte{5, 1, 0, 4}, make([]byte, 18)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		readSOCKSGreeting(bytes.NewReader(data))
		readSOCKSCredentials(bytes.NewReader(data))
		host, port, reply := readSOCKSRequest(bytes.NewReader(data))
		if (reply == socksSucceeded) != (host != "" && port != 0) {
			t.Errorf("reply %d with host %q and port %d", reply, host, port)
		}
	})
}

// Any input from a client is answered or its connection closed, and none reaches a host without
// credentials.
func FuzzProxyConnection(f *testing.F) {
	f.Add([]byte("CONNECT evil.example:443 HTTP/1.1\r\n\r\n"))
	f.Add([]byte("GET http://evil.example/ HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic Og==\r\n\r\n"))
	f.Add([]byte{5, 1, 2, 1, 1, 'u', 1, 'p', 5, 1, 0, 1, 1, 2, 3, 4, 0, 80})
	f.Add([]byte{4, 1, 0, 80, 1, 2, 3, 4, 0})
	proxy, err := NewProxy(ProxyOptions{
		Handshake: 5 * time.Second,
		Resolve:   func(context.Context, string) ([]netip.Addr, error) { return nil, errUnreachable },
		Dial: func(context.Context, string, string) (net.Conn, error) {
			panic("a stranger's connection was dialed")
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(proxy.Close)
	if _, _, err := proxy.Grant(Layers{{Network: &Network{AllowedDomains: []string{"*", "1.2.3.4"}}}}, nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := net.Dial("tcp", proxy.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.Write(data)
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
	})
}
