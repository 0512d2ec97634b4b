// Package background starts the page in a background process of the engine, and makes links to the
// page. The process keeps serving when the client that started it exits. Package page serves.
package background

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/engine/page"
	"tandem/engine/page/devices"
)

const (
	ProcessName = "tandem-web"
	// serveTimeout limits how long the process may take to start serving.
	serveTimeout = 20 * time.Second
	// servePollInterval is how often to check whether the page is served yet.
	servePollInterval = 20 * time.Millisecond
)

// A Link pairs one browser, once.
type Link struct {
	URL         string    `json:"url"`
	Expires     time.Time `json:"expires"`               // unless a browser opens it
	Fingerprint string    `json:"fingerprint,omitempty"` // of a certificate unknown to browsers
}

// IsLocal reports whether only browsers on this machine can open the link.
func (l Link) IsLocal() bool {
	at, err := url.Parse(l.URL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(at.Hostname())
	return at.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// NewLink returns a new link to the page or, with a session in grant, to that session.
func NewLink(book *devices.Book, s page.Serving, grant devices.Grant) (Link, error) {
	code, err := book.NewCode(grant)
	if err != nil {
		return Link{}, err
	}
	at := s.URL
	if grant.Session != "" {
		at += page.LinkPath(grant.Session)
	}
	// The code is in the fragment, which a browser does not send to the server.
	return Link{at + "#" + code, time.Now().Add(devices.CodeLife).Round(time.Second), s.Fingerprint}, nil
}

// Invite returns a new link to the engine's page. If no process serves the page yet, Invite starts
// one.
func Invite(ctx context.Context, engine api.Engine) (Link, error) {
	info, err := api.EngineInfo.Call(ctx, engine, api.Empty{})
	if err != nil {
		return Link{}, err
	}
	s, ok, err := page.Served(info.DataDir)
	if err == nil && !ok {
		s, err = Start(ctx, engine, info.DataDir)
	}
	if err != nil && !errors.Is(err, page.ErrServed) {
		return Link{}, err
	}
	return NewLink(devices.Open(info.DataDir), s, devices.Grant{})
}

// Start makes the engine run `tandem web` with options, in place of the process of an earlier call,
// and waits until the page is served. If another process serves the page, Start returns that page
// and page.ErrServed.
func Start(ctx context.Context, engine api.Engine, dataDir string, options ...string) (page.Serving, error) {
	program, err := os.Executable()
	if err != nil {
		return page.Serving{}, fmt.Errorf("find Tandem's program: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, serveTimeout)
	defer cancel()
	if err := removeOld(ctx, engine); err != nil {
		return page.Serving{}, err
	}
	if s, ok, err := page.Served(dataDir); err != nil {
		return s, err
		// Some other process serves the page, for example in a terminal.
	} else if ok {
		return s, page.ErrServed
	}
	p, err := api.ProcessStart.Call(ctx, engine, api.ProcessStartInput{
		// Its log must not contain a code.
		Name: ProcessName, Command: append([]string{program, "web", "--no-link"}, options...), KeepAlive: true, NoStdin: true,
		Actor: api.Tandem, // it is no command of the user's history
		Env:   map[string]string{"TANDEM_DATA_DIR": dataDir},
	})
	if err != nil {
		return page.Serving{}, err
	}
	return waitServed(ctx, dataDir, engine, p.ID)
}

// removeOld stops and removes the process of an earlier call. The dashboard's engine also lists the
// processes of other machines, which serve pages of their own.
func removeOld(ctx context.Context, engine api.Engine) error {
	all, err := api.ProcessList.Call(ctx, engine, api.ProcessListInput{})
	if err != nil {
		return err
	}
	for _, p := range all.Processes {
		machine, _ := api.MachineOf(p.ID)
		if p.Name != ProcessName || p.Kind != api.KindProcess || machine != "" {
			continue
		}
		if err := removeProcess(ctx, engine, p); err != nil {
			return err
		}
	}
	return nil
}

func removeProcess(ctx context.Context, engine api.Engine, p api.Process) error {
	if !p.State.Ended() {
		if _, err := api.ProcessStop.Call(ctx, engine, api.ProcessStopInput{ID: p.ID}); err != nil {
			return err
		}
	}
	_, err := api.ProcessRemove.Call(ctx, engine, api.IDInput{ID: p.ID})
	return err
}

// waitServed waits until the page is served. A process that exits instead is removed, because
// keep-alive would restart it again and again.
func waitServed(ctx context.Context, dataDir string, engine api.Engine, id string) (page.Serving, error) {
	for {
		s, ok, err := page.Served(dataDir)
		if ok || err != nil {
			return s, err
		}
		p, err := api.ProcessGet.Call(ctx, engine, api.IDInput{ID: id})
		if err != nil {
			return s, err
		}
		if p.ExitedAt != nil {
			why := lastError(ctx, engine, id)
			if err := removeProcess(ctx, engine, p); err != nil {
				return s, err
			}
			return s, api.Errorf(api.CodeUnavailable, "serve the page in the background: %s", why)
		}
		if sleep.For(ctx, servePollInterval) != nil {
			return s, api.Errorf(api.CodeUnavailable, "serve the page in the background: the process did not start serving in time").WithHint("see `tandem logs " + ProcessName + "`")
		}
	}
}

// lastError returns the error message of a process or, without one, its last line.
func lastError(ctx context.Context, engine api.Engine, id string) string {
	log, err := api.ProcessLog.Call(ctx, engine, api.ProcessLogInput{ID: id, Stream: "both", Tail: 5})
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(log.Data), "\n")
	// The error message is not necessarily the last line.
	for _, line := range lines {
		if text, is := strings.CutPrefix(line, "tandem: "); is {
			return text
		}
	}
	return cmp.Or(lines[len(lines)-1], "the process has exited")
}
