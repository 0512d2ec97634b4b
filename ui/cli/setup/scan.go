package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// deepest is how far values of JSON may lie within each other.
const deepest = 500

// A mistake is what is wrong in a text, and where: line and column from 1.
type mistake struct {
	line, column int
	text         string
}

func (m *mistake) Error() string { return fmt.Sprintf("%d:%d: %s", m.line, m.column, m.text) }

// mistakeAt is a mistake at an offset in a text.
func mistakeAt(text []byte, at int, format string, args ...any) error {
	before := text[:min(at, len(text))]
	return &mistake{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}

// A value is a value of JSON and where it stands in the text.
type value struct {
	from, to int
	decoded  any
	object   bool
	members  []member // of an object, in their order
	array    bool
	items    []*value // of an array
}

// A member is a member of an object: where its name begins, and its value.
type member struct {
	from  int
	name  string
	value *value
}

// find is the member with a name, the last one if there are several; nil if
// there is none.
func (v *value) find(name string) *member {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return &v.members[i]
		}
	}
	return nil
}

// A scanner reads JSON; unless it is strict, with comments and trailing commas.
type scanner struct {
	text   []byte
	at     int
	strict bool
}

// scan reads a text of JSON; nil if there is no value in it.
func scan(text []byte, strict bool) (*value, error) {
	s := &scanner{text: text, strict: strict}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		s.at = len("\ufeff")
	}
	if err := s.space(); err != nil || s.at == len(text) {
		return nil, err
	}
	v, err := s.value(0)
	if err != nil {
		return nil, err
	}
	if err := s.space(); err != nil {
		return nil, err
	}
	if s.at < len(text) {
		return nil, s.wrong("there is more after the end")
	}
	return v, nil
}

func (s *scanner) wrong(format string, args ...any) error {
	return mistakeAt(s.text, s.at, format, args...)
}

// space goes to what is neither a space nor in a comment.
func (s *scanner) space() error {
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			s.at++
		case rest[0] != '/':
			return nil
		case s.strict:
			return s.wrong("this file cannot have comments")
		default:
			n := comment(rest)
			if n == 0 {
				return s.wrong("a comment does not end, or is none")
			}
			s.at += n
		}
	}
	return nil
}

// comment is how long the comment is that a text begins with, without the end
// of its line; 0 if it is none.
func comment(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		if n := bytes.IndexAny(text, "\r\n"); n >= 0 {
			return n
		}
		return len(text)
	case bytes.HasPrefix(text, []byte("/*")):
		if n := bytes.Index(text[2:], []byte("*/")); n >= 0 {
			return n + 4
		}
	}
	return 0
}

// value reads the value that begins here.
func (s *scanner) value(depth int) (*value, error) {
	if depth > deepest {
		return nil, s.wrong("values lie too deep in each other")
	}
	if s.at == len(s.text) {
		return nil, s.wrong("want a value, the file ends")
	}
	switch s.text[s.at] {
	case '{':
		return s.object(depth)
	case '[':
		return s.array(depth)
	}
	return s.scalar()
}

// scalar reads a string, a number, true, false or null.
func (s *scanner) scalar() (*value, error) {
	v := &value{from: s.at, to: s.at}
	if s.text[s.at] == '"' {
		for v.to++; v.to < len(s.text) && s.text[v.to] != '"' && s.text[v.to] != '\n'; v.to++ {
			if s.text[v.to] == '\\' {
				v.to++
			}
		}
		v.to = min(v.to+1, len(s.text))
	} else {
		for v.to < len(s.text) && !bytes.ContainsRune([]byte(" \t\r\n,:{}[]\"/"), rune(s.text[v.to])) {
			v.to++
		}
	}
	if err := json.Unmarshal(s.text[v.from:v.to], &v.decoded); err != nil {
		return nil, s.wrong("not a value of JSON")
	}
	s.at = v.to
	return v, nil
}

func (s *scanner) array(depth int) (*value, error) {
	v := &value{from: s.at, array: true}
	items := []any{}
	err := s.items(']', func() error {
		item, err := s.value(depth + 1)
		if err == nil {
			v.items, items = append(v.items, item), append(items, item.decoded)
		}
		return err
	})
	v.to, v.decoded = s.at, items
	return v, err
}

func (s *scanner) object(depth int) (*value, error) {
	v := &value{from: s.at, object: true}
	all := map[string]any{}
	err := s.items('}', func() error {
		m := member{from: s.at}
		if s.text[s.at] != '"' {
			return s.wrong("expected a quoted key")
		}
		name, err := s.scalar()
		if err != nil {
			return err
		}
		if err := s.space(); err != nil {
			return err
		}
		if s.at == len(s.text) || s.text[s.at] != ':' {
			return s.wrong("want : after a name")
		}
		s.at++
		if err := s.space(); err != nil {
			return err
		}
		if m.value, err = s.value(depth + 1); err != nil {
			return err
		}
		m.name = name.decoded.(string)
		v.members = append(v.members, m)
		all[m.name] = m.value.decoded
		return nil
	})
	v.to, v.decoded = s.at, all
	return v, err
}

// items reads what is between commas, to the bracket that ends it.
func (s *scanner) items(end byte, read func() error) error {
	for first := true; ; first = false {
		s.at++ // the bracket, or a comma
		if err := s.space(); err != nil {
			return err
		}
		if s.at < len(s.text) && s.text[s.at] == end && (first || !s.strict) {
			break
		}
		if s.at == len(s.text) {
			return s.wrong("want %c, the file ends", end)
		}
		if err := read(); err != nil {
			return err
		}
		if err := s.space(); err != nil {
			return err
		}
		if s.at < len(s.text) && s.text[s.at] == end {
			break
		}
		if s.at == len(s.text) || s.text[s.at] != ',' {
			return s.wrong("want , or %c", end)
		}
	}
	s.at++
	return nil
}
