package toolkit

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// LargeResultSize is the minimum size for encoding a result here.
	LargeResultSize = 64 << 10
	// PieceSize is the amount of text encoded at a time.
	PieceSize = 64 << 10
)

// A LargeResult is a result encoded here instead of by the SDK: only once, and piece by piece if
// the transport allows it. The SDK would copy its text four times.
type LargeResult struct {
	sdk.ResultBase
	Pieces []Piece
	store  *ResultStore // nil if the SDK writes the result
}

// A Piece of a result's encoding is either JSON or the unencoded text of a string.
type Piece struct {
	JSON []byte
	text string
}

// EncodeLarge returns a large result of text as a LargeResult, and other results unchanged.
func EncodeLarge(r *sdk.CallToolResult, version string, store *ResultStore) sdk.Result {
	size := 0
	for _, c := range r.Content {
		t, ok := c.(*sdk.TextContent)
		if !ok || t.Annotations != nil || t.Meta != nil {
			return r
		}
		size += len(t.Text)
	}
	facts, _ := r.StructuredContent.(FactsWithText)
	for _, t := range facts.Text {
		size += len(t)
	}
	if size < LargeResultSize || r.InputRequests != nil {
		return r
	}
	l := &LargeResult{store: store}
	l.Meta = r.Meta
	resultType := ""
	if version >= WithoutSessions {
		resultType = "complete"
	}
	if l.encodeResult(r, resultType) != nil {
		return r // the SDK will report the same error
	}
	return l
}

// encodeResult adds the encoding of a result.
func (l *LargeResult) encodeResult(r *sdk.CallToolResult, resultType string) error {
	head := struct {
		Meta       sdk.Meta `json:"_meta,omitempty"`
		ResultType string   `json:"resultType,omitempty"`
		Structured any      `json:"structuredContent,omitempty"`
		IsError    bool     `json:"isError,omitempty"`
	}{r.Meta, resultType, r.StructuredContent, r.IsError}
	facts, hasFacts := r.StructuredContent.(FactsWithText)
	if hasFacts {
		head.Structured = nil
	}
	b, err := Encode(head)
	if err != nil {
		return err
	}
	l.appendJSON(openObject(b))
	// The facts may hold a long text, so they are written in pieces like the content.
	if hasFacts {
		l.appendJSON([]byte(`"structuredContent":`))
		l.Pieces = append(l.Pieces, facts.pieces()...)
		l.appendJSON([]byte(","))
	}
	l.appendJSON([]byte(`"content":[`))
	for i, c := range r.Content {
		before := `{"type":"text","text":"`
		if i > 0 {
			before = "," + before
		}
		l.appendJSON([]byte(before))
		l.Pieces = append(l.Pieces, Piece{text: c.(*sdk.TextContent).Text})
		l.appendJSON([]byte(`"}`))
	}
	l.appendJSON([]byte("]}"))
	return nil
}

func (l *LargeResult) appendJSON(b []byte) { l.Pieces = append(l.Pieces, Piece{JSON: b}) }

// openObject returns an encoded object without its closing brace, ready for further members.
func openObject(object []byte) []byte {
	head := bytes.Clone(object[:len(object)-1])
	if len(head) > 1 {
		head = append(head, ',')
	}
	return head
}

// MarshalJSON implements json.Marshaler. It returns a ticket if our own transport writes the
// result.
func (l *LargeResult) MarshalJSON() ([]byte, error) {
	if l.store != nil {
		return l.store.Put(l), nil
	}
	return joinPieces(l.Pieces), nil
}

func joinPieces(pieces []Piece) []byte {
	size := 0
	for _, p := range pieces {
		// An eighth more leaves room for escapes.
		size += len(p.JSON) + len(p.text) + len(p.text)/8
	}
	var b bytes.Buffer
	b.Grow(size)
	_, _ = WritePieces(&b, pieces) // a buffer cannot fail
	return b.Bytes()
}

// WritePieces writes an encoding and returns its size.
func WritePieces(w io.Writer, pieces []Piece) (size int, err error) {
	for _, p := range pieces {
		n, err := w.Write(p.JSON)
		if err == nil {
			var written int
			written, err = writeText(w, p.text)
			n += written
		}
		if size += n; err != nil {
			return size, err
		}
	}
	return size, nil
}

// writeText writes a text as it appears between the quotes of a JSON string.
func writeText(w io.Writer, text string) (size int, err error) {
	if text == "" {
		return 0, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for len(text) > 0 {
		n := min(len(text), PieceSize)
		// Do not split a character; invalid bytes may be split.
		for back := 1; n < len(text) && back < utf8.UTFMax && !utf8.RuneStart(text[n]); back++ {
			n--
		}
		b.Reset()
		if err := e.Encode(text[:n]); err != nil {
			return size, err
		}
		wrote, err := w.Write(b.Bytes()[1 : b.Len()-2]) // without the quotes and the newline
		if size += wrote; err != nil {
			return size, err
		}
		text = text[n:]
	}
	return size, nil
}

// A ResultStore holds large results for the transport. The SDK handles only their tickets.
type ResultStore struct {
	mu   sync.Mutex
	last int
	Kept map[string]*LargeResult
}

// ticketPrefix starts every ticket, and no result.
const ticketPrefix = `{"ticket":`

// Put stores a result and returns its ticket, which is valid JSON.
func (s *ResultStore) Put(l *LargeResult) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Kept == nil {
		s.Kept = make(map[string]*LargeResult)
	}
	s.last++
	ticket := ticketPrefix + strconv.Itoa(s.last) + "}"
	s.Kept[ticket] = l
	return []byte(ticket)
}

// Take removes and returns the result of a ticket. It returns nil for anything else.
func (s *ResultStore) Take(ticket []byte) *LargeResult {
	if s == nil || !bytes.HasPrefix(ticket, []byte(ticketPrefix)) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.Kept[string(ticket)]
	delete(s.Kept, string(ticket))
	return l
}
