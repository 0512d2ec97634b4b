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
	// processName is the name of the background process.
	processName = "tandem-web"
	// serveTimeout limits how long the process may take to start serving.
	serveTimeout = 20 * time.Second
	// servePollInterval is how often to check whether it does.
	servePollInterval = 20 * time.Millisecond
)

// serveInBackground has the engine run a process to serve the page, and waits until it does.
func (v *Verbs) serveInBackground(ctx context.Context, dataDir string, w request, changed string) (page.Serving, error) {
	command, err := w.command()
	if err != nil {
		return page.Serving{}, err
	}
	engine, err := v.Own(ctx)
	if err != nil {
		return page.Serving{}, err
	}
	defer engine.Close()
	ctx, cancel := context.WithTimeout(ctx, serveTimeout)
	defer cancel()
	if err := removeOld(ctx, engine); err != nil {
		return page.Serving{}, err
	}
	if s, ok, err := page.Served(dataDir); err != nil {
		return s, err
		// Some other process serves the page, for example in a terminal.
	} else if ok {
		return s, alreadyServedError(s, changed)
	}
	p, err := api.ProcessStart.Call(ctx, engine, api.ProcessStartInput{
		Name: processName, Command: command, KeepAlive: true, Env: map[string]string{"TANDEM_DATA_DIR": dataDir},
	})
	if err != nil {
		return page.Serving{}, err
	}
	return waitServed(ctx, dataDir, engine, p.ID)
}

// command returns the command line to serve the page with these options.
func (w request) command() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	command := []string{program, "web", "--no-link"}
	if w.listen.Address != "" {
		command = append(command, "--listen", w.listen.Address)
	}
	for _, name := range w.listen.Hosts {
		command = append(command, "--host-name", name)
	}
	// The process starts in another folder.
	if w.listen.CertFile != "" {
		cert, err := filepath.Abs(w.listen.CertFile)
		if err != nil {
			return nil, err
		}
		key, err := filepath.Abs(w.listen.KeyFile)
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

// removeOld stops and removes the background process of an earlier call.
func removeOld(ctx context.Context, engine *client.Client) error {
	all, err := api.ProcessList.Call(ctx, engine, api.ProcessListInput{})
	if err != nil {
		return err
	}
	for _, p := range all.Processes {
		if p.Name != processName || p.Kind != api.KindProcess {
			continue
		}
		if err := removeProcess(ctx, engine, p); err != nil {
			return err
		}
	}
	return nil
}

func removeProcess(ctx context.Context, engine *client.Client, p api.Process) error {
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
			why := lastError(ctx, engine, id)
			if err := removeProcess(ctx, engine, p); err != nil {
				return s, err
			}
			return s, api.Errorf(api.CodeUnavailable, "serve the page in the background: %s", why)
		}
		if sleep.For(ctx, servePollInterval) != nil {
			return s, api.Errorf(api.CodeUnavailable, "serve the page in the background: it took too long").WithHint("see `tandem logs " + processName + "`")
		}
	}
}

// lastError returns the error message of a process or, without one, its last line.
func lastError(ctx context.Context, engine *client.Client, id string) string {
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
