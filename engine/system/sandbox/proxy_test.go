package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem/tests/needs"
)

// A stage is a proxy on its own small Internet: every public address leads to one web server, and
// every other address to none.
type stage struct {
	t      *testing.T
	proxy  *Proxy
	server *httptest.Server

	mu      sync.Mutex
	refused []string
	dialed  []string
}

func newStage(t *testing.T, o ProxyOptions) *stage {
	t.Helper()
	s := &stage{t: t}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the proxy's password was passed on")
		}
		fmt.Fprintf(w, "hello from %s", r.Host)
	}))
	t.Cleanup(s.server.Close)
	o.Resolve = resolveFixed
	if o.Dial == nil {
		o.Dial = s.dial
	}
	var err error
	if s.proxy, err = NewProxy(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.proxy.Close)
	return s
}

func resolveFixed(_ context.Context, host string) ([]netip.Addr, error) {
	switch host {
	case "rebound.example":
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	case "metadata.example":
		return []netip.Addr{netip.MustParseAddr("::ffff:169.254.169.254")}, nil
	case "both.example":
		return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("93.184.216.34")}, nil
	case "many.example":
		return []netip.Addr{netip.MustParseAddr("192.0.1.1"), netip.MustParseAddr("93.184.216.34")}, nil
	case "localhost":
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	case "nowhere.example":
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

func (s *stage) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	s.dialed = append(s.dialed, address)
	s.mu.Unlock()
	if strings.HasSuffix(address, ":81") {
		return nil, syscall.ECONNREFUSED
	}
	return new(net.Dialer).DialContext(ctx, network, s.server.Listener.Addr().String())
}

func (s *stage) grant(n Network) string {
	s.t.Helper()
	proxyURL, _, err := s.proxy.Grant(Layers{{Network: &n}}, s.record)
	if err != nil {
		s.t.Fatal(err)
	}
	return proxyURL
}

func (s *stage) record(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, line)
}

