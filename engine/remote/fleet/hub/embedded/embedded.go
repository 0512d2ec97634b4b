// Package embedded runs nats-server inside this program, for fleets without a NATS of their own. It
// is only linked into builds with the tag hub.
package embedded

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"tandem/engine/remote/fleet/hub"
)

const (
	startTimeout = 10 * time.Second
	// maxPending limits the unread bytes of a client before it is disconnected.
	maxPending = 16 << 20
	maxPayload = 1 << 20
)

// Start starts a server.
func Start(c hub.Config) (hub.Server, error) {
	host, port, err := listenOn(c.Listen)
	if err != nil {
		return nil, err
	}
	operator, err := jwt.DecodeOperatorClaims(c.Operator)
	if err != nil {
		return nil, err
	}
	accounts := &server.MemAccResolver{}
	for _, a := range []hub.Account{c.System, c.Fleet} {
		if err := accounts.Store(a.Key, a.JWT); err != nil {
			return nil, err
		}
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "tandem-hub", Host: host, Port: port, TLSConfig: c.TLS, TLS: true, TLSTimeout: startTimeout.Seconds(),
		TrustedOperators: []*jwt.OperatorClaims{operator}, SystemAccount: c.System.Key, AccountResolver: accounts, DefaultSentinel: c.Joiner,
		JetStream: true, StoreDir: c.Store, JetStreamMaxMemory: -1, JetStreamMaxStore: -1,
		NoSigs: true, NoLog: true, MaxPending: maxPending, MaxPayload: maxPayload, WriteDeadline: startTimeout,
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(startTimeout) || s.Addr() == nil {
		s.Shutdown()
		return nil, fmt.Errorf("listen on %s: the address may be in use, or belong to another machine", c.Listen)
	}
	return &embeddedServer{s, accounts, c.Fleet.Key}, nil
}

// listenOn parses an address.
func listenOn(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("listen on %s: must be host:port", address)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("listen on %s: %q is not a port", address, text)
	}
	// The server takes 0 as its default port.
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if host == "" {
		host = server.DEFAULT_HOST
	}
	return host, port, nil
}

// An embeddedServer is a running server.
type embeddedServer struct {
	server   *server.Server
	accounts *server.MemAccResolver
	fleet    string // key of the account
}

func (r *embeddedServer) Addr() net.Addr { return r.server.Addr() }

func (r *embeddedServer) Connect(options ...nats.Option) (*nats.Conn, error) {
	return nats.Connect("", append(options, nats.InProcessServer(r.server))...)
}

func (r *embeddedServer) Renew(account string) error {
	claims, err := jwt.DecodeAccountClaims(account)
	if err != nil {
		return err
	}
	if err := r.accounts.Store(r.fleet, account); err != nil {
		return err
	}
	// Also update the account in use: this disconnects revoked users.
	a, err := r.server.LookupAccount(r.fleet)
	if err != nil {
		return err
	}
	r.server.UpdateAccountClaims(a, claims)
	return nil
}

func (r *embeddedServer) Load() hub.Load {
	l := hub.Load{Memory: residentMemory()}
	if v, err := r.server.Varz(nil); err == nil {
		l.Connections, l.Slow = v.Connections, v.SlowConsumers
		l.InMsgs, l.InBytes, l.OutMsgs, l.OutBytes = v.InMsgs, v.InBytes, v.OutMsgs, v.OutBytes
	}
	return l
}

// residentMemory returns the resident memory of this process, in bytes.
func residentMemory() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	var size, pages uint64
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &pages)
	}
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys
	}
	return pages * uint64(os.Getpagesize())
}

func (r *embeddedServer) Close() {
	r.server.Shutdown()
	r.server.WaitForShutdown()
}
