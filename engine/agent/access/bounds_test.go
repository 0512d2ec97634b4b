package access

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

// fleet.list with rows returns what other machines run. Only the user may get it from this engine.
// Other callers must ask each machine, which checks their access itself. output.search is for the user
// and, because it leaves out what they may not read, for agents.
func TestFleetRowsAndSearchesAreForItsUserOnly(t *testing.T) {
	g := &Guard{KeeperPID: func() int { return 0 }}
	m := server.NewMux(g.Check)
	server.Handle(m, api.FleetList, func(_ context.Context, in api.FleetListInput) (api.FleetListOutput, error) {
		if in.Rows {
			return api.FleetListOutput{}, errors.New("with rows")
		}
		return api.FleetListOutput{}, nil
	})
	server.Handle(m, api.OutputSearch, func(context.Context, api.OutputSearchInput) (api.OutputSearchOutput, error) {
		return api.OutputSearchOutput{}, errors.New("served")
	})
	l, err := net.Listen("unix", filepath.Join(socketDir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = m.Serve(t.Context(), l) }()
	for name, c := range map[string]struct {
		origin api.Origin
		owner  string
		rows   bool
	}{
		"a person":                       {rows: true},
		"an agent":                       {owner: "x"},
		"what an agent elsewhere began":  {origin: api.Origin{From: "u@h", Agent: "claude"}},
		"a person elsewhere":             {origin: api.Origin{From: "u@h"}, rows: true},
		"who reads here by the fleet":    {origin: api.Origin{From: "ann", Person: "ann", Role: api.RoleRead}},
		"who operates here by the fleet": {origin: api.Origin{From: "ann", Person: "ann", Role: api.RoleOperate}},
		"who is admin here by the fleet": {origin: api.Origin{From: "ann", Person: "ann", Role: api.RoleAdmin}, rows: true},
	} {
		for operation, served := range map[string]bool{api.FleetList.Name: c.rows, api.OutputSearch.Name: c.rows || c.owner != ""} {
			near, far := net.Pipe()
			if err := m.Receive(far, c.origin); err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequest(http.MethodPost, "http://tandem/v1/"+operation, strings.NewReader(map[string]string{api.FleetList.Name: `{"rows":true}`, api.OutputSearch.Name: `{"text":"x"}`}[operation]))
			if err != nil {
				t.Fatal(err)
			}
			if c.owner != "" {
				r.Header.Set(api.OwnerHeader, c.owner)
			}
			if err := r.Write(near); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(near), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := answer.StatusCode == http.StatusInternalServerError; got != served {
				t.Errorf("%s calls %s: status %d", name, operation, answer.StatusCode)
			}
			near.Close()
		}
	}
}

// socketDir returns a temporary directory with a path short enough for a socket.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
