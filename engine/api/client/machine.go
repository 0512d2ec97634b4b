package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// ConnectMachine connects to the engine of another machine through the local engine, which keeps
// the connection to that machine. It starts the local engine if necessary. Calls run on the other
// machine or fail; they never run locally.
func ConnectMachine(ctx context.Context, o Options, machine string) (*Client, error) {
	own, err := Activate(ctx, o)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	return own.OnMachine(ctx, machine)
}

// OnMachine is like ConnectMachine, but uses the local engine to which c is connected.
func (c *Client) OnMachine(ctx context.Context, machine string) (*Client, error) {
	return NewRemote(ctx, c.options, machine, func(ctx context.Context) (net.Conn, api.Info, error) {
		return c.openThrough(ctx, api.OpenOptions{Machine: machine, AuthSock: os.Getenv("SSH_AUTH_SOCK")})
	})
}

// NewRemote connects to the engine of another machine. open is called to open each connection, and
// returns the version and the protocols of that engine.
func NewRemote(ctx context.Context, o Options, machine string, open func(context.Context) (net.Conn, api.Info, error)) (*Client, error) {
	c := newClient(o)
	c.machine, c.open = machine, open
	conn, info, err := open(ctx)
	if err != nil {
		return nil, c.lostError(ctx, wire.OpenName, err)
	}
	if err := c.useProtocol(info); err != nil {
		conn.Close()
		return nil, err
	}
	c.first <- conn
	return c, nil
}

// Machine returns the name of the client's machine. It is "" for this machine.
func (c *Client) Machine() string { return c.machine }

// Reach checks the connection to the client's machine. If it is being established, Reach waits for
// that.
func (c *Client) Reach(ctx context.Context) error {
	conn, err := c.dialMachine(ctx)
	if err != nil {
		return err
	}
	conn.Close()
	return nil
}

// Open connects to a running engine, and redirects the connection as described at api.OpenOptions.
// The engine's errors are *api.Error.
func Open(ctx context.Context, o Options, to api.OpenOptions) (net.Conn, api.Info, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, api.Info{}, err
	}
	return newClient(o).openThrough(ctx, to)
}

// openThrough is like Open, with the headers and data directory of c.
func (c *Client) openThrough(ctx context.Context, to api.OpenOptions) (net.Conn, api.Info, error) {
	conn, err := c.dialOwn(ctx)
	if err != nil {
		return nil, api.Info{}, c.lostError(ctx, wire.OpenName, err)
	}
	// If ctx ends, setting a deadline in the past interrupts upgradeConn.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	opened, info, err := c.upgradeConn(conn, to)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, info, err
	}
	return opened, info, nil
}

// upgradeConn sends the upgrade request of engine.open on conn and reads the answer.
func (c *Client) upgradeConn(conn net.Conn, to api.OpenOptions) (net.Conn, api.Info, error) {
	req, err := c.newRequest(context.Background(), http.MethodGet, wire.OpenName+"?"+wire.OpenQuery(to), nil)
	if err != nil {
		return nil, api.Info{}, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", wire.OpenProtocol)
	if err := req.Write(conn); err != nil {
		return nil, api.Info{}, err
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, api.Info{}, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return &openConn{conn, r}, wire.InfoOf(resp.Header), nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return nil, api.Info{}, err
	}
	return nil, api.Info{}, wire.DecodeError(wire.OpenName, resp.StatusCode, body)
}

// An openConn first returns the bytes that were read ahead after the response to the upgrade.
type openConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *openConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// dialMachine returns a connection to the client's machine. The first call returns the one that
// NewRemote has opened.
func (c *Client) dialMachine(ctx context.Context) (net.Conn, error) {
	select {
	case conn := <-c.first:
		return conn, nil
	default:
	}
	conn, _, err := c.open(ctx)
	return conn, err
}

// nameMachine adds the name of the client's machine, if it has one, to an error of its engine.
func (c *Client) nameMachine(e *api.Error) error {
	if c.machine == "" {
		return e
	}
	e = e.WithMessage("%s: %s", c.machine, e.Message)
	if e.Code == api.CodeNotSupported {
		e.Hint = fmt.Sprintf("`tandem machine upgrade %s` installs this version there; programs keep running", c.machine)
	}
	return e
}