func (s *stage) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// get fetches a URL through the proxy and returns status and body.
func (s *stage) get(proxyURL, target string) (int, string) {
	s.t.Helper()
	parsed, err := url.Parse(proxyURL)
	if err != nil {
		s.t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(parsed)}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Get(target)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// tunnel opens a tunnel with CONNECT; status is that of the proxy.
func (s *stage) tunnel(proxyURL, target string) (c net.Conn, status int) {
	s.t.Helper()
	parsed, err := url.Parse(proxyURL)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err = net.Dial("tcp", parsed.Host)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	request := &http.Request{Method: "CONNECT", URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	password, _ := parsed.User.Password()
	auth := http.Request{Header: http.Header{}}
	auth.SetBasicAuth(parsed.User.Username(), password)
	request.Header.Set("Proxy-Authorization", auth.Header.Get("Authorization"))
	if err := request.Write(c); err != nil {
		s.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(io.LimitReader(c, 4096), 16), request)
	if err != nil {
		s.t.Fatal(err)
	}
	return c, response.StatusCode
}

func TestOnlyAllowedHostsAreReached(t *testing.T) {
	s := newStage(t, ProxyOptions{})
	proxyURL := s.grant(Network{
		AllowedDomains: []string{"allowed.example", "*.wild.example", "93.184.216.35", "rebound.example", "metadata.example", "both.example", "localhost", "nowhere.example"},
		DeniedDomains:  []string{"bad.wild.example"},
	})
	for _, c := range []struct {
		host string
		want int
	}{
		{"allowed.example", 200},
		{"ALLOWED.example.", 200},
		{"a.wild.example", 200},
		{"a.b.wild.example:8080", 200},
		{"93.184.216.35", 200},
		{"[::ffff:93.184.216.35]", 200},
		{"both.example", 200},
		{"localhost:3000", 200},
		{"evil.example", 403},
		{"wild.example", 403},
		{"xwild.example", 403},
		{"bad.wild.example", 403},
		{"93.184.216.36", 403},
		{"rebound.example", 403},
		{"metadata.example", 403},
		{"127.0.0.1", 403},
		{"127.1", 403},
		{"2130706433", 403},
		{"0x7f000001", 403},
		{"[::1]", 403},
		{"allowed.example:81", 502},
		{"nowhere.example", 502},
	} {
		if status, body := s.get(proxyURL, "http://"+c.host+"/"); status != c.want {
			t.Errorf("%s gave %d, want %d: %s", c.host, status, c.want, body)
		}
	}
	for _, address := range s.dialed {
		if host, _, _ := net.SplitHostPort(address); host == "10.0.0.1" {
			t.Error("an internal address was dialed")
		}
	}
}

func TestTunnelsReachOnlyAllowedHosts(t *testing.T) {
	s := newStage(t, ProxyOptions{})
	proxyURL := s.grant(Network{AllowedDomains: []string{"allowed.example"}})
	for target, want := range map[string]int{
		"allowed.example:443": 200, "evil.example:443": 403, "127.0.0.1:443": 403,
		"allowed.example": 400, "allowed.example:0": 400, "allowed.example:99999": 400, "allowed.example:81": 502,
	} {
		if _, status := s.tunnel(proxyURL, target); status != want {
			t.Errorf("%s gave %d, want %d", target, status, want)
		}
	}
	want := []string{
		"tandem: sandbox: refused connection to 127.0.0.1:443: it is not in allowedDomains",
		"tandem: sandbox: refused connection to evil.example:443: it is not in allowedDomains",
	}
	lines := s.lines()
	slices.Sort(lines)
	if !slices.Equal(lines, want) {
		t.Errorf("reported:\n%s", strings.Join(lines, "\n"))
	}
}

func TestTunnelCarriesBothWaysAndHalfCloses(t *testing.T) {
	far := make(chan net.Conn, 1)
	s := newStage(t, ProxyOptions{Dial: func(context.Context, string, string) (net.Conn, error) {
		near, other := tcpPair(t)
		far <- other
		return near, nil
	}})
	c, status := s.tunnel(s.grant(Network{AllowedDomains: []string{"allowed.example"}}), "allowed.example:22")
	if status != 200 {
		t.Fatalf("the proxy answered %d", status)
	}
	server := <-far
	io.WriteString(c, "question")
	c.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(server); err != nil || string(got) != "question" {
		t.Errorf("the server read %q, %v", got, err)
	}
	big := bytes.Repeat([]byte("answer"), 100_000)
	go func() {
		server.Write(big)
		server.Close()
	}()
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, big) {
		t.Errorf("the client read %d bytes, %v", len(got), err)
	}
}

func tcpPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err = net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func TestClientCannotUseAnothersGrant(t *testing.T) {
	s := newStage(t, ProxyOptions{})
	narrow := s.grant(Network{AllowedDomains: []string{"narrow.example"}})
	wide := s.grant(Network{AllowedDomains: []string{"*"}})
	if status, _ := s.get(wide, "http://other.example/"); status != 200 {
		t.Errorf("the wide profile got %d", status)
	}
	if status, _ := s.get(narrow, "http://other.example/"); status != 403 {
		t.Errorf("the narrow profile got %d", status)
	}
	stolen, _ := url.Parse(wide)
	for _, user := range []*url.Userinfo{nil, url.UserPassword(stolen.User.Username(), "guess"), url.UserPassword("x", "y"), url.User(stolen.User.Username())} {
		stolen.User = user
		if status, _ := s.get(stolen.String(), "http://other.example/"); status != 407 {
			t.Errorf("as %v it got %d", user, status)
		}
	}
}

func TestUpgradedConnectionEndsWithTheProxy(t *testing.T) {
	s := newStage(t, ProxyOptions{})
	s.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		io.Copy(c, rw)
	})
	parsed, _ := url.Parse(s.grant(Network{AllowedDomains: []string{"allowed.example"}}))
	c, err := net.Dial("tcp", parsed.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	password, _ := parsed.User.Password()
	token := base64.StdEncoding.EncodeToString([]byte(parsed.User.Username() + ":" + password))
	fmt.Fprintf(c, "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nProxy-Authorization: Basic %s\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", token)
	reader := bufio.NewReader(c)
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the server answered %v, %v", response, err)
	}
	io.WriteString(c, "ping\n")
	if line, err := reader.ReadString('\n'); err != nil || line != "ping\n" {
		t.Errorf("it echoed %q, %v", line, err)
	}
	s.proxy.Close()
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the connection goes on without the proxy")
	}
}

