package proctree

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
)

func TestFindSocketFindsBothEnds(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "[::]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // a machine without IPv6
			continue
		}
		defer l.Close()
		at := netip.MustParseAddrPort(l.Addr().String())
		if at.Addr().IsUnspecified() { // is reached over IPv4 too
			at = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port())
		}
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		server, client := netip.MustParseAddrPort(accepted.LocalAddr().String()), netip.MustParseAddrPort(accepted.RemoteAddr().String())
		for _, ends := range [][2]netip.AddrPort{{server, client}, {client, server}} {
			s, ok, err := FindSocket(ends[0], ends[1])
			if err != nil || !ok || s.UID != os.Getuid() {
				t.Errorf("%v: %+v %v %v", ends, s, ok, err)
			}
			owners, _, err := s.Owners()
			if err != nil || !slices.Contains(owners, os.Getpid()) {
				t.Errorf("%v is held by %v, %v", ends, owners, err)
			}
		}
		if s, ok, _ := FindSocket(client, client); ok {
			t.Errorf("a connection that is not there is %+v", s)
		}
	}
}
