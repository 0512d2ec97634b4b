package web

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/page"
	"tandem/engine/sleep"
)

const (
	// processName is that of the process that serves the page in the background.
	processName = "tandem-web"
	// serveTime is how long it may take until it serves.
	serveTime = 20 * time.Second
	// serveLook is how often it is looked whether it does.
	serveLook = 20 * time.Millisecond
)

// serveInBackground has the engine keep a process that serves the page, and waits until it
// does.
func (v *Verbs) serveInBackground(ctx context.Context, dataDir string, w wish, changed string) (page.Serving, error) {
	command, err := w.command()
	if err != nil {
		return page.Serving{}, err
	}
	engine, err := v.Own(ctx)
	if err != nil {
		return page.Serving{}, err
	}
	defer engine.Close()
	ctx, cancel := context.WithTimeout(ctx, serveTime)
	defer cancel()
	if err := forgetOld(ctx, engine); err != nil {
		return page.Serving{}, err
	}
	if s, ok, err := page.Served(dataDir); err != nil {
		return s, err
	} else if ok { // in some terminal
		return s, servedAlready(s, changed)
	}
	p, err := api.ProcessStart.Call(ctx, engine, api.ProcessStartInput{
		Name: processName, Command: command, KeepAlive: true, Env: map[string]string{"TANDEM_DATA_DIR": dataDir},
	})
	if err != nil {
		return page.Serving{}, err
	}
	return waitServed(ctx, dataDir, engine, p.ID)
}

// command is what serves the page as w says.
func (w wish) command() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	command := []string{program, "web", "--no-link"}
	if w.where.Address != "" {
		command = append(command, "--listen", w.where.Address)
	}
	for _, name := range w.where.Hosts {
		command = append(command, "--host-name", name)
	}
	if w.where.CertFile != "" {
		cert, err := filepath.Abs(w.where.CertFile)
		if err != nil {
			return nil, err
		}
		key, err := filepath.Abs(w.where.KeyFile)
		if err != nil {
			return nil, err
		}
		command = append(command, "--tls-cert", cert, "--tls-key", key)
	}
	if w.readOnly {
		command = append(command, "--read-only")
	}
	return command, nil
}

// forgetOld ends and removes the process of another time, which serves nothing.
func forgetOld(ctx context.Context, engine *client.Client) error {
	all, err := api.ProcessList.Call(ctx, engine, api.ProcessListInput{})
	if err != nil {
		return err
	}
	for _, p := range all.Processes {
		if p.Name != processName || p.Kind != api.KindProcess {
			continue
		}
		if err := forget(ctx, engine, p); err != nil {
			return err
		}
	}
	return nil
}

func forget(ctx context.Context, engine *client.Client, p api.Process) error {
	if !p.State.Ended() {
		if _, err := api.ProcessStop.Call(ctx, engine, api.ProcessStopInput{ID: p.ID}); err != nil {
			return err
		}
	}
	_, err := api.ProcessRemove.Call(ctx, engine, api.IDInput{ID: p.ID})
	return err
}

// waitServed waits until the page is served. A process that ends instead is removed: it would
// fail again and again.
func waitServed(ctx context.Context, dataDir string, engine *client.Client, id string) (page.Serving, error) {
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
			why := lastLine(ctx, engine, id)
			if err := forget(ctx, engine, p); err != nil {
				return s, err
			}
			return s, api.Errorf(api.CodeUnavailable, "serve the page in the background: %s", why)
		}
		if sleep.For(ctx, serveLook) != nil {
			return s, api.Errorf(api.CodeUnavailable, "serve the page in the background: it took too long").WithHint("see `tandem logs " + processName + "`")
		}
	}
}

// lastLine is what a process said last.
func lastLine(ctx context.Context, engine *client.Client, id string) string {
	log, err := api.ProcessLog.Call(ctx, engine, api.ProcessLogInput{ID: id, Stream: "both", Tail: 5})
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(log.Data), "\n")
	for _, line := range lines {
		if text, is := strings.CutPrefix(line, "tandem: "); is {
			return text
		}
	}
	return cmp.Or(lines[len(lines)-1], "the process has exited")
}
