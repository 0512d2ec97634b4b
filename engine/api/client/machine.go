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

// ConnectMachine reaches the engine of another machine through the engine of o's
// data folder, which is started if need be and keeps the link. It never means
// the latter: what it is asked for is done on that machine or fails.
func ConnectMachine(ctx context.Context, o Options, machine string) (*Client, error) {
	own, err := Activate(ctx, o)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	return own.OnMachine(ctx, machine)
}

// OnMachine is ConnectMachine through the engine of c, which has to run.
func (c *Client) OnMachine(ctx context.Context, machine string) (*Client, error) {
	far := newClient(Options{DataDir: c.dataDir})
	far.header, far.machine = c.header.Clone(), machine
	conn, info, err := far.lead(ctx, api.OpenOptions{Machine: machine, AuthSock: os.Getenv("SSH_AUTH_SOCK")})
	if err != nil {
		return nil, far.lost(ctx, wire.OpenName, err)
	}
	if err := far.speak(info); err != nil {
		conn.Close()
		return nil, err
	}
	far.first <- conn
	return far, nil
}

// Machine is the machine of a client of ConnectMachine; "" for this one.
func (c *Client) Machine() string { return c.machine }

// Reach fails if the machine of a client of ConnectMachine cannot be reached now, after
// waiting for a link that is being made.
func (c *Client) Reach(ctx context.Context) error {
	conn, err := c.dialMachine(ctx)
	if err != nil {
		return err
	}
	conn.Close()
	return nil
}

// Open makes a connection to the engine of o's data folder, which has to run, into
// one to another engine or from another machine; see api.OpenOptions. Errors of
// the engine are *api.Error.
func Open(ctx context.Context, o Options, to api.OpenOptions) (net.Conn, api.Info, error) {
	o, err := o.complete()
	if err != nil {
		return nil, api.Info{}, err
	}
	return newClient(o).lead(ctx, to)
}

// lead is Open as this client.
func (c *Client) lead(ctx context.Context, to api.OpenOptions) (net.Conn, api.Info, error) {
	conn, err := c.dialOwn(ctx)
	if err != nil {
		own := *c
		own.machine = "" // it is this machine's engine that is not there
		return nil, api.Info{}, own.lost(ctx, wire.OpenName, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	opened, info, err := c.open(conn, to)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, info, err
	}
	return opened, info, nil
}

// open upgrades a connection.
func (c *Client) open(conn net.Conn, to api.OpenOptions) (net.Conn, api.Info, error) {
	req, err := c.request(context.Background(), http.MethodGet, wire.OpenName+"?"+wire.OpenQuery(to), nil)
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

// An openConn reads first what came with the answer that opened it.
type openConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *openConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// dialMachine makes a connection for a client of a machine.
func (c *Client) dialMachine(ctx context.Context) (net.Conn, error) {
	select {
	case conn := <-c.first:
		return conn, nil
	default:
	}
	conn, _, err := c.lead(ctx, api.OpenOptions{Machine: c.machine, AuthSock: os.Getenv("SSH_AUTH_SOCK")})
	return conn, err
}

// of says of an error of a machine which one it is from.
func (c *Client) of(e *api.Error) error {
	if c.machine == "" {
		return e
	}
	e = api.Errorf(e.Code, "%s: %s", c.machine, e.Message).WithHint(e.Hint)
	if e.Code == api.CodeNotSupported {
		e.Hint = fmt.Sprintf("`tandem machine upgrade %s` brings it to this version; what runs there goes on", c.machine)
	}
	return e
}