func TestSilentAddressLeavesTimeForTheNext(t *testing.T) {
	needs.FullRun(t)
	var s *stage
	s = newStage(t, ProxyOptions{DialTimeout: 8 * time.Second, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "192.0.1.1:") {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return s.dial(ctx, network, address)
	}})
	if status, body := s.get(s.grant(Network{AllowedDomains: []string{"many.example"}}), "http://many.example/"); status != 200 {
		t.Errorf("the proxy answered %d: %s", status, body)
	}
}

func TestRevokeClosesConnections(t *testing.T) {
	held := make(chan net.Conn, 1)
	s := newStage(t, ProxyOptions{Dial: func(context.Context, string, string) (net.Conn, error) {
		near, other := tcpPair(t)
		held <- other
		return near, nil
	}})
	proxyURL, revoke, err := s.proxy.Grant(Layers{{Network: &Network{AllowedDomains: []string{"allowed.example"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := s.tunnel(proxyURL, "allowed.example:22")
	<-held
	revoke()
	revoke()
	if _, err := io.ReadAll(c); err != nil {
		t.Logf("the tunnel ended with %v", err)
	}
	if status, _ := s.get(proxyURL, "http://allowed.example/"); status != 407 {
		t.Errorf("after it the proxy answered %d", status)
	}
}

func TestRestoreContinuesAGrantAtTheSamePort(t *testing.T) {
	first := newStage(t, ProxyOptions{})
	layers := Layers{{Network: &Network{AllowedDomains: []string{"allowed.example"}}}}
	proxyURL, _, err := first.proxy.Grant(layers, nil)
	if err != nil {
		t.Fatal(err)
	}
	port := first.proxy.Port()
	first.proxy.Close()
	second := newStage(t, ProxyOptions{Port: port})
	if _, err := second.proxy.Restore(proxyURL, layers, nil); err != nil {
		t.Fatal(err)
	}
	if status, _ := second.get(proxyURL, "http://allowed.example/"); status != 200 {
		t.Errorf("the second proxy answered %d", status)
	}
	for _, bad := range []string{proxyURL, "http://u:p@127.0.0.1:1", "http://127.0.0.1:1", ":", strings.Replace(proxyURL, fmt.Sprint(port), "1", 1)} {
		if _, err := second.proxy.Restore(bad, layers, nil); err == nil {
			t.Errorf("it restored %q", bad)
		}
	}
}

func TestSilentTunnelIsClosed(t *testing.T) {
	s := newStage(t, ProxyOptions{Idle: 50 * time.Millisecond})
	c, status := s.tunnel(s.grant(Network{AllowedDomains: []string{"allowed.example"}}), "allowed.example:22")
	if status != 200 {
		t.Fatalf("the proxy answered %d", status)
	}
	io.ReadAll(c) // returns when the tunnel is closed
}

func TestSilentClientIsDisconnected(t *testing.T) {
	s := newStage(t, ProxyOptions{Handshake: 50 * time.Millisecond})
	for _, beginning := range []string{"", "GET http://a", "\x05", "\x05\x01\x02\x01"} {
		c, err := net.Dial("tcp", s.proxy.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, beginning)
		io.ReadAll(c) // returns when the connection is closed
		c.Close()
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	s := newStage(t, ProxyOptions{MaxConnections: 3, MaxPerGrant: 2})
	proxyURL := s.grant(Network{AllowedDomains: []string{"allowed.example"}})
	var statuses []int
	for range 3 {
		_, status := s.tunnel(proxyURL, "allowed.example:22")
		statuses = append(statuses, status)
	}
	if !slices.Equal(statuses, []int{200, 200, 503}) {
		t.Errorf("the tunnels gave %v", statuses)
	}
	c, err := net.Dial("tcp", s.proxy.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("a fourth connection got %d bytes", n)
	}
}

func TestCloseEndsDialsAndTunnels(t *testing.T) {
	dialing := make(chan struct{})
	s := newStage(t, ProxyOptions{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		close(dialing)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	proxyURL := s.grant(Network{AllowedDomains: []string{"allowed.example"}})
	parsed, _ := url.Parse(proxyURL)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		transport := &http.Transport{Proxy: http.ProxyURL(parsed)}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get("http://allowed.example/")
		if err == nil {
			response.Body.Close()
		}
	}()
	<-dialing
	s.proxy.Close()
	<-ended
	if _, _, err := s.proxy.Grant(Layers{{}}, nil); err == nil {
		t.Error("a closed proxy grants")
	}
}
