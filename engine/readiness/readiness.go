// Package readiness looks whether a process is ready: whether something listens on a
// port or a URL answers, as far as its sandbox lets it look, and which conditions
// could hold at all. When a process is looked at, the engine decides.
package readiness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/engine/sandbox"
	"tandem/engine/sleep"
	"tandem/persist/store"
)

const (
	probeGap     = 20 * time.Millisecond // between two tries, at first
	probeGapMost = 500 * time.Millisecond
	probeTime    = 5 * time.Second // for one try
)

// A Dialer makes connections.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Until tries until the condition holds or ctx ends.
func Until(try func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		var last error
		for gap := probeGap; ; gap = min(2*gap, probeGapMost) {
			once, cancel := context.WithTimeout(ctx, probeTime)
			err := try(once)
			cancel()
			if err == nil {
				return nil
			}
			if last == nil || ctx.Err() == nil { // else it was cut off, which says less
				last = err
			}
			if sleep.For(ctx, gap) != nil {
				return last
			}
		}
	}
}

// A Prober looks over the network whether something is ready.
type Prober struct {
	Dial     Dialer
	Loopback []string // hosts at which ports are looked for
}

// Anywhere probes without bounds.
func Anywhere() Prober {
	return Prober{new(net.Dialer).DialContext, []string{"127.0.0.1", "::1"}}
}

// CheckSandbox refuses readiness checks over a network that a sandbox does not
// allow: the engine makes them for the process, and no more than that may.
func CheckSandbox(ready *store.Readiness, layers sandbox.Layers) error {
	if ready == nil {
		return nil
	}
	if ready.Port != 0 {
		if err := access.MayProbe(layers); err != nil {
			return fmt.Errorf("readiness: port %d: %w", ready.Port, err)
		}
	}
	if u, err := url.Parse(ready.HTTP); ready.HTTP != "" && err == nil {
		if err := layers.CheckHost(u.Hostname()); err != nil {
			return fmt.Errorf("readiness: http %s: %w", names.Shown(ready.HTTP), err)
		}
	}
	return nil
}

// Port reports whether something listens on a port of the loopback interface.
func (p Prober) Port(ctx context.Context, port int) error {
	failed := errors.New("its sandbox does not let it reach the loopback interface")
	for i, host := range p.Loopback {
		conn, err := p.Dial(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return conn.Close()
		}
		if i == 0 {
			failed = err
		}
	}
	return failed
}

// HTTP returns nil if the URL of ready answers with the status it asks for.
func (p Prober) HTTP(ctx context.Context, ready *store.Readiness) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ready.HTTP, nil)
	if err != nil {
		return err
	}
	for name, value := range ready.HTTPHeaders {
		request.Header.Set(name, value)
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host // net/http ignores the header
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: p.Dial}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	success := answer.StatusCode == ready.HTTPStatus || ready.HTTPStatus == 0 && answer.StatusCode/100 == 2
	if !success {
		return fmt.Errorf("it answered with %s", answer.Status)
	}
	return nil
}

// Check refuses what could never hold.
func Check(r *api.Readiness) error {
	if r == nil {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return api.Errorf(api.CodeInvalid, "readiness: "+format, args...)
	}
	if r.Log == "" && r.Port == 0 && r.HTTP == "" && len(r.Command) == 0 {
		return wrong("no condition given").(*api.Error).WithHint("give a log line, a port, a URL or a command")
	}
	if err := names.CheckPattern("readiness: log", r.Log); err != nil {
		return err
	}
	if r.Port < 0 || r.Port > 65535 {
		return wrong("port %d: must be 1 to 65535", r.Port)
	}
	if len(r.Command) > 0 && r.Command[0] == "" {
		return wrong("command: the program's name is empty")
	}
	if r.TimeoutMS < 0 {
		return wrong("timeout_ms cannot be negative")
	}
	u, err := url.Parse(r.HTTP)
	if r.HTTP != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
		return wrong("http %s: not an http or https URL", names.Shown(r.HTTP))
	}
	if r.HTTP == "" && (r.HTTPStatus != 0 || len(r.HTTPHeaders) > 0) {
		return wrong("http_status and http_headers need http")
	}
	if r.HTTPStatus != 0 && (r.HTTPStatus < 100 || r.HTTPStatus > 599) {
		return wrong("http_status %d: must be 100 to 599", r.HTTPStatus)
	}
	for name, value := range r.HTTPHeaders {
		if name == "" || strings.ContainsAny(name, " :\t\r\n\x00") || strings.ContainsAny(value, "\r\n\x00") {
			return wrong("http_headers: %q is not a valid header", name)
		}
	}
	return nil
}
