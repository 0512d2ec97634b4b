package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/xtaci/smux"

	"tandem/engine/api"
	"tandem/engine/remote/hosts/transport"
)

const (
	// dialTimeout is the default of Hosts.DialTimeout.
	dialTimeout = 20 * time.Second
	// settleGrace is the additional time for a failed attempt to be reported.
	settleGrace = time.Second
	// openTimeout bounds the wait for a link being established, or for a new stream.
	openTimeout = 10 * time.Second
	// backSoon is how long after the last contact to wait for a lost link: most are re-established
	// at the second or third attempt.
	backSoon = 3 * time.Second
	// The pause between attempts doubles from minPause to maxPause. Each is shortened by up to
	// half at random, so that many machines do not connect at once.
	minPause, maxPause = 200 * time.Millisecond, 30 * time.Second
	// askedPause is the maximum pause for a machine that a client requests.
	askedPause = 2 * time.Second
	// A link is stable if it lasts longer than minStable. maxShort is the number of consecutive
	// unstable links re-established without a pause.
	minStable, maxShort = 2 * time.Second, 5

	// pingInterval is the interval between pings, pingTimeout the timeout of one, and maxSilence
	// the time without a response after which the link is closed.
	pingInterval = 1500 * time.Millisecond
	pingTimeout  = 2 * time.Second
	maxSilence   = 15 * time.Second
)

// A link is the permanent connection to one machine. One goroutine, run, re-establishes it.
type link struct {
	hosts   *Hosts
	machine transport.Machine
	begun   bool          // guarded by hosts.mu
	end     func()        // guarded by hosts.mu; ends run
	again   chan struct{} // the user requests an attempt now
	asked   chan struct{} // a client requested the machine while it was offline

	notifyMu sync.Mutex // held before mu while others are notified, so that they receive changes in order

	mu      sync.Mutex
	state   api.MachineState
	session *smux.Session // nil while there is no connection
	hello   transport.Hello
	rtt     time.Duration
	seen    time.Time
	fault   error
	changed chan struct{} // closed and replaced at each change
}

func newLink(h *Hosts, m transport.Machine) *link {
	return &link{hosts: h, machine: m, end: func() {}, again: make(chan struct{}, 1), asked: make(chan struct{}, 1), state: api.MachineConnecting, changed: make(chan struct{})}
}

// run establishes the link, and re-establishes it when it is lost, until ctx ends.
func (l *link) run(ctx context.Context) {
	p := pace{pause: minPause}
	for ctx.Err() == nil {
		conn, hello, err := l.hosts.dial(ctx, l.machine)
		if err == nil {
			began := time.Now()
			err = l.serveSession(ctx, conn, hello)
			p.recordLength(time.Since(began))
		}
		if ctx.Err() != nil {
			return
		}
		if l.recordFailure(err, p.mayRetry()) {
			continue
		}
		p.pause = l.pauseBefore(ctx, err, p.pause)
	}
}

// A pace determines the pause before the next attempt. A machine that repeatedly disconnects right
// after the greeting counts as offline.
type pace struct {
	pause time.Duration // before the next attempt
	short int           // consecutive unstable links
}

// recordLength records the duration of a link.
func (p *pace) recordLength(length time.Duration) {
	if p.short++; length > minStable {
		*p = pace{pause: minPause}
	}
}

// mayRetry reports whether a lost link may be re-established without a pause.
func (p *pace) mayRetry() bool { return p.short <= maxShort }

// recordFailure records why there is no link. It reports whether to re-establish a lost link at once, in
// which case clients wait for it.
func (l *link) recordFailure(err error, mayAgain bool) (atOnce bool) {
	var person *personError
	var state api.MachineState
	l.update(func() {
		switch {
		case errors.As(err, &person):
			l.state = api.MachineNeedsYou
		case errors.Is(err, errLost) && l.state == api.MachineConnected && mayAgain:
			l.state, atOnce = api.MachineConnecting, true
		default:
			l.state = api.MachineAway
		}
		l.fault, state = err, l.state
	})
	l.hosts.Log.Info("machine", "name", l.machine.Name, "state", state, "error", err)
	return atOnce
}

