package toolkit

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tandem/engine/api"
)

// A Cursor is a place in what a session or process has printed: an offset in
// its log, and one in that of its standard error where the two are apart. In
// JSON it is a number, or "stdout+stderr": agents give it back as it came.
type Cursor struct {
	At     int64 // in its log, or in that of its standard output; negative: from the end
	Stderr int64
	Apart  bool // Stderr counts
}

func (c Cursor) String() string {
	s := strconv.FormatInt(c.At, 10)
	if c.Apart {
		s += "+" + strconv.FormatInt(c.Stderr, 10)
	}
	return s
}

// MarshalJSON implements json.Marshaler.
func (c Cursor) MarshalJSON() ([]byte, error) {
	if c.Apart {
		return strconv.AppendQuote(nil, c.String()), nil
	}
	return strconv.AppendInt(nil, c.At, 10), nil
}

// UnmarshalJSON implements json.Unmarshaler. A number may be quoted too.
func (c *Cursor) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" {
		return nil
	}
	_ = json.Unmarshal(b, &text) // what is not quoted stays as it is
	stdout, stderr, apart := strings.Cut(text, "+")
	var err error
	if c.At, err = strconv.ParseInt(stdout, 10, 64); err == nil && apart {
		c.Apart = true
		c.Stderr, err = strconv.ParseInt(stderr, 10, 64)
	}
	if err != nil || c.Apart && min(c.At, c.Stderr) < 0 {
		return api.Errorf(api.CodeInvalid, "read cursor %s: neither a next_cursor nor a number of bytes", Brief(text))
	}
	return nil
}

// Seen is how far an agent has been given what sessions and processes print, by
// their ids: what gives it what is new begins there. It is as old as the
// agent's connection.
type Seen struct {
	mu      sync.Mutex
	cursors map[string]Cursor
	screens map[string][]string
	idle    map[string]int // looks in a row at which there was nothing new
}

// At is where what the agent has not seen begins; known is false if it was
// given nothing yet.
func (s *Seen) At(id string) (c Cursor, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, known = s.cursors[id]
	return c, known
}

// Set notes how far the agent has seen.
func (s *Seen) Set(id string, c Cursor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cursors == nil {
		s.cursors = make(map[string]Cursor)
	}
	if s.cursors[id] != c {
		delete(s.idle, id)
	}
	s.cursors[id] = c
}

// Forget drops what is known of a session or process that is gone.
func (s *Seen) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cursors, id)
	delete(s.screens, id)
	delete(s.idle, id)
}

// Screen notes what a session's screen shows now, and gives what the agent was shown of
// it before; nil if nothing.
func (s *Seen) Screen(id string, now []string) (before []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.screens == nil {
		s.screens = make(map[string][]string)
	}
	before = s.screens[id]
	if !slices.Equal(before, now) {
		delete(s.idle, id)
	}
	s.screens[id] = now
	return before
}

// Idle counts a look at which there was nothing new, and gives how many there were since
// there was something.
func (s *Seen) Idle(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle == nil {
		s.idle = make(map[string]int)
	}
	s.idle[id]++
	return s.idle[id]
}
