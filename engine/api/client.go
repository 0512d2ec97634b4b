package api

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
)

const (
	maxResponseBody = 64 << 20
	maxErrorBody    = 1 << 20
	idleConnTimeout = 90 * time.Second
	// keptConns is how many calls at a time need no new connections.
	keptConns = 16

	// baseURL names no host: every connection goes to the client's socket.
	baseURL = "http://tandem" + routePrefix

	hintStart     = "`tandem` starts one"
	hintAgain     = "the engine may be restarting: try again"
	hintWritable  = "make it writable for you, or choose another data folder with TANDEM_DATA_DIR"
	hintOwnFolder = "choose a data folder of your own with TANDEM_DATA_DIR"
)

// A Client talks to one engine. It is safe for concurrent use, and goes on to
// work after that engine was replaced by another one on the same socket: what
// was under way fails with CodeUnavailable, the next call connects anew.
type Client struct {
	dataDir string
	socket  string      // where the engine's should be, for messages
	keeper  string      // its keeper's socket
	header  http.Header // sent with every request
	http    http.Client
	trust   func(uid int) bool
}

// ConnectOptions say which engine to talk to, and as whom.
type ConnectOptions struct {
	DataDir string   // default: what DataDir tells
	Version string   // this program's version; a newer one than the engine's replaces the engine
	Name    string   // who this is: "dashboard", "cli", "agent:NAME/VERSION"
	Owner   string   // of an agent: an id of this client; while it has a Watch open it counts as present
	Bounds  *Bounds  // of an agent: what its calls are held to
	Command []string // how Activate runs the keeper; default this executable with "keeper"

	timeout time.Duration // of Connect and Activate
}

// complete fills in what has a default, and makes the data folder absolute.
func (o ConnectOptions) complete() (ConnectOptions, error) {
	if o.timeout == 0 {
		o.timeout = activateTimeout
	}
	var err error
	if o.DataDir == "" {
		o.DataDir, err = DataDir()
		return o, err
	}
	if o.DataDir, err = filepath.Abs(o.DataDir); err != nil {
		return o, Errorf(CodeUnavailable, "find data folder: %v", err).WithHint("give an absolute path")
	}
	return o, nil
}

// Connect reaches a running engine; it starts none. Without one it fails with
// CodeUnavailable, with one of another Protocol with CodeConflict.
func Connect(ctx context.Context, o ConnectOptions) (*Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	c := newClient(o)
	info, err := EngineInfo.Call(limited, c, Empty{})
	if err == nil {
		err = checkProtocol(info)
	}
	if err == nil {
		return c, nil
	}
	c.Close()
	if timedOut(ctx, err) {
		err = Errorf(CodeUnavailable, "connect: the engine of %s did not answer within %v", o.DataDir, o.timeout).
			WithHint(hintLog(o.DataDir))
	}
	return nil, err
}

// timedOut reports whether err comes from a deadline of ours, not of ctx.
func timedOut(ctx context.Context, err error) bool {
	return ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded)
}

func checkProtocol(info Info) error {
	if info.Protocol == Protocol {
		return nil
	}
	return Errorf(CodeConflict, "connect: the engine %s (pid %d) speaks protocol %d, this program %d",
		info.Version, info.EnginePID, info.Protocol, Protocol).
		WithHint("use the version of tandem that the engine has, or end the engine with that version's `tandem shutdown`")
}

// KeeperAlive reports whether there is a keeper, which starts an engine that
// has died, and leaves one that was stopped alone.
func (c *Client) KeeperAlive() bool {
	conn, err := net.Dial("unixpacket", c.keeper)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func newClient(o ConnectOptions) *Client {
	socket, keeper := Sockets(o.DataDir)
	c := &Client{dataDir: o.DataDir, socket: socket, keeper: keeper, header: http.Header{protocolHeader: {strconv.Itoa(Protocol)}}, trust: trustFor(os.Geteuid())}
	if o.Name != "" {
		c.header.Set(clientHeader, o.Name)
	}
	if o.Version != "" {
		c.header.Set(versionHeader, o.Version)
	}
	if o.Owner != "" {
		c.header.Set(ownerHeader, o.Owner)
	}
	if o.Bounds != nil {
		c.header.Set(BoundsHeader, o.Bounds.Header())
	}
	c.http.Transport = &http.Transport{
		DialContext:        c.dial,
		DisableCompression: true,

		MaxIdleConnsPerHost: keptConns,
		IdleConnTimeout:     idleConnTimeout,
	}
	return c
}

// Close lets go of connections that are not in use. The client stays usable.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// dial connects to the engine's socket and makes sure that no other user
// listens there.
func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := DialEngine(ctx, c.dataDir)
	if err != nil {
		return nil, err
	}
	peer, err := peerOfConn(conn.(*net.UnixConn))
	if err != nil {
		conn.Close()
		return nil, err
	}
	if !c.trust(peer.UID) {
		conn.Close()
		return nil, &foreignError{peer.UID}
	}
	return conn, nil
}