// pauseBefore pauses before the next attempt. If only the user can help, it waits for a request to
// connect.
func (l *link) pauseBefore(ctx context.Context, err error, pause time.Duration) (next time.Duration) {
	began, length := time.Now(), pause/2+rand.N(pause/2+1)
	timer := time.NewTimer(length)
	defer timer.Stop()
	after, asked := timer.C, l.asked
	var person *personError
	if errors.As(err, &person) {
		// A nil channel blocks: only an explicit request ends this pause.
		after, asked = nil, nil
	}
	for {
		select {
		case <-after:
			return min(2*pause, maxPause)
		case <-asked:
			asked = nil
			if length > askedPause {
				timer.Reset(askedPause - time.Since(began))
			}
		case <-l.again:
			return minPause
		case <-ctx.Done():
			return pause
		}
	}
}

// retry requests an attempt now. Callers that wait for the result see the link as connecting.
func (l *link) retry() {
	l.update(func() {
		if l.state != api.MachineConnected {
			l.state = api.MachineConnecting
		}
	})
	select {
	case l.again <- struct{}{}:
	default:
	}
}

// errLost means that an established link was lost.
var errLost = errors.New("the link was lost")

// errGarbled means that other output is mixed into the bridge's.
var errGarbled = errors.New("unexpected output on the link; a start-up file there may have left a program printing")

// serveSession serves streams over a connection until it is lost.
func (l *link) serveSession(ctx context.Context, conn transport.Pipes, hello transport.Hello) error {
	end := &endReader{Reader: conn.Reader, ended: make(chan struct{})}
	conn.Reader = end
	session, err := smux.Client(conn, transport.Frames())
	if err != nil {
		conn.Close()
		return err
	}
	defer session.Close()
	go closeAtEnd(session, end.ended)
	stop := context.AfterFunc(ctx, func() { session.Close() })
	defer stop()
	select { // drop a request that this attempt has met
	case <-l.again:
	default:
	}
	l.update(func() {
		l.session, l.hello, l.state, l.fault, l.seen = session, hello, api.MachineConnected, nil, time.Now()
	})
	l.hosts.Log.Info("machine", "name", l.machine.Name, "state", api.MachineConnected, "version", hello.Version)
	err = l.watch(ctx, session)
	l.update(func() { l.session = nil })
	if err == nil {
		err = errLost
	}
	return err
}

// closeAtEnd closes a session once its input has ended, because smux does not notice that.
func closeAtEnd(session *smux.Session, ended <-chan struct{}) {
	select {
	case <-ended:
		session.Close()
	case <-session.CloseChan():
	}
}

// An endReader is a reader that signals the end of its input.
type endReader struct {
	io.Reader
	once  sync.Once
	ended chan struct{}
}

func (e *endReader) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.once.Do(func() { close(e.ended) })
	}
	return n, err
}

// update applies a change and reports its visible part.
func (l *link) update(change func()) {
	l.notifyMu.Lock()
	defer l.notifyMu.Unlock()
	l.mu.Lock()
	before := l.publicState()
	change()
	after := l.publicState()
	// Wakes all waiters at once.
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	if before.State != after.State || before.Version != after.Version || before.Error != after.Error {
		l.hosts.Tell(after)
	}
}

// publicState returns the machine's public state. The caller holds l.mu.
func (l *link) publicState() api.Machine {
	m := api.Machine{Name: l.machine.Name, State: l.state, Version: l.hello.Version, Target: l.machine.Target(), SSH: l.machine.SSH != ""}
	if l.state == api.MachineConnected {
		m.RTTMS = api.Milliseconds(l.rtt)
	}
	if !l.seen.IsZero() {
		seen := l.seen
		m.LastSeen = &seen
	}
	if l.fault != nil && l.state != api.MachineConnected {
		m.Error = l.fault.Error()
	}
	return m
}

func (l *link) currentState() api.Machine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.publicState()
}

// awaitSettled waits while the link is connecting, and while it has been offline for less than
// grace. It returns the state then, or when ctx ends.
func (l *link) awaitSettled(ctx context.Context, grace time.Duration) api.Machine {
	for {
		l.mu.Lock()
		m, changed := l.publicState(), l.changed
		l.mu.Unlock()
		var over <-chan time.Time
		switch {
		case m.State == api.MachineConnecting:
		case m.State == api.MachineAway && m.LastSeen != nil && time.Since(*m.LastSeen) < grace:
			over = time.After(grace - time.Since(*m.LastSeen))
		default:
			return m
		}
		select {
		case <-changed:
		case <-over:
		case <-ctx.Done():
			return m
		}
	}
}

