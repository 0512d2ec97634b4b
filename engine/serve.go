package engine

import (
	"context"
	"os"
	"path/filepath"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/shell"
	"tandem/engine/control/supervise"
	"tandem/engine/record/audit"
	"tandem/engine/record/history"
	"tandem/engine/record/outputs"
	"tandem/engine/service"
	"tandem/engine/session/terminal"
	"tandem/engine/system/proctree"
	"tandem/engine/workspace/worktrees"
	"tandem/persist/datadir"
	"tandem/persist/store"
)

// auditName is the log of agents' calls in the data directory.
const auditName = datadir.Audit

// newMux returns the operation table's server. Every call passes the guard's check.
func (e *engine) newMux() *server.Mux {
	h := e.host
	guard := &access.Guard{
		DataDir: e.o.DataDir, BootID: e.bootID, SandboxPath: e.store.SandboxPath,
		KeeperPID: func() int { return h.Link.PID() },
		Visit: func(ctx context.Context, f func(store.Record, *terminal.Session)) error {
			return h.Control.Visit(ctx, func(p supervise.Entry) { f(p.Rec, p.Session) })
		},
	}
	m := server.NewMux(guard.Check)
	m.Log, m.Version, m.Sandbox, m.StartTime = e.log, e.o.Version, e.o.Sandbox, startTime
	starter := &service.Starter{Control: h.Control, Store: e.store, Env: e.env, Closed: h.Launcher.Closed, CgroupOf: h.CgroupOf, Shell: h.Shell, Privacy: &e.privacy}
	h.Control.Private.MayUse, e.privacy.MayUse = guard.MayUsePrivate, guard.MayUsePrivate
	trees := worktrees.Trees{Private: e.o.DataDir}
	calls := store.NewLines(filepath.Join(e.o.DataDir, auditName))
	calls.Flusher = &e.store.Flusher
	approvals := &service.Approvals{Control: h.Control, Arbiter: e.arbiter, Audit: audit.New(calls), Log: e.log}
	members := &service.Fleet{Fleet: e.fleet, Origin: ownName(), Guard: guard}
	e.arbiter.Sessions = approvals.DescribeSession
	e.machines.MayReachMachines, e.machines.AgentBehind = guard.MayReachMachines, guard.AgentBehind
	m.Machines = &e.machines
	m.Policy, m.Audit, m.Secret, m.Started = e.arbiter.Judge, approvals.Audit, approvals.ReadsSecret, e.arbiter.Started
	pipes := new(service.PipeShells)
	for _, s := range []interface{ Handle(*server.Mux) }{
		&service.Engine{
			Control: h.Control, Layouts: e.layouts, Arbiter: e.arbiter, Log: e.log, Info: e.getInfo, Problems: h.Problems,
			Keeper:   func(ctx context.Context) (service.Keeper, error) { return h.Link.Await(ctx) },
			Machines: e.hosts.Known, Unsaved: e.unsavedReason, Stop: e.stopOnRequest, Upgrade: e.requestUpgrade, StopRemains: h.StopRemains, Others: &e.machines,
		},
		&service.Sessions{Control: h.Control, Guard: guard, Starter: starter, Store: e.store, Logs: h.Logs, Usage: e.usage, Pipes: pipes, Agents: h.Agents, Trees: trees, DescribeEnd: h.DescribeEnd},
		&service.Processes{
			Control: h.Control, Guard: guard, Starter: starter, Store: e.store, Logs: h.Logs, Log: e.log,
			Usage: e.usage, Pipes: pipes, StopRemains: h.StopRemains, OpenCheck: h.Observer.OpenCheck, Others: &e.machines, Kept: h.Kept,
		},
		&service.Output{
			Control: h.Control, Searcher: outputs.Searcher{Logs: h.Logs, RunsAt: h.History.RunsAt, Kept: h.Kept},
			MayRead: func(ctx context.Context, operation string) bool {
				return guard.Check(ctx, operation, api.Read, nil) == nil && e.arbiter.MayRead(ctx, operation)
			},
		},
		&service.Scrub{Control: h.Control, History: h.History, Kept: h.Kept, DataDir: e.o.DataDir, Run: e.requestScrub},
		&service.CodingAgents{Control: h.Control, Guard: guard, Agents: h.Agents},
		&service.Commands{Control: h.Control, Starter: starter, Store: e.store, Usage: e.usage},
		approvals, members,
		service.History{History: h.History, Recent: new(history.Recent), Files: e.files, Others: &e.machines},
		&service.Machines{Hosts: e.hosts, Guard: guard}, service.Peers{Guard: guard},
		&service.Worktrees{Trees: trees, Files: e.files, Control: h.Control},
		e.env, e.files, e.layouts,
	} {
		s.Handle(m)
	}
	if err := e.files.Resume(e.store); err != nil {
		e.log.Error("load transfers", "error", err)
	}
	return m
}

func startTime(pid int) (uint64, bool) {
	p, ok := proctree.Read(pid)
	return p.StartTime, ok && !p.IsZombie()
}

func (e *engine) getInfo() api.Info {
	home, _ := os.UserHomeDir() // optional
	runs, bytes := e.host.Kept.Size()
	return api.Info{
		EnginePID:      os.Getpid(),
		StartedAt:      e.startedAt,
		KeeperPID:      e.host.Link.PID(),
		Version:        e.o.Version,
		Protocol:       api.Protocol,
		OldestProtocol: api.OldestProtocol,
		DataDir:        e.o.DataDir,
		Socket:         e.socket(),
		BootID:         e.bootID,
		Home:           home,
		Shell:          shell.CommandShell(),
		KeptOutput:     &api.KeptOutput{Runs: runs, Bytes: bytes},
		Unread:         e.host.Unread(),
	}
}

// stopOnRequest stops the engine. all reports whether all sessions and processes were stopped
// before.
func (e *engine) stopOnRequest(all bool) {
	e.stoppedAll.Store(all)
	e.upgrade.Store(nil) // the stop came last
	e.stop()
}
