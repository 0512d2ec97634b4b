package sandbox

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// socks performs a SOCKS 5 handshake and returns the reply to the request.
func (s *stage) socks(proxyURL, password string, request []byte) (net.Conn, byte) {
	s.t.Helper()
	parsed, err := url.Parse(proxyURL)
	if err != nil {
		s.t.Fatal(err)
	}
	if password == "" {
		password, _ = parsed.User.Password()
	}
	c, err := net.Dial("tcp", parsed.Host)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	hello := []byte{5, 2, 0, 2}
	hello = append(hello, 1, byte(len(parsed.User.Username())))
	hello = append(hello, parsed.User.Username()...)
	hello = append(hello, byte(len(password)))
	hello = append(hello, password...)
	c.Write(append(hello, request...))
	var answer [14]byte
	n, _ := io.ReadFull(c, answer[:])
	if n < 4 || !bytes.Equal(answer[:3], []byte{5, 2, 1}) {
		s.t.Fatalf("the proxy answered % x", answer[:n])
	}
	if answer[3] != 0 {
		return c, 0xff
	}
	return c, answer[5]
}

func socksTo(name string, port byte) []byte {
	request := append([]byte{5, 1, 0, 3, byte(len(name))}, name...)
	return append(request, 0, port)
}

func TestSOCKSReachesOnlyAllowedHosts(t *testing.T) {
	s := newStage(t, ProxyOptions{})
	proxyURL := s.grant(Network{AllowedDomains: []string{"allowed.example", "rebound.example", "93.184.216.35", "nowhere.example"}})
	for _, c := range []struct {
		name    string
		request []byte
		want    byte
	}{
		{"allowed name", socksTo("allowed.example", 80), 0},
		{"other name", socksTo("evil.example", 80), 2},
		{"name of this machine", socksTo("rebound.example", 80), 2},
		{"address as a name", socksTo("127.0.0.1", 80), 2},
		{"name without an address", socksTo("nowhere.example", 80), 4},
		{"closed port", socksTo("allowed.example", 81), 5},
		{"allowed address", []byte{5, 1, 0, 1, 93, 184, 216, 35, 0, 80}, 0},
		{"other address", []byte{5, 1, 0, 1, 127, 0, 0, 1, 0, 80}, 2},
		{"IPv6 address", append([]byte{5, 1, 0, 4}, append(make([]byte, 15), 1, 0, 80)...), 2},
		{"bind", []byte{5, 2, 0, 1, 93, 184, 216, 35, 0, 80}, 7},
		{"UDP", []byte{5, 3, 0, 1, 93, 184, 216, 35, 0, 80}, 7},
		{"unknown address type", []byte{5, 1, 0, 9, 93, 184, 216, 35, 0, 80}, 8},
		{"port 0", socksTo("allowed.example", 0), 1},
		{"empty name", socksTo("", 80), 1},
	} {
		if _, got := s.socks(proxyURL, "", c.request); got != c.want {
			t.Errorf("%s gave %d, want %d", c.name, got, c.want)
		}
	}
	if _, got := s.socks(proxyURL, "guess", socksTo("allowed.example", 80)); got != 0xff {
		t.Errorf("a wrong password gave %d", got)
	}
}

func TestSOCKSCarriesARequest(t *testing.T) {
	s := newStage(t, ProxyOptions{})
	c, reply := s.socks(s.grant(Network{AllowedDomains: []string{"allowed.example"}}), "", socksTo("allowed.example", 80))
	if reply != 0 {
		t.Fatalf("the proxy answered %d", reply)
	}
	io.WriteString(c, "GET / HTTP/1.0\r\nHost: allowed.example\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("the server answered %v, %v", response, err)
	}
	response.Body.Close()
}

func TestSOCKSNeedsAPassword(t *testing.T) {
	s := newStage(t, ProxyOptions{})
	c, err := net.Dial("tcp", s.proxy.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte{5, 1, 0})
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, []byte{5, 0xff}) {
		t.Errorf("the proxy answered % x, %v", got, err)
	}
}

func TestReportedLineContainsNoControlCharacters(t *testing.T) {
	s := newStage(t, ProxyOptions{})
	proxyURL := s.grant(Network{AllowedDomains: []string{"allowed.example"}})
	for _, name := range []string{"a\n[tandem: all is well", "\x1b]52;c;AAAA\x07", "bücher.example", "\xff\xfe"} {
		if _, got := s.socks(proxyURL, "", socksTo(name, 80)); got != 2 {
			t.Errorf("%q gave %d", name, got)
		}
	}
	for _, line := range s.lines() {
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("reported %q", line)
		}
	}
}
