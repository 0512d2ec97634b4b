package engine

import (
	"context"
	"os"
	"path/filepath"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/history"
	"tandem/engine/proctree"
	"tandem/engine/service"
	"tandem/persist/store"
)

// auditName is the log of what agents did, in the data folder.
const auditName = "audit.jsonl"

// mux serves the operation table. Every call passes the guard's check.
func (h *host) mux() *server.Mux {
	m := server.NewMux(h.guard.Check)
	m.Log = h.log
	starter := &service.Starter{Control: h.control, Store: h.store, Env: h.env, Closed: h.closed, Cgroups: h.cgroups, Shell: h.shell}
	for _, s := range []interface{ Handle(*server.Mux) }{
		&service.Engine{
			Control: h.control, Layouts: h.layouts, Arbiter: h.arbiter, Log: h.log, Info: h.info, Problems: h.problems,
			Keeper:  func(ctx context.Context) (service.Keeper, error) { return h.link.get(ctx) },
			Unsaved: h.unsaved, Stop: h.stop, EndRemains: h.EndRemains,
		},
		&service.Sessions{Control: h.control, Guard: h.guard, Starter: starter, Store: h.store, Logs: h.logs},
		&service.Processes{
			Control: h.control, Guard: h.guard, Starter: starter, Store: h.store, Logs: h.logs, History: h.history, Log: h.log,
			Meter: proctree.NewMeter(), Table: &h.table, DataDir: h.o.DataDir, EndRemains: h.EndRemains,
		},
		&service.Commands{Control: h.control, Starter: starter, Store: h.store},
		&service.Approvals{Control: h.control, Arbiter: h.arbiter, Audit: store.NewLines(filepath.Join(h.o.DataDir, auditName)), Log: h.log},
		service.History{History: h.history, Recent: new(history.Recent), Files: h.files},
		h.env, h.files, h.layouts,
	} {
		s.Handle(m)
	}
	return m
}

func (h *host) info() api.Info {
	socket, _ := api.Sockets(h.o.DataDir)
	return api.Info{
		EnginePID: os.Getpid(),
		KeeperPID: h.link.pid(),
		Version:   h.o.Version,
		Protocol:  api.Protocol,
		DataDir:   h.o.DataDir,
		Socket:    socket,
		BootID:    h.bootID,
	}
}
