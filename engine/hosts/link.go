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
	"tandem/engine/hosts/transport"
)

const (
	// dialTimeout is how long a command may take until its bridge says hello.
	dialTimeout = 20 * time.Second
	// settleGrace is how long a failed attempt may take to be reported.
	settleGrace = time.Second
	// openTimeout is how long somebody waits for a link that is being made, or that
	// does not take a new stream.
	openTimeout = 10 * time.Second
	// backSoon is how long after a machine was seen last somebody waits for it to be back:
	// most links that break are made again at the second or third attempt.
	backSoon = 3 * time.Second
	// The time between attempts doubles from the first to the longest; each is
	// shortened by up to half, so that many machines do not come at once.
	firstPause, longestPause = 200 * time.Millisecond, 30 * time.Second
	// askedPause is how soon a machine is tried again that somebody asks for.
	askedPause = 2 * time.Second
	// steady is how long a link lasts that is in order, mostShort how many others in
	// a row are made again without a pause.
	steady, mostShort = 2 * time.Second, 5

	// pingStep is the time between looks at whether a machine answers, pingTimeout
	// how long it may take, and silence when the link is given up.
	pingStep    = 1500 * time.Millisecond
	pingTimeout = 2 * time.Second
	silence     = 15 * time.Second
)

// A link is kept to one machine. One goroutine, run, makes it again and again.
type link struct {
	hosts   *Hosts
	machine transport.Machine
	begun   bool          // of hosts.mu
	end     func()        // of hosts.mu; ends run
	again   chan struct{} // a person wants an attempt now
	asked   chan struct{} // somebody wanted to reach the machine while it was away

	telling sync.Mutex // held before mu, until others have been told of a change: the last that they hear is how it is

	mu      sync.Mutex
	state   api.MachineState
	session *smux.Session // nil unless there is one
	hello   transport.Hello
	rtt     time.Duration
	seen    time.Time
	fault   error
	changed chan struct{} // is closed, and another one made, with each change
}

func newLink(h *Hosts, m transport.Machine) *link {
	return &link{hosts: h, machine: m, end: func() {}, again: make(chan struct{}, 1), asked: make(chan struct{}, 1), state: api.MachineConnecting, changed: make(chan struct{})}
}

// run makes the link, and makes it again when it is lost, until ctx ends.
func (l *link) run(ctx context.Context) {
	p := pace{pause: firstPause}
	for ctx.Err() == nil {
		conn, hello, err := l.hosts.dial(ctx, l.machine)
		if err == nil {
			began := time.Now()
			err = l.use(ctx, conn, hello)
			p.lasted(time.Since(began))
		}
		if ctx.Err() != nil {
			return
		}
		if l.settle(err, p.mayAgain()) {
			continue
		}
		p.pause = l.wait(ctx, err, p.pause)
	}
}

// A pace is how soon a link is made again. A machine that greets and goes away at once,
// again and again, is one that is away.
type pace struct {
	pause time.Duration // before the next attempt
	short int           // links in a row that were not steady
}

// lasted notes for how long a link was in order.
func (p *pace) lasted(length time.Duration) {
	if p.short++; length > steady {
		*p = pace{pause: firstPause}
	}
}

// mayAgain reports whether a link that was lost may be made again without a pause.
func (p *pace) mayAgain() bool { return p.short <= mostShort }

