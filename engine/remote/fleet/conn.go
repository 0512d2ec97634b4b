package fleet

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"tandem/engine/base/panics"
)

// Config holds the address of the fleet and the identities of this engine.
type Config struct {
	Hub       string // addresses, "tls://host:port", separated by commas
	Authority string // file with the CA certificate of the hub; "" for the system's CAs
	Machine   string // .creds file of this machine; "" if it has not joined
	Person    string // .creds file of the person here; "" if nobody has joined
}

// Empty reports whether no fleet is configured.
func (c Config) Empty() bool { return c.Hub == "" || c.Machine == "" && c.Person == "" }

const (
	// The delay between attempts to reach the hub doubles from minDelay to maxDelay. Each is
	// shortened by a random part of up to half, so that a thousand machines do not reconnect at
	// once.
	minDelay, maxDelay = 250 * time.Millisecond, 5 * time.Second
	// dialTimeout limits one attempt.
	dialTimeout = 5 * time.Second
	// pingInterval is the time between pings of the hub, maxMissedPings the number it may leave
	// unanswered.
	pingInterval, maxMissedPings = 5 * time.Second, 2
)

// reconnectDelay returns the delay before an attempt; attempts are counted from the last success.
func reconnectDelay(attempt int) time.Duration {
	longest := min(minDelay<<min(max(attempt-1, 0), 10), maxDelay)
	return longest/2 + rand.N(longest/2+1)
}

// A conn is the connection to the hub as one user, re-established until it is closed.
type conn struct {
	nats *nats.Conn
	user Credentials
	log  *slog.Logger

	mu     sync.Mutex
	pipes  map[*Pipe]struct{}
	fault  error // why there is no connection; nil if connected
	closed bool
}

// connect starts connecting. up is called after each successful connect.
func connect(c Config, creds Credentials, log *slog.Logger, up func()) (*conn, error) {
	trust, err := readAuthority(c.Authority)
	if err != nil {
		return nil, err
	}
	seed, err := creds.key.Seed()
	if err != nil {
		return nil, err
	}
	l := &conn{user: creds, log: log, pipes: map[*Pipe]struct{}{}, fault: errors.New("connecting")}
	l.nats, err = nats.Connect(c.Hub,
		nats.Name(string(creds.Kind)+" "+creds.Name), nats.UserJWTAndSeed(creds.JWT, string(seed)), nats.Secure(trust),
		nats.CustomInboxPrefix(Inbox(creds.Kind, creds.Name)), nats.NoEcho(),
		nats.Timeout(dialTimeout), nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(maxMissedPings),
		// By default the client gives up when the hub has refused it twice.
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.CustomReconnectDelay(reconnectDelay),
		// Do not buffer while offline: stale rows would be sent after the reconnect.
		nats.ReconnectBufSize(-1),
		nats.ConnectHandler(func(*nats.Conn) { l.setConnected(up) }), nats.ReconnectHandler(func(*nats.Conn) { l.setConnected(up) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.setDisconnected(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.setFault(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.reportError(err) }))
	if err != nil {
		return nil, fmt.Errorf("connect to hub: %w", explainError(err))
	}
	return l, nil
}

func (l *conn) setConnected(done func()) {
	l.mu.Lock()
	l.fault = nil
	l.mu.Unlock()
	l.log.Info("fleet", "as", l.user.Name, "state", "connected")
	done()
}

// setDisconnected fails all pipes: it is unknown which messages in flight arrived.
func (l *conn) setDisconnected(err error) {
	if err == nil {
		err = errors.New("the hub closed the connection")
	}
	err = explainError(err)
	l.mu.Lock()
	l.fault = err
	broken := l.pipes
	l.pipes = map[*Pipe]struct{}{}
	closed := l.closed
	l.mu.Unlock()
	// Do this without the lock, because a failing pipe takes it to remove itself from l.pipes.
	for p := range broken {
		p.failWith(fmt.Errorf("the connection to the hub was lost: %w", err))
	}
	if !closed {
		l.log.Info("fleet", "as", l.user.Name, "state", "away", "error", err)
	}
}

// roundTrip returns the round-trip time to the hub in milliseconds; 0 if disconnected.
func (l *conn) roundTrip() float64 {
	if l.state() != nil {
		return 0
	}
	rtt, err := l.nats.RTT()
	if err != nil {
		return 0
	}
	return float64(rtt.Microseconds()) / 1000
}

func (l *conn) setFault(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = explainError(err)
}

// reportError logs an asynchronous error from the hub. An authorization error explains why
// reconnecting fails.
func (l *conn) reportError(err error) {
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired) {
		l.setFault(err)
	}
	l.log.Warn("fleet", "as", l.user.Name, "error", err)
}

// state returns why there is no connection, or nil.
func (l *conn) state() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

func (l *conn) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.nats.Close()
	l.setDisconnected(errors.New("this engine is leaving the fleet"))
}

// addPipe registers a pipe, so that it fails when the connection is lost. It returns an error if
// there is no connection.
func (l *conn) addPipe(p *Pipe) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil {
		return l.fault
	}
	l.pipes[p] = struct{}{}
	return nil
}

func (l *conn) removePipe(p *Pipe) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pipes, p)
}

// explainError translates an error of the connection for the user.
func explainError(err error) error {
	var expired x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &expired) && expired.Reason == x509.Expired:
		return fmt.Errorf("the hub's certificate is not valid now: it is valid from %s to %s; restart the hub, or correct this machine's clock",
			expired.Cert.NotBefore.Format(time.DateTime), expired.Cert.NotAfter.Format(time.DateTime))
	case errors.As(err, &unknown):
		return errors.New("a different hub answered: its certificate is not signed by the authority known here")
	case errors.Is(err, nats.ErrAuthRevoked), strings.Contains(strings.ToLower(err.Error()), "revoked"):
		return errors.New("the hub has revoked this key; ask for another invitation")
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return errors.New("the hub rejects this key: it was revoked or has expired; ask for another invitation")
	case errors.Is(err, nats.ErrNoServers):
		return errors.New("no hub answers there")
	case errors.Is(err, nats.ErrTimeout):
		return errors.New("no answer in time")
	}
	return err
}

// subscribe calls f with each message on a subject, one at a time. It drops rows delivered there by
// a consumer. A panic in f loses only that message.
func (l *conn) subscribe(subject, queue string, f func(*nats.Msg)) (*nats.Subscription, error) {
	return l.nats.QueueSubscribe(subject, queue, func(m *nats.Msg) {
		if Covers(subject, m.Subject) {
			panics.Log(l.log, "fleet: message", func() { f(m) })
		}
	})
}
