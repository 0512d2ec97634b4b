package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/mcp/toolkit"
)

const (
	// maxLine is the length of the longest message that is read.
	maxLine = 16 << 20
	// keepLine is the size of a buffer that is kept for the next message.
	keepLine = 64 << 10
	// unanswered stands for the method of a call that was cancelled.
	unanswered = "cancelled"
)

// lines is the transport of newline-delimited JSON (MCP 2025-11-25, Transports,
// stdio). A line that is no message is answered with an error and costs
// nothing else.
type lines struct {
	in   io.ReadCloser
	out  io.Writer
	sent func(size int) // told of every answer, if it is set

	store *toolkit.ResultStore // of results that are written here, if it is set
}

// Connect implements sdk.Transport.
func (l *lines) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{
		in: l.in, out: l.out, sent: l.sent, store: l.store,
		messages: make(chan jsonrpc.Message), closed: make(chan struct{}),
		open: map[jsonrpc.ID]string{}, idle: make(chan struct{}, 1),
	}
	go c.read()
	return c, nil
}

// A lineConn is one conversation. Its reader goroutine ends with the input, or
// when it is closed and the input's Close lets a read return.
type lineConn struct {
	in       io.ReadCloser
	messages chan jsonrpc.Message // closed at the end of the input
	closed   chan struct{}
	once     sync.Once

	writing sync.Mutex
	out     io.Writer
	sent    func(size int)
	store   *toolkit.ResultStore

	mu        sync.Mutex
	open      map[jsonrpc.ID]string // methods of the calls that are not answered
	answering int                   // answers that are being written
	idle      chan struct{}         // told when neither is left
}

// SessionID implements sdk.Connection.
func (c *lineConn) SessionID() string { return "" }

// Close implements sdk.Connection.
func (c *lineConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.in.Close()
	})
	return nil
}

// Read implements sdk.Connection. At the end of the input it waits for the
// calls under way, as nothing can be answered after it has returned: who writes
// what it wants to know and closes its end still listens.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.messages:
		if ok {
			return m, nil
		}
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.drain(ctx)
	return nil, io.EOF
}