// settle takes down why there is no link. It reports whether one that was in
// order shall be made again at once: who asks meanwhile waits for that.
func (l *link) settle(err error, mayAgain bool) (atOnce bool) {
	var person *personError
	var state api.MachineState
	l.set(func() {
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

// wait lets some time pass before the next attempt: none that only a person could
// help is made until somebody says so.
func (l *link) wait(ctx context.Context, err error, pause time.Duration) (next time.Duration) {
	began, length := time.Now(), pause/2+rand.N(pause/2+1)
	timer := time.NewTimer(length)
	defer timer.Stop()
	after, asked := timer.C, l.asked
	var person *personError
	if errors.As(err, &person) {
		after, asked = nil, nil
	}
	for {
		select {
		case <-after:
			return min(2*pause, longestPause)
		case <-asked:
			asked = nil
			if length > askedPause {
				timer.Reset(askedPause - time.Since(began))
			}
		case <-l.again:
			return firstPause
		case <-ctx.Done():
			return pause
		}
	}
}

// retry has the next attempt made now. Who waits for what comes of it sees it as
// being made.
func (l *link) retry() {
	l.set(func() {
		if l.state != api.MachineConnected {
			l.state = api.MachineConnecting
		}
	})
	select {
	case l.again <- struct{}{}:
	default:
	}
}

// errLost says that a link was in order and is no more.
var errLost = errors.New("the link was lost")

// errGarbled says that the output of a link's command is not its bridge's alone.
var errGarbled = errors.New("unexpected output on the link; a start-up file there may have left a program printing")

// use serves streams over a connection until it is lost.
func (l *link) use(ctx context.Context, conn transport.Pipes, hello transport.Hello) error {
	end := &ending{Reader: conn.Reader, ended: make(chan struct{})}
	conn.Reader = end
	session, err := smux.Client(conn, transport.Frames())
	if err != nil {
		conn.Close()
		return err
	}
	defer session.Close()
	go func() { // smux itself goes on when nothing can be read any more
		select {
		case <-end.ended:
			session.Close()
		case <-session.CloseChan():
		}
	}()
	stop := context.AfterFunc(ctx, func() { session.Close() })
	defer stop()
	select { // an attempt that was asked for has been made
	case <-l.again:
	default:
	}
	l.set(func() {
		l.session, l.hello, l.state, l.fault, l.seen = session, hello, api.MachineConnected, nil, time.Now()
	})
	l.hosts.Log.Info("machine", "name", l.machine.Name, "state", api.MachineConnected, "version", hello.Version)
	err = l.watch(ctx, session)
	l.set(func() { l.session = nil })
	if err == nil {
		err = errLost
	}
	return err
}

// An ending says when nothing more can be read.
type ending struct {
	io.Reader
	once  sync.Once
	ended chan struct{}
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.once.Do(func() { close(e.ended) })
	}
	return n, err
}

// set changes the link, and tells of what others can see of that.
func (l *link) set(change func()) {
	l.telling.Lock()
	defer l.telling.Unlock()
	l.mu.Lock()
	before := l.told()
	change()
	after := l.told()
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	if before.State != after.State || before.Version != after.Version || before.Error != after.Error {
		l.hosts.Tell(after)
	}
}

// told is the machine as others are told of it. The lock is held.
func (l *link) told() api.Machine {
	m := api.Machine{Name: l.machine.Name, State: l.state, Version: l.hello.Version, Target: l.machine.Target(), SSH: l.machine.SSH != ""}
	if l.state == api.MachineConnected {
		m.RTTMS = float64(l.rtt.Microseconds()) / 1000
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

func (l *link) now() api.Machine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told()
}

// settled is now when the link is no longer being made, nor the machine away for less than
// a while, or ctx has ended.
func (l *link) settled(ctx context.Context, while time.Duration) api.Machine {
	for {
		l.mu.Lock()
		m, changed := l.told(), l.changed
		l.mu.Unlock()
		var over <-chan time.Time
		switch {
		case m.State == api.MachineConnecting:
		case m.State == api.MachineAway && m.LastSeen != nil && time.Since(*m.LastSeen) < while:
			over = time.After(while - time.Since(*m.LastSeen))
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

// open opens a stream to the engine of the machine.
func (l *link) open(ctx context.Context, p transport.Preface) (net.Conn, transport.Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for {
		m := l.settled(ctx, backSoon)
		l.mu.Lock()
		session, hello, changed := l.session, l.hello, l.changed
		l.mu.Unlock()
		if m.State != api.MachineConnected {
			return nil, transport.Hello{}, l.unreachable(m)
		}
		err := errLost
		if session != nil {
			if err := l.mayLead(p, hello); err != nil {
				return nil, hello, err
			}
			var stream net.Conn
			if stream, err = openStream(ctx, session, p); err == nil {
				return stream, hello, nil
			}
		}
		if errors.Is(err, errLost) { // the next one is about to be made
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

// mayLead refuses to lead an agent where nobody would hold it to what it is held to here.
func (l *link) mayLead(p transport.Preface, hello transport.Hello) error {
	switch {
	case p.By == nil:
		return nil
	case !hello.Agents:
		return api.Errorf(api.CodeForbidden, "reach machine %s: tandem %s there holds no agent from here to its sandbox and folders", l.machine.Name, hello.Version).
			WithHint(l.upgradeHint())
	case len(p.Line()) > transport.MaxPreface:
		return api.Errorf(api.CodeForbidden, "reach machine %s: the sandbox and folders that this agent is held to take more than %d KB to tell", l.machine.Name, transport.MaxPreface>>10)
	}
	return nil
}

func (l *link) upgradeHint() string {
	if l.machine.SSH == "" {
		return "install this version there; what runs there goes on"
	}
	return "`tandem machine upgrade " + l.machine.Name + "` brings it to this version; what runs there goes on"
}

const hintAway = "it is tried again by itself; `tandem machine list` shows how it is"

// unreachable says why a machine cannot be reached, and has it tried again soon.
func (l *link) unreachable(m api.Machine) error {
	switch m.State {
	case api.MachineNeedsYou:
		return api.Errorf(api.CodeUnavailable, "reach machine %s: it needs you: %s", m.Name, m.Error).
			WithHint("`tandem machine connect " + m.Name + "` asks you what it has to")
	case api.MachineConnecting:
		return api.Errorf(api.CodeUnavailable, "reach machine %s: it did not answer within %v", m.Name, openTimeout).WithHint(hintAway)
	}
	select {
	case l.asked <- struct{}{}:
	default:
	}
	away := ""
	if m.LastSeen != nil {
		away = fmt.Sprintf(", last seen %v ago", time.Since(*m.LastSeen).Round(time.Second))
	}
	return api.Errorf(api.CodeUnavailable, "reach machine %s: it is away%s: %s", m.Name, away, m.Error).WithHint(hintAway)
}

// openStream opens a stream and tells who asks. What takes too long is given up,
// and closed should it come after all.
func openStream(ctx context.Context, session *smux.Session, p transport.Preface) (net.Conn, error) {
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
