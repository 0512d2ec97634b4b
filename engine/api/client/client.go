// Package client connects to an engine, and starts one if none is running, for calls, events and
// attachments to sessions. It makes each call once. Package retry repeats calls.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/sockets"
	"tandem/engine/api/wire"
	"tandem/engine/base/scope"
	"tandem/engine/base/unixsocket"
)

const (
	maxErrorBody    = 1 << 20
	idleConnTimeout = 90 * time.Second
	// keptConns is the number of idle connections kept for concurrent calls.
	keptConns = 16

	// baseURL contains no real host: every connection goes to the client's socket.
	baseURL = "http://tandem" + wire.RoutePrefix

	hintStart = "`tandem` starts one"
)

// A Client is the connection to one engine. It is safe for concurrent use. If another engine takes
// over the socket, running calls fail with CodeUnavailable, and the next call reconnects.
type Client struct {
	options Options
	socket  string      // expected path of the engine's socket, for messages
	header  http.Header // sent with every request
	http    http.Client
	trust   func(uid int) bool

	unread int // number of records the engine could not read when it was last asked who it is

	machine string        // target machine; "" for the engine's own
	first   chan net.Conn // the connection of NewRemote, for the first call
	open    func(context.Context) (net.Conn, api.Info, error)
}

// Options select the engine and identify the client.
type Options struct {
	DataDir string      // default: api.DataDir()
	Version string      // this program's version; Activate replaces an older engine
	Name    string      // "dashboard", "cli", "agent:NAME/VERSION", …
	Owner   string      // of an agent: an id of this client, which counts as connected while it has a Watch open
	Bounds  *api.Bounds // of an agent: the bounds of its calls
	Command []string    // command line of the keeper; default: this executable with "keeper"

	timeout time.Duration // of Connect and Activate
	login   *scope.Login  // decides where a new keeper runs; default: this process's
}

// withDefaults returns the options with defaults for missing ones, and with an absolute data
// directory.
func (o Options) withDefaults() (Options, error) {
	if o.timeout == 0 {
		o.timeout = activateTimeout
	}
	var err error
	if o.DataDir == "" {
		o.DataDir, err = api.DataDir()
		return o, err
	}
	if o.DataDir, err = filepath.Abs(o.DataDir); err != nil {
		return o, api.Errorf(api.CodeUnavailable, "find data folder: %v", err).WithHint("give an absolute path")
	}
	return o, nil
}

// Connect connects to a running engine, but does not start one. The error is CodeUnavailable if no
// engine is running, and CodeConflict if it has no protocol in common with this program.
func Connect(ctx context.Context, o Options) (*Client, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	c := newClient(o)
	info, err := api.EngineInfo.Call(limited, c, api.Empty{})
	if err == nil {
		err = c.useProtocol(info)
	}
	if err == nil {
		return c, nil
	}
	c.Close()
	if isOwnTimeout(ctx, err) {
		err = api.Errorf(api.CodeUnavailable, "connect: the engine of %s did not answer within %v", o.DataDir, o.timeout).
			WithHint(hintLog(o.DataDir))
	}
	return nil, err
}

// isOwnTimeout reports whether err is due to a deadline set in this package, and not to ctx.
func isOwnTimeout(ctx context.Context, err error) bool {
	return ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded)
}

// useProtocol chooses the highest protocol that is shared with the engine, for all further
// requests.
func (c *Client) useProtocol(info api.Info) error {
	protocol, ok := info.ChooseProtocol()
	if !ok {
		return api.Errorf(api.CodeConflict, "connect: the engine %s (pid %d) speaks protocol %d, this program %d",
			info.Version, info.EnginePID, info.Protocol, api.Protocol).
			WithHint("use the engine's version of tandem, or stop the engine with that version's `tandem shutdown`")
	}
	if protocol < api.AgentProtocol && c.header.Get(api.OwnerHeader) != "" {
		return api.Errorf(api.CodeForbidden, "connect: tandem %s there does not judge and record agents' calls", info.Version).
			WithHint("install this version there; programs keep running")
	}
	c.header.Set(api.ProtocolHeader, strconv.Itoa(protocol))
	c.unread = len(info.Unread)
	return nil
}

// Unread returns how many records the engine could not read when the client connected. Their
// processes are missing from lists.
func (c *Client) Unread() int { return c.unread }

// KeeperAlive reports whether a keeper is running. A keeper restarts an engine that has crashed,
// but not one that was stopped.
func (c *Client) KeeperAlive() bool {
	if c.machine != "" {
		return true // the other machine starts one on connection
	}
	return KeeperAnswers(c.options.DataDir)
}

// KeeperAnswers reports whether the data directory's keeper accepts connections.
func KeeperAnswers(dataDir string) bool {
	_, socket := sockets.Paths(dataDir)
	// If the keeper could not create its usual socket, it listens on the spare path.
	_, spare := sockets.SparePaths(dataDir)
	for _, path := range []string{socket, spare} {
		short, done, err := unixsocket.ShortPath(path)
		if err != nil {
			continue
		}
		conn, err := net.Dial("unixpacket", short)
		done()
		if err == nil {
			conn.Close()
			return true
		}
	}
	return false
}

func newClient(o Options) *Client {
	socket, _ := sockets.Paths(o.DataDir)
	c := &Client{options: o, socket: socket, header: http.Header{api.ProtocolHeader: {strconv.Itoa(api.Protocol)}}, trust: wire.TrustFor(os.Geteuid()), first: make(chan net.Conn, 1)}
	if o.Name != "" {
		c.header.Set(api.ClientHeader, o.Name)
	}
	if o.Version != "" {
		c.header.Set(api.VersionHeader, o.Version)
	}
	if o.Owner != "" {
		c.header.Set(api.OwnerHeader, o.Owner)
	}
	if o.Bounds != nil {
		c.header.Set(api.BoundsHeader, o.Bounds.Header())
	}
	c.http.Transport = &http.Transport{
		DialContext:        c.dial,
		DisableCompression: true,

		MaxIdleConnsPerHost: keptConns,
		IdleConnTimeout:     idleConnTimeout,
	}
	return c
}

