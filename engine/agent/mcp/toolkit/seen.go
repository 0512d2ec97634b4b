package toolkit

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tandem/engine/api"
)

// A Cursor is a position in the output of a session or process: an offset in its log and, if the
// log is split, one in the log of its standard error. In JSON it is a number or "stdout+stderr",
// which agents return unchanged.
type Cursor struct {
	At     int64 // offset in the log, or in standard output's; negative: from the end
	Stderr int64
	Split  bool // the log is split; Stderr is valid
}

func (c Cursor) String() string {
	s := strconv.FormatInt(c.At, 10)
	if c.Split {
		s += "+" + strconv.FormatInt(c.Stderr, 10)
	}
	return s
}

// MarshalJSON implements json.Marshaler.
func (c Cursor) MarshalJSON() ([]byte, error) {
	if c.Split {
		return strconv.AppendQuote(nil, c.String()), nil
	}
	return strconv.AppendInt(nil, c.At, 10), nil
}

// UnmarshalJSON implements json.Unmarshaler. Numbers may be quoted.
func (c *Cursor) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" {
		return nil
	}
	_ = json.Unmarshal(b, &text) // unquoted text stays as it is
	stdout, stderr, apart := strings.Cut(text, "+")
	var err error
	if c.At, err = strconv.ParseInt(stdout, 10, 64); err == nil && apart {
		c.Split = true
		c.Stderr, err = strconv.ParseInt(stderr, 10, 64)
	}
	if err != nil || c.Split && min(c.At, c.Stderr) < 0 {
		return api.Errorf(api.CodeInvalid, "read cursor %s: must be a next_cursor or a number of bytes", Abbreviate(text))
	}
	return nil
}

// Seen records how much of each session's and process's output an agent has received, by id. Reads
// of new output start there. It lasts as long as the agent's connection.
type Seen struct {
	mu         sync.Mutex
	cursors    map[string]Cursor
	screens    map[string][]string
	folders    map[string]string // working directories of sessions, as last returned
	emptyPolls map[string]int    // consecutive polls without anything new
}

// At returns the start of unseen output. known is false if the agent has received nothing yet.
func (s *Seen) At(id string) (c Cursor, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, known = s.cursors[id]
	return c, known
}

// Set records the agent's position.
func (s *Seen) Set(id string, c Cursor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cursors == nil {
		s.cursors = make(map[string]Cursor)
	}
	// New output ends a series of empty polls.
	if s.cursors[id] != c {
		delete(s.emptyPolls, id)
	}
	s.cursors[id] = c
}

// Remove drops the state of a deleted session or process.
func (s *Seen) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cursors, id)
	delete(s.screens, id)
	delete(s.folders, id)
	delete(s.emptyPolls, id)
}

// SwapScreen records a session's screen as shown now, and returns the one shown before, or nil.
func (s *Seen) SwapScreen(id string, now []string) (before []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.screens == nil {
		s.screens = make(map[string][]string)
	}
	before = s.screens[id]
	if !slices.Equal(before, now) {
		delete(s.emptyPolls, id)
	}
	s.screens[id] = now
	return before
}

// SwapFolder records the working directory of a session, and returns the one recorded before.
func (s *Seen) SwapFolder(id, now string) (before string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folders == nil {
		s.folders = make(map[string]string)
	}
	before = s.folders[id]
	s.folders[id] = now
	return before
}

// CountEmptyPoll counts a poll without anything new, and returns the number since there was
// something.
func (s *Seen) CountEmptyPoll(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emptyPolls == nil {
		s.emptyPolls = make(map[string]int)
	}
	s.emptyPolls[id]++
	return s.emptyPolls[id]
}
