package observe

import (
	"context"
	"log/slog"
	"net"
	"sync"

	"tandem/engine/control/supervise"
	"tandem/engine/record/logs"
	"tandem/persist/store"
)

// An Observer implements supervise.Observer in a real engine.
type Observer struct {
	Log     *slog.Logger
	Store   *store.Store
	Logs    *logs.Logs
	Control *supervise.Control

	ProcessLogLimit func() int64 // the default of LogLimit
	// DialerFor returns a dial function limited to the network access of a child.
	DialerFor func(id string) func(ctx context.Context, network, address string) (net.Conn, error)
	// Command returns the arguments and environment to run a command with the variables and in the
	// sandbox of a record's child.
	Command func(r store.Record, command []string) (argv, env []string, err error)

	openChecks sync.Map // process id → name of the readiness check still failing
}