// Close closes idle connections. The client stays usable.
func (c *Client) Close() {
	select {
	case conn := <-c.first:
		conn.Close()
	default:
	}
	c.http.CloseIdleConnections()
}

func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if c.machine != "" {
		return c.dialMachine(ctx)
	}
	return c.dialOwn(ctx)
}

// dialOwn connects to the engine's socket. It returns an error if another user is listening there.
func (c *Client) dialOwn(ctx context.Context) (net.Conn, error) {
	conn, err := DialEngine(ctx, c.options.DataDir)
	if err != nil {
		return nil, err
	}
	_, uid, err := unixsocket.PeerOf(conn.(*net.UnixConn))
	if err != nil {
		conn.Close()
		return nil, err
	}
	if !c.trust(uid) {
		conn.Close()
		return nil, &foreignError{uid}
	}
	return conn, nil
}

// DialEngine connects to the socket of a data directory's engine. It does not check who is
// listening.
func DialEngine(ctx context.Context, dataDir string) (net.Conn, error) {
	var d net.Dialer
	socket, _ := sockets.Paths(dataDir)
	conn, err := d.DialContext(ctx, "unix", socket)
	if err == nil {
		return conn, nil
	}
	// If the engine could not create its usual socket, it listens on the spare path.
	spare, _ := sockets.SparePaths(dataDir)
	short, done, spareErr := unixsocket.ShortPath(spare)
	if spareErr != nil {
		return nil, err
	}
	defer done()
	if conn, spareErr := d.DialContext(ctx, "unix", short); spareErr == nil {
		return conn, nil
	}
	return nil, err
}

// A foreignError means that a socket is owned by another user.
type foreignError struct{ uid int }

func (e *foreignError) Error() string { return fmt.Sprintf("it belongs to user %d", e.uid) }

// Do carries out an operation; see api.Operation.Call.
func (c *Client) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	input, err := json.Marshal(in)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "call %s: encode input: %v", name, err)
	}
	req, err := c.newRequest(ctx, http.MethodPost, name, bytes.NewReader(input))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if effect == api.Read {
		// This header is not sent. It lets net/http try again if an idle connection turns out to be
		// dead.
		req.Header["Idempotency-Key"] = nil
	}
	requestAside(req.Header, out)
	return c.sendRequest(req, name, out)
}

func (c *Client) newRequest(ctx context.Context, method, name string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, baseURL+name, body)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "call %s: %v", name, err)
	}
	req.Header = c.header.Clone()
	api.ToolCallOf(ctx).SetHeaders(req.Header)
	return req, nil
}

// sendRequest sends a request and decodes the whole answer into out, a pointer.
func (c *Client) sendRequest(req *http.Request, name string, out any) error {
	resp, err := c.http.Do(req)
	if err != nil {
		return c.lostError(req.Context(), name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, err := readBody(resp.Body, resp.ContentLength)
		if err != nil {
			return c.lostError(req.Context(), name, err)
		}
		refused := wire.DecodeError(name, resp.StatusCode, body)
		api.ToolCallOf(req.Context()).NoteAnswer(refused)
		return c.nameMachine(refused)
	}
	api.ToolCallOf(req.Context()).NoteAnswer(nil)
	err = readOutput(resp.Header.Get(wire.AsideHeader), resp.Body, resp.ContentLength, out)
	var wrong *wrongAnswer
	switch {
	case errors.As(err, &wrong):
		return api.Errorf(api.CodeInternal, "call %s: decode answer: %v", name, wrong)
	case err != nil:
		return c.lostError(req.Context(), name, err)
	}
	return nil
}

// lostError converts an error of a connection. Either ctx is done, or the socket is not usable, or
// the engine is lost (*Lost).
func (c *Client) lostError(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call %s: %w", name, ctx.Err())
	}
	var foreign *foreignError
	var refused *api.Error
	switch {
	case c.machine != "" && errors.As(err, &refused): // not connected, so nothing was sent
		return &Lost{refused, false}
	case c.machine != "":
		return &Lost{api.Errorf(api.CodeUnavailable, "call %s: lost the machine %s: %v", name, c.machine, wire.Root(err)).WithHint(wire.HintAgain), true}
	case errors.As(err, &foreign):
		return api.Errorf(api.CodeConflict, "call %s: connect to %s: %v", name, c.socket, foreign).WithHint(wire.HintOwnFolder)
	case errors.Is(err, fs.ErrPermission):
		return api.Errorf(api.CodeConflict, "call %s: connect to %s: permission denied", name, c.socket).WithHint(wire.HintOwnFolder)
	case noListener(err):
		return &Lost{api.Errorf(api.CodeUnavailable, "call %s: no engine is running at %s", name, c.socket).WithHint(hintStart), false}
	}
	return &Lost{api.Errorf(api.CodeUnavailable, "call %s: lost the engine at %s: %v", name, c.socket, wire.Root(err)).WithHint(wire.HintAgain), true}
}

// A Lost error means that no engine is running, or that it exited during a call.
type Lost struct {
	Err  *api.Error
	Sent bool // the call may have been carried out
}

func (l *Lost) Error() string { return l.Err.Error() }

func (l *Lost) Unwrap() error { return l.Err }

func noListener(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ECONNREFUSED)
}

func hintLog(dataDir string) string { return "see " + logPath(dataDir) }
