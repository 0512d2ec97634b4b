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
	// LargeText is the size of a result that is worth encoding by ourselves.
	LargeText = 64 << 10
	// TextPiece is how much of a text is encoded at a time.
	TextPiece = 64 << 10
)

// A LargeResult is a tool's result that is encoded by ourselves: once, and
// piece by piece where it can be written so. The SDK would go over its text
// four times.
type LargeResult struct {
	sdk.ResultBase
	Pieces []Piece
	store  *ResultStore // nil where the SDK writes
}

// A Piece of a result's encoding is JSON, or text of a string that is still to
// be encoded.
type Piece struct {
	JSON []byte
	text string
}

// Light gives a large result its own encoding; others stay.
func Light(r *sdk.CallToolResult, version string, store *ResultStore) sdk.Result {
	size := 0
	for _, c := range r.Content {
		t, ok := c.(*sdk.TextContent)
		if !ok || t.Annotations != nil || t.Meta != nil {
			return r
		}
		size += len(t.Text)
	}
	spoken, _ := r.StructuredContent.(FactsWithText)
	for _, t := range spoken.Text {
		size += len(t)
	}
	if size < LargeText || r.InputRequests != nil {
		return r
	}
	l := &LargeResult{store: store}
	l.Meta = r.Meta
	resultType := ""
	if version >= WithoutSessions {
		resultType = "complete"
	}
	if l.add(r, resultType) != nil {
		return r // the SDK finds the same mistake
	}
	return l
}

// add adds the encoding of a result of text.
func (l *LargeResult) add(r *sdk.CallToolResult, resultType string) error {
	head := struct {
		Meta       sdk.Meta `json:"_meta,omitempty"`
		ResultType string   `json:"resultType,omitempty"`
		Structured any      `json:"structuredContent,omitempty"`
		IsError    bool     `json:"isError,omitempty"`
	}{r.Meta, resultType, r.StructuredContent, r.IsError}
	spoken, speaks := r.StructuredContent.(FactsWithText)
	if speaks {
		head.Structured = nil
	}
	b, err := Encode(head)
	if err != nil {
		return err
	}
	l.json(reopened(b))
	if speaks {
		l.json([]byte(`"structuredContent":`))
		l.Pieces = append(l.Pieces, spoken.pieces()...)
		l.json([]byte(","))
	}
	l.json([]byte(`"content":[`))
	for i, c := range r.Content {
		before := `{"type":"text","text":"`
		if i > 0 {
			before = "," + before
		}
		l.json([]byte(before))
		l.Pieces = append(l.Pieces, Piece{text: c.(*sdk.TextContent).Text})
		l.json([]byte(`"}`))
	}
	l.json([]byte("]}"))
	return nil
}

func (l *LargeResult) json(b []byte) { l.Pieces = append(l.Pieces, Piece{JSON: b}) }

// reopened is an encoded object without its end, so that members can follow.
func reopened(object []byte) []byte {
	head := bytes.Clone(object[:len(object)-1])
	if len(head) > 1 {
		head = append(head, ',')
	}
	return head
}

// MarshalJSON implements json.Marshaler: with a ticket where our own transport
// writes the result.
func (l *LargeResult) MarshalJSON() ([]byte, error) {
	if l.store != nil {
		return l.store.Put(l), nil
	}
	return encoded(l.Pieces), nil
}

func encoded(pieces []Piece) []byte {
	size := 0
	for _, p := range pieces {
		size += len(p.JSON) + len(p.text) + len(p.text)/8
	}
	var b bytes.Buffer
	b.Grow(size)
	_, _ = WritePieces(&b, pieces) // a buffer takes everything
	return b.Bytes()
}

// WritePieces writes an encoding, and tells its size.
func WritePieces(w io.Writer, pieces []Piece) (size int, err error) {
	for _, p := range pieces {
		n, err := w.Write(p.JSON)
		if err == nil {
			var said int
			said, err = writeText(w, p.text)
			n += said
		}
		if size += n; err != nil {
			return size, err
		}
	}
	return size, nil
}

// writeText writes what stands between the quotes of a text in JSON.
func writeText(w io.Writer, text string) (size int, err error) {
	if text == "" {
		return 0, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for len(text) > 0 {
		n := min(len(text), TextPiece)
		// No character is cut; what is none may be.
		for back := 1; n < len(text) && back < utf8.UTFMax && !utf8.RuneStart(text[n]); back++ {
			n--
		}
		b.Reset()
		if err := e.Encode(text[:n]); err != nil {
			return size, err
		}
		wrote, err := w.Write(b.Bytes()[1 : b.Len()-2]) // the quotes and a newline are around it
		if size += wrote; err != nil {
			return size, err
		}
		text = text[n:]
	}
	return size, nil
}

// A ResultStore keeps large results for the transport, while the SDK handles tickets
// for them.
type ResultStore struct {
	mu   sync.Mutex
	last int
	Kept map[string]*LargeResult
}

// ticketHead is what no result begins with.
const ticketHead = `{"ticket":`

// Put keeps a result and gives its ticket, which is JSON.
func (s *ResultStore) Put(l *LargeResult) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Kept == nil {
		s.Kept = make(map[string]*LargeResult)
	}
	s.last++
	ticket := ticketHead + strconv.Itoa(s.last) + "}"
	s.Kept[ticket] = l
	return []byte(ticket)
}

// Take gives the result of a ticket; nil if it is none.
func (s *ResultStore) Take(ticket []byte) *LargeResult {
	if s == nil || !bytes.HasPrefix(ticket, []byte(ticketHead)) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.Kept[string(ticket)]
	delete(s.Kept, string(ticket))
	return l
}
