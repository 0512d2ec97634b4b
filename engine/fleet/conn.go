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

	"tandem/engine/panics"
)

// Config says where the fleet is, and who this engine is there.
type Config struct {
	Hub       string // addresses, "tls://host:port", with commas between them
	Authority string // file of the certificate that signs the hub's; "" for those that the system trusts
	Machine   string // .creds file of this machine; "" if it is none of the fleet
	Person    string // .creds file of the person here; "" if there is none
}

// Empty reports whether there is no fleet.
func (c Config) Empty() bool { return c.Hub == "" || c.Machine == "" && c.Person == "" }

const (
	// The time between attempts to reach the hub doubles from the first to the longest;
	// each is shortened by up to half, so that a thousand machines do not come at once.
	firstPause, longestPause = 250 * time.Millisecond, 5 * time.Second
	// dialTimeout bounds an attempt.
	dialTimeout = 5 * time.Second
	// pingStep is how often the hub has to show that it is there, and mostSilent how many
	// times it may not.
	pingStep, mostSilent = 5 * time.Second, 2
)

// pause is the time before an attempt, which is the first again after a success.
func pause(attempt int) time.Duration {
	longest := min(firstPause<<min(max(attempt-1, 0), 10), longestPause)
	return longest/2 + rand.N(longest/2+1)
}

// A conn is the connection to the hub as one user, made again for ever.
type conn struct {
	nats *nats.Conn
	user Credentials
	log  *slog.Logger

	mu     sync.Mutex
	pipes  map[*Pipe]struct{}
	fault  error // why there is no connection
	closed bool
}

// connect begins to connect. up is called whenever there is a connection.
func connect(c Config, creds Credentials, log *slog.Logger, up func()) (*conn, error) {
	trust, err := authority(c.Authority)
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
		nats.Timeout(dialTimeout), nats.PingInterval(pingStep), nats.MaxPingsOutstanding(mostSilent),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.CustomReconnectDelay(pause),
		nats.ReconnectBufSize(-1), // what is not sent now is out of date by then
		nats.ConnectHandler(func(*nats.Conn) { l.up(up) }), nats.ReconnectHandler(func(*nats.Conn) { l.up(up) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.down(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.failed(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.report(err) }))
	if err != nil {
		return nil, fmt.Errorf("connect to hub: %w", plainly(err))
	}
	return l, nil
}

func (l *conn) up(tell func()) {
	l.mu.Lock()
	l.fault = nil
	l.mu.Unlock()
	l.log.Info("fleet", "as", l.user.Name, "state", "connected")
	tell()
}

// down ends all connections that went over this one: of what was on the way, nobody
// knows what has arrived.
func (l *conn) down(err error) {
	if err == nil {
		err = errors.New("the hub closed the connection")
	}
	err = plainly(err)
	l.mu.Lock()
	l.fault = err
	broken := l.pipes
	l.pipes = map[*Pipe]struct{}{}
	closed := l.closed
	l.mu.Unlock()
	for p := range broken {
		p.fail(fmt.Errorf("the connection to the hub was lost: %w", err))
	}
	if !closed {
		l.log.Info("fleet", "as", l.user.Name, "state", "away", "error", err)
	}
}

// roundTrip is how long a word takes to the hub and back, in milliseconds; 0 if there is no
// connection.
func (l *conn) roundTrip() float64 {
	if l.now() != nil {
		return 0
	}
	rtt, err := l.nats.RTT()
	if err != nil {
		return 0
	}
	return float64(rtt.Microseconds()) / 1000
}

func (l *conn) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = plainly(err)
}

// report takes down what the hub refuses.
func (l *conn) report(err error) {
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired) {
		l.failed(err)
	}
	l.log.Warn("fleet", "as", l.user.Name, "error", err)
}

// now is why there is no connection; nil if there is one.
func (l *conn) now() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

func (l *conn) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.nats.Close()
	l.down(errors.New("this engine is leaving the fleet"))
}

// keep has a pipe end with the connection. It fails if there is none.
func (l *conn) keep(p *Pipe) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil {
		return l.fault
	}
	l.pipes[p] = struct{}{}
	return nil
}

func (l *conn) forget(p *Pipe) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pipes, p)
}

// plainly says in words of this program why there is no connection to the hub.
func plainly(err error) error {
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

// subscribe calls f with each message on a subject, one at a time. It drops rows that a consumer
// delivers there. A panic in f loses only that message.
func (l *conn) subscribe(subject, queue string, f func(*nats.Msg)) (*nats.Subscription, error) {
	return l.nats.QueueSubscribe(subject, queue, func(m *nats.Msg) {
		if Covers(subject, m.Subject) {
			panics.Log(l.log, "fleet: message", func() { f(m) })
		}
	})
}
