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
	// maxLine is the maximum length of a message in bytes.
	maxLine = 16 << 20
	// maxKeptBuffer is the maximum size of a buffer kept for the next message.
	maxKeptBuffer = 64 << 10
	// unanswered replaces the method of a cancelled call.
	unanswered = "cancelled"
)

// lineTransport is the transport of newline-delimited JSON (MCP 2025-11-25, Transports, stdio). An
// invalid line gets an error reply and has no other effect.
type lineTransport struct {
	in   io.ReadCloser
	out  io.Writer
	sent func(size int) // called for every reply, if set

	store *toolkit.ResultStore // results to write piece by piece; may be nil
}

// Connect implements sdk.Transport.
func (l *lineTransport) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{
		in: l.in, out: l.out, sent: l.sent, store: l.store,
		messages: make(chan jsonrpc.Message), closed: make(chan struct{}),
		open: map[jsonrpc.ID]string{}, idle: make(chan struct{}, 1),
	}
	go c.read()
	return c, nil
}

// A lineConn is one connection. Its reader goroutine ends with the input, or after Close once the
// input's Close unblocks the read.
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
	open      map[jsonrpc.ID]string // methods of unanswered calls
	answering int                   // number of replies being written
	idle      chan struct{}         // signalled when both are empty
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

// Read implements sdk.Connection. At the end of the input it waits for the running calls, because
// the SDK sends no replies after Read fails, and a client may close its end while waiting for
// replies.
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

// drain waits until every call is answered. Calls have time limits of their own.
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

// read delivers messages until the input ends.
func (c *lineConn) read() {
	defer close(c.messages)
	r := bufio.NewReaderSize(c.in, maxKeptBuffer)
	var buf []byte
	for {
		line, err := readLine(r, buf[:0])
		if errors.Is(err, errLong) {
			c.replyError(&badMessage{code: jsonrpc.CodeInvalidRequest, text: "the message is longer than 16 MiB"})
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 && !c.acceptLine(line) {
			return
		}
		if err != nil {
			return
			// A huge message must not pin its buffer for the rest of the connection.
		}
		if buf = line; cap(buf) > maxKeptBuffer {
			buf = nil
		}
	}
}

var errLong = errors.New("line too long")

// readLine appends the next line to buf. It skips a line longer than maxLine and returns errLong.
// Any other error means the end of the input.
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

// acceptLine delivers the messages of a line, and reports false once the connection is closed. It
// splits a batch (JSON-RPC 2.0, section 6; sent by older clients), and the replies go out one by
// one.
func (c *lineConn) acceptLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	if line[0] != '[' {
		return c.acceptMessage(line)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil {
		c.replyError(&badMessage{code: jsonrpc.CodeParseError, text: "the message is not JSON"})
		return true
	}
	if len(batch) == 0 {
		c.replyError(&badMessage{code: jsonrpc.CodeInvalidRequest, text: "the batch is empty"})
	}
	for _, one := range batch {
		if !c.acceptMessage(one) {
			return false
		}
	}
	return true
}

func (c *lineConn) acceptMessage(text []byte) bool {
	// The message refers to its text, and the buffer is reused.
	m, _, wrong := readMessage(bytes.Clone(text))
	if wrong != nil {
		c.replyError(wrong)
		return true
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !c.openCall(r) {
		c.replyError(&badMessage{code: jsonrpc.CodeInvalidRequest, text: "a call with this id is in progress"})
		return true
	} else if ok && r.Method == "notifications/cancelled" {
		c.markCancelled(r.Params)
	}
	select {
	case c.messages <- m:
		return true
	case <-c.closed:
		return false
	}
}

// openCall registers a call until it is answered. It reports false if a call with the same id is
// open. Subscriptions are not registered: they are answered only when they end, and drain must not
// wait for that.
func (c *lineConn) openCall(r *jsonrpc.Request) bool {
	if r.Method == "subscriptions/listen" {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, twice := c.open[r.ID]
	c.open[r.ID] = r.Method
	return !twice
}

// replyError sends the reply to an invalid message.
func (c *lineConn) replyError(wrong *badMessage) {
	if line, err := json.Marshal(wrong.reply()); err == nil {
		_ = c.sendLine(line) // if the client is gone, the input ends next
	}
}

// markCancelled suppresses the reply to a call cancelled by the client (MCP 2025-11-25,
// Cancellation).
func (c *lineConn) markCancelled(params json.RawMessage) {
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

// Write implements sdk.Connection. It writes an encoded result without copying it.
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.sendMessage(m)
	}
	method := c.closeCall(r.ID)
	defer c.finishAnswer()
	if method == unanswered {
		c.store.Take(r.Result)
		return nil
	}
	if r.Error != nil {
		r.Error = toolkit.EnsureCode(method, r.Error)
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
	return c.sendLine(before, r.Result, after)
}

func (c *lineConn) sendMessage(m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.sendLine(line)
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

// sendLine writes one line: a short one with a single write, so that a reader sees it whole, a
// longer one without joining its parts.
func (c *lineConn) sendLine(parts ...[]byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	parts = append(parts, []byte("\n"))
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size <= maxKeptBuffer {
		parts = [][]byte{bytes.Join(parts, nil)}
	}
	for _, p := range parts {
		if _, err := c.out.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// closeCall removes a call about to be answered, and returns its method. It runs before the reply
// is written, because the client may reuse the id as soon as it has the reply.
func (c *lineConn) closeCall(id jsonrpc.ID) (method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	method = c.open[id]
	delete(c.open, id)
	c.answering++
	return method
}

func (c *lineConn) finishAnswer() {
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
