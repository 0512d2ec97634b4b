// Package readiness checks whether a process is ready: whether it listens on a port or a URL
// responds, within the limits of its sandbox. It also validates readiness conditions. The engine
// decides when to probe.
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

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/sleep"
	"tandem/engine/system/sandbox"
	"tandem/persist/store"
)

const (
	minProbeGap  = 20 * time.Millisecond // first interval between attempts
	maxProbeGap  = 500 * time.Millisecond
	probeTimeout = 5 * time.Second // timeout of one attempt
)

// A Dialer opens connections.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Until returns a function that calls try until it succeeds or ctx ends.
func Until(try func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		var last error
		for gap := minProbeGap; ; gap = min(2*gap, maxProbeGap) {
			once, cancel := context.WithTimeout(ctx, probeTimeout)
			err := try(once)
			cancel()
			if err == nil {
				return nil
			}
			// An attempt cut short by ctx has a less useful error, so keep the previous one.
			if last == nil || ctx.Err() == nil {
				last = err
			}
			if sleep.For(ctx, gap) != nil {
				return last
			}
		}
	}
}

// A Prober probes readiness over the network.
type Prober struct {
	Dial     Dialer
	Loopback []string // hosts to probe ports on
}

// Anywhere returns a Prober without a sandbox.
func Anywhere() Prober {
	return Prober{new(net.Dialer).DialContext, []string{"127.0.0.1", "::1"}}
}

// CheckSandbox rejects network probes that the sandbox of the process does not allow. The engine
// probes on behalf of the process, so it must not reach further.
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

// Port returns nil if a program listens on a port of the loopback interface.
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

// HTTP returns nil if the URL in ready responds with the expected status.
func (p Prober) HTTP(ctx context.Context, ready *store.Readiness) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ready.HTTP, nil)
	if err != nil {
		return err
	}
	for name, value := range ready.HTTPHeaders {
		request.Header.Set(name, value)
	}
	if host := request.Header.Get("Host"); host != "" {
		// net/http ignores a Host header.
		request.Host = host
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

// Check rejects readiness conditions that can never be met.
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
		return api.Invalid(err)
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
