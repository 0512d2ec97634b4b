package tmux

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"tandem/engine/api/client"
	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

func TestFailedReplacementOfTheOnlyWindowRemovesItsSession(t *testing.T) {
	c := newCall(context.Background(), Options{Connect: func(context.Context) (*client.Client, error) { return nil, errors.New("offline") }}, filepath.Join(t.TempDir(), "default"))
	if err := c.lock(); err != nil {
		t.Fatal(err)
	}
	defer c.file.Release()
	window := &server.Window{Layout: cells.New(0, 80, 24), Panes: []*server.Pane{{Adopted: true}}}
	session := &server.Session{Name: "work", Windows: []*server.Window{window}, W: 80, H: 24}
	c.file.Sessions = []*server.Session{session}

	cmd, err := c.table.parseCommand([]string{"new-window", "-k", "-t", "work:0", "cat", "file"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.runSequence([]*command{cmd}); err == nil {
		t.Fatal("new-window succeeds without an engine")
	}
	if len(c.file.Sessions) != 0 {
		t.Errorf("session has %d windows after a failed new-window -k, want no session", len(session.Windows))
	}
}