// DialEngine connects to the socket of the engine that serves a data folder.
func DialEngine(ctx context.Context, dataDir string) (net.Conn, error) {
	var d net.Dialer
	socket, _ := Sockets(dataDir)
	conn, err := d.DialContext(ctx, "unix", socket)
	if err == nil {
		return conn, nil
	}
	if spare, spareErr := d.DialContext(ctx, "unix", SpareSocket(dataDir)); spareErr == nil {
		return spare, nil
	}
	return nil, err
}

// trustFor is the rule for the other end of a connection: it has to be the
// same user, or root.
func trustFor(self int) func(uid int) bool {
	return func(uid int) bool { return uid == self || uid == 0 }
}

// foreignError says that a socket is another user's.
type foreignError struct{ uid int }

func (e *foreignError) Error() string { return fmt.Sprintf("it belongs to user %d", e.uid) }

// Call runs an operation on the engine behind c. Errors are *Error, or wrap
// ctx's when that has ended. After CodeUnavailable it is not known whether an
// operation that writes was carried out.
func (o Operation[In, Out]) Call(ctx context.Context, c *Client, in In) (Out, error) {
	var out Out
	input, err := json.Marshal(in)
	if err != nil {
		return out, Errorf(CodeInvalid, "call %s: encode input: %v", o.Name, err)
	}
	input, question, err := withQuestion(ctx, o.Name, input)
	if err != nil {
		return out, err
	}
	req, err := c.request(ctx, http.MethodPost, o.Name, bytes.NewReader(input))
	if err != nil {
		return out, err
	}
	if question > 0 {
		req.Header.Set(judgeHeader, strconv.Itoa(question))
	}
	req.Header.Set("Content-Type", "application/json")
	if o.Effect == Read {
		// Not sent; it lets net/http try again when a kept connection is dead.
		req.Header["Idempotency-Key"] = nil
	}
	askAside(req.Header, &out)
	err = c.do(req, o.Name, &out)
	return out, err
}

func (c *Client) request(ctx context.Context, method, name string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, baseURL+name, body)
	if err != nil {
		return nil, Errorf(CodeInvalid, "call %s: %v", name, err)
	}
	req.Header = c.header.Clone()
	return req, nil
}

// do sends a request and reads the whole answer into what out points to.
func (c *Client) do(req *http.Request, name string, out any) error {
	resp, err := c.http.Do(req)
	if err != nil {
		return c.lost(req.Context(), name, err)
	}
	defer resp.Body.Close()
	heard(req.Context(), resp.Header)
	if resp.StatusCode != http.StatusOK {
		body, err := readBody(resp.Body, resp.ContentLength)
		if err != nil {
			return c.lost(req.Context(), name, err)
		}
		return decodeError(name, resp.StatusCode, body)
	}
	err = readOutput(resp.Header.Get(asideHeader), resp.Body, resp.ContentLength, out)
	var wrong *wrongAnswer
	switch {
	case errors.As(err, &wrong):
		return Errorf(CodeInternal, "call %s: decode answer: %v", name, wrong)
	case err != nil:
		return c.lost(req.Context(), name, err)
	}
	return nil
}

// decodeError reads the error that an answer with this status carries.
func decodeError(name string, status int, body []byte) *Error {
	var e Error
	if json.Unmarshal(body, &e) != nil || e.Code == "" {
		return Errorf(CodeInternal, "call %s: the engine answers with status %d and no error", name, status)
	}
	return &e
}

// lost says what a failed connection to the engine means: the caller's context
// has ended, or there is no engine to talk to.
func (c *Client) lost(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call %s: %w", name, ctx.Err())
	}
	var foreign *foreignError
	switch {
	case errors.As(err, &foreign):
		return Errorf(CodeConflict, "call %s: connect to %s: %v", name, c.socket, foreign).WithHint(hintOwnFolder)
	case errors.Is(err, fs.ErrPermission):
		return Errorf(CodeConflict, "call %s: connect to %s: permission denied", name, c.socket).WithHint(hintOwnFolder)
	case noListener(err):
		return Errorf(CodeUnavailable, "call %s: no engine is running at %s", name, c.socket).WithHint(hintStart)
	}
	return Errorf(CodeUnavailable, "call %s: lost the engine at %s: %v", name, c.socket, root(err)).WithHint(hintAgain)
}

// noListener reports whether err says that nothing listens on the socket.
func noListener(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// root is the innermost cause, without the addresses and verbs around it.
func root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func hintLog(dataDir string) string { return "see " + logPath(dataDir) }
