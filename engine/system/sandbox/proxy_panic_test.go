package sandbox

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// A confined program's request must not end the engine, whichever protocol it uses.
func TestPanicInTheProxyClosesOnlyItsConnection(t *testing.T) {
	dials := 0
	var s *stage
	s = newStage(t, ProxyOptions{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials++; dials < 3 {
			panic("stumbled")
		}
		return s.dial(ctx, network, address)
	}})
	proxyURL := s.grant(Network{AllowedDomains: []string{"allowed.example"}})
	parsed, err := url.Parse(proxyURL)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := parsed.User.Password()
	c, err := net.Dial("tcp", parsed.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	greeting := append([]byte{5, 1, 2, 1, byte(len(parsed.User.Username()))}, parsed.User.Username()...)
	greeting = append(append(greeting, byte(len(password))), password...)
	c.Write(append(greeting, socksTo("allowed.example", 80)...))
	c.SetReadDeadline(time.Now().Add(time.Minute))
	for n, err := 0, error(nil); err == nil; { // until the proxy hangs up
		if n, err = c.Read(make([]byte, 64)); n == 64 {
			t.Fatal("connected")
		}
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(parsed)}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	if response, err := client.Get("http://allowed.example/"); err == nil {
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			t.Error("connected")
		}
	}
	if status, _ := s.get(proxyURL, "http://allowed.example/"); status != http.StatusOK || dials != 3 {
		t.Errorf("status %d after two panics, %d connections", status, dials)
	}
}
