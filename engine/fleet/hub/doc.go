// Package hub is where a fleet meets: who belongs to it, invitations, and the keys
// that sign both. The server that carries the messages is in embedded, or any NATS.
package hub

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/nats-io/nats.go"

	"tandem/engine/fleet"
)

// A Server carries the messages.
type Server interface {
	Addr() net.Addr
	// Connect is a connection to it that does not go over the network.
	Connect(...nats.Option) (*nats.Conn, error)
	// Renew has the JWT of the account hold, at once: who was revoked is cut off.
	Renew(account string) error
	Load() Load
	Close()
}

// Load is how much a server has to do.
type Load struct {
	Connections int    `json:"connections"`
	Memory      uint64 `json:"memory_bytes"` // of the process
	InMsgs      int64  `json:"in_messages"`  // since it started
	InBytes     int64  `json:"in_bytes"`
	OutMsgs     int64  `json:"out_messages"`
	OutBytes    int64  `json:"out_bytes"`
	Slow        int64  `json:"slow_consumers"`
}

// Config is what a Server is started with.
type Config struct {
	Listen   string // host:port
	TLS      *tls.Config
	Store    string // folder of the buckets
	Operator string // JWT
	System   Account
	Fleet    Account
	Joiner   string // JWT of whoever has not joined yet
}

// An Account of the server.
type Account struct{ Key, JWT string }

// A Starter starts a server; nil in builds without one.
type Starter func(Config) (Server, error)

// A Member is somebody who has joined.
type Member struct {
	Name    string     `json:"name"`
	Kind    fleet.Kind `json:"kind"`
	Role    fleet.Role `json:"role,omitempty"`
	Labels  []string   `json:"labels,omitempty"`
	Key     string     `json:"key"` // public
	Joined  time.Time  `json:"joined"`
	Invited string     `json:"invited_by"`
}

// Status is what a hub tells of itself.
type Status struct {
	Address     string `json:"address"`
	Machines    int    `json:"machines"`
	People      int    `json:"people"`
	Invitations int    `json:"invitations"` // open
	Load
}

// Options are what a hub works with.
type Options struct {
	Folder  string // of its keys, members and buckets; made (0700) if needed
	Listen  string // "" for where it did last, or the default
	Address string // under which others reach it, host:port; "" for where it did last, or where it listens
	Start   Starter
	Now     func() time.Time // for tests; default time.Now
}

// Run is the hub until ctx ends. ready is told where it listens.
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
