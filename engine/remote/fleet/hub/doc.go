// Package hub is the centre of a fleet: it manages the members, the invitations and the keys to
// sign both. The messages themselves are carried by the server in package embedded, or by any NATS.
package hub

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/nats-io/nats.go"

	"tandem/engine/remote/fleet"
)

// A Server carries the messages.
type Server interface {
	Addr() net.Addr
	// Connect opens a connection inside this process.
	Connect(...nats.Option) (*nats.Conn, error)
	// Renew applies the account's JWT at once: revoked users are disconnected.
	Renew(account string) error
	Load() Load
	Close()
}

// Load describes the load of a server.
type Load struct {
	Connections int    `json:"connections"`
	Memory      uint64 `json:"memory_bytes"` // of the process
	InMsgs      int64  `json:"in_messages"`  // since the start
	InBytes     int64  `json:"in_bytes"`
	OutMsgs     int64  `json:"out_messages"`
	OutBytes    int64  `json:"out_bytes"`
	Slow        int64  `json:"slow_consumers"`
}

// Config is the configuration of a Server.
type Config struct {
	Listen   string // host:port
	TLS      *tls.Config
	Store    string // folder of the buckets
	Operator string // JWT
	System   Account
	Fleet    Account
	Joiner   string // JWT for redeeming invitations
}

// An Account is an account of the server.
type Account struct{ Key, JWT string }

// A Starter starts a server; it is nil in builds without one.
type Starter func(Config) (Server, error)

// A Member is a machine or person of the fleet.
type Member struct {
	Name    string     `json:"name"`
	Kind    fleet.Kind `json:"kind"`
	Role    fleet.Role `json:"role,omitempty"`
	Labels  []string   `json:"labels,omitempty"`
	Key     string     `json:"key"` // public
	Joined  time.Time  `json:"joined"`
	Invited string     `json:"invited_by"`
}

// Status is the state of a hub.
type Status struct {
	Address     string `json:"address"`
	Machines    int    `json:"machines"`
	People      int    `json:"people"`
	Invitations int    `json:"invitations"` // open ones
	Load
}

// Options are the options of a hub.
type Options struct {
	Folder  string // for its keys, members and buckets; created (0700) if needed
	Listen  string // "" for the previous address, or the default
	Address string // host:port for others; "" for the previous one, or Listen
	Start   Starter
	Now     func() time.Time // for tests; default time.Now
}

// Run runs a hub until ctx is done. ready is called with its address once it is listening.
func Run(ctx context.Context, o Options, ready func(Status)) error {
	h, err := Open(o)
	if err != nil {
		return err
	}
	defer h.Close()
	ready(h.Status())
	<-ctx.Done()
	return nil
}