// drain waits until every call is answered. Each has a time limit of its own.
func (c *lineConn) drain(ctx context.Context) {
	for c.pending() > 0 {
		select {
		case <-c.idle:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (c *lineConn) pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) + c.answering
}

// read passes on what comes until the input ends.
func (c *lineConn) read() {
	defer close(c.messages)
	r := bufio.NewReaderSize(c.in, keepLine)
	var buf []byte
	for {
		line, err := readLine(r, buf[:0])
		if errors.Is(err, errLong) {
			c.refuse(&badMessage{code: jsonrpc.CodeInvalidRequest, text: "the message is longer than 16 MiB"})
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 && !c.accept(line) {
			return
		}
		if err != nil {
			return
		}
		if buf = line; cap(buf) > keepLine {
			buf = nil
		}
	}
}

var errLong = errors.New("line too long")

// readLine appends the next line to buf. What is over maxLine is skipped as a
// whole. An error other than errLong is the input's end.
func readLine(r *bufio.Reader, buf []byte) ([]byte, error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(buf)+len(part) > maxLine; long {
			buf = nil
		} else {
			buf = append(buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && err == nil:
			return nil, errLong
		default:
			return buf, err
		}
	}
}

// accept passes on a line's messages; false when nobody reads any more. A batch
// (JSON-RPC 2.0, section 6), which older clients may send, is taken apart and
// its answers come one by one.
func (c *lineConn) accept(line []byte) bool {
	line = bytes.TrimSpace(line)
	if line[0] != '[' {
		return c.acceptOne(line)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil {
		c.refuse(&badMessage{code: jsonrpc.CodeParseError, text: "the message is not JSON"})
		return true
	}
	if len(batch) == 0 {
		c.refuse(&badMessage{code: jsonrpc.CodeInvalidRequest, text: "the batch is empty"})
	}
	for _, one := range batch {
		if !c.acceptOne(one) {
			return false
		}
	}
	return true
}

func (c *lineConn) acceptOne(text []byte) bool {
	// What is decoded refers to the text, and the buffer is used again.
	m, _, wrong := readMessage(bytes.Clone(text))
	if wrong != nil {
		c.refuse(wrong)
		return true
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !c.begin(r) {
		c.refuse(&badMessage{code: jsonrpc.CodeInvalidRequest, text: "a call with this id is under way"})
		return true
	} else if ok && r.Method == "notifications/cancelled" {
		c.forget(r.Params)
	}
	select {
	case c.messages <- m:
		return true
	case <-c.closed:
		return false
	}
}

// begin counts a call as open, until it is answered; false if one with its id
// is. A subscription is answered when it ends, which nobody waits for.
func (c *lineConn) begin(r *jsonrpc.Request) bool {
	if r.Method == "subscriptions/listen" {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, twice := c.open[r.ID]
	c.open[r.ID] = r.Method
	return !twice
}

// refuse answers what is no message.
func (c *lineConn) refuse(wrong *badMessage) {
	if line, err := json.Marshal(wrong.answer()); err == nil {
		_ = c.send(line) // if nobody listens, the input ends next
	}
}

// forget has a call that the client has cancelled end without an answer (MCP
// 2025-11-25, Cancellation).
func (c *lineConn) forget(params json.RawMessage) {
	var cancelled struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &cancelled) != nil {
		return
	}
	id, err := jsonrpc.MakeID(cancelled.ID)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if method, ok := c.open[id]; ok && method != "initialize" {
		c.open[id] = unanswered
	}
}

// Write implements sdk.Connection. A result goes out as it was encoded, without
// another copy.
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.sendMessage(m)
	}
	method := c.answer(r.ID)
	defer c.answered()
	if method == unanswered {
		c.store.Take(r.Result)
		return nil
	}
	if r.Error != nil {
		r.Error = toolkit.Coded(method, r.Error)
	}
	if r.Error != nil || len(r.Result) == 0 {
		return c.sendMessage(m)
	}
	id, err := json.Marshal(r.ID.Raw())
	if err != nil {
		return err
	}
	before, after := []byte(`{"jsonrpc":"2.0","id":`+string(id)+`,"result":`), []byte("}")
	if large := c.store.Take(r.Result); large != nil {
		return c.sendLarge(before, large, after)
	}
	if c.sent != nil {
		defer c.sent(len(r.Result))
	}
	return c.send(before, r.Result, after)
}

func (c *lineConn) sendMessage(m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.send(line)
}

// sendLarge writes one line piece by piece.
func (c *lineConn) sendLarge(before []byte, l *toolkit.LargeResult, after []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	pieces := append([]toolkit.Piece{{JSON: before}}, l.Pieces...)
	size, err := toolkit.WritePieces(c.out, append(pieces, toolkit.Piece{JSON: after}, toolkit.Piece{JSON: []byte("\n")}))
	if c.sent != nil {
		c.sent(size)
	}
	return err
}

// send writes one line: with one write if it is short, so that a reader sees
// it whole, and else without putting it together first.
func (c *lineConn) send(parts ...[]byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	parts = append(parts, []byte("\n"))
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size <= keepLine {
		parts = [][]byte{bytes.Join(parts, nil)}
	}
	for _, p := range parts {
		if _, err := c.out.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// answer closes a call that is about to be answered, and tells its method: who
// has the answer may use the id again.
func (c *lineConn) answer(id jsonrpc.ID) (method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	method = c.open[id]
	delete(c.open, id)
	c.answering++
	return method
}

func (c *lineConn) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answering--; len(c.open)+c.answering > 0 {
		return
	}
	select {
	case c.idle <- struct{}{}:
	default:
	}
}
