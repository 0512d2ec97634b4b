package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
)

func TestUninstallIsRefusedToAgents(t *testing.T) {
	r := newRig(t)
	r.options.Environ = append(r.options.Environ, "HOME="+t.TempDir())
	data := os.Getenv("TANDEM_DATA_DIR")
	if err := os.WriteFile(filepath.Join(data, "audit.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mux := r.mux()
	server.Handle(mux, api.RequestList, func(context.Context, api.Empty) (api.RequestListOutput, error) {
		return api.RequestListOutput{}, api.Errorf(api.CodeForbidden, "only the user may do that")
	})
	dir := shortDir(t)
	r.serveMux(mux, dir)
	r.options.Connect = func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Version: "1.2.3", Name: "cli"})
	}
	r.options.Reach = r.options.Connect
	_, stderr, status := r.run("uninstall", "--yes")
	if status != 1 || !strings.Contains(stderr, "uninstall: only the user may do that") || len(r.stopped) > 0 {
		t.Errorf("status %d, stopped %v, %s", status, r.stopped, stderr)
	}
	if _, err := os.Stat(filepath.Join(data, "audit.jsonl")); err != nil {
		t.Error(err)
	}
}
