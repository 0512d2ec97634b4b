package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
)

// maxLine is the maximum length of a message in bytes.
const maxLine = 16 << 20

// lineTransport is the transport of newline-delimited JSON (MCP 2025-11-25, Transports, stdio). The
// SDK's own would end the connection at an invalid line, cancel the running calls at the end of the
// input, and encode large results itself (see toolkit.LargeResult).
type lineTransport struct {
	in    io.ReadCloser
	out   io.Writer
	store *toolkit.ResultStore // large results; may be nil
}

// Connect implements sdk.Transport.
func (l *lineTransport) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{
		lineTransport: *l, messages: make(chan jsonrpc.Message), closed: make(chan struct{}),
		open: map[jsonrpc.ID]bool{},
	}
	go c.readLines()
	return c, nil
}

// A lineConn is one connection. Its reader goroutine ends with the input, or after Close once the
// input's Close unblocks the read.
type lineConn struct {
	lineTransport
	messages chan jsonrpc.Message // closed at the end of the input
	closed   chan struct{}
	once     sync.Once
	writing  sync.Mutex

	mu         sync.Mutex
	open       map[jsonrpc.ID]bool // unanswered calls
	unanswered sync.WaitGroup      // the same, until their replies are written
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

// Read implements sdk.Connection. At the end of the input it waits for the running calls, which
// have time limits of their own: the SDK cancels them once Read fails, but a client may close its
// end while waiting for replies.
func (c *lineConn) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.messages:
		if ok {
			return m, nil
		}
	case <-c.closed:
		return nil, io.EOF
	}
	answered := make(chan struct{})
	go func() {
		c.unanswered.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-c.closed:
	}
	return nil, io.EOF
}

// readLines delivers messages until the input ends.
func (c *lineConn) readLines() {
	defer close(c.messages)
	r := bufio.NewReaderSize(c.in, 64<<10)
	for {
		line, err := readLine(r)
		for _, text := range splitBatch(line) {
			if !c.acceptMessage(text) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine returns the next line, cut off after maxLine bytes.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) < maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// splitBatch returns the messages in a line: one, or several if an older client sends a batch
// (JSON-RPC 2.0, section 6), whose replies go out one by one.
func splitBatch(line []byte) []json.RawMessage {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	var batch []json.RawMessage
	if line[0] == '[' && json.Unmarshal(line, &batch) == nil && len(batch) > 0 {
		return batch
	}
	return []json.RawMessage{line}
}

// acceptMessage delivers a message, or answers an invalid one. It reports false once the connection
// is closed.
func (c *lineConn) acceptMessage(text []byte) bool {
	m, err := jsonrpc.DecodeMessage(text)
	if len(text) >= maxLine {
		err = errors.New("the message is longer than 16 MiB")
	}
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() && !c.openCall(r) {
		err = errors.New("a call with this id is in progress")
	}
	if err != nil {
		c.refuseMessage(text, err)
		return true
	}
	select {
	case c.messages <- m:
		return true
	case <-c.closed:
		return false
	}
}

// refuseMessage answers an invalid message, with its id if it has one.
func (c *lineConn) refuseMessage(text []byte, why error) {
	var given struct {
		ID any `json:"id"`
	}
	code := int64(jsonrpc.CodeInvalidRequest)
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(text, &given), &syntax) {
		code = jsonrpc.CodeParseError
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": given.ID, "error": jsonrpc.Error{Code: code, Message: why.Error()}})
	if err == nil {
		_ = c.writeLine(line) // if the client is gone, the input ends next
	}
}

// openCall registers a call until it is answered. It reports false if a call with the same id is
// open. Subscriptions are not registered: they are answered only when they end, and Read must not
// wait for that.
func (c *lineConn) openCall(r *jsonrpc.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[r.ID] || r.Method == "subscriptions/listen" {
		return !c.open[r.ID]
	}
	c.open[r.ID] = true
	c.unanswered.Add(1)
	return true
}

// Write implements sdk.Connection. It writes a large result in pieces instead of its ticket.
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.writeMessage(m)
	}
	if c.closeCall(r.ID) {
		defer c.unanswered.Done()
	}
	large := c.store.Take(r.Result)
	if large == nil {
		return c.writeMessage(m)
	}
	id, err := json.Marshal(r.ID.Raw())
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	b := bufio.NewWriterSize(c.out, toolkit.PieceSize)
	fmt.Fprintf(b, `{"jsonrpc":"2.0","id":%s,"result":`, id)
	large.WriteJSON(b)
	b.WriteString("}\n")
	return b.Flush()
}

func (c *lineConn) writeMessage(m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.writeLine(line)
}

func (c *lineConn) writeLine(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(line, '\n'))
	return err
}

// closeCall removes a call about to be answered, and reports whether it was open. It runs before
// the reply is written, because the client may reuse the id as soon as it has the reply.
func (c *lineConn) closeCall(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.open[id]
	delete(c.open, id)
	return open
}