// openTo opens a stream to the machine's engine.
func (l *link) openTo(ctx context.Context, p transport.Preface) (net.Conn, transport.Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for {
		m := l.awaitSettled(ctx, backSoon)
		l.mu.Lock()
		session, hello, changed := l.session, l.hello, l.changed
		l.mu.Unlock()
		if m.State != api.MachineConnected {
			l.requestAttempt(m.State)
			return nil, transport.Hello{}, Unreachable(m)
		}
		err := errLost
		if session != nil {
			if err := l.checkAgent(p, hello); err != nil {
				return nil, hello, err
			}
			var stream net.Conn
			if stream, err = openSmuxStream(ctx, session, p); err == nil {
				return stream, hello, nil
			}
		}
		if errors.Is(err, errLost) { // it is about to be re-established
			if session != nil {
				session.Close()
			}
			select {
			case <-changed:
				continue
			case <-ctx.Done():
			}
		}
		return nil, hello, api.Errorf(api.CodeUnavailable, "reach machine %s: %v", l.machine.Name, err).WithHint(hintAway)
	}
}

// checkAgent rejects an agent's connection to a machine that would not enforce the agent's bounds.
func (l *link) checkAgent(p transport.Preface, hello transport.Hello) error {
	switch {
	case p.By == nil:
		return nil
	case !hello.Agents || hello.Protocol < api.AgentProtocol:
		return api.Errorf(api.CodeForbidden, "reach machine %s: tandem %s there cannot enforce this agent's sandbox, folders and policy", l.machine.Name, hello.Version).
			WithHint(l.upgradeHint())
	case len(p.Line()) > transport.MaxPreface:
		return api.Errorf(api.CodeForbidden, "reach machine %s: the agent's sandbox and folders take more than %d KB to describe", l.machine.Name, transport.MaxPreface>>10)
	}
	return nil
}

func (l *link) upgradeHint() string {
	if l.machine.SSH == "" {
		return "install this version there; programs keep running"
	}
	return "`tandem machine upgrade " + l.machine.Name + "` installs this version there; programs keep running"
}

const hintAway = "Tandem keeps trying; `tandem machine list` shows its state"

// requestAttempt requests an early attempt to reach an offline machine.
func (l *link) requestAttempt(state api.MachineState) {
	if state != api.MachineAway {
		return
	}
	select {
	case l.asked <- struct{}{}:
	default:
	}
}

// Unreachable returns why a machine that is not connected cannot be reached.
func Unreachable(m api.Machine) error {
	switch m.State {
	case api.MachineNeedsYou:
		return api.Errorf(api.CodeUnavailable, "reach machine %s: it needs you: %s", m.Name, m.Error).
			WithHint("`tandem machine connect " + m.Name + "` connects here, where it can ask you")
	case api.MachineConnecting:
		return api.Errorf(api.CodeUnavailable, "reach machine %s: it did not answer within %v", m.Name, openTimeout).WithHint(hintAway)
	}
	away := ""
	if m.LastSeen != nil {
		away = fmt.Sprintf(", last seen %v ago", time.Since(*m.LastSeen).Round(time.Second))
	}
	return api.Errorf(api.CodeUnavailable, "reach machine %s: it is offline%s: %s", m.Name, away, m.Error).
		WithReason(api.ReasonMachineOffline).WithHint(hintAway)
}

// openSmuxStream opens a stream and sends the preface. If ctx ends first, it closes the stream once it
// has been opened.
func openSmuxStream(ctx context.Context, session *smux.Session, p transport.Preface) (net.Conn, error) {
	type result struct {
		stream *smux.Stream
		err    error
	}
	done := make(chan result, 1)
	go func() {
		stream, err := session.OpenStream()
		if err == nil {
			if _, err = stream.Write(p.Line()); err != nil {
				stream.Close()
			}
		}
		done <- result{stream, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, fmt.Errorf("%w: %v", errLost, r.err)
		}
		return r.stream, nil
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				r.stream.Close()
			}
		}()
		return nil, errors.New("it takes no more")
	}
}
